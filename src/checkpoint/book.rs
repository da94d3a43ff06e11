//! The book: ledger and counters together, opened for writing under the project's lock.
//!
//! A number is on disk before it is used, and never smaller than what the refs show, so that a lost file
//! gives no id out twice. An entry is written last, after the refs that hold it.

use super::error::Result;
use crate::state::{Checkpoint, CheckpointId, Counters, Ledger};
use crate::workspace::Project;
use gix::ObjectId;

/// The ledger and the counters of a project.
pub(super) struct Book<'a> {
    project: &'a Project,
    ledger: Ledger,
    counters: Counters,
}

impl<'a> Book<'a> {
    /// Opens the book; fails before anything is done when it is damaged or from a newer version.
    pub(super) fn open(project: &'a Project) -> Result<Self> {
        let ledger = Ledger::load(project.state())?;
        ledger.require_writable(project.state())?;
        let mut counters = Counters::load(project.state(), project.root())?;
        let in_ledger = ledger.checkpoints.iter().map(|checkpoint| checkpoint.id.0).max().unwrap_or(0);
        counters.checkpoint = counters.checkpoint.max(ledger.next.saturating_sub(1)).max(in_ledger);
        if ledger.checkpoints.is_empty() || counters.is_new() {
            counters.checkpoint = counters.checkpoint.max(highest(project, "c/", 'c')?);
            counters.operation = counters.operation.max(highest(project, "u/", 'u')?);
        }
        Ok(Self { project, ledger, counters })
    }

    /// Returns the entries, oldest first.
    pub(super) fn checkpoints(&self) -> &[Checkpoint] {
        &self.ledger.checkpoints
    }

    /// Returns the newest entry for a commit.
    pub(super) fn holding(&self, commit_id: ObjectId) -> Option<&Checkpoint> {
        self.ledger.checkpoints.iter().rev().find(|checkpoint| checkpoint.commit == commit_id)
    }

    /// Gives out an id; it is on disk when this returns.
    pub(super) fn next_id(&mut self) -> Result<CheckpointId> {
        self.counters.checkpoint += 1;
        self.counters.save(self.project.state())?;
        Ok(CheckpointId(self.counters.checkpoint))
    }

    /// Gives out an id and the number of an operation; both are on disk when this returns.
    pub(super) fn next_of_both(&mut self) -> Result<(CheckpointId, u64)> {
        self.counters.checkpoint += 1;
        self.counters.operation += 1;
        self.counters.save(self.project.state())?;
        Ok((CheckpointId(self.counters.checkpoint), self.counters.operation))
    }

    /// Gives out the number of an operation; it is on disk when this returns.
    pub(super) fn next_operation(&mut self) -> Result<u64> {
        self.counters.operation += 1;
        self.counters.save(self.project.state())?;
        Ok(self.counters.operation)
    }
}

/// Returns the highest number among the refs of one kind, such as `refs/autodev/main/c/c12` or `…/u/7/work`.
fn highest(project: &Project, place: &str, letter: char) -> Result<u64> {
    let prefix = format!("{}{place}", project.ref_prefix());
    let names = project.repository()?.refs_below(&prefix)?;
    let number = |name: &str| {
        let first = name.strip_prefix(&prefix)?.split('/').next()?;
        first.trim_start_matches(letter).parse::<u64>().ok()
    };
    Ok(names.iter().filter_map(|(name, _)| number(name)).max().unwrap_or(0))
}
