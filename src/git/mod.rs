//! The repository: only this room holds one.
//!
//! gix opens it, reads its configuration, refs, commits and trees, moves refs by compare-and-swap and
//! writes commits; the git program captures and brings over work trees in indexes of our own (`worktree`).
//! Nothing here decides when something is kept or given back, and nothing here writes a configuration,
//! starts a hook or follows an inherited `GIT_*` variable.

mod durable;
mod error;
mod incoming;
mod index;
mod lock;
mod objects;
mod open;
mod operation;
mod program;
mod ref_locks;
mod refs;
mod status;
mod worktree;

pub(crate) use error::{Error, Result};
pub(crate) use incoming::Incoming;
pub(crate) use index::{EntryFlags, IndexEntry, IndexView, Staged, same_contents};
pub(crate) use lock::IndexLock;
pub(crate) use objects::{Change, Signature, TreeChange};
pub(crate) use open::{Opened, open};
pub(crate) use refs::{Expect, Head, RefUpdate, Target, short_name};
pub(crate) use status::{Status, Unknown, Walk};

use program::Program;
use std::path::{Path, PathBuf};

/// A repository with a work tree.
pub(crate) struct Repository {
    gix: gix::Repository,
    program: Program,
    root: PathBuf,
    git_dir: PathBuf,
    key: String,
    unsynced: durable::Unsynced,
}

/// Tells whether a path is `place`, or below the folder `place`.
pub(crate) fn is_at_or_below(path: &[u8], place: &[u8]) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("root", &self.root).field("key", &self.key).finish_non_exhaustive()
    }
}

impl Repository {
    /// Returns the top of the work tree, by real path.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the git folder of this work tree (of a linked worktree: its own).
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns the name under which this work tree keeps its refs: `main`, or git's name of the linked worktree.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }
}
