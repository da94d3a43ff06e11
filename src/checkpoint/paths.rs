//! Bringing back single paths: a tree that is as it is now, but for the paths that were asked for.

use super::error::{Error, Result};
use crate::git::{Repository, is_at_or_below};
use crate::workspace::show;
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};

/// Returns the tree `now` with `paths` (files, or whole folders) as the tree `then` has them.
pub(super) fn select(repository: &Repository, now: ObjectId, then: ObjectId, paths: &[BString]) -> Result<ObjectId> {
    let changes = repository.changes(now, then)?;
    let mut entries = Vec::new();
    for wanted in paths {
        let below = |path: &BString| wanted.is_empty() || is_at_or_below(path, wanted);
        let mut any = false;
        for step in changes.iter().filter(|step| below(&step.path)) {
            any = true;
            entries.push((step.path.clone(), step.change.after()));
        }
        if !any && !repository.has_path(now, wanted.as_bstr())? && !repository.has_path(then, wanted.as_bstr())? {
            return Err(Error::NoSuchPath(show(wanted)));
        }
    }
    Ok(repository.with_paths(now, &entries)?)
}
