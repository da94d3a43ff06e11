//! Making a checkpoint: capture, commit on the current branch, a ref and an entry.
//!
//! The user's index becomes the commit's, under its own lock; where that flattens a split between staged and
//! unstaged, both sides are held under `u/<n>` first. The branch moves by compare-and-swap in one set with
//! the ref of the entry; the entry is written last. No hook runs, nothing is signed.

use super::book::Book;
use super::error::{Error, Result};
use super::outcome::Made;
use crate::git::{Head, IndexLock, RefUpdate, Repository, Signature};
use crate::state::{Checkpoint, CheckpointKind, HeadRecord, OperationKind, OperationRecord, VERSION, journal};
use crate::workspace::{Captured, Hold, Project, capture, hold, index_tree, require_no_conflict};
use gix::ObjectId;
use serde_json::json;

/// What is known about a checkpoint that is to be made.
#[derive(Debug, Clone)]
pub(crate) struct NewCheckpoint {
    /// Why it is made.
    pub(crate) kind: CheckpointKind,
    /// One line for people.
    pub(crate) label: String,
    /// The run.
    pub(crate) run: Option<String>,
    /// The turn.
    pub(crate) turn: Option<String>,
    /// Who did the work.
    pub(crate) participant: Option<String>,
    /// Whether verify commands passed.
    pub(crate) verified: Option<bool>,
}

impl NewCheckpoint {
    /// A checkpoint of which only kind and label are known; of the label, its first line.
    pub(crate) fn new(kind: CheckpointKind, label: &str) -> Self {
        let label = label.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let label = if label.is_empty() { "checkpoint" } else { label }.to_owned();
        Self { kind, label, run: None, turn: None, participant: None, verified: None }
    }
}

/// What to do when nothing has changed since HEAD's commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clean {
    /// Make nothing.
    Nothing,
    /// Return the entry that holds HEAD, or make one.
    EntryIfMissing,
    /// Make an entry for HEAD: the work was committed by whoever did it.
    Entry,
}

/// Makes a checkpoint of what is there now.
pub(crate) fn make(project: &Project, request: &NewCheckpoint, clean: Clean) -> Result<Made> {
    let repository = project.repository()?;
    if !project.config().checkpoints {
        return Err(Error::Off);
    }
    let _lock = project.lock()?;
    let mut book = Book::open(project)?;
    refuse_operation(repository)?;
    let index_lock = repository.lock_index()?;
    let captured = capture(repository, project.state(), &project.scope())?;
    require_no_conflict(&captured)?;
    if !captured.is_changed() {
        drop(index_lock);
        return entry_for_head(project, &mut book, request, &captured, clean);
    }
    let held = hold_split(project, &mut book, &captured)?;
    let parents: Vec<ObjectId> = captured.head.commit_id().into_iter().collect();
    let message = format!("autodev: {}\n", request.label);
    let commit_id = repository.write_commit(captured.tree_id, &parents, &message, project.signature())?;
    let checkpoint = entry(project, &mut book, request, &captured, commit_id)?;
    let mut refs = vec![RefUpdate::head(captured.head.commit_id(), commit_id), book.record(&checkpoint)?];
    refs.extend(held.iter().flat_map(|hold| hold.refs.clone()));
    index_lock.prepare(captured.index.path())?;
    publish(repository, index_lock, &refs, message.trim_end(), project.signature())?;
    book.add(std::slice::from_ref(&checkpoint))?;
    if let Some(hold) = held {
        note_operation(project, &captured, &hold, OperationKind::Checkpoint, commit_id)?;
    }
    note(project, &checkpoint)?;
    Ok(Made::New(checkpoint))
}

/// Moves refs and then puts the prepared index in place; the refs go back where that fails.
pub(super) fn publish(
    repository: &Repository,
    lock: IndexLock,
    refs: &[RefUpdate],
    message: &str,
    signature: Signature,
) -> Result<()> {
    repository.update_refs(refs, message, signature)?;
    if let Err(error) = lock.publish() {
        let back: Vec<RefUpdate> = refs.iter().map(RefUpdate::reversed).collect();
        repository.update_refs(&back, "autodev: taken back", signature)?;
        return Err(error.into());
    }
    Ok(())
}

/// Fails while the user is in the middle of a merge or the like.
pub(super) fn refuse_operation(repository: &Repository) -> Result<()> {
    match repository.operation() {
        Some(operation) => Err(Error::Operation { name: operation.name, ended_by: operation.ended_by }),
        None => Ok(()),
    }
}

fn entry_for_head(
    project: &Project,
    book: &mut Book<'_>,
    request: &NewCheckpoint,
    captured: &Captured,
    clean: Clean,
) -> Result<Made> {
    let Some(commit_id) = captured.head.commit_id() else {
        return if clean == Clean::Nothing { Ok(Made::Nothing) } else { Err(Error::Nothing) };
    };
    match clean {
        Clean::Nothing => return Ok(Made::Nothing),
        Clean::EntryIfMissing => {
            if let Some(there) = book.holding(commit_id) {
                return Ok(Made::Unchanged(there.clone()));
            }
        }
        Clean::Entry => {}
    }
    let checkpoint = entry(project, book, request, captured, commit_id)?;
    let record = book.record(&checkpoint)?;
    project.repository()?.update_refs(&[record], "autodev: record", project.signature())?;
    book.add(std::slice::from_ref(&checkpoint))?;
    note(project, &checkpoint)?;
    Ok(Made::New(checkpoint))
}

fn entry(
    project: &Project,
    book: &mut Book<'_>,
    request: &NewCheckpoint,
    captured: &Captured,
    commit_id: ObjectId,
) -> Result<Checkpoint> {
    Ok(Checkpoint {
        id: book.next_id()?,
        commit: commit_id,
        label: request.label.clone(),
        kind: request.kind,
        time: project.clock().now(),
        task: None,
        run: request.run.clone(),
        turn: request.turn.clone(),
        participant: request.participant.clone(),
        branch: short_branch(&captured.head),
        verified: request.verified,
        skipped: captured.skipped.clone(),
        extra: serde_json::Map::new(),
    })
}

/// Returns the name of the branch that HEAD is on, without `refs/heads/`.
pub(super) fn short_branch(head: &Head) -> Option<String> {
    head.branch().map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
}

/// Holds the pair of work tree and index where the commit would flatten what was staged.
fn hold_split(project: &Project, book: &mut Book<'_>, captured: &Captured) -> Result<Option<Hold>> {
    let repository = project.repository()?;
    let staged = index_tree(repository, project.state(), captured)?;
    if staged == captured.head_tree_id || staged == captured.tree_id {
        return Ok(None);
    }
    let number = book.next_operation()?;
    let scope = project.scope();
    Ok(Some(hold(repository, project.state(), &scope, captured, None, number, project.signature())?))
}

/// Writes down what an operation replaced and where that is held.
pub(super) fn note_operation(
    project: &Project,
    captured: &Captured,
    hold: &Hold,
    operation: OperationKind,
    to: ObjectId,
) -> Result<()> {
    let record = OperationRecord {
        version: VERSION,
        n: hold.number,
        time: project.clock().now(),
        operation,
        from: HeadRecord {
            branch: captured.head.branch().map(str::to_owned),
            commit: captured.head.commit_id().map(|id| id.to_string()),
        },
        to: to.to_string(),
        held: hold.held.clone(),
    };
    journal::append_as(&project.state().file("operations.jsonl"), &record)?;
    Ok(())
}

fn note(project: &Project, checkpoint: &Checkpoint) -> Result<()> {
    let fields = json!({"id": checkpoint.id, "kind": checkpoint.kind, "commit": checkpoint.commit.to_string()});
    project.event("checkpoint_made", fields)?;
    Ok(())
}

/// Returns HEAD's commit and the tree of what is there now, for a run to see whether work was done.
pub(crate) fn current_tree(project: &Project) -> Result<(Head, ObjectId)> {
    let _lock = project.lock()?;
    let captured = capture(project.repository()?, project.state(), &project.scope())?;
    Ok((captured.head, captured.tree_id))
}
