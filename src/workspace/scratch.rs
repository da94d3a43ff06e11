//! Indexes of our own: the private index that remembers between captures, and scratch copies of it.
//!
//! The private index is only ever replaced by a rename, so a scratch copy is a second name of the same
//! file until git writes it. Scratch files of dead processes are cleared under the project's lock.

use super::error::Result;
use crate::fs;
use crate::git::Repository;
use crate::state::StateFolder;
use std::path::{Path, PathBuf};

/// The name of the private index in the state folder, and the start of the names of scratch copies.
const NAME: &str = "index";

/// A scratch index; its file goes away with it unless it is kept.
#[derive(Debug)]
pub(crate) struct ScratchIndex {
    path: PathBuf,
    private: PathBuf,
}

impl ScratchIndex {
    /// Begins a scratch index from the private one, or from the user's where there is none yet.
    pub(crate) fn begin(state: &StateFolder, repository: &Repository) -> Result<Self> {
        clear(state);
        repository.clear_incoming();
        let private = state.file(NAME);
        let scratch = Self { path: state.file(&format!("{NAME}.{}", std::process::id())), private };
        fs::remove_file(&scratch.path)?;
        if scratch.private.exists() {
            fs::link(&scratch.private, &scratch.path)?;
        } else if repository.index_path().exists() {
            fs::copy_with_time(&repository.index_path(), &scratch.path)?;
        }
        Ok(scratch)
    }

    /// Removes the private index; tells whether there was one.
    pub(crate) fn forget(state: &StateFolder) -> Result<bool> {
        let private = state.file(NAME);
        let there = private.exists();
        fs::remove_file(&private)?;
        Ok(there)
    }

    /// Returns where the scratch index is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes another scratch index that is equal now and goes its own way.
    pub(crate) fn branch_off(&self, name: &str) -> Result<Self> {
        let other = Self {
            path: self.path.with_extension(format!("{}.{name}", std::process::id())),
            private: self.private.clone(),
        };
        fs::remove_file(&other.path)?;
        fs::link(&self.path, &other.path)?;
        Ok(other)
    }

    /// Makes a scratch index without entries.
    pub(crate) fn empty_beside(&self, name: &str) -> Result<Self> {
        let path = self.path.with_extension(format!("{}.{name}", std::process::id()));
        fs::remove_file(&path)?;
        Ok(Self { path, private: self.private.clone() })
    }

    /// Makes a scratch index from any index file, with its time.
    pub(crate) fn copy_of(state: &StateFolder, index: &Path, name: &str) -> Result<Self> {
        let path = state.file(&format!("{NAME}.{}.{name}", std::process::id()));
        fs::copy_with_time(index, &path)?;
        Ok(Self { path, private: state.file(NAME) })
    }

    /// Makes this the private index, which the next capture begins with; what git wrote is synced here.
    pub(crate) fn remember(&self) -> Result<()> {
        // Renaming one name of a file over another one of the same file would leave both.
        let (own, private) = (fs::FileIdentity::of(&self.path), fs::FileIdentity::of(&self.private));
        if own.is_some() && own != private {
            let next = self.private.with_extension("next");
            fs::remove_file(&next)?;
            fs::sync_file(&self.path)?;
            fs::link(&self.path, &next)?;
            fs::set_mode(&next, 0o600)?;
            fs::rename(&next, &self.private)?;
        }
        Ok(())
    }
}

impl Drop for ScratchIndex {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let mut lock = self.path.clone().into_os_string();
        lock.push(".lock");
        let _ = fs::remove_file(Path::new(&lock));
    }
}

/// Removes what dead processes left; called under the project's lock, so nobody else works with them.
fn clear(state: &StateFolder) {
    fs::remove_left_over(state.path());
    for entry in std::fs::read_dir(state.path()).into_iter().flatten().flatten() {
        let left_over = entry.file_name().to_str().is_some_and(|name| name.starts_with("index."));
        if left_over {
            let _ = fs::remove_file(&entry.path());
        }
    }
}
