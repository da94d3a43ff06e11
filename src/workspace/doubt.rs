//! Doubt: entries of the private index that git would take for unchanged although it cannot know.
//!
//! git compares times in whole seconds. A file that was edited in the very second in which the index was
//! written, to the same size and with its old time put back, looks unchanged to it. So entries of that second
//! are compared to the nanosecond here; one that differs loses its stat data, and the next status reads it.
//! Costs one look at each file that changed in that second, and nothing for all others.

use super::scope::Scope;
use crate::git::IndexView;
use gix::ObjectId;
use gix::bstr::BString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// An entry in doubt: path, mode and object, to be set again without stat data.
pub(super) type Doubtful = (BString, u32, ObjectId);

/// Returns when an index file was written: seconds and nanoseconds.
pub(super) fn last_written(index: &Path) -> Option<(i64, i64)> {
    std::fs::metadata(index).ok().map(|written| (written.mtime(), written.mtime_nsec()))
}

/// Returns the entries in doubt of an index (seen as `view`) that was written at `written`.
pub(super) fn doubtful(view: &IndexView, written: Option<(i64, i64)>, scope: &Scope<'_>) -> Vec<Doubtful> {
    let Some(written) = written else { return Vec::new() };
    let mut doubtful = Vec::new();
    for (entry, stamps) in view.entries_changed_since(written.0) {
        let Some(there) = scope.look_at(entry.path) else { continue };
        let same = stamps.changed == (there.ctime(), there.ctime_nsec())
            && stamps.modified == (there.mtime(), there.mtime_nsec());
        if !same || stamps.changed >= written {
            doubtful.push((entry.path.to_owned(), entry.mode.bits(), entry.id));
        }
    }
    doubtful
}
