//! What is written is on disk before a ref leads to it.
//!
//! gix syncs nothing, and a sync of each object by itself would cost more than the rest of a commit. So the places of
//! new objects are noted, and synced all at once, a few at a time, by the next move of a ref.

use super::{Error, Repository, error::Result};
use gix::ObjectId;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// How many files are synced at a time: waiting is nearly all that a sync does.
const AT_A_TIME: usize = 8;

/// Files and folders that are written and not known to be on disk.
#[derive(Debug, Default)]
pub(super) struct Unsynced(Mutex<BTreeSet<PathBuf>>);

impl Repository {
    /// Notes that an object was written; one that lies in a pack is on disk already.
    pub(super) fn note_object(&self, id: ObjectId) {
        let hex = id.to_hex().to_string();
        let folder = self.gix.common_dir().join("objects").join(&hex[..2]);
        let file = folder.join(&hex[2..]);
        if file.exists() {
            self.note_unsynced([folder, file]);
        }
    }

    /// Notes files and folders that are to be synced before the next ref moves.
    pub(super) fn note_unsynced(&self, paths: impl IntoIterator<Item = PathBuf>) {
        self.unsynced.0.lock().unwrap_or_else(PoisonError::into_inner).extend(paths);
    }

    /// Makes everything durable that was written; every move of a ref begins with it.
    pub(crate) fn make_durable(&self) -> Result<()> {
        let noted = std::mem::take(&mut *self.unsynced.0.lock().unwrap_or_else(PoisonError::into_inner));
        if noted.is_empty() {
            return Ok(());
        }
        let paths: Vec<PathBuf> = noted.into_iter().collect();
        let done = super::program::step("the sync of new objects")
            .and_then(|()| sync(&paths).map_err(|source| Error::library("make new objects durable", source)));
        if done.is_err() {
            self.note_unsynced(paths);
        }
        done
    }
}

/// Syncs files or folders, several at a time.
pub(super) fn sync(paths: &[PathBuf]) -> io::Result<()> {
    let one = |path: &PathBuf| match std::fs::File::open(path).and_then(|file| file.sync_all()) {
        // A gc has packed it since, and syncs its packs.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    };
    let share = paths.len().div_ceil(AT_A_TIME).max(1);
    std::thread::scope(|threads| {
        let work = |part: &'_ [PathBuf]| part.iter().try_for_each(one);
        let parts: Vec<_> = paths.chunks(share).map(|part| threads.spawn(move || work(part))).collect();
        parts.into_iter().try_for_each(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
