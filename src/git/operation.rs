//! Operations of the user's that are under way: merge, rebase and the like.
//!
//! While one is, no checkpoint is made and nothing is restored; each is named with the command that ends it.

use super::Repository;
use gix::state::InProgress;

/// An operation that the user has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    /// What it is called, with its article: `a merge`.
    pub(crate) name: &'static str,
    /// The command that ends it.
    pub(crate) ended_by: &'static str,
}

impl Repository {
    /// Returns the operation that is in progress.
    pub(crate) fn operation(&self) -> Option<Operation> {
        let (name, ended_by) = match self.gix.state()? {
            InProgress::ApplyMailbox => ("an `am`", "git am --continue (or git am --abort)"),
            InProgress::ApplyMailboxRebase | InProgress::Rebase | InProgress::RebaseInteractive => {
                ("a rebase", "git rebase --continue (or git rebase --abort)")
            }
            InProgress::Bisect => ("a bisect", "git bisect reset"),
            InProgress::CherryPick | InProgress::CherryPickSequence => {
                ("a cherry-pick", "git cherry-pick --continue (or git cherry-pick --abort)")
            }
            InProgress::Merge => ("a merge", "git merge --continue (or git merge --abort)"),
            InProgress::Revert | InProgress::RevertSequence => {
                ("a revert", "git revert --continue (or git revert --abort)")
            }
        };
        Some(Operation { name, ended_by })
    }
}
