//! How HEAD and the branch of a checkpoint move, and what is said about it.
//!
//! The checkpoint's own branch goes to its commit and HEAD goes onto that branch; another branch that is checked
//! out now stays where it is and is never dragged along. Where HEAD was detached it is detached again. Each ref
//! must be where it was seen to be, or nothing moves.

use super::Look;
use crate::git::{Expect, Head, RefUpdate, Target as RefTarget};

impl Look<'_> {
    /// How HEAD and the checkpoint's branch move. Another branch that is checked out stays where it is.
    pub(super) fn ref_updates(&self) -> Vec<RefUpdate> {
        let (head, to) = (&self.captured.head, self.found.commit_id);
        let now = match head {
            Head::Branch { name, .. } => RefTarget::Ref(name.clone()),
            Head::Detached { commit_id } => RefTarget::Commit(*commit_id),
        };
        let switch =
            |to| RefUpdate { name: "HEAD".into(), to: Some(to), expect: Expect::Value(now.clone()), through: false };
        match &self.found.branch {
            Some(branch) if head.branch() == Some(branch) => vec![RefUpdate::head(head, to)],
            Some(branch) => vec![RefUpdate::moved(branch, self.tip, to), switch(RefTarget::Ref(branch.clone()))],
            None => vec![switch(RefTarget::Commit(to))],
        }
    }

    pub(super) fn switch_note(&self) -> Option<String> {
        let name = |branch: &str| branch.trim_start_matches("refs/heads/").to_owned();
        let now = self.captured.head.branch();
        match (now, self.found.branch.as_deref()) {
            (now, to) if now == to => None,
            (now, Some(to)) => {
                let from = now.map_or_else(|| "a detached HEAD".to_owned(), name);
                Some(format!("switched to branch {} ({from} stays where it is)", name(to)))
            }
            (Some(now), None) => Some(format!("HEAD is detached, as it was then ({} stays where it is)", name(now))),
            (None, None) => None,
        }
    }
}
