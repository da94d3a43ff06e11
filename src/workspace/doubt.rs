//! Doubt: entries of the private index that git would take for unchanged although it cannot know.
//!
//! git compares times in whole seconds. A file that was edited in the very second in which the index was
//! written, to the same size and with its old time put back, looks unchanged to it. So entries of that second
//! are compared to the nanosecond here; one that differs loses its stat data, and the next status reads it.
//! Costs one look at each file that changed in that second, and nothing for all others.

use super::error::Result;
use super::scope::Scope;
use crate::git::{IndexView, Repository};
use gix::ObjectId;
use gix::bstr::BString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Makes git read the files again whose entries in `index` (seen as `view`) are in doubt.
pub(super) fn doubt(repository: &Repository, index: &Path, view: &IndexView, scope: &Scope<'_>) -> Result<()> {
    let Ok(written) = std::fs::metadata(index) else { return Ok(()) };
    let written = (written.mtime(), written.mtime_nsec());
    let mut doubtful: Vec<(BString, u32, ObjectId)> = Vec::new();
    for (entry, stamps) in view.entries_changed_since(written.0) {
        let Some(there) = scope.look_at(entry.path) else { continue };
        let same = stamps.changed == (there.ctime(), there.ctime_nsec())
            && stamps.modified == (there.mtime(), there.mtime_nsec());
        if !same || stamps.changed >= written {
            doubtful.push((entry.path.to_owned(), entry.mode.bits(), entry.id));
        }
    }
    Ok(repository.set_in_index(index, &doubtful)?)
}
