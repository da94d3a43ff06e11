//! Checkpoints: credited and asked-for work as commits on the current branch, a ledger of them, and going
//! back to one so that going back can be undone.
//!
//! Each entry of the ledger has a ref of its own under `refs/autodev/<key>/c/`, whose commit carries the entry
//! as its message, so that no gc takes what is listed. The sentences that users read live in the `Display` of
//! the outcomes and errors here.

mod book;
mod error;
mod go_back;
mod list;
mod make;
mod outcome;
mod paths;
mod target;
mod undo;

pub(crate) use error::Error;
pub(crate) use go_back::{Caller, Request, go_back, plan_to, refuse_survivor};
pub(crate) use list::Listing;
pub(crate) use make::{Clean, NewCheckpoint, committed_tree, current_tree, make};
pub(crate) use outcome::escape;
pub use outcome::{Made, PlannedStep, RestorePlan, Restored};
pub(crate) use target::Target;
pub(crate) use undo::{Step, step};

use crate::state::{Checkpoint, CheckpointKind, Ledger};
use crate::workspace::Project;

impl Project {
    /// Makes a checkpoint of what is there now; with nothing changed, returns the entry that holds HEAD.
    ///
    /// # Errors
    /// When there is no repository, checkpoints are off, an operation such as a merge is in progress, or a
    /// file cannot be captured. Nothing is listed then.
    pub fn checkpoint(&self, label: &str) -> crate::Result<Made> {
        let request = NewCheckpoint::new(CheckpointKind::Manual, label);
        Ok(make(self, &request, Clean::EntryIfMissing)?)
    }

    /// Returns all checkpoints, newest first.
    ///
    /// # Errors
    /// When the ledger is damaged.
    pub fn list(&self) -> crate::Result<Vec<Checkpoint>> {
        let mut checkpoints = Ledger::load(self.state()).map_err(Error::from)?.checkpoints;
        checkpoints.reverse();
        Ok(checkpoints)
    }

    /// Plans the way back to a checkpoint, given by its id or by the start of its commit's id.
    ///
    /// # Errors
    /// When the checkpoint is not known, its content is gone, or going back would be refused.
    pub fn plan_restore(&self, id: &str) -> crate::Result<RestorePlan> {
        let request = Request { target: id.to_owned().into(), paths: Vec::new(), caller: Caller::User };
        Ok(plan_to(self, &request)?)
    }

    /// Goes back as planned; refuses when the tree is no longer as it was when the plan was made.
    ///
    /// # Errors
    /// When going back is refused or fails; nothing has changed then.
    pub fn apply(&self, plan: &RestorePlan) -> crate::Result<Restored> {
        Ok(go_back(self, &plan.request, Some(plan))?)
    }
}
