//! Gives everything back after a step of a change failed: the work tree path by path, refs, index, ledger.
//!
//! Where this works, the project is as it was before the change. Where it does not, the intent stays, and the
//! error says what is where.

use super::change::Change;
use super::error::{Error, Result};
use super::project::Project;
use super::refs::{Way, move_all, take_back};
use super::swap::{Swap, discard_leftovers};
use crate::fs::FileIdentity;
use crate::state::{BEFORE, ChangeRecord, Intent};

/// Gives everything back; the error says whether that worked.
pub(super) fn give_back(
    project: &Project,
    change: &Change,
    swap: Option<&mut Swap>,
    intent: &Intent,
    reason: &Error,
) -> Error {
    let held = format!("{}u/{}", project.ref_prefix(), change.hold.number);
    if let Error::NotPutBack { reason, path } = reason {
        // What was moved aside stays there for the next command.
        return Error::NotGivenBack { reason: reason.clone(), second: super::error::show(path), held };
    }
    let reason = reason.to_string();
    match try_give_back(project, swap, intent) {
        Ok(()) => Error::GivenBack { reason },
        Err(second) => Error::NotGivenBack { reason, second: second.to_string(), held },
    }
}

fn try_give_back(project: &Project, swap: Option<&mut Swap>, intent: &Intent) -> Result<()> {
    let repository = project.repository()?;
    if let Some(swap) = swap {
        swap.put_back(repository)?;
    }
    let record = intent.change.as_ref().ok_or(Error::NoIntent)?;
    discard_leftovers(project)?;
    give_git_back(project, intent, record)
}

/// Moves refs back, puts the index of before in place, takes entries out, and lets go what holds.
pub(super) fn give_git_back(project: &Project, intent: &Intent, record: &ChangeRecord) -> Result<()> {
    let (repository, state, signature) = (project.repository()?, project.state(), project.signature());
    move_all(repository, &record.moves, Way::Back, "autodev: given back", signature)?;
    let index = FileIdentity::of(&repository.index_path());
    if intent.lock.is_some() && index == intent.lock {
        let lock = repository.lock_index()?;
        let before = state.file(BEFORE);
        if before.exists() {
            lock.prepare(&before)?;
            lock.publish()?;
        } else {
            crate::fs::remove_file(&repository.index_path())?;
        }
    }
    super::records::take_out(state, &record.entries)?;
    take_back(repository, &intent.holding, signature)?;
    Intent::remove(state)?;
    Ok(())
}
