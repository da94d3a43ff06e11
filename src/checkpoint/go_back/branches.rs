//! How HEAD and the branch of a checkpoint move, and what is said about it.
//!
//! The checkpoint's own branch goes to its commit and HEAD goes onto that branch; another branch that is checked
//! out now stays where it is and is never dragged along. Where HEAD was detached it is detached again. Each ref
//! must be where it was seen to be, or nothing moves.

use super::super::outcome::escape;
use super::Look;
use crate::git::{RefUpdate, Target as RefTarget, short_name};
use gix::bstr::ByteSlice as _;

impl Look<'_> {
    /// How HEAD and the checkpoint's branch move. Another branch that is checked out stays where it is.
    pub(super) fn ref_updates(&self) -> Vec<RefUpdate> {
        let (head, to) = (&self.captured.head, self.found.commit_id);
        match &self.found.branch {
            Some(branch) if head.branch() == Some(branch) => vec![RefUpdate::head(head, to)],
            Some(branch) => {
                vec![RefUpdate::moved(branch, self.tip, to), RefUpdate::switch(head, RefTarget::Ref(branch.clone()))]
            }
            None => vec![RefUpdate::switch(head, RefTarget::Commit(to))],
        }
    }

    /// Says by how many commits the checkpoint's branch goes back, and which is the last of them.
    pub(super) fn leaves(&self) -> Option<String> {
        let (branch, tip) = (self.found.branch.as_deref()?, self.tip.filter(|_| self.whole)?);
        let target = self.found.commit_id;
        let count = if tip == target { 0 } else { self.repository.count_commits(Some(target), tip).ok()? };
        if count == 0 {
            return None;
        }
        let message = self.repository.message_of(tip).ok()?;
        let subject = message.lines().next().unwrap_or_default().to_str_lossy().into_owned();
        let (commits, short) = (if count == 1 { "commit" } else { "commits" }, tip.to_hex_with_len(7));
        let branch = short_name(branch);
        Some(format!("{branch} goes back by {count} {commits}; the last of them is {short} \"{}\"", escape(&subject)))
    }

    pub(super) fn switch_note(&self) -> Option<String> {
        let now = self.captured.head.branch();
        match (now, self.found.branch.as_deref()) {
            (now, to) if now == to => None,
            (now, Some(to)) => {
                let from = now.map_or("a detached HEAD", short_name);
                Some(format!("switched to branch {} ({from} stays where it is)", short_name(to)))
            }
            (Some(now), None) => {
                Some(format!("HEAD is detached, as it was then ({} stays where it is)", short_name(now)))
            }
            (None, None) => None,
        }
    }
}
