//! Undo and redo: back to exactly the state before an operation, dirty files dirty and staged files staged.
//!
//! Every operation holds the state that it replaced, an undo too, so that a redo is an undo of an undo and any
//! number of steps can be gone either way. The stack is read from `operations.jsonl`.

use super::book::Book;
use super::error::{Error, Result};
use super::go_back::{Caller, lock};
use super::make::{operation, refuse_operation};
use crate::git::{Expect, RefUpdate, Repository, Target, short_name};
use crate::state::{Held, IndexGoal, OperationKind, OperationRecord};
use crate::workspace::{
    Captured, Change, Keep, Plan, Project, UserIndex, capture, held_raw, hold, operations, plan, require_no_conflict,
};
use gix::ObjectId;
use gix::bstr::BString;
use serde_json::json;

/// Which way to go on the stack of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the state before the newest operation that is not undone.
    Undo,
    /// To the state before the newest undo that is not redone.
    Redo,
}

impl Step {
    fn word(self) -> &'static str {
        match self {
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }
}

/// What an undo or redo did.
#[derive(Debug, Clone)]
pub(crate) struct Stepped {
    /// Which way.
    pub(crate) step: Step,
    /// What the operation was.
    pub(crate) what: String,
    /// What was set aside, for people.
    pub(crate) aside: String,
    /// What else is worth saying.
    pub(crate) notes: Vec<String>,
}

impl std::fmt::Display for Stepped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.step == Step::Undo { "Undid" } else { "Redid" };
        write!(f, "{word} {}", self.what)
    }
}

/// Goes one step; `agree` hears what will be set aside and may refuse, in which case nothing changes.
pub(crate) fn step(project: &Project, step: Step, agree: &mut dyn FnMut(&str) -> bool) -> Result<Option<Stepped>> {
    let (project_lock, _run) = lock(project, Caller::User)?;
    let begun = project.begin(project_lock, step.word(), UserIndex::Replaced)?;
    let mut book = Book::open(project)?;
    let repository = project.repository()?;
    refuse_operation(repository)?;
    let of = find(&operations(project.state())?, step)?;
    let captured = capture(repository, project.state(), &project.scope())?;
    require_no_conflict(&captured)?;
    let tree_id = repository.tree_of_maybe(id_of(&of, of.held.work.as_ref())?)?;
    let plan = plan(repository, &captured, &project.scope(), tree_id, Keep::Untracked)?;
    let what = if of.what.is_empty() { format!("operation {}", of.n) } else { of.what.clone() };
    let aside = set_aside(repository, &captured, &of, &plan, step)?;
    if !agree(&aside) {
        return Ok(None);
    }
    let raw_after = match id_of(&of, of.held.raw.as_ref())? {
        Some(commit_id) => held_raw(repository, commit_id)?,
        None => Vec::new(),
    };
    let number = book.next_operation()?;
    let given: Vec<BString> = raw_after.iter().map(|file| file.path.clone()).collect();
    let hold = hold(project, &captured, Some(&plan), &given, number)?;
    let (moves, tips) = moves(repository, &captured, &of)?;
    let place = |k: usize| format!("{}/tip-{k}", project.held_at(number));
    let holding = tips.iter().enumerate().map(|(k, tip)| RefUpdate::create(place(k + 1), *tip)).collect();
    let kind = if step == Step::Undo { OperationKind::Undo } else { OperationKind::Redo };
    let to = of.from.commit.clone().unwrap_or_default();
    let mut record = operation(project, &captured, &hold, kind, captured.head_tree_id, &moves, "");
    record.to = to;
    record.of = Some(of.n);
    record.what.clone_from(&what);
    let change = Change {
        plan,
        hold,
        holding,
        moves,
        index: index_goal(repository, &of.held),
        raw_after,
        entries: Vec::new(),
        operation: Some(record),
        memory: Some(memory_line(project, step, &what)),
        rests: true,
        event: (if step == Step::Undo { "undone" } else { "redone" }, json!({"operation": of.n, "what": what})),
    };
    let notes = begun.carry_out(&captured, &change)?;
    Ok(Some(Stepped { step, what, aside, notes }))
}

/// Finds the operation whose state before is to come back.
fn find(operations: &[OperationRecord], step: Step) -> Result<OperationRecord> {
    let (mut done, mut undone): (Vec<&OperationRecord>, Vec<&OperationRecord>) = (Vec::new(), Vec::new());
    for operation in operations {
        match operation.operation {
            OperationKind::Undo => {
                done.retain(|there| Some(there.n) != operation.of);
                undone.push(operation);
            }
            OperationKind::Redo => {
                undone.retain(|there| Some(there.n) != operation.of);
                done.push(operation);
            }
            OperationKind::Checkpoint | OperationKind::Restore | OperationKind::RestorePaths => {
                undone.clear();
                done.push(operation);
            }
        }
    }
    let found = match step {
        Step::Undo => done.last(),
        Step::Redo => undone.last(),
    };
    found.map(|operation| (*operation).clone()).ok_or(Error::NothingToStep(step.word()))
}

/// Reads an id as it stands in the record of an operation.
fn id_of(of: &OperationRecord, text: Option<&String>) -> Result<Option<ObjectId>> {
    let read = |text: &String| ObjectId::from_hex(text.as_bytes()).map_err(|_| Error::Unreadable(of.n));
    text.map(read).transpose()
}

fn index_goal(repository: &Repository, held: &Held) -> IndexGoal {
    match &held.index {
        Some(commit) => IndexGoal::Held { commit: commit.clone() },
        None => IndexGoal::Tree { tree: repository.empty_tree().to_string() },
    }
}

/// Says what happened since and will be set aside.
fn set_aside(
    repository: &Repository,
    captured: &Captured,
    of: &OperationRecord,
    plan: &Plan,
    step: Step,
) -> Result<String> {
    let commits = match (captured.head.commit_id(), id_of(of, of.from.commit.as_ref())?) {
        (Some(head), Some(before)) => repository.count_commits(Some(before), head)?,
        (Some(head), None) => repository.count_commits(None, head)?,
        (None, _) => 0,
    };
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let back = if step == Step::Undo { "redo brings them back" } else { "undo brings them back" };
    Ok(format!("{} and {} since then; {back}", count(commits, "commit"), count(plan.steps.len(), "file")))
}

/// How HEAD and branches move to where they were before an operation, and which tips need a ref for that.
fn moves(
    repository: &Repository,
    captured: &Captured,
    of: &OperationRecord,
) -> Result<(Vec<RefUpdate>, Vec<ObjectId>)> {
    let mut wanted: Vec<(String, Option<ObjectId>)> = Vec::new();
    for record in of.moves.iter().filter(|record| record.name != "HEAD") {
        wanted.push((record.name.clone(), id_of(of, record.from.as_ref())?));
    }
    let before = id_of(of, of.from.commit.as_ref())?;
    if let Some(branch) = &of.from.branch {
        wanted.retain(|(name, _)| name != branch);
        wanted.push((branch.clone(), before));
    }
    let (mut moves, mut tips) = (Vec::new(), Vec::new());
    let switch = switch(captured, of, before);
    for (name, to) in wanted {
        let now = repository.try_find_ref(&name)?;
        if now == to {
            continue;
        }
        if let Some(place) = repository.checked_out_elsewhere(&name)? {
            return Err(Error::CheckedOutElsewhere { branch: short_name(&name).to_owned(), place });
        }
        tips.extend(now.filter(|tip| Some(*tip) != captured.head.commit_id()));
        let expect = now.map_or(Expect::Absent, |id| Expect::Value(Target::Commit(id)));
        let through = switch.is_none() && captured.head.branch() == Some(name.as_str());
        moves.push(RefUpdate { name, to: to.map(Target::Commit), expect, through });
    }
    moves.extend(switch);
    Ok((moves, tips))
}

/// How HEAD goes onto the branch, or the commit, that it was at.
fn switch(captured: &Captured, of: &OperationRecord, before: Option<ObjectId>) -> Option<RefUpdate> {
    if captured.head.branch() == of.from.branch.as_deref() && captured.head.branch().is_some() {
        return None;
    }
    let to = match (&of.from.branch, before) {
        (Some(branch), _) => Target::Ref(branch.clone()),
        (None, Some(commit_id)) => Target::Commit(commit_id),
        (None, None) => return None,
    };
    (to != captured.head.target()).then(|| RefUpdate::switch(&captured.head, to))
}

fn memory_line(project: &Project, step: Step, what: &str) -> String {
    let word = step.word().to_uppercase();
    format!("{word}: {} the state before {what} came back", crate::clock::rfc3339(project.clock().now()))
}
