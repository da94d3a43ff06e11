//! Plan: what has to happen to go from what is there to a tree, and what stands in the way.
//!
//! Tree against tree, so a plan is as large as the difference. Each step names the object that it expects to
//! find and the one that it puts there. What no capture holds and the target would overwrite is either an
//! ordinary ignored file, which is held raw, or a reason to refuse; nothing is touched here.

use super::capture::Captured;
use super::error::{Error, Result};
use super::raw::read_raw;
use super::scope::{OURS, Scope, folders_above, join};
use crate::git::{Change, Repository, TreeChange};
use crate::state::SkipReason;
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;

/// The way from the captured work tree to another tree.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The tree that is there now, without what is kept.
    pub(crate) from: ObjectId,
    /// The tree to be there, with `.autodev/` as it is now.
    pub(crate) to: ObjectId,
    /// The paths that differ.
    pub(crate) steps: Vec<TreeChange>,
    /// Ignored files that the target overwrites; they are held raw first.
    pub(crate) in_the_way: Vec<BString>,
    /// Files that the target's own ignore rules leave out, and secrets: they stay on disk, tracked by nobody.
    pub(crate) kept: Vec<BString>,
    /// Files that no capture holds and that have the target's bytes already: they are left as they are.
    pub(crate) already: BTreeSet<BString>,
}

impl Plan {
    /// The plan that changes nothing.
    pub(crate) fn of_nothing(captured: &Captured) -> Self {
        let (from, to) = (captured.tree_id, captured.tree_id);
        Self { from, to, steps: Vec::new(), in_the_way: Vec::new(), kept: Vec::new(), already: BTreeSet::new() }
    }
}

/// Which files stay on disk although the target does not have them, because its rules ignore them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// None: what is to go was decided before.
    Nothing,
    /// Untracked ones: what is tracked was put there by a change that is undone exactly.
    Untracked,
    /// Tracked ones too: an agent may have added what was the user's.
    TrackedToo,
}

/// Plans the way to `target`; refuses where something unheld is in the way.
pub(crate) fn plan(
    repository: &Repository,
    captured: &Captured,
    scope: &Scope<'_>,
    target: ObjectId,
    keep: Keep,
) -> Result<Plan> {
    let mut from = captured.tree_id;
    let to = repository.with_root_entry_of(target, OURS, from)?;
    let mut steps = repository.changes(from, to)?;
    let kept = super::ignored_then::ignored_then(repository, captured, scope, to, &steps, keep)?;
    if !kept.is_empty() {
        from = repository.with_paths(from, &kept.iter().map(|path| (path.clone(), None)).collect::<Vec<_>>())?;
        let kept: HashSet<&BString> = kept.iter().collect();
        steps.retain(|step| !kept.contains(&step.path));
    }
    repository.require_objects(&steps)?;
    refuse_other_repositories(captured, scope, &steps)?;
    refuse_hidden(repository, captured, scope, &steps)?;
    let Found { in_the_way, already } = obstacles(repository, captured, scope, &steps)?;
    Ok(Plan { from, to, steps, in_the_way: in_the_way.into_iter().collect(), kept, already })
}

/// Refuses a step into a repository of its own, unless the file is tracked here all the same.
fn refuse_other_repositories(captured: &Captured, scope: &Scope<'_>, steps: &[TreeChange]) -> Result<()> {
    let tracked = |path: &BString| captured.user_index.as_ref().is_some_and(|index| index.contains(path.as_bstr()));
    let mut folders: HashMap<BString, bool> = HashMap::new();
    for TreeChange { path, .. } in steps {
        let folder = BString::from(path.rfind_byte(b'/').map_or(&[][..], |slash| &path[..slash]));
        let inside = *folders.entry(folder).or_insert_with(|| scope.other_repository(path.as_bstr()).is_some());
        if inside && !tracked(path) {
            let what = SkipReason::NestedRepository.to_string();
            let place = scope.other_repository(path.as_bstr()).unwrap_or(path.as_bstr());
            return Err(Error::InTheWay { path: place.to_owned(), what });
        }
    }
    Ok(())
}

/// Refuses when the target changes a file that git is told not to look at and that has content of its own.
fn refuse_hidden(repository: &Repository, captured: &Captured, scope: &Scope<'_>, steps: &[TreeChange]) -> Result<()> {
    let Some(index) = &captured.user_index else { return Ok(()) };
    for TreeChange { path, change } in steps {
        let (Some(flags), Some((_, id))) = (index.flags(path.as_bstr()), change.before()) else { continue };
        let mark = match (flags.assume_unchanged, flags.skip_worktree) {
            (true, _) => "assume-unchanged",
            (false, true) => "skip-worktree",
            (false, false) => continue,
        };
        if read_raw(repository, scope, path)?.is_some_and(|file| file.blob_id != id) {
            return Err(Error::Hidden { path: path.clone(), mark });
        }
    }
    Ok(())
}

/// Finds the files that no capture holds where the target has something else.
fn obstacles(repository: &Repository, captured: &Captured, scope: &Scope<'_>, steps: &[TreeChange]) -> Result<Found> {
    let held: HashSet<&BStr> =
        steps.iter().filter(|step| step.change.before().is_some()).map(|step| step.path.as_bstr()).collect();
    let wanted = steps.iter().filter_map(|step| Some((step.path.as_bstr(), step.change.after()?.1))).collect();
    let search = Search { repository, captured, scope, held, wanted };
    let mut found = Found::default();
    let mut seen = HashSet::new();
    for step in steps.iter().filter(|step| step.change.after().is_some()) {
        search.parents(step.path.as_bstr(), &mut seen, &mut found)?;
        match step.change {
            Change::Added(..) => search.at(step.path.as_bstr(), &mut found)?,
            Change::Modified { old: (EntryKind::Commit, _), new: (kind, _) } if kind != EntryKind::Commit => {
                let what = SkipReason::NestedRepository.to_string();
                return Err(Error::InTheWay { path: step.path.clone(), what });
            }
            Change::Modified { .. } | Change::Deleted(..) => {}
        }
    }
    Ok(found)
}

/// What stands at paths of the target that no capture holds.
#[derive(Debug, Default)]
struct Found {
    /// Ordinary ignored files with other bytes.
    in_the_way: BTreeSet<BString>,
    /// Files with the very bytes that the target has.
    already: BTreeSet<BString>,
}

struct Search<'a> {
    repository: &'a Repository,
    captured: &'a Captured,
    scope: &'a Scope<'a>,
    held: HashSet<&'a BStr>,
    /// What the target has at its paths.
    wanted: HashMap<&'a BStr, ObjectId>,
}

impl Search<'_> {
    /// Looks at the folders above a path: something that is no folder may stand there.
    fn parents(&self, path: &BStr, seen: &mut HashSet<BString>, found: &mut Found) -> Result<()> {
        for folder in folders_above(path) {
            if !seen.insert(folder.to_owned()) {
                continue;
            }
            match std::fs::symlink_metadata(self.scope.on_disk(folder)) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) if self.held.contains(folder) => return Ok(()),
                Ok(_) => return self.file(folder, found),
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Looks at a path that the target has and the capture has not.
    fn at(&self, path: &BStr, found: &mut Found) -> Result<()> {
        match self.scope.look_at(path) {
            None => Ok(()),
            Some(metadata) if metadata.is_dir() => self.folder(path, found),
            Some(_) => self.file(path, found),
        }
    }

    fn folder(&self, folder: &BStr, found: &mut Found) -> Result<()> {
        let on_disk = self.scope.on_disk(folder);
        let entries = std::fs::read_dir(&on_disk).map_err(|source| crate::fs::Error::new("read", &on_disk, source))?;
        for entry in entries {
            let entry = entry.map_err(|source| crate::fs::Error::new("read", &on_disk, source))?;
            let kind = entry.file_type().map_err(|source| crate::fs::Error::new("read", &entry.path(), source))?;
            let path = join(folder, entry.file_name().as_bytes());
            if entry.file_name() == ".git" {
                let what = SkipReason::NestedRepository.to_string();
                return Err(Error::InTheWay { path: folder.to_owned(), what });
            } else if kind.is_dir() {
                self.folder(path.as_bstr(), found)?;
            } else {
                self.file(path.as_bstr(), found)?;
            }
        }
        Ok(())
    }

    /// An ordinary ignored file is held raw; anything else is a reason to refuse.
    fn file(&self, path: &BStr, found: &mut Found) -> Result<()> {
        if self.held.contains(path) {
            return Ok(());
        }
        // The very bytes that the target has are in nobody's way.
        if let Some(wanted) = self.wanted.get(path)
            && read_raw(self.repository, self.scope, &path.to_owned())?.is_some_and(|file| file.blob_id == *wanted)
        {
            found.already.insert(path.to_owned());
            return Ok(());
        }
        let skipped = self.captured.skipped.iter().find(|skipped| skipped.path == path).map(|skipped| skipped.reason);
        let reason = skipped.or_else(|| self.scope.reason_to_skip(path)).map(|reason| reason.to_string());
        let reason = reason.or_else(|| self.scope.never_holds(path).then(|| "it belongs to autodev itself".to_owned()));
        if let Some(what) = reason {
            Err(Error::InTheWay { path: path.to_owned(), what })
        } else {
            found.in_the_way.insert(path.to_owned());
            Ok(())
        }
    }
}
