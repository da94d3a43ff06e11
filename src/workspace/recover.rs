//! Recovery: what was cut off is completed, or taken back, from wherever it was cut.
//!
//! The mixed work tree is captured like any other. Every path of the plan must be as before or as after; then
//! the way to the end is a plan of its own and applied like one. A path that is neither (somebody edited it
//! since) is a question for the user: `--continue` and `--abort` leave such paths as they are.

use super::apply::{Trust, bring_over};
use super::capture::{Captured, capture};
use super::change::{Stands, complete, object_id, tell};
use super::error::{Error, Result, show};
use super::give_back::{Holding, give_git_back, take_new_lock};
use super::plan::{Keep, plan};
use super::project::Project;
use super::raw::{RawFile, has_bytes_of, is_as_held, read_raw};
use super::records::is_complete;
use super::refs::{Direction, elsewhere, release_left_locks, take_back};
use super::scope::{OURS, look_at, on_disk};
use super::scratch::ScratchIndex;
use super::since::hold_since;
use super::swap::{discard_leftovers, settle_leftovers};
use crate::fs::FileIdentity;
use crate::git::{IndexLock, Repository, TreeChange};
use crate::state::{ChangeRecord, IndexGoal, Intent, RawRecord};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

type Entry = Option<(EntryKind, ObjectId)>;

/// Brings what was cut off to an end; the caller holds the project's lock. Without a wish it is completed
/// where no path of it was edited since. Tells what was done, or `None` where nothing was cut off.
pub(super) fn recover(project: &Project, wish: Option<Direction>) -> Result<Option<String>> {
    let Some(mut intent) = Intent::load(project.state())? else { return Ok(None) };
    let repository = project.repository()?;
    release_left_locks(repository, project.state(), &intent)?;
    repository.forget_waiting_lock()?;
    let lock = intent.lock.and_then(|identity| repository.adopt_index_lock(identity));
    let Some(record) = intent.change.clone() else {
        take_back(repository, &intent.holding, project.signature())?;
        lock.map_or(Ok(()), IndexLock::release)?;
        Intent::remove(project.state())?;
        return Ok(Some(format!("{} was cut off before it changed anything", intent.what)));
    };
    remove_left_over(project, &record);
    if is_complete(project.state(), &record)? {
        lock.map_or(Ok(()), IndexLock::release)?;
        discard_leftovers(project)?;
        tell(project, &record);
        Intent::remove(project.state())?;
        return Ok(Some(format!("{} was cut off at its very end and is complete", intent.what)));
    }
    let (elsewhere, on_top) = elsewhere(repository, &record.moves)?;
    let mut since: Vec<String> = settle_leftovers(project, &record)?.into_iter().collect();
    let mut captured = capture(repository, project.state(), &project.scope())?;
    see_ignored(repository, &mut captured, &record)?;
    let mixed = Mixed::look(repository, &captured, &record)?;
    let direction = match (wish, mixed.edited.is_empty()) {
        (Some(direction), _) => direction,
        // A branch that somebody has moved elsewhere cannot be moved on any more.
        (None, true) if intent.back || !on_top => Direction::Back,
        (None, true) => Direction::Forward,
        (None, false) => {
            // The lock stays where it is: whoever decides takes it over.
            if let Some(lock) = lock {
                lock.leave();
            }
            return Err(Error::Undecided { what: intent.what, paths: mixed.edited.into_iter().collect() });
        }
    };
    if intent.back != (direction == Direction::Back) {
        intent.back = direction == Direction::Back;
        intent.save(project.state())?;
    }
    since.extend(match direction {
        Direction::Forward => forward(project, &captured, &mixed, &mut intent, &record, lock)?,
        Direction::Back => back(project, &captured, &mixed, &mut intent, &record, lock)?,
    });
    let done = if direction == Direction::Forward { "completed" } else { "taken back" };
    let edited = mixed.edited.iter().map(show).collect::<Vec<_>>().join(", ");
    let before = match (direction, &record.operation) {
        (Direction::Back, Some(operation)) => {
            format!(" (what was there before is held under {})", project.held_at(operation.n))
        }
        _ => String::new(),
    };
    let left = if edited.is_empty() { edited } else { format!("; edited since and left as it is: {edited}{before}") };
    let moved = elsewhere.join(", ");
    let moved = if moved.is_empty() { moved } else { format!("; moved since and left where it is: {moved}") };
    let since = since.join(", ");
    let since =
        if since.is_empty() { since } else { format!("; files written since and in the way are held by {since}") };
    Ok(Some(format!("{} was cut off and has been {done}{left}{moved}{since}", intent.what)))
}

/// Removes files that were to become others when the process that wrote them ended.
fn remove_left_over(project: &Project, record: &ChangeRecord) {
    let raw = record.raw_before.iter().chain(&record.raw_after);
    let mut folders: BTreeSet<PathBuf> = BTreeSet::from([project.root().join(OURS)]);
    folders.extend(raw.filter_map(|file| on_disk(project.root(), file.path.0.as_bstr()).parent().map(Path::to_owned)));
    for folder in &folders {
        crate::fs::remove_left_over(folder);
    }
}

/// Lets a capture see files of the change that the ignore rules leave out: they may be as before or as after too.
fn see_ignored(repository: &Repository, captured: &mut Captured, record: &ChangeRecord) -> Result<()> {
    let mut there = Vec::new();
    for TreeChange { path, .. } in repository.changes(object_id(&record.from)?, object_id(&record.to)?)? {
        let stands = look_at(repository.root(), path.as_bstr()).is_some_and(|metadata| !metadata.is_dir());
        if stands && !repository.has_path(captured.tree_id, path.as_bstr())? {
            there.push(path);
        }
    }
    if !there.is_empty() {
        repository.add_to_index(captured.index.path(), &there)?;
        let tree_id = repository.write_tree(captured.index.path())?;
        captured.tree_id = repository.with_root_entry_of(tree_id, OURS, captured.head_tree_id)?;
    }
    Ok(())
}

/// A work tree between before and after.
struct Mixed {
    steps: Vec<TreeChange>,
    /// Paths of the plan that are neither as before nor as after.
    edited: BTreeSet<BString>,
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
        let raw = record.raw_before.iter().chain(&record.raw_after);
        let mut ends: HashMap<BString, Vec<RawFile>> = HashMap::new();
        for file in raw {
            ends.entry(file.path.0.clone()).or_default().push(RawFile::from_record(file)?);
        }
        let is_an_end =
            |path| ends.get(path).into_iter().flatten().any(|file: &RawFile| has_bytes_of(repository, file));
        let mut edited = BTreeSet::new();
        for TreeChange { path, change } in &steps {
            let entry = now.get(path).copied().unwrap_or_else(|| change.before());
            let at_an_end = entry == change.before() || entry == change.after();
            if !at_an_end && !is_an_end(path) {
                edited.insert(path.clone());
            }
        }
        Ok(Self { steps, edited })
    }

    /// Brings the files to one end, with the bytes that are held for it; returns an index that stands for it, and the
    /// ref that holds what was written since and had to give way.
    fn bring_over(
        &self,
        project: &Project,
        captured: &Captured,
        record: &ChangeRecord,
        direction: Direction,
    ) -> Result<(ScratchIndex, Option<String>)> {
        let repository = project.repository()?;
        let (held, given) = match direction {
            Direction::Forward => (&record.raw_before, &record.raw_after),
            Direction::Back => (&record.raw_after, &record.raw_before),
        };
        let files = |records: &[RawRecord]| records.iter().map(RawFile::from_record).collect::<Result<Vec<_>>>();
        let (held, given) = (files(held)?, files(given)?);
        // A file that has the bytes that are held for that end already stays as it is.
        let (there, missing): (Vec<RawFile>, Vec<RawFile>) =
            given.into_iter().partition(|file| is_as_held(repository, file));
        let there: HashSet<&BString> = there.iter().map(|file| &file.path).collect();
        let given: Vec<RawFile> = missing.into_iter().filter(|file| !self.edited.contains(&file.path)).collect();
        let target = self.target(repository, captured, direction, &there)?;
        let plan = plan(repository, captured, &project.scope(), target, Keep::Nothing)?;
        // What no capture holds is taken as it is by now: what nobody holds gets a ref before it goes.
        let also: BTreeSet<&BString> = plan.in_the_way.iter().chain(given.iter().map(|file| &file.path)).collect();
        let mut now: Vec<RawFile> = held.into_iter().filter(|file| !also.contains(&file.path)).collect();
        for path in also {
            now.extend(read_raw(repository, &project.scope(), path)?);
        }
        let (next, swap) = bring_over(project, captured, &plan, &now, &given, Trust::CleanBytes)?;
        let (aside, moved) = swap.aside();
        let since = hold_since(project, record, &aside, moved)?;
        discard_leftovers(project)?;
        next.remember()?;
        Ok((next, since))
    }

    /// The tree that is there now, with the plan's paths at one of their ends, but for those that are `there` already.
    fn target(
        &self,
        repository: &Repository,
        captured: &Captured,
        direction: Direction,
        there: &HashSet<&BString>,
    ) -> Result<ObjectId> {
        let open = self.steps.iter().filter(|step| !self.edited.contains(&step.path) && !there.contains(&step.path));
        let end = |step: &TreeChange| match direction {
            Direction::Forward => step.change.after(),
            Direction::Back => step.change.before(),
        };
        let entries: Vec<(BString, Entry)> = open.map(|step| (step.path.clone(), end(step))).collect();
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
) -> Result<Option<String>> {
    let repository = project.repository()?;
    let (next, since) = mixed.bring_over(project, captured, record, Direction::Forward)?;
    let index = FileIdentity::of(&repository.index_path());
    // An index that is neither the one of before nor ours was changed by the user since, and is left alone.
    let replaced = intent.lock.is_some() && record.index != IndexGoal::Keep;
    let lock = match lock {
        None if replaced && (index == record.index_before || intent.made(index)) => {
            Some(take_new_lock(project, intent)?)
        }
        Some(lock) if index != record.index_before && !intent.made(index) => {
            lock.release()?;
            None
        }
        lock => lock,
    };
    complete(project, captured, intent, &next, Stands::ForMore, lock)?;
    Intent::remove(project.state())?;
    Ok(since)
}

fn back(
    project: &Project,
    captured: &Captured,
    mixed: &Mixed,
    intent: &mut Intent,
    record: &ChangeRecord,
    lock: Option<IndexLock>,
) -> Result<Option<String>> {
    let (_, since) = mixed.bring_over(project, captured, record, Direction::Back)?;
    lock.map_or(Ok(()), IndexLock::release)?;
    let holding = if mixed.edited.is_empty() { Holding::Gone } else { Holding::Kept };
    give_git_back(project, intent, record, holding)?;
    Ok(since)
}
