//! Hold: what an operation is about to replace gets refs of its own, and is read back before anything moves.
//!
//! Under `refs/autodev/<key>/u/<n>/`: `work` (the work tree), `index` (what was staged) and, where needed,
//! `raw` (bytes that no checkout gives back: ignored files in the way, files whose bytes a filter or a line
//! ending rule changes; with the modes that are neither 644 nor 755 in the message).

use super::capture::Captured;
use super::error::{Error, Result};
use super::plan::Plan;
use super::scope::{Scope, folder_replaced_above, on_disk};
use super::scratch::ScratchIndex;
use crate::git::{IndexView, RefUpdate, Repository, Signature};
use crate::state::{Held, PathRecord, StateFolder};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use serde_json::json;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

/// What was held, and by which refs.
#[derive(Debug)]
pub(crate) struct Hold {
    /// The number of the operation.
    pub(crate) number: u64,
    /// The commits.
    pub(crate) held: Held,
    /// The refs to make.
    pub(crate) refs: Vec<RefUpdate>,
    /// Files held byte for byte, with their mode bits.
    pub(crate) raw: Vec<RawFile>,
}

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

/// Returns the tree that the user's index stands for.
pub(crate) fn index_tree(repository: &Repository, state: &StateFolder, captured: &Captured) -> Result<ObjectId> {
    match &captured.user_index {
        None => Ok(repository.empty_tree()),
        Some(index) => {
            if let Some(tree_id) = index.known_tree() {
                Ok(tree_id)
            } else {
                let copy = ScratchIndex::copy_of(state, &repository.index_path(), "staged")?;
                Ok(repository.write_tree(copy.path())?)
            }
        }
    }
}

/// Fails when the index has conflicts, which no tree can hold.
pub(crate) fn require_no_conflict(captured: &Captured) -> Result<()> {
    match captured.user_index.as_ref().and_then(IndexView::first_conflict) {
        Some(path) => Err(Error::Conflicts { path: path.to_owned() }),
        None => Ok(()),
    }
}

/// Writes the commits that hold what the plan replaces; the caller makes the refs with [`Hold::refs`].
pub(crate) fn hold(
    repository: &Repository,
    state: &StateFolder,
    scope: &Scope<'_>,
    captured: &Captured,
    plan: Option<&Plan>,
    number: u64,
    signature: Signature,
) -> Result<Hold> {
    let parents: Vec<ObjectId> = captured.head.commit_id().into_iter().collect();
    let message = |what: &str| format!("autodev: {what} before operation {number}\n");
    let work = repository.write_commit(captured.tree_id, &parents, &message("work tree"), signature)?;
    let index_tree_id = index_tree(repository, state, captured)?;
    let index = repository.write_commit(index_tree_id, &parents, &message("index"), signature)?;
    let raw = plan.map_or_else(|| Ok(Vec::new()), |plan| raw_files(repository, scope, captured, plan))?;
    let place = |what: &str| format!("refs/autodev/{}/u/{number}/{what}", repository.key());
    let mut refs = vec![RefUpdate::create(place("work"), work), RefUpdate::create(place("index"), index)];
    let mut held = Held { work: Some(work.to_string()), index: Some(index.to_string()), raw: None };
    if !raw.is_empty() {
        let commit_id = write_raw(repository, &raw, &message("raw files"), signature)?;
        refs.push(RefUpdate::create(place("raw"), commit_id));
        held.raw = Some(commit_id.to_string());
    }
    Ok(Hold { number, held, refs, raw })
}

/// Reads back everything that a hold has to give, object by object.
pub(crate) fn read_back(repository: &Repository, captured: &Captured, plan: &Plan, hold: &Hold) -> Result<()> {
    for update in &hold.refs {
        let there = repository.try_find_ref(&update.name)?;
        if there.is_none_or(|commit_id| !repository.has_commit(commit_id)) {
            return Err(Error::NotReadBack { path: update.name.as_str().into() });
        }
    }
    let changes = repository.changes(captured.head_tree_id, captured.tree_id)?;
    let new = changes.iter().filter_map(|change| Some((&change.path, change.change.after()?)));
    let old = plan.steps.iter().filter_map(|step| Some((&step.path, step.change.before()?)));
    let raw = hold.raw.iter().map(|file| (&file.path, (file.kind, file.blob_id)));
    for (path, (kind, id)) in new.chain(old).chain(raw) {
        if kind != EntryKind::Commit && !repository.is_whole(id) {
            return Err(Error::NotReadBack { path: path.clone() });
        }
    }
    Ok(())
}

/// Collects the files of the plan that a checkout of the captured blobs would not give back byte for byte.
fn raw_files(repository: &Repository, scope: &Scope<'_>, captured: &Captured, plan: &Plan) -> Result<Vec<RawFile>> {
    let mut raw = Vec::new();
    let replaced = plan.steps.iter().filter(|step| step.change.before().is_some());
    let replaced: Vec<BString> = replaced.map(|step| step.path.clone()).collect();
    let converted = repository.converted_among(captured.index.path(), &replaced)?;
    for path in &plan.in_the_way {
        raw.extend(read_raw(repository, scope, path)?);
    }
    for step in &plan.steps {
        let Some((kind, id)) = step.change.before().filter(|(kind, _)| *kind != EntryKind::Commit) else { continue };
        if let Some(file) = read_raw(repository, scope, &step.path)? {
            let usual = if kind == EntryKind::BlobExecutable { 0o755 } else { 0o644 };
            let converted = converted.contains(&step.path) || file.mode != usual;
            if file.blob_id != id || (kind != EntryKind::Link && converted) {
                raw.push(file);
            }
        }
    }
    Ok(raw)
}

/// Reads a file as it is; `None` where nothing is there (or a folder).
pub(super) fn read_raw(repository: &Repository, scope: &Scope<'_>, path: &BString) -> Result<Option<RawFile>> {
    let place = scope.on_disk(path.as_bstr());
    let Some(metadata) = scope.look_at(path.as_bstr()) else { return Ok(None) };
    let mode = metadata.permissions().mode() & 0o7777;
    let (kind, bytes) = if metadata.is_symlink() {
        let text = std::fs::read_link(&place).map_err(|source| crate::fs::Error::new("read", &place, source))?;
        (EntryKind::Link, text.as_os_str().as_bytes().to_vec())
    } else if metadata.is_file() {
        let kind = if mode & 0o100 == 0 { EntryKind::Blob } else { EntryKind::BlobExecutable };
        (kind, crate::fs::read(&place)?)
    } else {
        return Ok(None);
    };
    let blob_id = repository.write_blob_if_new(&bytes)?;
    Ok(Some(RawFile { path: path.clone(), kind, blob_id, mode }))
}

fn write_raw(repository: &Repository, raw: &[RawFile], message: &str, signature: Signature) -> Result<ObjectId> {
    let entries: Vec<_> = raw.iter().map(|file| (file.path.clone(), file.kind, file.blob_id)).collect();
    let tree_id = repository.write_tree_of(&entries)?;
    let modes: Vec<_> = raw
        .iter()
        .map(|file| json!({"file": PathRecord(file.path.clone()), "mode": format!("{:o}", file.mode)}))
        .collect();
    Ok(repository.write_commit(tree_id, &[], &format!("{message}\n{}\n", json!({ "modes": modes })), signature)?)
}

/// Writes a raw file back over whatever is there, with its mode; not through a link above it.
pub(crate) fn write_back(repository: &Repository, file: &RawFile) -> Result<()> {
    if let Some(folder) = folder_replaced_above(repository.root(), file.path.as_bstr()) {
        return Err(Error::InTheWay { path: folder.to_owned(), what: "no folder any more".to_owned() });
    }
    let place = on_disk(repository.root(), file.path.as_bstr());
    let bytes = repository.blob(file.blob_id)?;
    if let Some(folder) = place.parent() {
        crate::fs::create_folder_as_usual(folder)?;
    }
    if file.kind == EntryKind::Link {
        return Ok(crate::fs::replace_link(&place, &bytes)?);
    }
    crate::fs::replace(&place, &bytes)?;
    Ok(crate::fs::set_mode(&place, file.mode)?)
}
