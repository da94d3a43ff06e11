//! What the target's own ignore rules protect, and secrets.
//!
//! A file may have become visible since (its rule was taken away), or tracked in spite of a rule (`git add -f`).
//! On the way to a state whose rules ignore it, it is not the target's to delete: it was there then, and nobody
//! looked at it. The same goes for what looks like a secret. Asked only where something is to be deleted.

use super::capture::Captured;
use super::error::Result;
use super::plan::Keep;
use super::scope::{Scope, folders_above, join};
use crate::git::{Repository, TreeChange};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use std::collections::{BTreeSet, HashSet};

/// The name of files with ignore rules.
const RULES: &str = ".gitignore";

/// Returns the files among the deletions of `steps` that look like secrets or that the rules of the tree `to` leave out.
pub(super) fn ignored_then(
    repository: &Repository,
    captured: &Captured,
    scope: &Scope<'_>,
    to: ObjectId,
    steps: &[TreeChange],
    keep: Keep,
) -> Result<Vec<BString>> {
    if keep == Keep::Nothing {
        return Ok(Vec::new());
    }
    let new = || steps.iter().filter(|step| step.change.after().is_some()).map(|step| &step.path);
    let tracked = |path: &BString| captured.user_index.as_ref().is_some_and(|index| index.contains(path.as_bstr()));
    // Where the target has a file in place of a folder, or the other way round, there is no room to stay.
    let files: HashSet<&BStr> = new().map(|path| path.as_bstr()).collect();
    let folders: HashSet<&BStr> = new().flat_map(|path| folders_above(path.as_bstr())).collect();
    let has_room = |path: &BString| {
        !folders.contains(path.as_bstr()) && !folders_above(path.as_bstr()).any(|folder| files.contains(folder))
    };
    let deleted = steps.iter().filter(|step| step.change.after().is_none()).map(|step| &step.path);
    let (mut kept, candidates): (Vec<BString>, Vec<BString>) = deleted
        .filter(|path| (keep == Keep::TrackedToo || !tracked(path)) && has_room(path))
        .cloned()
        .partition(|path| scope.looks_secret(path.as_bstr()));
    if candidates.is_empty() {
        return Ok(kept);
    }
    let mut rules = Vec::new();
    let places: BTreeSet<&BStr> = candidates.iter().flat_map(|path| folders_above(path.as_bstr())).collect();
    for folder in std::iter::once(BStr::new("")).chain(places) {
        let path = join(folder, RULES.as_bytes());
        if let Some((mode, id)) = repository.try_find_entry(to, path.as_bstr())?.filter(|(mode, _)| mode.is_blob()) {
            rules.push((path, u32::from(mode.value()), id));
        }
    }
    let index = captured.index.empty_beside("rules")?;
    repository.set_in_index(index.path(), &rules)?;
    let paths: Vec<BString> = rules.into_iter().map(|(path, ..)| path).collect();
    repository.flag_in_index(index.path(), "--skip-worktree", &paths)?;
    let elsewhere = index.path().parent().unwrap_or_else(|| repository.git_dir());
    kept.extend(repository.ignored_by(index.path(), elsewhere, &candidates)?);
    Ok(kept)
}
