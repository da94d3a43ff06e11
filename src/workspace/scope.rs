//! What belongs to a capture, beyond what git's ignore rules say.
//!
//! Tracked files always belong. Untracked ones do unless they look like a secret, are too large, special or
//! unreadable; `.autodev/` and the state folder never do.

use crate::config::SecretRules;
use crate::git::is_at_or_below;
use crate::state::SkipReason;
use gix::bstr::{BStr, BString, ByteSlice as _};
use std::ffi::OsStr;
use std::fs::{FileType, Metadata, OpenOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The folder of the project that is never captured.
pub(crate) const OURS: &str = ".autodev";

/// The rules of one project.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    root: &'a Path,
    secrets: &'a SecretRules,
    max_file_bytes: u64,
    /// The state folder, where it lies inside the root.
    state: Option<BString>,
}

impl<'a> Scope<'a> {
    /// Makes the rules for a root whose state folder is at `state`.
    pub(crate) fn new(root: &'a Path, secrets: &'a SecretRules, max_file_bytes: u64, state: &Path) -> Self {
        let state = std::fs::canonicalize(state).unwrap_or_else(|_| state.to_owned());
        let state = state.strip_prefix(root).ok().filter(|path| !path.as_os_str().is_empty());
        let state = state.map(|path| BString::from(path.as_os_str().as_bytes()));
        Self { root, secrets, max_file_bytes, state }
    }

    /// Tells whether a path is `.autodev` or below it.
    pub(crate) fn is_ours(path: &BStr) -> bool {
        is_at_or_below(path, OURS.as_bytes())
    }

    /// Tells whether a path is never captured, whatever it is.
    pub(crate) fn never_holds(&self, path: &BStr) -> bool {
        self.state.as_ref().is_some_and(|state| is_at_or_below(path, state)) || Self::is_ours(path)
    }

    /// Returns the root of the project.
    pub(crate) fn root(&self) -> &'a Path {
        self.root
    }

    /// Returns where a path of the repository is on disk.
    pub(crate) fn on_disk(&self, path: &BStr) -> PathBuf {
        on_disk(self.root, path)
    }

    /// Looks at a path of the repository, through no link.
    pub(crate) fn look_at(&self, path: &BStr) -> Option<Metadata> {
        look_at(self.root, path)
    }

    /// Returns the repository of its own that a path lies in, if it lies in one.
    pub(crate) fn other_repository<'p>(&self, path: &'p BStr) -> Option<&'p BStr> {
        folders_above(path).find(|folder| is_repository(&self.on_disk(folder)))
    }

    /// Tells whether the name of a path looks like a secret's.
    pub(crate) fn looks_secret(&self, path: &BStr) -> bool {
        let base = path.rfind_byte(b'/').map_or(path.as_bytes(), |slash| &path[slash + 1..]);
        self.secrets.matches(base)
    }

    /// Returns why an untracked path is not held, or `None` where it is (or where nothing is there).
    pub(crate) fn reason_to_skip(&self, path: &BStr) -> Option<SkipReason> {
        self.reason_not_to_want(path).or_else(|| self.reason_not_to_read(path, &self.look_at(path)?))
    }

    /// Returns why an untracked path is not wanted; opens nothing.
    pub(crate) fn reason_not_to_want(&self, path: &BStr) -> Option<SkipReason> {
        if self.looks_secret(path) {
            return Some(SkipReason::Secret);
        }
        if self.other_repository(path).is_some() {
            return Some(SkipReason::NestedRepository);
        }
        let metadata = self.look_at(path)?;
        (metadata.is_file() && metadata.len() > self.max_file_bytes).then_some(SkipReason::Oversized)
    }

    /// Returns why a file cannot be read, tracked or not.
    pub(crate) fn reason_not_to_read(&self, path: &BStr, metadata: &Metadata) -> Option<SkipReason> {
        if is_special(metadata.file_type()) {
            return Some(SkipReason::SpecialFile);
        }
        (metadata.is_file() && !is_readable(&self.on_disk(path))).then_some(SkipReason::Unreadable)
    }
}

/// Returns the folders above a path, without the root, the highest first.
pub(crate) fn folders_above(path: &BStr) -> impl Iterator<Item = &BStr> {
    path.find_iter("/").map(|slash| path[..slash].as_bstr())
}

/// Returns the path of a name in a folder; the empty path is the root.
pub(crate) fn join(folder: &BStr, name: &[u8]) -> BString {
    let mut path = BString::from(Vec::with_capacity(folder.len() + 1 + name.len()));
    if !folder.is_empty() {
        path.extend_from_slice(folder);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Tells whether a folder is a repository of its own, with a work tree or bare.
fn is_repository(folder: &Path) -> bool {
    let is = |name: &str, kind: fn(&Metadata) -> bool| {
        std::fs::symlink_metadata(folder.join(name)).is_ok_and(|metadata| kind(&metadata))
    };
    is(".git", |_| true)
        || (is("HEAD", Metadata::is_file) && is("objects", Metadata::is_dir) && is("refs", Metadata::is_dir))
}

/// Returns where a path of the repository is on disk.
pub(crate) fn on_disk(root: &Path, path: &BStr) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

/// Looks at a path of the repository; what is seen only through a link above it is not there.
pub(crate) fn look_at(root: &Path, path: &BStr) -> Option<Metadata> {
    match folder_replaced_above(root, path) {
        Some(_) => None,
        None => std::fs::symlink_metadata(on_disk(root, path)).ok(),
    }
}

/// Returns the first place above a path where something stands that is no folder.
pub(crate) fn folder_replaced_above<'a>(root: &Path, path: &'a BStr) -> Option<&'a BStr> {
    folders_above(path)
        .find(|folder| std::fs::symlink_metadata(on_disk(root, folder)).is_ok_and(|metadata| !metadata.is_dir()))
}

/// Tells whether a file is a pipe, a socket or a device.
pub(crate) fn is_special(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device()
}

#[expect(clippy::disallowed_methods, reason = "opens for reading only, to see whether it can be read")]
fn is_readable(path: &Path) -> bool {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flags).open(path).is_ok()
}
