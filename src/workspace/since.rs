//! What was written after a change was cut off and has to give way all the same: it gets a ref before it goes.
//!
//! A new file below a folder that becomes a file, an edit that a filter hides from git: no plan and no hold knew of
//! them. They are held under `u/<n>/since`, byte for byte, like the raw files of the operation itself.

use super::change::object_id;
use super::error::Result;
use super::project::Project;
use super::raw::{RawFile, read_raw_in, write_raw};
use crate::git::RefUpdate;
use crate::state::ChangeRecord;
use gix::bstr::{BString, ByteSlice as _};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Holds those of `paths` below `aside` that the change does not hold already; returns the ref where there are any.
pub(super) fn hold_since(
    project: &Project,
    record: &ChangeRecord,
    aside: &Path,
    paths: &[BString],
) -> Result<Option<String>> {
    let repository = project.repository()?;
    let mut known: HashMap<BString, HashSet<String>> = HashMap::new();
    for file in record.raw_before.iter().chain(&record.raw_after) {
        known.entry(file.path.0.clone()).or_default().insert(file.blob.clone());
    }
    for step in repository.changes(object_id(&record.from)?, object_id(&record.to)?)? {
        let ids = step.change.before().into_iter().chain(step.change.after()).map(|(_, id)| id.to_string());
        known.entry(step.path).or_default().extend(ids);
    }
    let mut files: Vec<RawFile> = Vec::new();
    for path in paths {
        let file = read_raw_in(repository, aside, path.as_bstr())?;
        files.extend(file.filter(|file| !known.get(path).is_some_and(|ids| ids.contains(&file.blob_id.to_string()))));
    }
    if files.is_empty() {
        return Ok(None);
    }
    let number = record.operation.as_ref().map_or(0, |operation| operation.n);
    let message = format!("autodev: files written since operation {number} was cut off\n");
    let commit_id = write_raw(repository, &files, &message, project.signature())?;
    let place = |count: usize| format!("{}/since-{count}", project.held_at(number));
    let mut count = 1;
    while repository.try_find_ref(&place(count))?.is_some() {
        count += 1;
    }
    let update = RefUpdate::create(place(count), commit_id);
    repository.update_refs(&[update], "autodev: hold what was written since", project.signature())?;
    Ok(Some(place(count)))
}
