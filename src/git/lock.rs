//! The lock of the user's index, as git takes it: `index.lock` beside the index, made only if absent.
//!
//! Held while a command of ours reads and replaces the user's index, so that no `git add` is lost between the
//! two. The file exists under another name before it becomes the lock, so that its identity can be written
//! down first: after a crash that lock, and no other, is known to be ours. A lock of somebody else is waited
//! for, named, and never removed.

use super::ref_locks::age;
use super::{Error, Repository, error::Result};
use crate::fs::{self, FileIdentity};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a git command of the user's may take before ours gives up.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name of the file that is to become the lock, in the git folder.
const WAITING: &str = "autodev-index-lock";

/// A file that can become the lock of the user's index.
#[derive(Debug)]
pub(crate) struct WaitingLock {
    index: PathBuf,
    lock: PathBuf,
    file: PathBuf,
    /// The identity that the lock will have.
    pub(crate) identity: FileIdentity,
}

/// The lock of the user's index; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    identity: FileIdentity,
    held: bool,
}

impl Repository {
    /// Returns where the lock of the user's index is, as long as somebody holds it.
    pub(crate) fn index_lock_path(&self) -> PathBuf {
        self.index_path().with_extension("lock")
    }

    /// Makes the file that is to become the lock; the caller holds the project's lock.
    pub(crate) fn prepare_index_lock(&self) -> Result<WaitingLock> {
        let (index, lock, file) = (self.index_path(), self.index_lock_path(), self.git_dir.join(WAITING));
        fs::remove_file(&file)?;
        fs::create_new(&file, b"", 0o644)?;
        let identity = FileIdentity::of(&file).ok_or(Error::Unreadable { command: WAITING })?;
        Ok(WaitingLock { index, lock, file, identity })
    }

    /// Takes over the lock that a process of ours left, if it is the one with this identity.
    pub(crate) fn adopt_index_lock(&self, identity: FileIdentity) -> Option<IndexLock> {
        let (index, lock) = (self.index_path(), self.index_lock_path());
        (FileIdentity::of(&lock) == Some(identity)).then_some(IndexLock { index, lock, identity, held: true })
    }

    /// Removes the file that was to become a lock and did not.
    pub(crate) fn forget_waiting_lock(&self) -> Result<()> {
        Ok(fs::remove_file(&self.git_dir.join(WAITING))?)
    }
}

impl WaitingLock {
    /// Takes the lock, waiting a moment for another git command.
    pub(crate) fn take(self) -> Result<IndexLock> {
        let start = Instant::now();
        loop {
            match fs::link(&self.file, &self.lock) {
                Ok(()) => {
                    let (index, lock, identity) = (self.index.clone(), self.lock.clone(), self.identity);
                    let taken = IndexLock { index, lock, identity, held: true };
                    fs::remove_file(&self.file)?;
                    return Ok(taken);
                }
                Err(error) if !error.is_already_there() => return Err(error.into()),
                Err(_) if start.elapsed() >= PATIENCE => {
                    return Err(Error::Locked { age: age(&self.lock), path: self.lock.clone() });
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for WaitingLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

impl IndexLock {
    /// Writes what the user's index is to become into the lock file; the index itself is as before.
    pub(crate) fn prepare(&self, from: &Path) -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        self.require()?;
        fs::copy_with_time(from, &self.lock)?;
        let mode = std::fs::metadata(&self.index).map_or(0o644, |metadata| metadata.permissions().mode() & 0o777);
        fs::set_mode(&self.lock, mode)?;
        Ok(fs::sync_file(&self.lock)?)
    }

    /// Lets the lock stand; whoever knows its identity takes it over.
    pub(crate) fn leave(mut self) {
        self.held = false;
    }

    /// Gives the lock back; where that fails, it stands, and whoever knows its identity takes it over.
    ///
    /// Where it was published, or taken away by somebody, the lock that stands there is not this one.
    pub(crate) fn release(mut self) -> Result<()> {
        self.remove()
    }

    fn remove(&mut self) -> Result<()> {
        if std::mem::take(&mut self.held) && FileIdentity::of(&self.lock) == Some(self.identity) {
            fs::remove_file(&self.lock)?;
        }
        Ok(())
    }

    /// Makes what was prepared the user's index, and gives the lock back with it.
    ///
    /// A failure may come after the index was replaced; what stands there then has the lock's identity.
    pub(crate) fn publish(self) -> Result<()> {
        self.require()?;
        Ok(fs::rename(&self.lock, &self.index)?)
    }

    /// Fails where the lock was taken away, and maybe another one stands there.
    fn require(&self) -> Result<()> {
        match FileIdentity::of(&self.lock) {
            Some(identity) if identity == self.identity => Ok(()),
            Some(_) => Err(Error::Locked { age: age(&self.lock), path: self.lock.clone() }),
            None => Err(Error::LockGone(self.lock.clone())),
        }
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}
