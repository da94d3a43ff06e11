//! The examination: one finding for each thing that does not agree.

use super::mend::recorded;
use crate::agent::find_by_state_folder;
use crate::git::Repository;
use crate::state::{Checkpoint, Counters, Intent, Ledger, RunState, StateRecord};
use crate::workspace::{Project, operations};
use gix::ObjectId;
use serde::Serialize;

/// Something that does not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What is wrong.
    pub(crate) what: String,
    /// The command that mends it, or what else helps.
    pub(crate) mend: String,
}

/// Examines a project; an empty list means that all agrees.
pub(crate) fn examine(project: &Project) -> crate::Result<Vec<Finding>> {
    let mut findings = Findings::default();
    let ledger = findings.entries(project);
    if let Some(repository) = project.try_repository() {
        findings.refs(project, repository, ledger.as_ref())?;
        findings.operations(project, repository);
        findings.locks(repository);
    }
    findings.intent(project);
    findings.state(project)?;
    Ok(findings.0)
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.0.push(Finding { what: what.into(), mend: mend.into() });
    }

    fn entries(&mut self, project: &Project) -> Option<Vec<Checkpoint>> {
        match Ledger::load(project.state()) {
            Ok(ledger) => Some(ledger.checkpoints),
            Err(error) => {
                self.add(error.to_string(), "autodev doctor --rebuild");
                None
            }
        }
    }

    /// Every entry has its commit and its ref, and every ref its entry.
    fn refs(
        &mut self,
        project: &Project,
        repository: &Repository,
        ledger: Option<&Vec<Checkpoint>>,
    ) -> crate::Result<()> {
        let recorded = recorded(project, repository)?;
        for checkpoint in ledger.into_iter().flatten() {
            if !repository.has_commit(checkpoint.commit) {
                let commit = checkpoint.commit.to_hex_with_len(7);
                self.add(
                    format!("the commit {commit} of {} is gone", checkpoint.id),
                    "git fsck --lost-found may still find it",
                );
            } else if !recorded.iter().any(|there| there.id == checkpoint.id && there.commit == checkpoint.commit) {
                let what = format!("no ref holds {}, so a gc may take its commit", checkpoint.id);
                self.add(what, "autodev doctor --rebuild");
            }
        }
        for checkpoint in &recorded {
            let listed = ledger.is_none_or(|ledger| ledger.iter().any(|there| there.id == checkpoint.id));
            if !listed {
                self.add(
                    format!("{} is held by a ref, but the list does not have it", checkpoint.id),
                    "autodev doctor --rebuild",
                );
            }
        }
        Ok(())
    }

    /// What operations replaced is still there.
    fn operations(&mut self, project: &Project, repository: &Repository) {
        let operations = match operations(project.state()) {
            Ok(operations) => operations,
            Err(error) => return self.add(error.to_string(), "autodev undo has nothing to read then"),
        };
        for operation in operations {
            let held = [&operation.held.work, &operation.held.index, &operation.held.raw];
            let gone = held.into_iter().flatten().filter_map(|id| ObjectId::from_hex(id.as_bytes()).ok());
            if gone.into_iter().any(|id| !repository.has_commit(id)) {
                self.add(
                    format!("what operation {} replaced is gone, so it cannot be undone", operation.n),
                    "no command brings it back",
                );
            }
        }
    }

    fn locks(&mut self, repository: &Repository) {
        let index = Some(repository.index_lock_path()).filter(|lock| lock.exists());
        for lock in index.into_iter().chain(repository.ref_locks()) {
            let what = format!("{} is there: a git command is at work, or one was cut off", lock.display());
            self.add(what, format!("when no git command is running any more: rm {}", lock.display()));
        }
    }

    fn intent(&mut self, project: &Project) {
        match (project.unfinished(), Intent::load(project.state())) {
            (Ok(Some(_)), Ok(Some(intent))) => {
                self.add(
                    format!("{} was cut off", intent.what),
                    "autodev restore --continue, or autodev restore --abort",
                );
            }
            (Err(error), _) => {
                self.add(error.to_string(), "autodev restore --abort cannot read it; see docs/design.md");
            }
            _ => {}
        }
    }

    fn state(&mut self, project: &Project) -> crate::Result<()> {
        match StateRecord::load(project.state()) {
            Ok(record) if matches!(record.state, RunState::Running | RunState::Waiting) => {
                if !project.state().run_is_on().map_err(crate::Error::from)? {
                    self.add("the state says that a run is on, but none is", "autodev status");
                }
            }
            Ok(_) => {}
            Err(error) => {
                self.add(
                    error.to_string(),
                    format!("mv {0} {0}.damaged", project.state().file("state.json").display()),
                );
            }
        }
        match Counters::load(project.state(), project.root()) {
            Ok(counters) if !counters.belongs_to(project.root()) => {
                self.add("the state was made for a folder that was somewhere else", "autodev doctor --adopt");
            }
            Ok(_) => {}
            Err(error) => self
                .add(error.to_string(), format!("mv {0} {0}.damaged", project.state().file("project.json").display())),
        }
        // While a run is on, its participants are where they belong.
        let run_is_on = project.state().run_is_on().map_err(crate::Error::from)?;
        let survivors = if run_is_on { Vec::new() } else { find_by_state_folder(project.state().path())? };
        for survivor in survivors {
            self.add(format!("{survivor} of an earlier run is still at work"), format!("kill {}", survivor.pid));
        }
        Ok(())
    }
}
