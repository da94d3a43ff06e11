//! Swap: how a work tree goes from before to after, so that no edit made meanwhile is ever overwritten.
//!
//! All new files are first written into a folder beside (by git, with its filters and modes): what can fail or
//! take long fails there, with nothing touched. Then each old file is moved aside, as it is at that very moment, and
//! must have the bytes that are held; only when all have, the new ones are moved in, each to a place where nothing
//! stands. Until the end everything can be moved back, the same files, whatever the disk has left.

use super::error::{Error, Result};
use super::project::Project;
use super::raw::{RawFile, raw_bytes};
use super::scope::{folder_replaced_above, join, look_at, on_disk};
use super::scratch::ScratchIndex;
use super::since::hold_since;
use crate::fs::{self, FileIdentity, Place, remove_own_folder};
use crate::git::Repository;
use crate::state::ChangeRecord;
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder with old and new files while they are swapped.
const FOLDER: &str = "swap";

/// What an old file must be when it is moved aside.
#[derive(Debug, Clone)]
pub(super) struct Old {
    /// The path.
    pub(super) path: BString,
    /// The bytes that are held, as a blob.
    pub(super) raw_id: ObjectId,
    /// The captured blob, where bytes that only a filter makes different are as good.
    pub(super) clean_id: Option<ObjectId>,
}

/// A swap that can still be taken back.
#[derive(Debug)]
pub(super) struct Swap {
    folder: PathBuf,
    tree: Place,
    aside: Place,
    stage: Place,
    moved: Vec<BString>,
    placed: Vec<(BString, Stamp)>,
    /// Folders that were made for new files, the lowest last.
    made: Vec<BString>,
}

/// What a file is like as long as nobody writes into it or puts another one in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    identity: FileIdentity,
    modified: SystemTime,
    length: u64,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        Some(Self { identity: FileIdentity::of(path)?, modified: metadata.modified().ok()?, length: metadata.len() })
    }
}

impl Swap {
    /// Begins a swap with empty folders.
    pub(super) fn begin(project: &Project) -> Result<Self> {
        let folder = folder(project)?;
        remove_own_folder(&folder)?;
        for name in ["aside", "stage"] {
            fs::create_folder(&folder.join(name))?;
        }
        let (aside, stage) = (Place::open_own(&folder.join("aside"))?, Place::open_own(&folder.join("stage"))?);
        let tree = Place::open(project.root())?;
        Ok(Self { tree, aside, stage, folder, moved: Vec::new(), placed: Vec::new(), made: Vec::new() })
    }

    /// Writes the new files beside: those of `paths` as `index` has them, and `raw` byte for byte.
    pub(super) fn stage(
        &self,
        repository: &Repository,
        index: &ScratchIndex,
        paths: &[BString],
        raw: &[RawFile],
    ) -> Result<()> {
        let stage = self.folder.join("stage");
        repository.check_out_into(index.path(), &stage, paths)?;
        for file in raw {
            self.stage.make_folders(&file.path)?;
            let place = on_disk(&stage, file.path.as_bstr());
            let bytes = repository.blob(file.blob_id)?;
            if file.kind == EntryKind::Link {
                fs::replace_link(&place, &bytes)?;
            } else {
                fs::replace(&place, &bytes)?;
                fs::set_mode(&place, file.mode)?;
            }
        }
        match paths.iter().find(|path| look_at(&stage, path.as_bstr()).is_none()) {
            Some(path) => Err(Error::NotWritten { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// Moves the old files aside and the new ones in; fails, for the caller to move back, when one was edited.
    pub(super) fn exchange(&mut self, repository: &Repository, old: &[Old], new: &[BString]) -> Result<()> {
        for Old { path, .. } in old {
            let there = look_at(repository.root(), path.as_bstr());
            if there.is_none_or(|metadata| metadata.is_dir()) {
                return Err(Error::Edited { path: path.clone() });
            }
            self.aside.make_folders(path)?;
            self.tree.move_to(path, &self.aside)?;
            self.moved.push(path.clone());
        }
        for old in old {
            self.require_held(repository, old)?;
        }
        for path in new {
            self.keep_private(path)?;
            let staged = on_disk(&self.folder.join("stage"), path.as_bstr());
            let stamp = Stamp::of(&staged).ok_or_else(|| Error::NotWritten { path: path.clone() })?;
            remove_empty_tree(&self.tree, repository.root(), path);
            let made = self.tree.make_folders(path)?;
            self.made.extend(made.into_iter().map(|length| path[..length].into()));
            if let Err(error) = self.stage.move_to(path, &self.tree) {
                return Err(if error.is_already_there() { Error::Edited { path: path.clone() } } else { error.into() });
            }
            self.placed.push((path.clone(), stamp));
        }
        // Only now: a folder that gets other files keeps its identity, and whoever stands in it its place.
        for path in old.iter().map(|old| &old.path) {
            self.tree.prune(path);
        }
        Ok(())
    }

    /// Fails unless a file that was moved aside has the bytes that are held.
    fn require_held(&self, repository: &Repository, old: &Old) -> Result<()> {
        let place = on_disk(&self.folder.join("aside"), old.path.as_bstr());
        let raw_id = repository.hash_blob(&raw_bytes(&place)?)?;
        if raw_id == old.raw_id
            || old.clean_id.is_some_and(|id| repository.clean_id(&old.path, &place).ok() == Some(id))
        {
            return Ok(());
        }
        Err(Error::Edited { path: old.path.clone() })
    }

    /// A file that was for its owner alone does not become one for all.
    fn keep_private(&self, path: &BString) -> Result<()> {
        let mode = |folder: &str| {
            let metadata = look_at(&self.folder.join(folder), path.as_bstr())?;
            metadata.is_file().then(|| metadata.permissions().mode() & 0o777)
        };
        if let (Some(old), Some(new)) = (mode("aside"), mode("stage")) {
            let others = old | ((old & 0o044) >> 2);
            let kept = (new & 0o700) | (new & 0o077 & others);
            if kept != new {
                fs::set_mode(&on_disk(&self.folder.join("stage"), path.as_bstr()), kept)?;
            }
        }
        Ok(())
    }

    /// The folder with the old files, and their paths in it.
    pub(super) fn aside(&self) -> (PathBuf, &[BString]) {
        (self.folder.join("aside"), &self.moved)
    }

    /// Moves everything back; a file that somebody put in place meanwhile stays, and is named.
    pub(super) fn put_back(&mut self, repository: &Repository) -> Result<()> {
        let mut in_the_way = Vec::new();
        for (path, stamp) in self.placed.drain(..).rev() {
            let ours = Stamp::of(&on_disk(repository.root(), path.as_bstr())).as_ref() == Some(&stamp);
            if ours && self.tree.move_to(&path, &self.stage).is_ok() {
                // Only here nobody finds it any more: if it was written into since, it goes back.
                if Stamp::of(&on_disk(&self.folder.join("stage"), path.as_bstr())) != Some(stamp) {
                    let _ = self.stage.move_to(&path, &self.tree);
                    in_the_way.push(path);
                }
            } else if look_at(repository.root(), path.as_bstr()).is_some() {
                in_the_way.push(path);
            }
        }
        for folder in self.made.drain(..).rev() {
            self.tree.remove_folder(&folder);
        }
        for path in self.moved.drain(..).rev() {
            let back = self.tree.make_folders(&path).and_then(|_| self.aside.move_to(&path, &self.tree));
            if back.is_err() && !in_the_way.contains(&path) {
                in_the_way.push(path);
            }
        }
        match in_the_way.into_iter().next() {
            Some(path) => Err(Error::Edited { path }),
            None => Ok(remove_own_folder(&self.folder)?),
        }
    }
}

/// After a cut: moves what was set aside back to places where nothing stands, and lets the rest go, which is held,
/// by the change or by the ref that is returned.
pub(super) fn settle_leftovers(project: &Project, record: &ChangeRecord) -> Result<Option<String>> {
    let folder = folder(project)?;
    let mut since = None;
    let aside = folder.join("aside");
    if aside.is_dir() {
        let (tree, from) = (Place::open(project.root())?, Place::open_own(&aside)?);
        let (mut paths, mut stay) = (Vec::new(), Vec::new());
        files_below(&aside, &BString::default(), &mut paths)?;
        for path in paths {
            let replaced = folder_replaced_above(project.root(), path.as_bstr()).is_some();
            if !replaced && look_at(project.root(), path.as_bstr()).is_none() {
                tree.make_folders(&path)?;
                from.move_to(&path, &tree)?;
            } else {
                stay.push(path);
            }
        }
        since = hold_since(project, record, &aside, &stay)?;
    }
    discard_leftovers(project)?;
    Ok(since)
}

/// Lets go of what is left of a swap: the old files are held, and the new ones are in place.
pub(super) fn discard_leftovers(project: &Project) -> Result<()> {
    Ok(remove_own_folder(&folder(project)?)?)
}

/// In the state folder where that is on the file system of the work tree; otherwise in `.autodev/`.
fn folder(project: &Project) -> Result<PathBuf> {
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    if device(project.state().path()) == device(project.root()) {
        return Ok(project.state().file(FOLDER));
    }
    Ok(project.create_folder()?.join(FOLDER))
}

fn files_below(root: &Path, folder: &BString, found: &mut Vec<BString>) -> Result<()> {
    let place = on_disk(root, folder.as_bstr());
    let failed = |source| fs::Error::new("read", &place, source);
    for entry in std::fs::read_dir(&place).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = join(folder.as_bstr(), entry.file_name().as_bytes());
        if entry.file_type().map_err(failed)?.is_dir() {
            files_below(root, &path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// Removes a folder at a path that has nothing but empty folders in it, to make room for a file.
fn remove_empty_tree(tree: &Place, root: &Path, path: &BString) {
    let place = on_disk(root, path.as_bstr());
    if !std::fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_dir()) {
        return;
    }
    for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
        remove_empty_tree(tree, root, &join(path.as_bstr(), entry.file_name().as_bytes()));
    }
    tree.remove_folder(path);
}

/// Makes the folder of a submodule, whose content is its own.
pub(super) fn make_submodule_folder(project_root: &Path, path: &BString) -> Result<()> {
    let tree = Place::open(project_root)?;
    let mut below = path.clone();
    below.extend_from_slice(b"/.");
    tree.make_folders(&below)?;
    Ok(())
}
