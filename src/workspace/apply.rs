//! Apply: which files of a plan are written and which give way, and the comparison at the end.
//!
//! The index is brought over by git, the files by a swap. Nothing but paths of the plan is written or removed here,
//! and only after they were held and read back.

use super::capture::Captured;
use super::error::{Error, Result, show};
use super::plan::Plan;
use super::project::Project;
use super::raw::RawFile;
use super::scope::{Scope, look_at};
use super::scratch::ScratchIndex;
use super::swap::{Old, Swap};
use crate::git::{Repository, Walk};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use std::collections::{HashMap, HashSet};

/// Brings the work tree over; returns an index that stands for the new tree, and the swap, which can be taken back.
///
/// `raw` are files that are given other bytes than the target's; `held` says which bytes of files there now are held
/// as they are. A failure leaves the work tree as it was, or says that it does not.
pub(super) fn bring_over(
    project: &Project,
    captured: &Captured,
    plan: &Plan,
    held: &[RawFile],
    raw: &[RawFile],
    trust: Trust,
) -> Result<(ScratchIndex, Swap)> {
    let repository = project.repository()?;
    let next = captured.index.branch_off("next")?;
    repository.remove_from_index(next.path(), &plan.kept)?;
    let mut swap = Swap::begin(project)?;
    if plan.steps.is_empty() && raw.is_empty() {
        return Ok((next, swap));
    }
    repository.bring_index_over(next.path(), plan.from, plan.to)?;
    keep_on_disk(repository, captured, &next)?;
    let written = to_write(repository, captured, plan, &next)?;
    swap.stage(repository, &next, &written, raw)?;
    put_marks_back(repository, captured, plan, &next)?;
    let known: HashSet<&BString> = written.iter().collect();
    let more = raw.iter().map(|file| &file.path).filter(|path| !known.contains(path));
    let new: Vec<BString> = written.iter().chain(more).cloned().collect();
    let old = to_move(repository, captured, plan, held, raw, trust)?;
    if let Err(error) = swap.exchange(repository, &old, &new) {
        return Err(match swap.put_back(repository) {
            Ok(()) => error,
            Err(Error::Edited { path }) => Error::NotPutBack { reason: error.to_string(), path },
            Err(second) => Error::NotPutBack { reason: error.to_string(), path: second.to_string().into() },
        });
    }
    let links = plan.steps.iter().filter(|step| step.change.after().is_some_and(|(kind, _)| kind == EntryKind::Commit));
    for step in links {
        super::swap::make_submodule_folder(repository.root(), &step.path)?;
    }
    Ok((next, swap))
}

/// Whether bytes that only a filter makes different are as good as those that are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// They are not: every byte is held.
    HeldBytes,
    /// They are: what is there was written by a change that was cut off.
    CleanBytes,
}

/// The files that are written: all that the target has new, but for those that a sparse checkout leaves out.
fn to_write(repository: &Repository, captured: &Captured, plan: &Plan, next: &ScratchIndex) -> Result<Vec<BString>> {
    let view = repository.read_index(next.path())?;
    let hidden = |path: &BString| {
        let by_next =
            view.as_ref().and_then(|view| view.flags(path.as_bstr())).is_some_and(|flags| flags.skip_worktree);
        let user = captured.user_index.as_ref().and_then(|index| index.flags(path.as_bstr()));
        let absent = look_at(repository.root(), path.as_bstr()).is_none();
        absent && (by_next || user.is_some_and(|flags| flags.skip_worktree))
    };
    let files = plan.steps.iter().filter(|step| step.change.after().is_some_and(|(kind, _)| kind != EntryKind::Commit));
    Ok(files.map(|step| step.path.clone()).filter(|path| !hidden(path) && !plan.already.contains(path)).collect())
}

/// The files that are moved aside, and what they must be.
fn to_move(
    repository: &Repository,
    captured: &Captured,
    plan: &Plan,
    held: &[RawFile],
    raw: &[RawFile],
    trust: Trust,
) -> Result<Vec<Old>> {
    let held: HashMap<&BString, ObjectId> = held.iter().map(|file| (&file.path, file.blob_id)).collect();
    let there = |path: &BString| look_at(repository.root(), path.as_bstr()).is_some_and(|metadata| !metadata.is_dir());
    let skipped = |path: &BString| {
        let flags = captured.user_index.as_ref().and_then(|index| index.flags(path.as_bstr()));
        flags.is_some_and(|flags| flags.skip_worktree)
    };
    let (mut old, mut known) = (Vec::new(), HashSet::new());
    for step in &plan.steps {
        let Some((kind, id)) = step.change.before().filter(|(kind, _)| *kind != EntryKind::Commit) else { continue };
        if !there(&step.path) && skipped(&step.path) {
            continue;
        }
        let clean_id = (trust == Trust::CleanBytes && kind != EntryKind::Link).then_some(id);
        known.insert(&step.path);
        old.push(Old { path: step.path.clone(), raw_id: held.get(&step.path).copied().unwrap_or(id), clean_id });
    }
    let given = raw.iter().map(|file| &file.path).filter(|path| there(path));
    for path in plan.in_the_way.iter().chain(given) {
        if known.insert(path) {
            let raw_id = held.get(path).copied().ok_or_else(|| Error::NotReadBack { path: path.clone() })?;
            old.push(Old { path: path.clone(), raw_id, clean_id: None });
        }
    }
    Ok(old)
}

/// Gives files back to the disk that a sparse checkout hid on the way, although they were there before.
fn keep_on_disk(repository: &Repository, captured: &Captured, next: &ScratchIndex) -> Result<()> {
    if !repository.has_sparse_checkout() {
        return Ok(());
    }
    let (before, after) =
        (repository.read_index(captured.index.path())?, repository.read_index(next.path())?.into_iter());
    let seen = |path: &BStr| before.as_ref().and_then(|index| index.flags(path)).is_some_and(|f| !f.skip_worktree);
    let hidden: Vec<BString> = after
        .flat_map(|index| {
            let entries = index.entries().filter(|entry| entry.flags.skip_worktree && seen(entry.path));
            entries.map(|entry| entry.path.to_owned()).collect::<Vec<_>>()
        })
        .collect();
    Ok(repository.flag_in_index(next.path(), "--no-skip-worktree", &hidden)?)
}

/// Puts the marks that hide files from git back on entries that the plan replaced.
fn put_marks_back(
    repository: &Repository,
    captured: &Captured,
    plan: &Plan,
    next: &ScratchIndex,
) -> crate::git::Result<()> {
    let Some(index) = &captured.user_index else { return Ok(()) };
    let kept = plan.steps.iter().filter(|step| step.change.after().is_some());
    let marked = kept.filter_map(|step| Some((&step.path, index.flags(step.path.as_bstr())?)));
    let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
    for (path, flags) in marked {
        if flags.assume_unchanged {
            assumed.push(path.clone());
        }
        if flags.skip_worktree {
            skipped.push(path.clone());
        }
    }
    repository.flag_in_index(next.path(), "--assume-unchanged", &assumed)?;
    repository.flag_in_index(next.path(), "--skip-worktree", &skipped)
}

/// Compares the work tree with what was brought over; returns a note for each path that differs.
pub(crate) fn compare(repository: &Repository, plan: &Plan, index: &ScratchIndex) -> Result<Vec<String>> {
    let planned: HashSet<&BString> = plan.steps.iter().map(|step| &step.path).collect();
    let status = repository.status(index.path(), Walk::Tracked)?;
    index.remember()?;
    let differing = status.changed.iter().filter(|change| !Scope::is_ours(change.path.as_bstr()));
    Ok(differing
        .map(|change| match (change.submodule, planned.contains(&change.path)) {
            (true, _) => format!("submodule {} was left as it is; its content is its own", show(&change.path)),
            (false, true) => {
                format!("{} differs from the checkpoint although it was written (a filter?)", show(&change.path))
            }
            (false, false) => format!("{} was edited meanwhile and was left as it is", show(&change.path)),
        })
        .collect())
}
