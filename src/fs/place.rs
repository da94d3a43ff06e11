//! Moving files in and out of a work tree, through no symbolic link and over nobody's file.
//!
//! A path is looked up from the root with the kernel refusing links on the way; a file is put only where nothing
//! stands. Both are one call each, so that a file is at its place or aside, never between.

use super::{Error, FileIdentity, Result, at, counted};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A folder below which files are moved.
#[derive(Debug)]
pub(crate) struct Place {
    root: PathBuf,
    handle: OwnedFd,
    /// Whether nobody else puts anything there.
    own: bool,
}

impl Place {
    /// Opens a folder in which others work too.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        Self::open_as(root, false)
    }

    /// Opens a folder of ours.
    pub(crate) fn open_own(root: &Path) -> Result<Self> {
        Self::open_as(root, true)
    }

    fn open_as(root: &Path, own: bool) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(CWD, root, flags, Mode::empty())
            .map_err(|error| Error::new("open", root, error.into()))?;
        Ok(Self { root: root.to_owned(), handle, own })
    }

    /// Opens the folder of a path (from the root) through no link; its last part is the name in it.
    fn parent<'a>(&self, path: &'a [u8]) -> Result<(OwnedFd, &'a OsStr)> {
        let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&b"."[..], path),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = rustix::fs::openat2(&self.handle, OsStr::from_bytes(folder), flags, Mode::empty(), resolve);
        let opened = opened.map_err(|error| Error::new("open the folder of", &self.on_disk(path), error.into()))?;
        Ok((opened, OsStr::from_bytes(name)))
    }

    fn on_disk(&self, path: &[u8]) -> PathBuf {
        self.root.join(OsStr::from_bytes(path))
    }

    /// Makes the folders above a path, through no link; returns how long the paths of those are that were not there.
    pub(crate) fn make_folders(&self, path: &[u8]) -> Result<Vec<usize>> {
        let mut made = Vec::new();
        if self.parent(path).is_ok() {
            return Ok(made);
        }
        for (slash, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let (folder, name) = self.parent(&path[..slash])?;
            match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.push(slash),
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(Error::new("create", &self.on_disk(&path[..slash]), error.into())),
            }
        }
        Ok(made)
    }

    /// Moves the file at a path to the same path below another place, where nothing may stand.
    pub(crate) fn move_to(&self, path: &[u8], other: &Self) -> Result<()> {
        let (from, to) = (self.on_disk(path), other.on_disk(path));
        counted("move", &from)?;
        let (old, name) = self.parent(path)?;
        let (new, _) = other.parent(path)?;
        match rustix::fs::renameat_with(&old, name, &new, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if other.own => {
                // Nothing stands there, and a name that somebody gives anew meanwhile moves as one or not at all.
                rustix::fs::renameat(&old, name, &new, name).map_err(|error| Error::new("move", &from, error.into()))
            }
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                // A file system that cannot do both at once: a second name is refused where something stands too.
                let linked = rustix::fs::linkat(&old, name, &new, name, AtFlags::empty());
                linked.map_err(|error| Error::new("move to", &to, error.into()))?;
                rustix::fs::unlinkat(&old, name, AtFlags::empty())
                    .map_err(|error| Error::new("move", &from, error.into()))
            }
            Err(error) => {
                Err(Error::new("move", if error == rustix::io::Errno::EXIST { &to } else { &from }, error.into()))
            }
        }
    }

    /// Removes the folders above a path, from the lowest, as long as they are empty.
    pub(crate) fn prune(&self, path: &[u8]) {
        let mut path = path;
        let here = FileIdentity::of(Path::new("."));
        while let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
            path = &path[..slash];
            // Nobody likes to stand in a folder that is gone.
            if FileIdentity::of(&self.on_disk(path)) == here {
                return;
            }
            if !self.remove_folder(path) {
                return;
            }
        }
    }

    /// Removes a folder if it is empty; tells whether it is gone.
    pub(crate) fn remove_folder(&self, path: &[u8]) -> bool {
        self.parent(path).is_ok_and(|(folder, name)| rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).is_ok())
    }
}

/// Removes a folder of ours with all that is in it; one that is not there is no error.
#[expect(clippy::disallowed_methods, reason = "part of the room that owns the file system")]
pub(crate) fn remove_own_folder(path: &Path) -> Result<()> {
    counted("remove", path)?;
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        _ => Ok(()),
    }
}
