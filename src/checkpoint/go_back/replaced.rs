//! What a restore replaces: changed work, which is parked on a branch, and commits that a branch leaves behind.
//!
//! Each gets an entry of its own in the list, so that going back can be undone; a commit that an entry holds
//! already gets none. Commits are written here, refs and entries are made by the caller.

use super::super::book::Book;
use super::super::error::Result;
use super::super::make::short_branch;
use super::Look;
use crate::git::short_name;
use crate::state::{Checkpoint, CheckpointKind};
use gix::ObjectId;

/// The branch that changed work was parked on, and its commit.
pub(super) type Parked = Option<(String, ObjectId)>;

impl Look<'_> {
    /// Makes the commits and entries for what is replaced: changed work, and tips that no entry holds.
    pub(super) fn replaced(&self, book: &mut Book<'_>) -> Result<(Parked, Vec<Checkpoint>)> {
        let label = format!("before restore to \"{}\"", self.found.label);
        let head = &self.captured.head;
        let mut replaced = Vec::new();
        let mut parked = None;
        if self.captured.is_changed() {
            let wanted = format!("pre-restore-{}", crate::clock::compact(self.project.clock().now()));
            let branch = self.repository.free_branch(&self.project.config().branch_prefix, &wanted)?;
            let parents: Vec<ObjectId> = head.commit_id().into_iter().collect();
            let message = format!("autodev: {label}\n");
            let commit_id =
                self.repository.write_commit(self.captured.tree_id, &parents, &message, self.project.signature())?;
            replaced.push((commit_id, short_branch(head)));
            parked = Some((branch, commit_id));
        } else if let Some(commit_id) = head.commit_id().filter(|id| self.whole && book.holding(*id).is_none()) {
            replaced.push((commit_id, short_branch(head)));
        }
        let left = self.tip.filter(|tip| {
            self.whole && *tip != self.found.commit_id && Some(*tip) != head.commit_id() && book.holding(*tip).is_none()
        });
        if let (Some(tip), Some(branch)) = (left, &self.found.branch) {
            replaced.push((tip, Some(short_name(branch).to_owned())));
        }
        let entries = replaced.into_iter().map(|(commit, branch)| {
            Ok(Checkpoint {
                id: book.next_id()?,
                commit,
                label: label.clone(),
                kind: CheckpointKind::PreRestore,
                time: self.project.clock().now(),
                task: None,
                run: None,
                turn: None,
                participant: None,
                branch,
                verified: None,
                skipped: if Some(commit) == parked.as_ref().map(|(_, id)| *id) {
                    self.captured.skipped.clone()
                } else {
                    Vec::new()
                },
                extra: serde_json::Map::new(),
            })
        });
        Ok((parked.clone(), entries.collect::<Result<_>>()?))
    }
}
