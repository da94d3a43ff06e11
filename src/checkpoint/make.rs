//! Making a checkpoint: capture, commit on the current branch, a ref and an entry.
//!
//! The user's index becomes the commit's, under its own lock; where that flattens a split between staged and
//! unstaged, both sides are held under `u/<n>` first. The branch moves by compare-and-swap in one set with
//! the ref of the entry; the entry is written last. No hook runs, nothing is signed.

use super::book::Book;
use super::error::{Error, Result};
use super::outcome::Made;
use crate::git::{Head, RefUpdate, Repository, short_name};
use crate::state::{
    Checkpoint, CheckpointId, CheckpointKind, HeadRecord, Held, IndexGoal, OperationKind, OperationRecord, VERSION,
};
use crate::workspace::{
    Begun, Captured, Change, Hold, Plan, Project, UserIndex, capture, has_marks, hold, index_tree, ref_records,
    require_no_conflict, write_record,
};
use gix::ObjectId;
use serde_json::{Value, json};

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
    let begun = project.begin(project.lock()?, "a checkpoint", UserIndex::Replaced)?;
    let mut book = Book::open(project)?;
    refuse_operation(repository)?;
    let captured = capture(repository, project.state(), &project.scope())?;
    require_no_conflict(&captured)?;
    if !captured.is_changed() {
        return entry_for_head(project, begun, &mut book, request, &captured, clean);
    }
    let parents: Vec<ObjectId> = captured.head.commit_id().into_iter().collect();
    let message = format!("autodev: {}\n", request.label);
    let commit_id = repository.write_commit(captured.tree_id, &parents, &message, project.signature())?;
    let (id, number) = book.next_of_both()?;
    let checkpoint = entry(project, id, request, &captured, commit_id);
    let hold = hold_before(project, number, &captured, commit_id)?;
    let moves = vec![RefUpdate::head(&captured.head, commit_id)];
    let what = format!("checkpoint {}", checkpoint.id);
    let change = Change {
        plan: Plan::of_nothing(&captured),
        operation: Some(operation(project, &captured, &hold, OperationKind::Checkpoint, commit_id, &moves, &what)),
        hold,
        holding: vec![write_record(project, &checkpoint)?],
        moves,
        index: IndexGoal::Work { tree: captured.tree_id.to_string() },
        raw_after: Vec::new(),
        entries: vec![checkpoint.clone()],
        memory: None,
        rests: false,
        event: event(&checkpoint),
    };
    begun.carry_out(&captured, &change)?;
    Ok(Made::New(checkpoint))
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
    begun: Begun<'_>,
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
    let checkpoint = entry(project, book.next_id()?, request, captured, commit_id);
    let change = Change {
        plan: Plan::of_nothing(captured),
        hold: Hold::by_others(0, Held::default()),
        holding: vec![write_record(project, &checkpoint)?],
        moves: Vec::new(),
        index: IndexGoal::Keep,
        raw_after: Vec::new(),
        entries: vec![checkpoint.clone()],
        operation: None,
        memory: None,
        rests: false,
        event: event(&checkpoint),
    };
    begun.carry_out(captured, &change)?;
    Ok(Made::New(checkpoint))
}

fn entry(
    project: &Project,
    id: CheckpointId,
    request: &NewCheckpoint,
    captured: &Captured,
    commit_id: ObjectId,
) -> Checkpoint {
    Checkpoint {
        id,
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
    }
}

/// Returns the name of the branch that HEAD is on, without `refs/heads/`.
pub(super) fn short_branch(head: &Head) -> Option<String> {
    head.branch().map(|name| short_name(name).to_owned())
}

/// Says where the state before a checkpoint is held: by the commit and its parent, or, where the commit flattens
/// what was staged, by a pair of its own.
fn hold_before(project: &Project, number: u64, captured: &Captured, commit_id: ObjectId) -> Result<Hold> {
    let repository = project.repository()?;
    let staged = index_tree(repository, project.state(), captured)?;
    let index = if staged == captured.tree_id {
        Some(commit_id)
    } else if staged == captured.head_tree_id {
        captured.head.commit_id()
    } else {
        None
    };
    let empty = staged == repository.empty_tree() && captured.head.commit_id().is_none();
    if (index.is_none() && !empty) || has_marks(captured) {
        return Ok(hold(project, captured, None, &[], number)?);
    }
    let held = Held { work: Some(commit_id.to_string()), index: index.map(|id| id.to_string()), raw: None };
    Ok(Hold::by_others(number, held))
}

/// Describes an operation: what it replaced, where that is held, and how HEAD and branches moved.
pub(super) fn operation(
    project: &Project,
    captured: &Captured,
    hold: &Hold,
    operation: OperationKind,
    to: ObjectId,
    moves: &[RefUpdate],
    what: &str,
) -> OperationRecord {
    OperationRecord {
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
        moves: ref_records(moves),
        what: what.to_owned(),
        of: None,
    }
}

fn event(checkpoint: &Checkpoint) -> (&'static str, Value) {
    let fields = json!({"id": checkpoint.id, "kind": checkpoint.kind, "commit": checkpoint.commit.to_string()});
    ("checkpoint_made", fields)
}

/// Returns HEAD's commit and its tree.
pub(crate) fn committed_tree(project: &Project) -> Result<(Option<ObjectId>, ObjectId)> {
    let repository = project.repository()?;
    let commit_id = repository.head()?.commit_id();
    Ok((commit_id, repository.tree_of_maybe(commit_id)?))
}

/// Returns HEAD's commit and the tree of what is there now, for a run to see whether work was done.
pub(crate) fn current_tree(project: &Project) -> Result<(Head, ObjectId)> {
    let _lock = project.lock_and_recover()?;
    let captured = capture(project.repository()?, project.state(), &project.scope())?;
    Ok((captured.head, captured.tree_id))
}
