//! Recovery: what was cut off is completed, or taken back, from wherever it was cut.
//!
//! The mixed work tree is captured like any other. Every path of the plan must be as before or as after; then
//! the way to the end is a plan of its own and applied like one. A path that is neither (somebody edited it
//! since) is a question for the user: `--continue` and `--abort` leave such paths as they are.

use super::apply::{Trust, bring_over};
use super::capture::{Captured, capture};
use super::change::{Stands, object_id, settle_index, write_down};
use super::error::{Error, Result, show};
use super::give_back::give_git_back;
use super::plan::{Plan, plan};
use super::project::Project;
use super::raw::{RawFile, is_as_held, read_raw};
use super::records::is_entered;
use super::refs::{Way, move_all, require_at_an_end, take_back};
use super::scratch::ScratchIndex;
use super::swap::{Swap, discard_leftovers, settle_leftovers};
use crate::fs::FileIdentity;
use crate::git::{IndexLock, Repository, TreeChange};
use crate::state::{ChangeRecord, Intent, RawRecord};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use std::collections::HashMap;

/// Which end a change that was cut off is brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// It is completed.
    Forward,
    /// It is taken back.
    Back,
}

type Entry = Option<(EntryKind, ObjectId)>;

/// Brings what was cut off to an end; the caller holds the project's lock. Without a wish it is completed
/// where no path of it was edited since. Tells what was done, or `None` where nothing was cut off.
pub(super) fn recover(project: &Project, wish: Option<Direction>) -> Result<Option<String>> {
    let Some(mut intent) = Intent::load(project.state())? else { return Ok(None) };
    let repository = project.repository()?;
    repository.forget_waiting_lock()?;
    let lock = intent.lock.and_then(|identity| repository.adopt_index_lock(identity));
    let Some(record) = intent.change.clone() else {
        take_back(repository, &intent.holding, project.signature())?;
        drop(lock);
        Intent::remove(project.state())?;
        return Ok(Some(format!("{} was cut off before it changed anything", intent.what)));
    };
    if let Some(operation) = &record.operation
        && is_entered(project.state(), operation)?
    {
        drop(lock);
        discard_leftovers(project)?;
        write_down(project, &record)?;
        Intent::remove(project.state())?;
        return Ok(Some(format!("{} was cut off at its very end and is complete", intent.what)));
    }
    require_at_an_end(repository, &record.moves)?;
    settle_leftovers(project)?;
    let captured = capture(repository, project.state(), &project.scope())?;
    let mixed = Mixed::look(repository, &captured, &record)?;
    let direction = match (wish, mixed.edited.is_empty()) {
        (Some(direction), _) => direction,
        (None, true) => Direction::Forward,
        (None, false) => {
            // The lock stays where it is: whoever decides takes it over.
            if let Some(lock) = lock {
                lock.leave();
            }
            return Err(Error::Undecided { what: intent.what, paths: mixed.edited });
        }
    };
    match direction {
        Direction::Forward => forward(project, &captured, &mixed, &mut intent, &record, lock)?,
        Direction::Back => back(project, &captured, &mixed, &intent, &record, lock)?,
    }
    let done = if direction == Direction::Forward { "completed" } else { "taken back" };
    let edited = mixed.edited.iter().map(show).collect::<Vec<_>>().join(", ");
    let left = if edited.is_empty() { String::new() } else { format!("; edited since and left as it is: {edited}") };
    Ok(Some(format!("{} was cut off and has been {done}{left}", intent.what)))
}

/// A work tree between before and after.
struct Mixed {
    steps: Vec<TreeChange>,
    /// Paths of the plan that are neither as before nor as after.
    edited: Vec<BString>,
}

impl Mixed {
    fn look(repository: &Repository, captured: &Captured, record: &ChangeRecord) -> Result<Self> {
        let (from, to) = (object_id(&record.from)?, object_id(&record.to)?);
        let steps = repository.changes(from, to)?;
        let now: HashMap<BString, Entry> = repository
            .changes(from, captured.tree_id)?
            .into_iter()
            .map(|step| (step.path, step.change.after()))
            .collect();
        let raw: Vec<RawFile> = record.raw_before.iter().map(RawFile::from_record).collect::<Result<_>>()?;
        let ignored = |path: &BString| record.in_the_way.iter().any(|there| there.0 == *path);
        let mut edited = Vec::new();
        for TreeChange { path, change } in &steps {
            let entry = now.get(path).copied().unwrap_or_else(|| change.before());
            let known = entry == change.before() || entry == change.after();
            let there = super::scope::look_at(repository.root(), path.as_bstr()).is_some();
            let own = ignored(path) && entry.is_none() && there;
            if !known || (own && !raw.iter().any(|file| file.path == *path && is_as_held(repository, file))) {
                edited.push(path.clone());
            }
        }
        Ok(Self { steps, edited })
    }

    /// Brings the files to one end, with the bytes that are held for it; `held` are those of the other end.
    fn bring_over(
        &self,
        project: &Project,
        captured: &Captured,
        plan: &Plan,
        held: &[RawRecord],
        given: &[RawRecord],
    ) -> Result<(ScratchIndex, Swap)> {
        let repository = project.repository()?;
        let files = |records: &[RawRecord]| records.iter().map(RawFile::from_record).collect::<Result<Vec<_>>>();
        let wanted = |file: &RawFile| !self.edited.contains(&file.path) && !is_as_held(repository, file);
        let given: Vec<RawFile> = files(given)?.into_iter().filter(wanted).collect();
        let mut now = files(held)?;
        for path in plan.in_the_way.iter().chain(given.iter().map(|file| &file.path)) {
            if !now.iter().any(|file| file.path == *path) {
                now.extend(read_raw(repository, &project.scope(), path)?);
            }
        }
        bring_over(project, captured, plan, &now, &given, Trust::CleanBytes)
    }

    /// The tree that is there now, with the plan's paths at one of their ends.
    fn target(&self, repository: &Repository, captured: &Captured, direction: Direction) -> Result<ObjectId> {
        let entries: Vec<(BString, Entry)> = self
            .steps
            .iter()
            .filter(|step| !self.edited.contains(&step.path))
            .map(|step| {
                let entry = if direction == Direction::Forward { step.change.after() } else { step.change.before() };
                (step.path.clone(), entry)
            })
            .collect();
        Ok(repository.with_paths(captured.tree_id, &entries)?)
    }
}

fn forward(
    project: &Project,
    captured: &Captured,
    mixed: &Mixed,
    intent: &mut Intent,
    record: &ChangeRecord,
    lock: Option<IndexLock>,
) -> Result<()> {
    let repository = project.repository()?;
    let target = mixed.target(repository, captured, Direction::Forward)?;
    let plan = plan(repository, captured, &project.scope(), target)?;
    let (next, swap) = mixed.bring_over(project, captured, &plan, &record.raw_before, &record.raw_after)?;
    swap.finish()?;
    next.remember()?;
    let index = FileIdentity::of(&repository.index_path());
    let message = format!("autodev: {}", intent.what);
    let refs = || move_all(repository, &record.moves, Way::Forward, &message, project.signature());
    // An index that is neither the one of before nor ours was changed by the user since, and is left alone.
    if intent.lock.is_some() && index == record.index_before && index != intent.lock {
        let lock = match lock {
            Some(lock) => lock,
            None => take_new_lock(project, intent)?,
        };
        let settled = settle_index(repository, captured, &next, &record.index, Stands::ForMore)?;
        lock.prepare(settled.as_ref().unwrap_or(&next).path())?;
        refs()?;
        lock.publish()?;
    } else {
        drop(lock);
        refs()?;
    }
    write_down(project, record)?;
    Ok(Intent::remove(project.state())?)
}

/// Takes the index's lock anew, with its identity in the intent first.
fn take_new_lock(project: &Project, intent: &mut Intent) -> Result<IndexLock> {
    let waiting = project.repository()?.prepare_index_lock()?;
    intent.lock = Some(waiting.identity);
    intent.save(project.state())?;
    Ok(waiting.take()?)
}

fn back(
    project: &Project,
    captured: &Captured,
    mixed: &Mixed,
    intent: &Intent,
    record: &ChangeRecord,
    lock: Option<IndexLock>,
) -> Result<()> {
    let repository = project.repository()?;
    let target = mixed.target(repository, captured, Direction::Back)?;
    let plan = plan(repository, captured, &project.scope(), target)?;
    let (next, swap) = mixed.bring_over(project, captured, &plan, &record.raw_after, &record.raw_before)?;
    swap.finish()?;
    next.remember()?;
    drop(lock);
    give_git_back(project, intent, record)
}
