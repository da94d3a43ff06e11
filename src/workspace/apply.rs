//! Apply: the work tree is brought over by git, and given back path by path where that fails midway.
//!
//! git refuses, with nothing changed, when a path of the plan was edited since the capture. Nothing but
//! paths of the plan is ever written or removed here, and only after they were held and read back.

use super::capture::Captured;
use super::error::{Error, Result, show};
use super::hold::Hold;
use super::plan::Plan;
use super::raw::{is_as_held, write_back};
use super::scope::{Scope, look_at, on_disk};
use super::scratch::ScratchIndex;
use crate::git::{EntryFlags, Repository, TreeChange};
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use std::collections::HashSet;

/// Brings the work tree over; returns an index that stands for the new tree. A failure may leave it between.
pub(crate) fn bring_over(repository: &Repository, captured: &Captured, plan: &Plan) -> Result<ScratchIndex> {
    let next = captured.index.branch_off("next")?;
    repository.remove_from_index(next.path(), &plan.kept)?;
    if plan.steps.is_empty() {
        return Ok(next);
    }
    lift_marks(repository, captured, plan, &next)?;
    repository.bring_over(next.path(), plan.from, plan.to)?;
    require_removed(repository, plan)?;
    keep_on_disk(repository, captured, &next)?;
    put_marks_back(repository, captured, plan, &next)?;
    Ok(next)
}

/// Fails when a file that was to go is still there: git only warns of that, and ends with success.
fn require_removed(repository: &Repository, plan: &Plan) -> Result<()> {
    let removed = plan.steps.iter().filter(|step| {
        step.change.after().is_none() && step.change.before().is_some_and(|(kind, _)| kind != EntryKind::Commit)
    });
    for TreeChange { path, .. } in removed {
        let stands = |path: &BStr| std::fs::symlink_metadata(on_disk(repository.root(), path)).ok();
        // What is seen through a link that the target put above is not at this path.
        let above = path.find_iter("/").any(|slash| stands(path[..slash].as_bstr()).is_none_or(|m| !m.is_dir()));
        if !above && stands(path.as_bstr()).is_some_and(|metadata| !metadata.is_dir()) {
            return Err(Error::NotRemoved { path: path.clone() });
        }
    }
    Ok(())
}

/// Lifts the marks that hide files from git on entries of the plan, and lets git look at those files.
fn lift_marks(repository: &Repository, captured: &Captured, plan: &Plan, next: &ScratchIndex) -> Result<()> {
    let Some(index) = &captured.user_index else { return Ok(()) };
    let hidden = |path: &BString| index.flags(path.as_bstr()).is_some_and(EntryFlags::hides_the_file);
    let there = |path: &BString| std::fs::symlink_metadata(on_disk(repository.root(), path.as_bstr())).is_ok();
    let replaced = plan.steps.iter().filter(|step| step.change.before().is_some()).map(|step| &step.path);
    let marked: Vec<BString> = replaced.filter(|path| hidden(path) && there(path)).cloned().collect();
    for flag in ["--no-assume-unchanged", "--no-skip-worktree"] {
        repository.flag_in_index(next.path(), flag, &marked)?;
    }
    Ok(repository.add_to_index(next.path(), &marked)?)
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
    repository.flag_in_index(next.path(), "--no-skip-worktree", &hidden)?;
    Ok(repository.check_out(next.path(), &hidden)?)
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

/// Restores each path of the plan that is no longer as it was captured.
pub(super) fn give_work_tree_back(
    repository: &Repository,
    captured: &Captured,
    plan: &Plan,
    hold: &Hold,
) -> Result<()> {
    remove_what_was_made(repository, captured, plan)?;
    let check = captured.index.branch_off("back")?;
    let planned: HashSet<&BString> = plan.steps.iter().map(|step| &step.path).collect();
    let changed = repository.status(check.path())?.changed;
    let changed: Vec<BString> =
        changed.into_iter().map(|change| change.path).filter(|path| planned.contains(path)).collect();
    repository.check_out(check.path(), &changed)?;
    for file in &hold.raw {
        if !is_as_held(repository, file) {
            write_back(repository, file)?;
        }
    }
    Ok(())
}

/// Removes files that only the target has, where they are what the target has and nothing else.
fn remove_what_was_made(repository: &Repository, captured: &Captured, plan: &Plan) -> Result<()> {
    let in_the_way: HashSet<&BString> = plan.in_the_way.iter().collect();
    let made = |step: &&TreeChange| step.change.before().is_none() && !in_the_way.contains(&step.path);
    let there: Vec<BString> = plan
        .steps
        .iter()
        .filter(made)
        .filter(|step| look_at(repository.root(), step.path.as_bstr()).is_some_and(|metadata| !metadata.is_dir()))
        .map(|step| step.path.clone())
        .collect();
    if there.is_empty() {
        return Ok(());
    }
    let look = captured.index.branch_off("made")?;
    repository.add_to_index(look.path(), &there)?;
    let Some(view) = repository.read_index(look.path())? else { return Ok(()) };
    for step in plan.steps.iter().filter(made) {
        let ours = step.change.after().is_some_and(|(_, id)| view.id(step.path.as_bstr()) == Some(id));
        if ours {
            let place = on_disk(repository.root(), step.path.as_bstr());
            crate::fs::remove_file(&place)?;
            prune_empty_parents(repository, &step.path);
        }
    }
    Ok(())
}

/// Removes folders above a removed path as long as they are empty.
fn prune_empty_parents(repository: &Repository, path: &BString) {
    let mut folder = path.as_bstr();
    while let Some(slash) = folder.rfind_byte(b'/') {
        folder = folder[..slash].as_bstr();
        if !crate::fs::remove_empty_folder(&on_disk(repository.root(), folder)) {
            return;
        }
    }
}

/// Compares the work tree with what was brought over; returns a note for each path that differs.
pub(crate) fn compare(repository: &Repository, plan: &Plan, index: &ScratchIndex) -> Result<Vec<String>> {
    let planned: HashSet<&BString> = plan.steps.iter().map(|step| &step.path).collect();
    let status = repository.status(index.path())?;
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
