//! Locks of the kernel on files.
#![expect(clippy::disallowed_methods, reason = "part of the room that owns the file system")]

use super::{Error, Result, at};
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A lock of the kernel on a file: it goes with the process, so it is never stale.
///
/// Advisory, and not reliable on some network file systems.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock if nobody holds it.
    pub(crate) fn try_acquire(path: &Path) -> Result<Option<Self>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(at("open", path))?;
        match fs2::FileExt::try_lock_exclusive(&file) {
            Ok(()) => Ok(Some(Self { file, path: path.to_owned() })),
            Err(error) if error.kind() == fs2::lock_contended_error().kind() => Ok(None),
            Err(error) => Err(Error::new("lock", path, error)),
        }
    }

    /// Takes the lock, waiting for up to `patience`; `None` when somebody still holds it then.
    pub(crate) fn acquire_within(path: &Path, patience: Duration) -> Result<Option<Self>> {
        let start = Instant::now();
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(Some(lock));
            }
            if start.elapsed() >= patience {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Lets programs that are started from here on hold the lock too: where this process is killed, the lock goes
    /// with the last of them.
    pub(crate) fn share_with_children(&self) -> Result<()> {
        let shared = rustix::io::fcntl_setfd(&self.file, rustix::io::FdFlags::empty());
        shared.map_err(|error| Error::new("share the lock", &self.path, error.into()))
    }

    /// Writes into the locked file who holds it, for people and for `stop`.
    pub(crate) fn note(&mut self, text: &str) -> Result<()> {
        let path = &self.path;
        self.file.set_len(0).map_err(at("write", path))?;
        self.file.seek(SeekFrom::Start(0)).map_err(at("write", path))?;
        self.file.write_all(text.as_bytes()).map_err(at("write", path))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Also where something that a child has started still has the file open.
        let _ = fs2::FileExt::unlock(&self.file);
    }
}
