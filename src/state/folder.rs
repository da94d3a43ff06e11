//! Where the files of the state folder are, and the two locks on it.
//!
//! `project.lock` is held by each command that changes something, for as long as it does; `run.lock` by a
//! run for its whole life. Both are locks of the kernel and go with their process.

use super::{Error, error::Result};
use crate::fs::{self, Lock};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a command waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// The state folder of one project.
#[derive(Debug, Clone)]
pub(crate) struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// Knows the state folder at `path`; nothing is made yet.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Makes the folder, for the owner alone.
    pub(crate) fn create(&self) -> Result<()> {
        if !self.path.is_dir() {
            fs::create_folder(&self.path)?;
        }
        Ok(())
    }

    /// Returns where the folder is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where a file of the folder is.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Takes the project for a command that changes something, waiting up to 30 s for another one.
    pub(crate) fn lock_project(&self) -> Result<Lock> {
        self.create()?;
        let lock = Lock::acquire_within(&self.file("project.lock"), PATIENCE)?.ok_or(Error::Busy)?;
        // A git of ours that outlives this process still writes; agents are never started under this lock.
        lock.share_with_children()?;
        Ok(lock)
    }

    /// Takes the lock of a run, or returns `None` while a run is on.
    pub(crate) fn try_lock_run(&self) -> Result<Option<Lock>> {
        self.create()?;
        Ok(Lock::try_acquire(&self.file("run.lock"))?)
    }

    /// Takes the lock of a run, waiting a moment for somebody who only looks at it; `None` while a run is on.
    pub(crate) fn lock_run_within(&self, patience: Duration) -> Result<Option<Lock>> {
        self.create()?;
        Ok(Lock::acquire_within(&self.file("run.lock"), patience)?)
    }

    /// Tells whether a run is on.
    pub(crate) fn run_is_on(&self) -> Result<bool> {
        let path = self.file("run.lock");
        Ok(path.exists() && Lock::try_acquire(&path)?.is_none())
    }

    /// Returns what the holder of the run's lock wrote into it: its process id and start.
    pub(crate) fn run_holder(&self) -> Result<Option<String>> {
        let bytes = fs::try_read(&self.file("run.lock"))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}
