//! Gives everything back after a step of a change failed: the same files to their places, refs, index, ledger.
//!
//! Where this works, the project is as it was before the change. Where it does not, the intent stays, and the
//! error says what is where.

use super::change::{Change, clear_away, tell};
use super::error::{Error, Result};
use super::project::Project;
use super::records::is_complete;
use super::refs::{Direction, Others, move_all, take_back};
use super::swap::{Swap, discard_leftovers};
use crate::fs::FileIdentity;
use crate::git::IndexLock;
use crate::state::{BEFORE, ChangeRecord, Intent, RefRecord};

/// Gives everything back after a failure; the error says whether that worked. Where everything that says that
/// the change is done is written down already, it is done, and the failure is noted.
pub(super) fn give_back(
    project: &Project,
    change: &Change,
    swap: Option<&mut Swap>,
    intent: &mut Intent,
    reason: &Error,
) -> Result<Vec<String>> {
    let held = project.held_at(change.hold.number);
    if let Error::NotPutBack { reason, path } = reason {
        // What was moved aside stays there for the next command.
        return Err(Error::NotGivenBack { reason: reason.clone(), second: super::error::show(path), held });
    }
    let reason = reason.to_string();
    let record = intent.change.clone().ok_or(Error::NoIntent)?;
    if is_complete(project.state(), &record).unwrap_or(false) {
        let mut notes = vec![format!("done, but it may not outlast a power failure: {reason}")];
        notes.extend(tell(project, &record));
        notes.extend(clear_away(project));
        return Ok(notes);
    }
    // Whoever has to go on with this goes back as well. On a full disk that cannot be said, and need not be.
    intent.back = true;
    let _ = intent.save(project.state());
    Err(match try_give_back(project, swap, intent, &record) {
        Ok(()) => Error::GivenBack { reason },
        Err(second) => Error::NotGivenBack { reason, second: second.to_string(), held },
    })
}

fn try_give_back(project: &Project, swap: Option<&mut Swap>, intent: &mut Intent, record: &ChangeRecord) -> Result<()> {
    if let Some(swap) = swap {
        swap.put_back(project.repository()?)?;
    }
    discard_leftovers(project)?;
    give_git_back(project, intent, record, Holding::Gone)
}

/// Takes the index's lock anew, with its identity in the intent first.
pub(super) fn take_new_lock(project: &Project, intent: &mut Intent) -> Result<IndexLock> {
    let waiting = project.repository()?.prepare_index_lock()?;
    intent.earlier_locks.extend(intent.lock);
    intent.lock = Some(waiting.identity);
    intent.save(project.state())?;
    Ok(waiting.take()?)
}

/// What becomes of the refs that hold the state before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holding {
    /// They go: all of it is back.
    Gone,
    /// They stay: some files are as somebody has made them since.
    Kept,
}

/// Moves refs back, puts the index of before in place, takes entries out, and lets go what holds.
pub(super) fn give_git_back(
    project: &Project,
    intent: &mut Intent,
    record: &ChangeRecord,
    holding: Holding,
) -> Result<()> {
    let (repository, state, signature) = (project.repository()?, project.state(), project.signature());
    // What somebody else has moved since is not ours to move back.
    move_all(repository, &record.moves, Direction::Back, Others::Leave, "autodev: given back", signature)?;
    if intent.made(FileIdentity::of(&repository.index_path())) {
        let lock = take_new_lock(project, intent)?;
        let before = state.file(BEFORE);
        if before.exists() {
            lock.prepare(&before)?;
            lock.publish()?;
        } else {
            crate::fs::remove_file(&repository.index_path())?;
        }
    }
    super::records::take_out(state, &record.entries)?;
    let kept = format!("{}u/", project.ref_prefix());
    let goes = |made: &&RefRecord| holding == Holding::Gone || !made.name.starts_with(&kept);
    take_back(repository, &intent.holding.iter().filter(goes).cloned().collect::<Vec<_>>(), signature)?;
    // A lock that could not be given back is still there.
    for identity in intent.lock.iter().chain(&intent.earlier_locks) {
        repository.adopt_index_lock(*identity).map_or(Ok(()), IndexLock::release)?;
    }
    Intent::remove(state)?;
    Ok(())
}
