//! Files whose bytes are held as they are, because no checkout gives them back: ignored files in the way, files
//! behind filters and line ending rules, and modes other than 644 and 755.
//!
//! They lie in one tree under `u/<n>/raw`, whose commit has kind and mode of each in the last line of its message.

use super::error::{Error, Result};
use super::scope::{Scope, look_at, on_disk};
use crate::git::{Repository, Signature};
use crate::state::{PathRecord, RawRecord};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A file whose bytes are held as they are.
#[derive(Debug, Clone)]
pub(crate) struct RawFile {
    /// The path.
    pub(crate) path: BString,
    /// A file, an executable or a link.
    pub(crate) kind: EntryKind,
    /// The blob with its bytes, or with the text of the link.
    pub(crate) blob_id: ObjectId,
    /// The permission bits.
    pub(crate) mode: u32,
}

impl RawFile {
    /// Writes it as it stands in records.
    pub(crate) fn to_record(&self) -> RawRecord {
        let kind = match self.kind {
            EntryKind::Link => "link",
            EntryKind::BlobExecutable => "executable",
            _ => "file",
        };
        RawRecord {
            path: PathRecord(self.path.clone()),
            kind: kind.to_owned(),
            blob: self.blob_id.to_string(),
            mode: format!("{:o}", self.mode),
        }
    }

    /// Reads it from a record.
    pub(crate) fn from_record(record: &RawRecord) -> Result<Self> {
        let path = record.path.0.clone();
        let kind = match record.kind.as_str() {
            "link" => EntryKind::Link,
            "executable" => EntryKind::BlobExecutable,
            _ => EntryKind::Blob,
        };
        let (id, mode) = (ObjectId::from_hex(record.blob.as_bytes()), u32::from_str_radix(&record.mode, 8));
        match (id, mode) {
            (Ok(blob_id), Ok(mode)) => Ok(Self { path, kind, blob_id, mode }),
            _ => Err(Error::NotReadBack { path }),
        }
    }
}

/// Reads a file as it is; `None` where nothing is there (or a folder).
pub(super) fn read_raw(repository: &Repository, scope: &Scope<'_>, path: &BString) -> Result<Option<RawFile>> {
    read_raw_in(repository, scope.root(), path.as_bstr())
}

/// Reads a file below any folder as it is; `None` where nothing is there (or a folder).
pub(super) fn read_raw_in(repository: &Repository, root: &Path, path: &BStr) -> Result<Option<RawFile>> {
    let place = on_disk(root, path);
    let Some(metadata) = look_at(root, path) else { return Ok(None) };
    let mode = metadata.permissions().mode() & 0o7777;
    let kind = match () {
        () if metadata.is_symlink() => EntryKind::Link,
        () if metadata.is_file() && mode & 0o100 == 0 => EntryKind::Blob,
        () if metadata.is_file() => EntryKind::BlobExecutable,
        () => return Ok(None),
    };
    let blob_id = repository.write_blob_if_new(&raw_bytes(&place)?)?;
    Ok(Some(RawFile { path: path.to_owned(), kind, blob_id, mode }))
}

/// Reads the bytes of a file, or the text of a link.
pub(super) fn raw_bytes(place: &Path) -> Result<Vec<u8>> {
    let failed = |source| crate::fs::Error::new("read", place, source);
    if std::fs::symlink_metadata(place).map_err(failed)?.is_symlink() {
        let text = std::fs::read_link(place).map_err(failed)?;
        return Ok(text.as_os_str().as_bytes().to_vec());
    }
    Ok(crate::fs::read(place)?)
}

/// Writes the commit that holds raw files.
pub(super) fn write_raw(
    repository: &Repository,
    raw: &[RawFile],
    message: &str,
    signature: Signature,
) -> Result<ObjectId> {
    let entries: Vec<_> = raw.iter().map(|file| (file.path.clone(), file.kind, file.blob_id)).collect();
    let tree_id = repository.write_tree_of(&entries)?;
    let records: Vec<RawRecord> = raw.iter().map(RawFile::to_record).collect();
    let records = serde_json::to_string(&records).unwrap_or_default();
    Ok(repository.write_commit(tree_id, &[], &format!("{message}\n{records}\n"), signature)?)
}

/// Reads the files that a commit under `u/<n>/raw` holds.
pub(crate) fn held_raw(repository: &Repository, commit_id: ObjectId) -> Result<Vec<RawFile>> {
    let message = repository.message_of(commit_id)?;
    last_record::<Vec<RawRecord>>(&message).unwrap_or_default().iter().map(RawFile::from_record).collect()
}

/// Reads the record that the last line of a commit's message is, or the last that is one.
pub(super) fn last_record<T: serde::de::DeserializeOwned>(message: &[u8]) -> Option<T> {
    message.lines().rev().find_map(|line| serde_json::from_slice(line).ok())
}

/// Tells whether a file is there with the bytes and the mode that are held.
pub(super) fn is_as_held(repository: &Repository, file: &RawFile) -> bool {
    let there = look_at(repository.root(), file.path.as_bstr());
    there.is_some_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o7777 == file.mode)
        && has_bytes_of(repository, file)
}

/// Tells whether a file is there with the bytes that are held, whatever its mode.
pub(super) fn has_bytes_of(repository: &Repository, file: &RawFile) -> bool {
    look_at(repository.root(), file.path.as_bstr()).is_some_and(|metadata| metadata.is_file())
        && crate::fs::read(&on_disk(repository.root(), file.path.as_bstr()))
            .is_ok_and(|bytes| repository.hash_blob(&bytes).is_ok_and(|id| id == file.blob_id))
}
