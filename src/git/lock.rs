//! The lock of the user's index, as git takes it: `index.lock` beside the index, made only if absent.
//!
//! Held while a command of ours reads and replaces the user's index, so that no `git add` is lost between the
//! two. A lock of somebody else is waited for, named, and never removed.

use super::{Error, Repository, error::Result};
use crate::clock::Clock;
use crate::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a git command of the user's may take before ours gives up.
const PATIENCE: Duration = Duration::from_secs(2);

/// The lock of the user's index; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    held: bool,
}

impl Repository {
    /// Takes the lock of the user's index.
    pub(crate) fn lock_index(&self) -> Result<IndexLock> {
        let index = self.index_path();
        let lock = index.with_extension("lock");
        let start = Instant::now();
        loop {
            match fs::create_new(&lock, b"", 0o644) {
                Ok(()) => return Ok(IndexLock { index, lock, held: true }),
                Err(error) if !error.is_already_there() => return Err(error.into()),
                Err(_) if start.elapsed() >= PATIENCE => {
                    return Err(Error::IndexLocked { age: age(&lock), path: lock });
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl IndexLock {
    /// Writes what the user's index is to become into the lock file; the index itself is as before.
    pub(crate) fn prepare(&self, from: &Path) -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        fs::copy_with_time(from, &self.lock)?;
        let mode = std::fs::metadata(&self.index).map_or(0o644, |metadata| metadata.permissions().mode() & 0o777);
        fs::set_mode(&self.lock, mode)?;
        Ok(fs::sync_file(&self.lock)?)
    }

    /// Makes what was prepared the user's index, and gives the lock back with it.
    pub(crate) fn publish(mut self) -> Result<()> {
        fs::rename(&self.lock, &self.index)?;
        self.held = false;
        Ok(())
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if self.held {
            let _ = fs::remove_file(&self.lock);
        }
    }
}

/// Says how old a lock is, in words such as `3h`.
fn age(lock: &Path) -> String {
    let modified = std::fs::metadata(lock).and_then(|metadata| metadata.modified());
    let age = modified.map(|modified| crate::clock::age(Clock::System.now(), modified.into()));
    age.unwrap_or_else(|_| "an unknown time ago".to_owned())
}
