//! Hold: what an operation is about to replace gets refs of its own, and is read back before anything moves.
//!
//! Under `refs/autodev/<key>/u/<n>/`: `work` (the work tree), `index` (what was staged) and, where needed,
//! `raw` (bytes that no checkout gives back: ignored files in the way, files whose bytes a filter or a line
//! ending rule changes; with the modes that are neither 644 nor 755 in the message).

use super::capture::Captured;
use super::error::{Error, Result};
use super::marks::Marks;
use super::plan::Plan;
use super::project::Project;
use super::raw::{RawFile, read_raw, write_raw};
use super::scope::Scope;
use super::scratch::ScratchIndex;
use crate::git::{IndexView, RefUpdate, Repository, Target};
use crate::state::{Held, StateFolder};
use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;
use std::collections::HashSet;

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

impl Hold {
    /// A hold of what other refs hold already.
    pub(crate) fn by_others(number: u64, held: Held) -> Self {
        Self { number, held, refs: Vec::new(), raw: Vec::new() }
    }
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

/// Tells whether the user's index says what no tree can say.
pub(crate) fn has_marks(captured: &Captured) -> bool {
    Marks::of(captured.user_index.as_ref()) != Marks::default()
}

/// Fails when the index has conflicts, which no tree can hold.
pub(crate) fn require_no_conflict(captured: &Captured) -> Result<()> {
    match captured.user_index.as_ref().and_then(IndexView::first_conflict) {
        Some(path) => Err(Error::Conflicts { path: path.to_owned() }),
        None => Ok(()),
    }
}

/// Writes the commits that hold what the plan replaces; the caller makes the refs with [`Hold::refs`].
///
/// `given` are paths that get bytes of their own, also where no step of the plan replaces them.
pub(crate) fn hold(
    project: &Project,
    captured: &Captured,
    plan: Option<&Plan>,
    given: &[BString],
    number: u64,
) -> Result<Hold> {
    let (repository, scope, signature) = (project.repository()?, project.scope(), project.signature());
    let parents: Vec<ObjectId> = captured.head.commit_id().into_iter().collect();
    let message = |what: &str| format!("autodev: {what} before operation {number}\n");
    let work = repository.write_commit(captured.tree_id, &parents, &message("work tree"), signature)?;
    let index_tree_id = index_tree(repository, project.state(), captured)?;
    let marks = Marks::of(captured.user_index.as_ref());
    let index_message = message("index") + &marks.to_message();
    let index = repository.write_commit(index_tree_id, &parents, &index_message, signature)?;
    let mut raw = plan.map_or_else(|| Ok(Vec::new()), |plan| raw_files(repository, &scope, captured, plan))?;
    let known: HashSet<BString> = raw.iter().map(|file| file.path.clone()).collect();
    for path in given.iter().filter(|path| !known.contains(*path)) {
        raw.extend(read_raw(repository, &scope, path)?);
    }
    let place = |what: &str| format!("{}/{what}", project.held_at(number));
    let mut refs = vec![RefUpdate::create(place("work"), work), RefUpdate::create(place("index"), index)];
    let mut held = Held { work: Some(work.to_string()), index: Some(index.to_string()), raw: None };
    if !raw.is_empty() {
        let commit_id = write_raw(repository, &raw, &message("raw files"), signature)?;
        refs.push(RefUpdate::create(place("raw"), commit_id));
        held.raw = Some(commit_id.to_string());
    }
    Ok(Hold { number, held, refs, raw })
}

/// Reads back everything that is held, object by object, and all that refs are to lead to; all of it is on disk then.
pub(super) fn read_back(
    repository: &Repository,
    captured: &Captured,
    plan: &Plan,
    hold: &Hold,
    holding: &[RefUpdate],
    moves: &[RefUpdate],
) -> Result<()> {
    for update in holding {
        let there = repository.try_find_ref(&update.name)?;
        if there.is_none_or(|commit_id| !repository.has_commit(commit_id)) {
            return Err(Error::NotReadBack { path: update.name.as_str().into() });
        }
    }
    for update in moves {
        if let Some(Target::Commit(commit_id)) = update.to
            && !repository.has_commit(commit_id)
        {
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
        repository.note_object(id);
    }
    Ok(repository.make_durable()?)
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
