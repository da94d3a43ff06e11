//! What is written is on disk before a ref leads to it.
//!
//! gix syncs nothing, and a sync of each object by itself would cost more than the rest of a commit. So the places of
//! new objects are noted, and synced all at once, a few at a time, by the next move of a ref.

use super::{Error, Repository, error::Result};
use gix::ObjectId;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many files are synced at a time: waiting is nearly all that a sync does.
const AT_A_TIME: usize = 8;

/// Files and folders that are written and not known to be on disk, and those that this process has synced.
#[derive(Debug, Default)]
pub(super) struct Unsynced(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    open: BTreeSet<PathBuf>,
    synced: BTreeSet<PathBuf>,
}

impl Repository {
    /// Notes an object that a ref is to lead to; one that lies in a pack is on disk already.
    ///
    /// An object that somebody else has written is noted too: git syncs no loose object by itself.
    pub(crate) fn note_object(&self, id: ObjectId) {
        let objects = self.gix.common_dir().join("objects");
        let hex = id.to_hex().to_string();
        let folder = objects.join(&hex[..2]);
        let file = folder.join(&hex[2..]);
        let mut noted = self.noted();
        if !noted.synced.contains(&file) && file.exists() {
            // The folder may be new as well, and then its own name is to be synced.
            noted.open.extend([objects, folder, file]);
        }
    }

    /// Notes files that were synced with their names, so that they are not synced again.
    pub(super) fn note_synced(&self, files: impl IntoIterator<Item = PathBuf>) {
        self.noted().synced.extend(files);
    }

    /// Makes everything durable that was noted; every move of a ref begins with it.
    pub(crate) fn make_durable(&self) -> Result<()> {
        let open = std::mem::take(&mut self.noted().open);
        if open.is_empty() {
            return Ok(());
        }
        let paths: Vec<PathBuf> = open.iter().cloned().collect();
        let done = super::program::step("the sync of new objects").and_then(|()| {
            let gone = sync(&paths).map_err(|source| Error::library("make new objects durable", source))?;
            // A gc may have packed one since, and syncs its packs; a prune takes it away.
            gone.iter().try_for_each(|path| self.require_packed(path))
        });
        let mut noted = self.noted();
        let to = if done.is_ok() { &mut noted.synced } else { &mut noted.open };
        to.extend(open);
        done
    }

    fn require_packed(&self, file: &Path) -> Result<()> {
        let part = |path: Option<&std::ffi::OsStr>| path.map(|name| name.to_string_lossy().into_owned());
        let hex = [part(file.parent().and_then(Path::file_name)), part(file.file_name())].into_iter().flatten();
        match ObjectId::from_hex(hex.collect::<String>().as_bytes()) {
            Ok(id) if !self.gix.has_object(id) => Err(Error::MissingObject { id, what: "a new object".to_owned() }),
            _ => Ok(()),
        }
    }

    fn noted(&self) -> std::sync::MutexGuard<'_, Noted> {
        self.unsynced.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Syncs files or folders, several at a time; returns those that are not there.
pub(super) fn sync(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let one = |path: &'_ PathBuf| match std::fs::File::open(path).and_then(|file| file.sync_all()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(path.clone())),
        done => done.map(|()| None),
    };
    let share = paths.len().div_ceil(AT_A_TIME).max(1);
    std::thread::scope(|threads| {
        let work = |part: &'_ [PathBuf]| part.iter().filter_map(|path| one(path).transpose()).collect();
        let parts: Vec<_> = paths.chunks(share).map(|part| threads.spawn(move || work(part))).collect();
        let join = |part: std::thread::ScopedJoinHandle<'_, io::Result<Vec<PathBuf>>>| {
            part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok(parts.into_iter().map(join).collect::<io::Result<Vec<_>>>()?.concat())
    })
}
