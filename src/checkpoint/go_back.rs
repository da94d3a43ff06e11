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
use super::make::{note_operation, publish, refuse_operation};
use super::outcome::{PlannedStep, RestorePlan, Restored, escape};
use super::paths::select;
use super::target::{Found, Target, find};
use crate::agent;
use crate::fs::Lock;
use crate::git::{IndexLock, RefUpdate, Repository};
use crate::state::{Checkpoint, OperationKind, StateRecord};
use crate::workspace::{
    Captured, Hold, OURS, Plan, Project, ScratchIndex, bring_over, capture, compare, give_back_because, hold,
    index_tree, plan, read_back, require_no_conflict,
};
use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryMode;
use serde_json::json;

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
    index_lock: Option<IndexLock>,
}

/// Plans without changing anything.
pub(crate) fn plan_to(project: &Project, request: &Request) -> Result<RestorePlan> {
    let (_lock, _run) = lock(project, request.caller)?;
    let book = Book::open(project)?;
    let look = look(project, &book, request, None)?;
    Ok(look.to_plan(request))
}

/// Goes back; with a plan, only if going back is still what was planned.
pub(crate) fn go_back(project: &Project, request: &Request, planned: Option<&RestorePlan>) -> Result<Restored> {
    let (_lock, _run) = lock(project, request.caller)?;
    let mut book = Book::open(project)?;
    let index_lock =
        request.paths.is_empty().then(|| project.repository()?.lock_index().map_err(Error::from)).transpose()?;
    let look = look(project, &book, request, index_lock)?;
    if planned.is_some_and(|planned| planned.steps != look.to_plan(request).steps) {
        return Err(Error::PlanIsOld);
    }
    look.go(&mut book)
}

/// Takes the project, and the run's lock too unless the run itself asks.
fn lock(project: &Project, caller: Caller) -> Result<(Lock, Option<Lock>)> {
    if !project.config().checkpoints {
        return Err(Error::Off);
    }
    let environment = project.environment();
    let inside = environment.state.as_deref() == Some(project.state().path());
    if let (Caller::User, true, Some(participant)) = (caller, inside, &environment.participant) {
        return Err(Error::InsideTurn(participant.clone()));
    }
    let run = match caller {
        Caller::Run => None,
        Caller::User => Some(project.state().try_lock_run()?.ok_or(Error::RunIsOn)?),
    };
    if let Some(survivor) = agent::find_by_state_folder(project.state().path()).into_iter().next() {
        return Err(Error::Survivor { pid: survivor.pid, name: survivor.name });
    }
    Ok((project.lock()?, run))
}

/// Looks at everything that decides, and refuses what has to be refused; changes nothing.
fn look<'a>(
    project: &'a Project,
    book: &Book<'_>,
    request: &Request,
    index_lock: Option<IndexLock>,
) -> Result<Look<'a>> {
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
        let branch = branch.trim_start_matches("refs/heads/").to_owned();
        return Err(Error::CheckedOutElsewhere { branch, place });
    }
    let tip = branch.map(|branch| repository.try_find_ref(branch)).transpose()?.flatten();
    let scope = project.scope();
    let captured = capture(repository, project.state(), &scope)?;
    require_no_conflict(&captured)?;
    let target_tree_id = repository.tree_of(found.commit_id)?;
    let target_tree_id =
        if whole { target_tree_id } else { select(repository, captured.tree_id, target_tree_id, &request.paths)? };
    let plan = plan(repository, &captured, &scope, target_tree_id)?;
    let staged_tree_id = index_tree(repository, project.state(), &captured)?;
    Ok(Look { project, repository, found, tip, captured, plan, staged_tree_id, whole, index_lock })
}

impl Look<'_> {
    fn to_plan(&self, request: &Request) -> RestorePlan {
        RestorePlan {
            request: request.clone(),
            label: self.found.label.clone(),
            commit: self.found.commit_id.to_string(),
            branch: self.found.branch.as_ref().map(|branch| branch.trim_start_matches("refs/heads/").to_owned()),
            parks: self.captured.is_changed(),
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

    fn go(mut self, book: &mut Book<'_>) -> Result<Restored> {
        if self.is_there()? {
            self.finish_state()?;
            return Ok(self.restored(
                None,
                Vec::new(),
                vec![format!("the tree already was as in {}", self.found.name)],
            ));
        }
        let number = book.next_operation()?;
        let (signature, scope) = (self.project.signature(), self.project.scope());
        let state = self.project.state();
        let hold = hold(self.repository, state, &scope, &self.captured, Some(&self.plan), number, signature)?;
        let (parked, replaced) = self.replaced(book)?;
        let mut holding = hold.refs.clone();
        for checkpoint in &replaced {
            holding.push(book.record(checkpoint)?);
        }
        if let Some((branch, commit_id)) = &parked {
            holding.push(RefUpdate::create(format!("refs/heads/{branch}"), *commit_id));
        }
        self.repository.update_refs(
            &holding,
            &format!("autodev: hold before restore to {}", self.found.name),
            signature,
        )?;
        match self.change(&hold) {
            Ok(mut notes) => {
                notes.splice(0..0, self.counts(&hold));
                let kind = if self.whole { OperationKind::Restore } else { OperationKind::RestorePaths };
                let written = [
                    book.add(&replaced),
                    note_operation(self.project, &self.captured, &hold, kind, self.found.commit_id),
                    self.finish(parked.as_ref().map(|(branch, _)| branch.as_str()), &replaced),
                    self.finish_state(),
                ];
                // The code is back and what was there is held by refs: a record that fails now undoes nothing.
                let failed = written.into_iter().filter_map(Result::err);
                notes.extend(failed.map(|error| format!("not everything could be written down: {error}")));
                Ok(self.restored(parked.map(|(branch, _)| branch), replaced, notes))
            }
            Err(error) => {
                // Nothing was replaced, so nothing needs holding, unless not everything could be given back.
                let given_back = !matches!(error, Error::Workspace(crate::workspace::Error::NotGivenBack { .. }));
                if given_back && self.branches_are_as_before() {
                    let release: Vec<_> = holding.iter().map(RefUpdate::reversed).collect();
                    let _ = self.repository.update_refs(&release, "autodev: nothing was restored", signature);
                }
                Err(error)
            }
        }
    }

    fn branches_are_as_before(&self) -> bool {
        let head = self.repository.head().is_ok_and(|head| head == self.captured.head);
        let branch = self.found.branch.as_deref();
        head && branch.is_none_or(|branch| self.repository.try_find_ref(branch).is_ok_and(|tip| tip == self.tip))
    }

    /// Reads back what is held, then changes work tree, index and refs; gives everything back on failure.
    fn change(&mut self, hold: &Hold) -> Result<Vec<String>> {
        read_back(self.repository, &self.captured, &self.plan, hold)?;
        let next = bring_over(self.repository, &self.captured, &self.plan, hold)?;
        let lock = self.index_lock.take();
        match self.change_git(&next, lock) {
            Ok(notes) => Ok(notes),
            Err(error) => {
                let reason = error.to_string();
                Err(give_back_because(self.repository, &self.captured, &self.plan, hold, &reason).into())
            }
        }
    }

    fn change_git(&self, next: &ScratchIndex, lock: Option<IndexLock>) -> Result<Vec<String>> {
        if self.whole {
            self.take_ours_from_target(next)?;
        }
        let mut notes = compare(self.repository, &self.plan, next)?;
        let Some(lock) = lock else { return Ok(notes) };
        lock.prepare(next.path())?;
        let message = format!("autodev: restore to {}", self.found.name);
        publish(self.repository, lock, &self.ref_updates(), &message, self.project.signature())?;
        notes.extend(self.switch_note());
        Ok(notes)
    }

    /// The index says of `.autodev/` what the commit says, although the files there stay as they are.
    fn take_ours_from_target(&self, next: &ScratchIndex) -> Result<()> {
        let (repository, empty) = (self.repository, self.repository.empty_tree());
        let target = repository.tree_of(self.found.commit_id)?;
        let ours = repository.with_root_entry_of(empty, OURS, target)?;
        let wanted: Vec<_> = repository
            .changes(empty, ours)?
            .into_iter()
            .filter_map(|step| {
                step.change.after().map(|(kind, id)| (step.path, u32::from(EntryMode::from(kind).value()), id))
            })
            .collect();
        let index = self.captured.user_index.as_ref();
        let there: Vec<_> = index.into_iter().flat_map(|index| index.entries_below(OURS)).collect();
        let same = there.len() == wanted.len()
            && there
                .iter()
                .zip(&wanted)
                .all(|(entry, (path, mode, id))| entry.path == path && entry.mode.bits() == *mode && entry.id == *id);
        if !same {
            let gone: Vec<BString> = there.iter().map(|entry| entry.path.to_owned()).collect();
            repository.remove_from_index(next.path(), &gone)?;
            repository.set_in_index(next.path(), &wanted)?;
        }
        Ok(())
    }

    /// Says what was written and removed, and what was set aside.
    fn counts(&self, hold: &Hold) -> Vec<String> {
        let removed = self.plan.steps.iter().filter(|step| step.change.after().is_none()).count();
        let written = self.plan.steps.len() - removed;
        let mut notes = vec![format!("{} written, {} removed", files(written), files(removed))];
        for path in &self.plan.in_the_way {
            let path = crate::workspace::show(path);
            notes.push(format!(
                "{path} was ignored and in the way; its bytes are held by refs/autodev/{}/u/{}/raw",
                self.repository.key(),
                hold.number
            ));
        }
        if self.staged_tree_id != self.captured.head_tree_id && self.staged_tree_id != self.captured.tree_id {
            notes.push(format!(
                "what was staged is held by refs/autodev/{}/u/{}/index",
                self.repository.key(),
                hold.number
            ));
        }
        notes
    }

    fn finish(&self, saved_on: Option<&str>, replaced: &[Checkpoint]) -> Result<()> {
        let fields = json!({
            "to": self.found.name, "commit": self.found.commit_id.to_string(), "saved_on": saved_on,
            "replaced": replaced.iter().map(|checkpoint| checkpoint.id).collect::<Vec<_>>(),
        });
        self.project.event("restored", fields)?;
        let paths = if self.whole { "the code" } else { "some files" };
        let saved = saved_on.map_or_else(String::new, |branch| format!("; what was there is on the branch {branch}"));
        let line = format!(
            "RESTORE: {} {paths} went back to \"{}\" ({}){saved}",
            crate::clock::rfc3339(self.project.clock().now()),
            escape(&self.found.label),
            self.found.commit_id.to_hex_with_len(7),
        );
        super::memory::append_line(self.project, &line)
    }

    fn finish_state(&self) -> Result<()> {
        let mut record = StateRecord::load(self.project.state())?;
        record.rest(None);
        Ok(record.save(self.project.state())?)
    }

    fn restored(&self, saved_on: Option<String>, replaced: Vec<Checkpoint>, notes: Vec<String>) -> Restored {
        Restored {
            label: self.found.label.clone(),
            commit: self.found.commit_id.to_string(),
            saved_on,
            replaced,
            notes,
        }
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
