//! Ledger and operations of a change: entering them once, and taking entries out again.

use super::error::{Error, Result};
use super::project::Project;
use crate::git::RefUpdate;
use crate::state::{ChangeRecord, Checkpoint, Ledger, OperationRecord, StateFolder, journal};

/// The file with one line for each operation.
pub(crate) const OPERATIONS: &str = "operations.jsonl";

/// Writes the commit that carries an entry as its message; returns the ref that is to hold it.
pub(crate) fn write_record(project: &Project, checkpoint: &Checkpoint) -> Result<RefUpdate> {
    let repository = project.repository()?;
    let tree_id = repository.tree_of(checkpoint.commit)?;
    let message = serde_json::to_string(checkpoint).map_err(|_| Error::Unwritable { id: checkpoint.id })?;
    let commit_id = repository.write_commit(tree_id, &[checkpoint.commit], &message, project.signature())?;
    Ok(RefUpdate::create(format!("{}c/{}", project.ref_prefix(), checkpoint.id), commit_id))
}

/// Reads all operations, oldest first.
pub(crate) fn operations(state: &StateFolder) -> Result<Vec<OperationRecord>> {
    Ok(journal::read(&state.file(OPERATIONS))?)
}

/// Enters what is not there yet; the operation last, since it says that all is done.
pub(super) fn enter(state: &StateFolder, entries: &[Checkpoint], operation: Option<&OperationRecord>) -> Result<()> {
    let mut ledger = Ledger::load(state)?;
    let missing = |entry: &&Checkpoint| !ledger.checkpoints.iter().any(|there| there.id == entry.id);
    let missing: Vec<Checkpoint> = entries.iter().filter(missing).cloned().collect();
    if !missing.is_empty() {
        ledger.add(&missing);
        ledger.save(state)?;
    }
    if let Some(operation) = operation
        && !is_entered(state, operation)?
    {
        journal::append_as(&state.file(OPERATIONS), operation)?;
    }
    Ok(())
}

fn is_entered(state: &StateFolder, operation: &OperationRecord) -> Result<bool> {
    Ok(operations(state)?.iter().any(|there| there.n == operation.n))
}

/// Tells whether everything that says that a change is done is written down.
pub(super) fn is_complete(state: &StateFolder, record: &ChangeRecord) -> Result<bool> {
    if let Some(operation) = &record.operation {
        return is_entered(state, operation);
    }
    let ledger = Ledger::load(state)?;
    Ok(record.entries.iter().all(|entry| ledger.checkpoints.iter().any(|there| there.id == entry.id)))
}

/// Takes entries out of the ledger again.
pub(super) fn take_out(state: &StateFolder, entries: &[Checkpoint]) -> Result<()> {
    let mut ledger = Ledger::load(state)?;
    let before = ledger.checkpoints.len();
    ledger.checkpoints.retain(|there| !entries.iter().any(|entry| entry.id == there.id));
    if ledger.checkpoints.len() == before { Ok(()) } else { Ok(ledger.save(state)?) }
}
