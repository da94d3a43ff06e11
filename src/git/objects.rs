//! Commits, trees and their differences.
//!
//! What is written here is durable before the next ref moves (`durable`), since gix syncs nothing. Tree against
//! tree costs the size of the difference, whatever the size of the trees.

use super::{Error, Repository, error::Result};
use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::diff::tree::recorder;
use gix::objs::tree::{EntryKind, EntryMode};

/// The name that stands in every commit made here.
const NAME: &str = "autodev";
/// The address that stands in every commit made here.
const EMAIL: &str = "autodev@localhost";

/// Who made a commit, and when: always `autodev <autodev@localhost>`, in UTC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature(pub(crate) DateTime<Utc>);

impl Signature {
    /// Returns the signature in gix's words.
    pub(super) fn to_gix(self) -> gix::actor::Signature {
        let time = gix::date::Time::new(self.0.timestamp(), 0);
        gix::actor::Signature { name: NAME.into(), email: EMAIL.into(), time }
    }
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeChange {
    /// The path, from the root of the tree.
    pub(crate) path: BString,
    /// How it differs.
    pub(crate) change: Change,
}

/// How a path differs: its kind and object in the old and in the new tree, never a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Only the new tree has it.
    Added(EntryKind, ObjectId),
    /// Only the old tree has it.
    Deleted(EntryKind, ObjectId),
    /// Both have it, with another kind or object.
    Modified { old: (EntryKind, ObjectId), new: (EntryKind, ObjectId) },
}

impl Change {
    /// Returns what the path is in the old tree.
    pub(crate) fn before(self) -> Option<(EntryKind, ObjectId)> {
        match self {
            Self::Added(..) => None,
            Self::Deleted(kind, id) | Self::Modified { old: (kind, id), .. } => Some((kind, id)),
        }
    }

    /// Returns what the path is in the new tree.
    pub(crate) fn after(self) -> Option<(EntryKind, ObjectId)> {
        match self {
            Self::Deleted(..) => None,
            Self::Added(kind, id) | Self::Modified { new: (kind, id), .. } => Some((kind, id)),
        }
    }
}

impl Repository {
    /// Writes a commit and returns its id; no hook runs and nothing is signed.
    pub(crate) fn write_commit(
        &self,
        tree_id: ObjectId,
        parents: &[ObjectId],
        message: &str,
        signature: Signature,
    ) -> Result<ObjectId> {
        if tree_id == self.empty_tree() {
            // git knows this one without it being there, but its `fsck` asks for it.
            let tree = gix::objs::Tree::empty();
            self.gix.write_object(&tree).map_err(|source| Error::library("write a tree", source))?;
            self.note_object(tree_id);
        }
        super::program::step("the write of a commit")?;
        let signature = signature.to_gix();
        let commit = gix::objs::Commit {
            tree: tree_id,
            parents: parents.iter().copied().collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: message.into(),
            extra_headers: Vec::new(),
        };
        let commit_id =
            self.gix.write_object(&commit).map_err(|source| Error::library("write a commit", source))?.detach();
        self.note_object(commit_id);
        Ok(commit_id)
    }

    /// Writes bytes as a blob, without any conversion; one that is there already is not written again.
    pub(crate) fn write_blob_if_new(&self, bytes: &[u8]) -> Result<ObjectId> {
        let known = self.hash_blob(bytes)?;
        if self.gix.has_object(known) {
            self.note_object(known);
            return Ok(known);
        }
        super::program::step("the write of a blob")?;
        let blob_id = self.gix.write_blob(bytes).map_err(|source| Error::library("write a blob", source))?.detach();
        self.note_object(blob_id);
        Ok(blob_id)
    }

    /// Returns the id that bytes would have as a blob.
    pub(crate) fn hash_blob(&self, bytes: &[u8]) -> Result<ObjectId> {
        gix::objs::compute_hash(self.gix.object_hash(), gix::objs::Kind::Blob, bytes)
            .map_err(|source| Error::library("hash a file", source))
    }

    /// Writes a tree made of single entries.
    pub(crate) fn write_tree_of(&self, entries: &[(BString, EntryKind, ObjectId)]) -> Result<ObjectId> {
        self.edit_tree(self.empty_tree(), |editor| {
            for (path, kind, id) in entries {
                editor.upsert(path.split_str("/"), *kind, *id)?;
            }
            Ok(())
        })
    }

    /// Returns the id of the tree without entries, which git knows without it being written.
    pub(crate) fn empty_tree(&self) -> ObjectId {
        ObjectId::empty_tree(self.gix.object_hash())
    }

    /// Returns `tree_id` with the entry `name` of the root taken from the tree `from` (or from nowhere).
    pub(crate) fn with_root_entry_of(&self, tree_id: ObjectId, name: &str, from: ObjectId) -> Result<ObjectId> {
        let (ours, theirs) = (self.root_entry(tree_id, name)?, self.root_entry(from, name)?);
        if ours == theirs {
            return Ok(tree_id);
        }
        self.edit_tree(tree_id, |editor| {
            editor.remove([name])?;
            if let Some((mode, id)) = theirs {
                editor.upsert([name], mode.kind(), id)?;
            }
            Ok(())
        })
    }

    fn root_entry(&self, tree_id: ObjectId, name: &str) -> Result<Option<(EntryMode, ObjectId)>> {
        let tree = self.gix.find_tree(tree_id).map_err(|_| missing(tree_id, "a tree"))?;
        for entry in tree.iter() {
            let entry = entry.map_err(|source| Error::library("read a tree", source))?;
            if entry.filename() == name {
                return Ok(Some((entry.mode(), entry.object_id())));
            }
        }
        Ok(None)
    }

    /// Returns `tree_id` with the given paths replaced (or removed where they are `None`).
    pub(crate) fn with_paths(
        &self,
        tree_id: ObjectId,
        paths: &[(BString, Option<(EntryKind, ObjectId)>)],
    ) -> Result<ObjectId> {
        self.edit_tree(tree_id, |editor| {
            // Removals first: one behind an insertion would take what was just put below a folder of that name.
            for (path, _) in paths.iter().filter(|(_, entry)| entry.is_none()) {
                editor.remove(path.split_str("/"))?;
            }
            for (path, entry) in paths {
                if let Some((kind, id)) = entry {
                    editor.upsert(path.split_str("/"), *kind, *id)?;
                }
            }
            Ok(())
        })
    }

    fn edit_tree(
        &self,
        tree_id: ObjectId,
        edit: impl FnOnce(&mut gix::objs::tree::Editor<'_>) -> std::result::Result<(), gix::Error>,
    ) -> Result<ObjectId> {
        let doing = "make a tree";
        let base = self.gix.find_tree(tree_id).map_err(|_| missing(tree_id, "a tree"))?;
        let base = base.decode().map_err(|source| Error::library(doing, source))?.into_owned();
        let mut editor = gix::objs::tree::Editor::new(base, &self.gix.objects, self.gix.object_hash());
        edit(&mut editor).map_err(|source| Error::library(doing, source))?;
        super::program::step("the write of a tree")?;
        let mut written = Vec::new();
        let made = editor
            .write(|tree| {
                let id = self.gix.write_object(tree)?.detach();
                written.push(id);
                Ok::<_, gix::Error>(id)
            })
            .map_err(|source| Error::library(doing, source))?;
        for id in written {
            self.note_object(id);
        }
        Ok(made)
    }

    /// Returns the tree of a commit.
    pub(crate) fn tree_of(&self, commit_id: ObjectId) -> Result<ObjectId> {
        let commit = self.gix.find_commit(commit_id).map_err(|_| missing(commit_id, "a commit"))?;
        Ok(commit.tree_id().map_err(|source| Error::library("read a commit", source))?.detach())
    }

    /// Returns the tree of a commit, or the empty one where there is no commit.
    pub(crate) fn tree_of_maybe(&self, commit_id: Option<ObjectId>) -> Result<ObjectId> {
        commit_id.map_or_else(|| Ok(self.empty_tree()), |commit_id| self.tree_of(commit_id))
    }

    /// Returns the message of a commit.
    pub(crate) fn message_of(&self, commit_id: ObjectId) -> Result<BString> {
        let commit = self.gix.find_commit(commit_id).map_err(|_| missing(commit_id, "a commit"))?;
        Ok(commit.message_raw().map_err(|source| Error::library("read a commit", source))?.to_owned())
    }

    /// Tells whether a commit is there.
    pub(crate) fn has_commit(&self, commit_id: ObjectId) -> bool {
        self.gix.find_commit(commit_id).is_ok()
    }

    /// Tells whether a tree has a file or a folder at a path.
    pub(crate) fn has_path(&self, tree_id: ObjectId, path: &BStr) -> Result<bool> {
        Ok(self.try_find_entry(tree_id, path)?.is_some())
    }

    /// Returns what a tree has at a path.
    pub(crate) fn try_find_entry(&self, tree_id: ObjectId, path: &BStr) -> Result<Option<(EntryMode, ObjectId)>> {
        let tree = self.gix.find_tree(tree_id).map_err(|_| missing(tree_id, "a tree"))?;
        let entry = tree.lookup_entry(path.split_str("/")).map_err(|source| Error::library("read a tree", source))?;
        Ok(entry.map(|entry| (entry.mode(), entry.object_id())))
    }

    /// Reads a blob.
    pub(crate) fn blob(&self, blob_id: ObjectId) -> Result<Vec<u8>> {
        let mut blob = self.gix.find_blob(blob_id).map_err(|_| missing(blob_id, "a blob"))?;
        Ok(blob.take_data())
    }

    /// Tells whether an object is there and its bytes have the hash that is its name.
    pub(crate) fn is_whole(&self, id: ObjectId) -> bool {
        self.gix.find_object(id).is_ok_and(|object| {
            gix::objs::compute_hash(self.gix.object_hash(), object.kind, &object.data).is_ok_and(|hash| hash == id)
        })
    }

    /// Fails, naming the path, unless the object of each change's new side is there.
    pub(crate) fn require_objects(&self, changes: &[TreeChange]) -> Result<()> {
        for TreeChange { path, change } in changes {
            if let Some((kind, id)) = change.after().filter(|(kind, _)| *kind != EntryKind::Commit)
                && !self.gix.has_object(id)
            {
                return Err(missing(id, &format!("{}{path}", if kind == EntryKind::Link { "link " } else { "" })));
            }
        }
        Ok(())
    }

    /// Returns the paths that differ between two trees, in git's order, without rename detection.
    pub(crate) fn changes(&self, old: ObjectId, new: ObjectId) -> Result<Vec<TreeChange>> {
        if old == new {
            return Ok(Vec::new());
        }
        let (old_tree, new_tree) = (
            self.gix.find_tree(old).map_err(|_| missing(old, "a tree"))?,
            self.gix.find_tree(new).map_err(|_| missing(new, "a tree"))?,
        );
        let mut recorder = gix::diff::tree::Recorder::default();
        gix::diff::tree(
            gix::objs::TreeRefIter::from_bytes(&old_tree.data, self.gix.object_hash()),
            gix::objs::TreeRefIter::from_bytes(&new_tree.data, self.gix.object_hash()),
            gix::diff::tree::State::default(),
            &self.gix.objects,
            &mut recorder,
        )
        .map_err(|source| Error::library("compare two trees", source))?;
        let mut changes: Vec<TreeChange> = recorder.records.into_iter().flat_map(to_changes).collect();
        changes.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(changes)
    }
}

fn missing(id: ObjectId, what: &str) -> Error {
    Error::MissingObject { id, what: what.to_owned() }
}

/// Splits a record into changes of single paths; folders only lead to what lies below them.
fn to_changes(record: recorder::Change) -> Vec<TreeChange> {
    let file = |mode: EntryMode| !mode.is_tree();
    let (path, old, new) = match record {
        recorder::Change::Addition { entry_mode, oid, path, .. } => (path, None, Some((entry_mode, oid))),
        recorder::Change::Deletion { entry_mode, oid, path, .. } => (path, Some((entry_mode, oid)), None),
        recorder::Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
            (path, Some((previous_entry_mode, previous_oid)), Some((entry_mode, oid)))
        }
    };
    let old = old.filter(|(mode, _)| file(*mode)).map(|(mode, id)| (mode.kind(), id));
    let new = new.filter(|(mode, _)| file(*mode)).map(|(mode, id)| (mode.kind(), id));
    let change = match (old, new) {
        (Some(old), Some(new)) => Change::Modified { old, new },
        (Some((kind, id)), None) => Change::Deleted(kind, id),
        (None, Some((kind, id))) => Change::Added(kind, id),
        (None, None) => return Vec::new(),
    };
    vec![TreeChange { path, change }]
}
