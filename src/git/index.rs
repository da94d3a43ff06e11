//! Reading an index: the entries, their flags, conflicts, and the tree it stands for where that is known.
//!
//! Read by gix; indexes are written by the git program alone (`worktree`), but for the checksum of those of our own.

use super::{Error, Repository, error::Result, is_at_or_below};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::{Flags, Mode, Stage};
use std::path::Path;

/// An index as it was when it was read.
pub(crate) struct IndexView {
    file: gix::index::File,
}

/// What an entry says beside its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EntryFlags {
    /// git does not look at the file (`update-index --assume-unchanged`).
    pub(crate) assume_unchanged: bool,
    /// git does not look for the file (sparse checkout, `update-index --skip-worktree`).
    pub(crate) skip_worktree: bool,
    /// The path is announced (`git add -N`), its content is not staged.
    pub(crate) intent_to_add: bool,
}

impl EntryFlags {
    /// Tells whether git leaves the file on disk alone.
    pub(crate) fn hides_the_file(self) -> bool {
        self.assume_unchanged || self.skip_worktree
    }
}

/// When a file changed, as an index remembers it: seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamps {
    /// The change of the inode (ctime).
    pub(crate) changed: (i64, i64),
    /// The change of the content (mtime).
    pub(crate) modified: (i64, i64),
}

/// One entry of an index without conflict.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexEntry<'a> {
    /// The path.
    pub(crate) path: &'a BStr,
    /// The mode as in git: `100644`, `100755`, `120000` or `160000`.
    pub(crate) mode: Mode,
    /// The object.
    pub(crate) id: ObjectId,
    /// What else is said of it.
    pub(crate) flags: EntryFlags,
}

/// One side of a conflict: 1 is the base, 2 ours, 3 theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Staged {
    /// The path.
    pub(crate) path: BString,
    /// The side.
    pub(crate) stage: u8,
    /// The mode as in git.
    pub(crate) mode: u32,
    /// The object.
    pub(crate) id: ObjectId,
}

impl IndexView {
    /// Returns the entries that are in no conflict, in git's order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = IndexEntry<'_>> {
        let merged = self.file.entries().iter().filter(|entry| entry.stage() == Stage::Unconflicted);
        merged.map(|entry| self.to_entry(entry))
    }

    /// Returns the files that git looks at and whose inode changed in or after a second.
    pub(crate) fn entries_changed_since(&self, second: i64) -> impl Iterator<Item = (IndexEntry<'_>, Stamps)> {
        let stamp = |time: gix::index::entry::stat::Time| (i64::from(time.secs), i64::from(time.nsecs));
        let recent = self.file.entries().iter().filter(move |entry| {
            i64::from(entry.stat.ctime.secs) >= second
                && entry.stage() == Stage::Unconflicted
                && entry.mode != Mode::COMMIT
                && to_flags(entry.flags) == EntryFlags::default()
        });
        recent.map(move |entry| {
            (self.to_entry(entry), Stamps { changed: stamp(entry.stat.ctime), modified: stamp(entry.stat.mtime) })
        })
    }

    fn to_entry<'a>(&'a self, entry: &gix::index::Entry) -> IndexEntry<'a> {
        IndexEntry { path: entry.path(&self.file), mode: entry.mode, id: entry.id, flags: to_flags(entry.flags) }
    }

    /// Tells whether a path is in the index, in conflict or not.
    pub(crate) fn contains(&self, path: &BStr) -> bool {
        let stages = [Stage::Unconflicted, Stage::Base, Stage::Ours, Stage::Theirs];
        stages.iter().any(|stage| self.file.entry_by_path_and_stage(path, *stage).is_some())
    }

    /// Returns what an entry says beside its content.
    pub(crate) fn flags(&self, path: &BStr) -> Option<EntryFlags> {
        self.file.entry_by_path(path).map(|entry| to_flags(entry.flags))
    }

    /// Returns what the index has in one folder; the empty path is the root.
    pub(crate) fn folder(&self, folder: &BStr) -> IndexFolder<'_> {
        let mut start = folder.to_owned();
        if !start.is_empty() {
            start.push(b'/');
        }
        let entries = starting_with(self.file.entries(), &self.file, &start);
        IndexFolder { file: &self.file, entries, start }
    }

    /// Returns the entries below a folder of the root (or of its name), in git's order.
    pub(crate) fn entries_below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = IndexEntry<'a>> {
        self.entries().filter(move |entry| is_at_or_below(entry.path, folder.as_bytes()))
    }

    /// Returns the paths of submodules.
    pub(crate) fn submodules(&self) -> impl Iterator<Item = &BStr> {
        self.entries().filter(|entry| entry.mode == Mode::COMMIT).map(|entry| entry.path)
    }

    /// Returns the sides of all conflicts.
    pub(crate) fn conflicts(&self) -> impl Iterator<Item = Staged> {
        self.file.entries().iter().filter(|entry| entry.stage() != Stage::Unconflicted).map(|entry| Staged {
            path: entry.path(&self.file).to_owned(),
            stage: u8::try_from(entry.stage_raw()).unwrap_or(0),
            mode: entry.mode.bits(),
            id: entry.id,
        })
    }

    /// Returns the first path in conflict.
    pub(crate) fn first_conflict(&self) -> Option<&BStr> {
        let conflict = self.file.entries().iter().find(|entry| entry.stage() != Stage::Unconflicted)?;
        Some(conflict.path(&self.file))
    }

    /// Tells whether a file with ignore rules may be left off the disk, so that only who reads the index knows them.
    pub(crate) fn hides_ignore_rules(&self) -> bool {
        let is_rules = |path: &BStr| path.rsplit_str("/").next() == Some(b".gitignore");
        let mut hidden = self.file.entries().iter().filter(|entry| entry.flags.contains(Flags::SKIP_WORKTREE));
        hidden.any(|entry| is_rules(entry.path(&self.file)))
    }

    /// Tells whether the index holds folders in place of their files.
    pub(crate) fn is_sparse(&self) -> bool {
        self.file.is_sparse()
    }

    /// Returns the tree that the index stands for, where the index itself says so.
    pub(crate) fn known_tree(&self) -> Option<ObjectId> {
        self.file.tree().filter(|tree| tree.num_entries.is_some()).map(|tree| tree.id)
    }
}

/// What an index has in one folder and below it.
pub(crate) struct IndexFolder<'a> {
    file: &'a gix::index::File,
    entries: &'a [gix::index::Entry],
    /// The path of the folder with its `/`.
    start: BString,
}

impl IndexFolder<'_> {
    /// Tells whether a name in the folder is that of a file, a link or a submodule, in conflict or not.
    pub(crate) fn has_entry(&self, name: &[u8]) -> bool {
        self.entry(name).is_some()
    }

    /// Tells whether a name in the folder is that of a submodule.
    pub(crate) fn has_submodule(&self, name: &[u8]) -> bool {
        self.entry(name).is_some_and(|entry| entry.mode == Mode::COMMIT)
    }

    /// Tells whether a name in the folder is that of a folder with entries.
    pub(crate) fn has_files_below(&self, name: &[u8]) -> bool {
        !starting_with(self.entries, self.file, &[&self.start, name, b"/"].concat()).is_empty()
    }

    fn entry(&self, name: &[u8]) -> Option<&gix::index::Entry> {
        let own = |entry: &gix::index::Entry| entry.path(self.file)[self.start.len()..].as_bstr();
        let position = self.entries.partition_point(|entry| own(entry) < name.as_bstr());
        self.entries.get(position).filter(|entry| own(entry) == name)
    }
}

/// Returns those of sorted entries whose path starts with some bytes.
fn starting_with<'a>(
    entries: &'a [gix::index::Entry],
    file: &gix::index::File,
    start: &[u8],
) -> &'a [gix::index::Entry] {
    let from = entries.partition_point(|entry| entry.path(file).as_bytes() < start);
    let rest = &entries[from..];
    &rest[..rest.partition_point(|entry| entry.path(file).starts_with(start))]
}

fn to_flags(flags: Flags) -> EntryFlags {
    EntryFlags {
        assume_unchanged: flags.contains(Flags::ASSUME_VALID),
        skip_worktree: flags.contains(Flags::SKIP_WORKTREE),
        intent_to_add: flags.contains(Flags::INTENT_TO_ADD),
    }
}

impl std::fmt::Debug for IndexView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexView").field("entries", &self.file.entries().len()).finish()
    }
}

impl Repository {
    /// Reads an index file, or returns `None` where there is none.
    pub(crate) fn read_index(&self, path: &Path) -> Result<Option<IndexView>> {
        if !path.exists() {
            return Ok(None);
        }
        let options = gix::index::decode::Options::default();
        let file = gix::index::File::at(path, self.gix.object_hash(), true, options)
            .map_err(|source| Error::library(format!("read the index {}", path.display()), source))?;
        Ok(Some(IndexView { file }))
    }

    /// Tells whether git leaves part of the tracked files off the disk.
    pub(crate) fn has_sparse_checkout(&self) -> bool {
        self.gix.config_snapshot().boolean("core.sparseCheckout").unwrap_or(false)
    }

    /// Tells whether names that differ in case are one name.
    pub(crate) fn ignores_case(&self) -> bool {
        self.gix.config_snapshot().boolean("core.ignoreCase").unwrap_or(false)
    }

    /// Returns where the user's index is.
    pub(crate) fn index_path(&self) -> std::path::PathBuf {
        self.gix.index_path()
    }
}

/// Tells whether two index files end with the same checksum, that is, hold the same bytes.
///
/// An index written with `index.skipHash` has no checksum and equals nothing.
pub(crate) fn same_contents(left: &Path, right: &Path) -> bool {
    let known = end(left).filter(|(_, end)| *end != [0; 20]);
    known.is_some() && known == end(right)
}

/// Gives an index of our own the checksum that `index.skipHash` left out; older readers want one.
pub(super) fn add_checksum(path: &Path, hash: gix::hash::Kind) -> Result<()> {
    if end(path).is_none_or(|(_, end)| end != [0; 20]) {
        return Ok(());
    }
    let bytes = crate::fs::read(path)?;
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(&bytes[..bytes.len().saturating_sub(hash.len_in_bytes())]);
    let checksum = hasher.try_finalize().map_err(|source| Error::library("add up an index", source))?;
    Ok(crate::fs::overwrite_end(path, checksum.as_bytes())?)
}

/// Returns the length of an index file and the last bytes of its checksum.
fn end(path: &Path) -> Option<(u64, [u8; 20])> {
    use std::os::unix::fs::FileExt as _;
    let file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut end = [0_u8; 20];
    file.read_exact_at(&mut end, length.checked_sub(20)?).ok()?;
    Some((length, end))
}
