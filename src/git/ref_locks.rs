//! Locks of refs, as git takes them: `<ref>.lock` beside a ref, and `packed-refs.lock`, each made only if absent.
//!
//! A process that is killed leaves its locks, and then nobody can move those refs. Which ones a change takes is
//! known from its intent; a lock is one that it left when it is not older than the intent, says one of the values
//! that the change gives (or nothing yet), and stays like that for a moment, which git's locks do not. Any other is
//! somebody else's, and is named.

use super::{Error, Expect, RefUpdate, Repository, error::Result};
use crate::clock::Clock;
use crate::fs::{self, FileIdentity};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a lock must stay as it is to count as left: a git command holds one for a few milliseconds.
const MOMENT: Duration = Duration::from_millis(300);

impl Repository {
    /// Returns the lock that keeps one of these refs from moving, if there is one.
    pub(super) fn ref_lock_in_the_way<'a>(&self, names: impl Iterator<Item = &'a str>) -> Option<Error> {
        let path = names.map(|name| self.ref_lock(name)).chain(self.shared_locks()).find(|path| path.exists())?;
        Some(Error::Locked { age: age(&path), path })
    }

    /// Removes the locks that were left behind by a move of these refs that began after `since`.
    pub(crate) fn release_ref_locks(&self, updates: &[RefUpdate], since: SystemTime) -> Result<()> {
        let own = updates.iter().flat_map(|update| {
            let before = if let Expect::Value(target) = &update.expect { Some(target) } else { None };
            let values: Vec<String> = update.to.iter().chain(before).map(ToString::to_string).collect();
            // HEAD is locked with the branch that it is on, and its lock says the same.
            let head = update.through.then(|| (self.ref_lock("HEAD"), values.clone()));
            head.into_iter().chain([(self.ref_lock(&update.name), values)])
        });
        let shared = self.shared_locks().map(|path| (path, Vec::new()));
        let left = |path: &Path, values: &[String]| {
            let metadata = std::fs::symlink_metadata(path).ok()?;
            let modified = metadata.modified().ok().filter(|modified| metadata.is_file() && *modified >= since)?;
            let text = String::from_utf8_lossy(&fs::try_read(path).ok()??).into_owned();
            let ours = text.is_empty()
                || values.iter().any(|value| value == text.trim_end())
                || text.starts_with("# pack-refs");
            ours.then(|| (FileIdentity::of(path), modified, metadata.len()))
        };
        let found: Vec<_> =
            own.chain(shared).filter_map(|(path, values)| Some((left(&path, &values)?, path, values))).collect();
        if found.is_empty() {
            return Ok(());
        }
        std::thread::sleep(MOMENT);
        for (seen, path, values) in found {
            if left(&path, &values) == Some(seen) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Returns the locks of refs that somebody holds or left.
    pub(crate) fn ref_locks(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = self.shared_locks().filter(|path| path.exists()).collect();
        let mut folders = vec![self.gix.common_dir().join("refs")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "lock") {
                    found.push(path);
                }
            }
        }
        found
    }

    fn ref_lock(&self, name: &str) -> PathBuf {
        let base = if name == "HEAD" { self.git_dir.as_path() } else { self.gix.common_dir() };
        base.join(format!("{name}.lock"))
    }

    /// The locks that a move of any ref may take.
    fn shared_locks(&self) -> impl Iterator<Item = PathBuf> {
        [self.ref_lock("HEAD"), self.ref_lock("packed-refs")].into_iter()
    }
}

/// Says how old a lock is, in words such as `3h ago`.
pub(super) fn age(lock: &Path) -> String {
    let modified = std::fs::metadata(lock).and_then(|metadata| metadata.modified());
    let age = modified.map(|modified| crate::clock::age(Clock::System.now(), modified.into()));
    age.unwrap_or_else(|_| "an unknown time ago".to_owned())
}
