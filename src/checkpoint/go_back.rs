//! Going back to a checkpoint, in an order that loses nothing.
//!
//! Look (capture, plan, refuse) → hold (work tree, index, raw bytes, commits that a branch leaves behind) →
//! read back → work tree → compare → index → refs → ledger → state and memory. Until the work tree is touched
//! nothing has changed but refs that hold, which go again when something fails; after that, a failure
//! gives everything back path by path.

mod branches;
mod replaced;

use super::book::Book;
use super::error::{Error, Result};
use super::make::{operation, refuse_operation};
use super::outcome::{PlannedStep, RestorePlan, Restored, escape};
use super::paths::select;
use super::target::{Found, Target, find};
use crate::agent;
use crate::fs::Lock;
use crate::git::{RefUpdate, Repository, short_name};
use crate::state::{Checkpoint, IndexGoal, OperationKind, StateRecord};
use crate::workspace::{
    Begun, Captured, Change, Hold, Keep, Plan, Project, UserIndex, capture, hold, index_tree, plan,
    require_no_conflict, write_record,
};
use gix::ObjectId;
use gix::bstr::BString;
use serde_json::{Value, json};
use std::time::Duration;

/// How long somebody may hold the run's lock who only looks at it.
const BRIEFLY: Duration = Duration::from_millis(500);

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A person; refused while a run is on.
    User,
    /// The run itself, which holds its lock.
    Run,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Where to.
    pub(crate) target: Target,
    /// The paths to bring back, from the root; all where it is empty.
    pub(crate) paths: Vec<BString>,
    /// Who asks.
    pub(crate) caller: Caller,
}

/// What was looked at, and what would be done.
struct Look<'a> {
    project: &'a Project,
    repository: &'a Repository,
    found: Found,
    /// The tip of the branch that the checkpoint was made on.
    tip: Option<ObjectId>,
    captured: Captured,
    plan: Plan,
    staged_tree_id: ObjectId,
    whole: bool,
}

/// Plans without changing anything.
pub(crate) fn plan_to(project: &Project, request: &Request) -> Result<RestorePlan> {
    let (_lock, _run) = lock(project, request.caller)?;
    let book = Book::open(project)?;
    Ok(look(project, &book, request)?.to_plan(request))
}

/// Goes back; with a plan, only if going back is still what was planned.
pub(crate) fn go_back(project: &Project, request: &Request, planned: Option<&RestorePlan>) -> Result<Restored> {
    let (lock, _run) = lock(project, request.caller)?;
    let user_index = if request.paths.is_empty() { UserIndex::Replaced } else { UserIndex::Kept };
    let begun = project.begin(lock, &format!("restore to {}", request.target), user_index)?;
    let mut book = Book::open(project)?;
    let seen = look(project, &book, request)?;
    if planned.is_some_and(|planned| planned.steps != seen.to_plan(request).steps) {
        return Err(Error::PlanIsOld);
    }
    seen.go(begun, &mut book)
}

/// Takes the project, and the run's lock too unless the run itself asks.
///
/// The project first: whoever holds the run's lock then is a run, and not another restore.
pub(super) fn lock(project: &Project, caller: Caller) -> Result<(Lock, Option<Lock>)> {
    if !project.config().checkpoints {
        return Err(Error::Off);
    }
    let environment = project.environment();
    let inside = environment.state.as_deref() == Some(project.state().path());
    if let (Caller::User, true, Some(participant)) = (caller, inside, &environment.participant) {
        return Err(Error::InsideTurn(participant.clone()));
    }
    let lock = project.lock()?;
    let run = match caller {
        Caller::Run => None,
        Caller::User => Some(project.state().lock_run_within(BRIEFLY)?.ok_or(Error::RunIsOn)?),
    };
    refuse_survivor(project)?;
    Ok((lock, run))
}

/// Fails while a process of an earlier run is alive, which may still write.
pub(crate) fn refuse_survivor(project: &Project) -> Result<()> {
    match agent::find_by_state_folder(project.state().path())?.into_iter().next() {
        Some(survivor) => Err(Error::Survivor { pid: survivor.pid, name: survivor.name }),
        None => Ok(()),
    }
}

/// Looks at everything that decides, and refuses what has to be refused; changes nothing.
fn look<'a>(project: &'a Project, book: &Book<'_>, request: &Request) -> Result<Look<'a>> {
    let repository = project.repository()?;
    StateRecord::load(project.state())?.require_writable(project.state())?;
    let found = find(book, &request.target)?;
    if !repository.has_commit(found.commit_id) {
        let commit = found.commit_id.to_hex_with_len(7).to_string();
        return Err(Error::Gone { id: found.name, commit });
    }
    refuse_operation(repository)?;
    let whole = request.paths.is_empty();
    let branch = found.branch.as_deref();
    if let Some(branch) = branch.filter(|_| whole)
        && let Some(place) = repository.checked_out_elsewhere(branch)?
    {
        let branch = short_name(branch).to_owned();
        return Err(Error::CheckedOutElsewhere { branch, place });
    }
    let tip = branch.map(|branch| repository.try_find_ref(branch)).transpose()?.flatten();
    let scope = project.scope();
    let captured = capture(repository, project.state(), &scope)?;
    require_no_conflict(&captured)?;
    let target_tree_id = repository.tree_of(found.commit_id)?;
    let target_tree_id =
        if whole { target_tree_id } else { select(repository, captured.tree_id, target_tree_id, &request.paths)? };
    let plan = plan(repository, &captured, &scope, target_tree_id, Keep::TrackedToo)?;
    let staged_tree_id = index_tree(repository, project.state(), &captured)?;
    Ok(Look { project, repository, found, tip, captured, plan, staged_tree_id, whole })
}

impl Look<'_> {
    fn to_plan(&self, request: &Request) -> RestorePlan {
        RestorePlan {
            request: request.clone(),
            label: self.found.label.clone(),
            commit: self.found.commit_id.to_string(),
            branch: self.found.branch.as_deref().map(|branch| short_name(branch).to_owned()),
            parks: self.captured.is_changed(),
            leaves: self.leaves(),
            steps: self.plan.steps.iter().map(PlannedStep::new).collect(),
        }
    }

    /// Tells whether everything is as the target has it already.
    fn is_there(&self) -> Result<bool> {
        let head = self.captured.head.branch() == self.found.branch.as_deref()
            && self.captured.head.commit_id() == Some(self.found.commit_id);
        let index = self.staged_tree_id == self.repository.tree_of(self.found.commit_id)?;
        Ok(self.plan.steps.is_empty() && (!self.whole || (head && index)))
    }

    fn go(self, begun: Begun<'_>, book: &mut Book<'_>) -> Result<Restored> {
        if self.is_there()? {
            drop(begun);
            self.project.rest()?;
            let note = format!("the tree already was as in {}", self.found.name);
            return Ok(restored(&self.found, None, Vec::new(), vec![note]));
        }
        let hold = hold(self.project, &self.captured, Some(&self.plan), &[], book.next_operation()?)?;
        let (parked, replaced) = self.replaced(book)?;
        let mut holding = replaced
            .iter()
            .map(|checkpoint| write_record(self.project, checkpoint))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        if let Some((branch, commit_id)) = &parked {
            holding.push(RefUpdate::create(format!("refs/heads/{branch}"), *commit_id));
        }
        let what = format!("restore to {}", self.found.name);
        let saved_on = parked.map(|(branch, _)| branch);
        let (kind, moves, index) = if self.whole {
            let tree = self.repository.tree_of(self.found.commit_id)?.to_string();
            (OperationKind::Restore, self.ref_updates(), IndexGoal::Tree { tree })
        } else {
            (OperationKind::RestorePaths, Vec::new(), IndexGoal::Keep)
        };
        let mut notes = self.counts(&hold);
        notes.extend(self.switch_note().filter(|_| self.whole));
        notes.extend(self.leaves());
        let change = Change {
            operation: Some(operation(self.project, &self.captured, &hold, kind, self.found.commit_id, &moves, &what)),
            plan: self.plan,
            hold,
            holding,
            moves,
            index,
            raw_after: Vec::new(),
            entries: replaced.clone(),
            memory: Some(memory_line(self.project, &self.found, self.whole, saved_on.as_deref())),
            rests: true,
            event: ("restored", event_fields(&self.found, saved_on.as_deref(), &replaced)),
        };
        notes.extend(begun.carry_out(&self.captured, &change)?);
        Ok(restored(&self.found, saved_on, replaced, notes))
    }

    /// Says what was written and removed, and what was set aside.
    fn counts(&self, hold: &Hold) -> Vec<String> {
        let removed = self.plan.steps.iter().filter(|step| step.change.after().is_none()).count();
        let written = self.plan.steps.len() - removed;
        let place = self.project.held_at(hold.number);
        let mut notes = vec![format!("{} written, {} removed", files(written), files(removed))];
        for path in &self.plan.kept {
            let path = crate::workspace::show(path);
            notes.push(format!("{path} stays on disk: the checkpoint's rules ignore it, or it looks like a secret"));
        }
        for path in &self.plan.in_the_way {
            let path = crate::workspace::show(path);
            notes.push(format!("{path} was ignored and in the way; its bytes are held by {place}/raw"));
        }
        if self.staged_tree_id != self.captured.head_tree_id && self.staged_tree_id != self.captured.tree_id {
            notes.push(format!("what was staged is held by {place}/index"));
        }
        notes
    }
}

fn event_fields(found: &Found, saved_on: Option<&str>, replaced: &[Checkpoint]) -> Value {
    let replaced: Vec<_> = replaced.iter().map(|checkpoint| checkpoint.id).collect();
    json!({"to": found.name, "commit": found.commit_id.to_string(), "saved_on": saved_on, "replaced": replaced})
}

fn memory_line(project: &Project, found: &Found, whole: bool, saved_on: Option<&str>) -> String {
    let what = if whole { "the code" } else { "some files" };
    let saved = saved_on.map_or_else(String::new, |branch| format!("; what was there is on the branch {branch}"));
    format!(
        "RESTORE: {} {what} went back to \"{}\" ({}){saved}",
        crate::clock::rfc3339(project.clock().now()),
        escape(&found.label),
        found.commit_id.to_hex_with_len(7),
    )
}

fn restored(found: &Found, saved_on: Option<String>, replaced: Vec<Checkpoint>, notes: Vec<String>) -> Restored {
    Restored { label: found.label.clone(), commit: found.commit_id.to_string(), saved_on, replaced, notes }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
