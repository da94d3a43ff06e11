//! New objects of a capture: git writes them aside, and they get their names only once their bytes are on disk.
//!
//! Synced one after another, as git does it, dozens of small objects cost more than reading the files they come
//! from. So git writes them without a sync into a folder of their own below `objects/`, with the real folder as
//! alternate; then all are synced at once through a few threads, and moved. A name in `objects/` therefore
//! always leads to bytes that are on disk; what a cut leaves is a folder that the next capture and `git gc` clear.
#![expect(clippy::disallowed_methods, reason = "moves files that git wrote, by the dozen, with a step for all of them")]

use super::durable::sync;
use super::index::add_checksum;
use super::program::step;
use super::{Error, Repository, error::Result};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The start of the folder's name; `git gc` clears such folders when they are old.
const NAME: &str = "tmp_objdir-autodev-";

/// A folder for new objects; what was not moved goes away with it.
#[derive(Debug)]
pub(crate) struct Incoming {
    folder: PathBuf,
    objects: PathBuf,
}

impl Repository {
    /// Clears what earlier processes left here; the caller holds the project's lock.
    pub(crate) fn clear_incoming(&self) {
        let (objects, start) = self.incoming_place();
        for entry in std::fs::read_dir(&objects).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(&start));
            if process.is_some_and(|process| process.bytes().all(|byte| byte.is_ascii_digit())) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Makes a folder for new objects.
    pub(crate) fn incoming(&self) -> Result<Incoming> {
        let (objects, start) = self.incoming_place();
        let folder = objects.join(format!("{start}{}", std::process::id()));
        crate::fs::create_folder(&folder)?;
        Ok(Incoming { folder, objects })
    }

    /// Where such folders are, and how their names begin.
    fn incoming_place(&self) -> (PathBuf, String) {
        (self.gix.common_dir().join("objects"), format!("{NAME}{}.", self.key().replace('/', "+")))
    }
}

impl Incoming {
    /// Returns the variables that make git write here and read there too.
    pub(super) fn environment(&self) -> [(&'static str, OsString); 2] {
        let mut quoted = vec![b'"'];
        for byte in self.objects.as_os_str().as_bytes() {
            match byte {
                b'\n' => quoted.extend_from_slice(b"\\n"),
                b'"' | b'\\' => quoted.extend_from_slice(&[b'\\', *byte]),
                _ => quoted.push(*byte),
            }
        }
        quoted.push(b'"');
        [
            ("GIT_OBJECT_DIRECTORY", self.folder.clone().into_os_string()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(quoted)),
        ]
    }

    /// Makes the new objects durable, and the index that names them with them, and moves them where they belong.
    ///
    /// The index gets its checksum meanwhile. Returns where the objects are now.
    pub(super) fn keep(self, index: &Path, hash: gix::hash::Kind) -> Result<Vec<PathBuf>> {
        let broken = |source| Error::library("keep new objects", source);
        let files = self.files().map_err(broken)?;
        if files.is_empty() {
            return add_checksum(index, hash).map(|()| Vec::new());
        }
        step("the sync of new objects")?;
        let written: Vec<PathBuf> = files.iter().map(|file| self.folder.join(file)).collect();
        std::thread::scope(|threads| {
            let finished = threads.spawn(|| {
                add_checksum(index, hash)?;
                crate::fs::sync_file(index).map_err(Error::from)
            });
            let synced = sync(&written).map(drop).map_err(broken);
            finished.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(synced)
        })?;
        let mode = std::fs::metadata(&self.objects).map_err(broken)?.mode() & 0o7777;
        let mut folders: Vec<PathBuf> = Vec::new();
        for file in &files {
            let target = self.objects.join(file);
            let folder = target.parent().unwrap_or(&self.objects).to_owned();
            if folders.last() != Some(&folder) {
                make_folder(&folder, mode).map_err(broken)?;
                folders.push(folder);
            }
            step("the move of a new object")?;
            std::fs::rename(self.folder.join(file), &target).map_err(broken)?;
        }
        folders.push(self.objects.clone());
        step("the sync of folders with new objects")?;
        sync(&folders).map_err(broken)?;
        Ok(files.iter().map(|file| self.objects.join(file)).collect())
    }

    /// Lists the new objects from here, folder by folder; of a pack, the index last, since that is what git looks for.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in std::fs::read_dir(&self.folder)? {
            let folder = folder?;
            if !folder.file_type()?.is_dir() || folder.file_name() == "info" {
                continue;
            }
            for file in std::fs::read_dir(folder.path())? {
                let file = file?.file_name();
                if !file.as_bytes().starts_with(b"tmp_") {
                    files.push(Path::new(&folder.file_name()).join(file));
                }
            }
        }
        let is_index = |file: &Path| file.extension().is_some_and(|extension| extension == "idx");
        files.sort_by(|left, right| {
            (left.parent(), is_index(left), left).cmp(&(right.parent(), is_index(right), right))
        });
        Ok(files)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Makes a folder for objects with the mode of the one above, which is the one that git shares by.
fn make_folder(folder: &Path, mode: u32) -> io::Result<()> {
    match std::fs::create_dir(folder) {
        Ok(()) => std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
