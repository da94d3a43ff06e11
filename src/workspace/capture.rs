//! Capture: what is there now, held as objects of git.
//!
//! What changed, what is new and what is ignored is found against the private index, by git and by a walk of our
//! own beside it; only that is read. The user's index, HEAD and files are only looked at. What was in scope and could not be held is named,
//! with the reason; a failure of git is an error, never an empty answer.

use super::align::align;
use super::doubt::{Doubtful, doubtful, last_written};
use super::error::Result;
use super::scope::{OURS, Scope, is_special};
use super::scratch::ScratchIndex;
use super::special::Look;
use crate::fs::FileIdentity;
use crate::git::{Head, IndexView, Repository, Status, Walk, same_contents};
use crate::state::{SkipReason, Skipped, StateFolder};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use std::collections::HashSet;

/// The state of a workspace as it was captured.
#[derive(Debug)]
pub(crate) struct Captured {
    /// Where HEAD was.
    pub(crate) head: Head,
    /// The tree of HEAD's commit; the empty tree where there is none.
    pub(crate) head_tree_id: ObjectId,
    /// The work tree, with `.autodev/` as HEAD has it.
    pub(crate) tree_id: ObjectId,
    /// What was in scope and is not held, by path.
    pub(crate) skipped: Vec<Skipped>,
    /// The user's index.
    pub(crate) user_index: Option<IndexView>,
    /// An index that stands for the work tree, with stat data.
    pub(crate) index: ScratchIndex,
}

impl Captured {
    /// Tells whether the work tree differs from HEAD's commit.
    pub(crate) fn is_changed(&self) -> bool {
        self.tree_id != self.head_tree_id
    }
}

/// What is to be done to the index so that it stands for the work tree.
#[derive(Debug, Default)]
struct Updates {
    remove: Vec<BString>,
    read: Vec<BString>,
    /// Those of `read` that are not in the index yet.
    new: Vec<BString>,
    skipped: Vec<Skipped>,
}

/// Captures the workspace; the caller holds the project's lock.
///
/// The private index only saves work: where it is damaged, or names objects that a gc took since, the capture
/// begins again from the user's.
pub(crate) fn capture(repository: &Repository, state: &StateFolder, scope: &Scope<'_>) -> Result<Captured> {
    match capture_from(ScratchIndex::begin(state, repository)?, repository, state, scope) {
        Err(_) if ScratchIndex::forget(state)? => {
            capture_from(ScratchIndex::begin(state, repository)?, repository, state, scope)
        }
        captured => captured,
    }
}

fn capture_from(
    index: ScratchIndex,
    repository: &Repository,
    state: &StateFolder,
    scope: &Scope<'_>,
) -> Result<Captured> {
    let root = repository.root();
    let begun = Begun::from(&index, repository, state, scope)?;
    let mut walk = begun.who_walks(repository);
    let (status, seen) = repository.status_while(index.path(), walk, || begun.look(repository, state, scope));
    let (mut status, mut seen) = (status?, seen?);
    let needs_git = seen.needs_git && walk == Walk::Tracked;
    if needs_git {
        walk = Walk::All;
    }
    if needs_git || !seen.doubtful.is_empty() {
        repository.set_in_index(index.path(), &seen.doubtful)?;
        status = repository.status(index.path(), walk)?;
    }
    if walk == Walk::Tracked {
        seen.look.unknown.folders.retain(|folder| !scope.never_holds(folder.as_bstr()));
        repository.add_untracked(index.path(), &seen.look.unknown, &mut status)?;
    }
    let (user_index, head, head_tree_id) = (seen.user_index.take(), seen.head, seen.head_tree_id);
    let mut updates = sort_out(&status, user_index.as_ref(), scope);
    updates.read.extend(seen.announced.into_iter().filter(|path| scope.look_at(path.as_bstr()).is_some()));
    for path in status.conflicts.iter().filter(|path| !scope.never_holds(path.as_bstr())) {
        // In an index of our own a conflict is what the file says now.
        let there = scope.look_at(path.as_bstr()).is_some_and(|metadata| !metadata.is_dir());
        if there { updates.read.push(path.clone()) } else { updates.remove.push(path.clone()) }
    }
    let closed = closed_folders(&status, user_index.as_ref());
    let look = seen.look;
    let (tree_id, special) = std::thread::scope(|threads| {
        let walk = threads.spawn(|| look.finish(root, &closed));
        let tree = bring_up_to_date(repository, index.path(), &updates);
        (tree, walk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let ((tree_id, refused), special) = (tree_id?, special?);
    let tree_id = repository.with_root_entry_of(tree_id, OURS, head_tree_id)?;
    let mut skipped = updates.skipped;
    skipped.extend(refused.into_iter().filter(|skipped| scope.look_at(skipped.path.as_bstr()).is_some()));
    skipped.extend(visible(repository, &index, special, scope)?);
    skipped.sort_by(|left, right| left.path.cmp(&right.path));
    skipped.dedup_by(|left, right| left.path == right.path);
    index.remember()?;
    Ok(Captured { head, head_tree_id, tree_id, skipped, user_index, index })
}

/// What has to be known before git walks.
struct Begun {
    /// When the scratch index was written: seconds and nanoseconds.
    written: Option<(i64, i64)>,
    /// What the user's index was like when it was compared with the scratch index.
    compared: Option<(FileIdentity, std::time::SystemTime)>,
    /// The user's index and the paths that it announces, where the private index had to be made true to it.
    aligned: Option<(Option<IndexView>, Vec<BString>)>,
}

/// What is looked at while git walks.
struct Seen {
    user_index: Option<IndexView>,
    announced: Vec<BString>,
    doubtful: Vec<Doubtful>,
    head: Head,
    head_tree_id: ObjectId,
    look: Look,
    /// Whether git has to walk all by itself after all: the user's index changed meanwhile, or hides ignore rules.
    needs_git: bool,
}

impl Begun {
    /// Aligns the scratch index with the user's, where the two are not the same bytes.
    fn from(index: &ScratchIndex, repository: &Repository, state: &StateFolder, scope: &Scope<'_>) -> Result<Self> {
        let (written, compared) = (last_written(index.path()), state_of(&repository.index_path()));
        if same_contents(&repository.index_path(), index.path()) {
            return Ok(Self { written, compared, aligned: None });
        }
        let user_index = read_user_index(repository, state)?;
        let private = repository.read_index(index.path())?;
        let announced = match &private {
            Some(private) => {
                let doubtful = doubtful(private, written, scope);
                repository.set_in_index(index.path(), &doubtful)?;
                align(repository, index.path(), private, user_index.as_ref(), scope)?
            }
            None => Vec::new(),
        };
        Ok(Self { written, compared, aligned: Some((user_index, announced)) })
    }

    /// Decides who looks for files that are not in the index. Where the scratch index is the user's, the look at the
    /// folders does that in passing, and git only has to say which of them it ignores.
    fn who_walks(&self, repository: &Repository) -> Walk {
        // Asked about single paths, git does not read rules that a sparse checkout left off the disk.
        let plain = !repository.ignores_case() && !repository.has_sparse_checkout();
        if self.aligned.is_none() && plain { Walk::Tracked } else { Walk::All }
    }

    /// Looks at HEAD, at folders with tracked files, and at the user's index where it was not read yet.
    fn look(self, repository: &Repository, state: &StateFolder, scope: &Scope<'_>) -> Result<Seen> {
        let head = repository.head()?;
        let head_tree_id = repository.tree_of_maybe(head.commit_id())?;
        let (user_index, announced, doubtful) = if let Some((user_index, announced)) = self.aligned {
            (user_index, announced, Vec::new())
        } else {
            let user_index = read_user_index(repository, state)?;
            let doubtful = user_index.as_ref().map(|index| doubtful(index, self.written, scope));
            (user_index, Vec::new(), doubtful.unwrap_or_default())
        };
        let look = Look::begin(repository.root(), user_index.as_ref());
        let hides_rules = user_index.as_ref().is_some_and(IndexView::hides_ignore_rules);
        let needs_git = hides_rules || state_of(&repository.index_path()) != self.compared;
        Ok(Seen { user_index, announced, doubtful, head, head_tree_id, look, needs_git })
    }
}

/// Tells two states of a file apart without reading it.
fn state_of(file: &std::path::Path) -> Option<(FileIdentity, std::time::SystemTime)> {
    Some((FileIdentity::of(file)?, std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok()?))
}

/// Reads the user's index, spelled out where it is sparse.
fn read_user_index(repository: &Repository, state: &StateFolder) -> Result<Option<IndexView>> {
    let path = repository.index_path();
    let view = repository.read_index(&path)?;
    if !view.as_ref().is_some_and(IndexView::is_sparse) {
        return Ok(view);
    }
    let copy = ScratchIndex::copy_of(state, &path, "sparse")?;
    repository.expand_index(copy.path())?;
    Ok(repository.read_index(copy.path())?)
}

/// Reads what belongs into the index and writes its tree; one file that git cannot take does not cost the others.
fn bring_up_to_date(
    repository: &Repository,
    index: &std::path::Path,
    updates: &Updates,
) -> Result<(ObjectId, Vec<Skipped>)> {
    repository.remove_from_index(index, &updates.remove)?;
    let mut refused = Vec::new();
    let tree_id = match repository.add_and_write_tree(index, &updates.read) {
        Ok(tree_id) => tree_id,
        Err(error) => {
            take_one_by_one(repository, index, &updates.read, &mut refused)?;
            // Where git could take them all the same, it is the disk that cannot.
            for path in &refused {
                if repository.can_convert(path.as_bstr())? {
                    return Err(error.into());
                }
            }
            if refused.is_empty() {
                return Err(error.into());
            }
            repository.write_tree(index)?
        }
    };
    // Names that git does not allow are passed over without an error.
    let known = if updates.new.is_empty() { None } else { repository.read_index(index)? };
    let passed_over = |path: &&BString| !known.as_ref().is_some_and(|index| index.contains(path.as_bstr()));
    let missing: HashSet<BString> = updates.new.iter().filter(passed_over).cloned().chain(refused).collect();
    let reason = SkipReason::Unstageable;
    Ok((tree_id, missing.into_iter().map(|path| Skipped { path, reason }).collect()))
}

/// Finds the files that git cannot take, by halves; what they were before stays in the index.
fn take_one_by_one(
    repository: &Repository,
    index: &std::path::Path,
    paths: &[BString],
    refused: &mut Vec<BString>,
) -> Result<()> {
    let (left, right) = paths.split_at(paths.len() / 2);
    for half in [left, right].into_iter().filter(|half| !half.is_empty()) {
        match repository.add_to_index(index, half) {
            Ok(()) => {}
            Err(_) if half.len() == 1 => refused.extend(half.iter().cloned()),
            Err(_) => take_one_by_one(repository, index, half, refused)?,
        }
    }
    Ok(())
}

/// Decides for each path of the status whether it is read, taken out, or named as skipped.
fn sort_out(status: &Status, user: Option<&IndexView>, scope: &Scope<'_>) -> Updates {
    let mut updates = Updates::default();
    for change in status.changed.iter().filter(|change| !scope.never_holds(change.path.as_bstr())) {
        let path = change.path.as_bstr();
        let tracked = user.is_some_and(|index| index.contains(path));
        let metadata = scope.look_at(path);
        let skip = |reason| Skipped { path: path.to_owned(), reason };
        match metadata {
            Some(metadata) if is_special(metadata.file_type()) => {
                updates.remove.push(path.to_owned());
                updates.skipped.push(skip(SkipReason::SpecialFile));
            }
            Some(metadata) if !change.gone && (change.submodule || !metadata.is_dir()) => {
                let reason =
                    if tracked { scope.reason_not_to_read(path, &metadata) } else { scope.reason_to_skip(path) };
                match reason {
                    None => updates.read.push(path.to_owned()),
                    Some(reason) => {
                        // An unreadable tracked file stays what it was; what is not tracked is not held.
                        if !tracked {
                            updates.remove.push(path.to_owned());
                        }
                        updates.skipped.push(skip(reason));
                    }
                }
            }
            _ => updates.remove.push(path.to_owned()),
        }
    }
    for path in status.untracked.iter().filter(|path| !scope.never_holds(path.as_bstr())) {
        match scope.reason_to_skip(path.as_bstr()) {
            None => {
                updates.read.push(path.clone());
                updates.new.push(path.clone());
            }
            Some(reason) => updates.skipped.push(Skipped { path: path.clone(), reason }),
        }
    }
    for path in status.nested.iter().filter(|path| !scope.never_holds(path.as_bstr())) {
        updates.skipped.push(Skipped { path: path.clone(), reason: SkipReason::NestedRepository });
    }
    updates
}

/// The folders that a look for special files does not enter.
fn closed_folders(status: &Status, user: Option<&IndexView>) -> HashSet<BString> {
    let ignored = status.ignored.iter().filter_map(|path| path.strip_suffix(b"/")).map(BString::from);
    let submodules = user.into_iter().flat_map(IndexView::submodules).map(ToOwned::to_owned);
    ignored.chain(status.nested.iter().cloned()).chain(submodules).chain([BString::from(OURS)]).collect()
}

/// Names special files and unreadable folders that no ignore rule leaves out.
fn visible(
    repository: &Repository,
    index: &ScratchIndex,
    special: Vec<Skipped>,
    scope: &Scope<'_>,
) -> Result<Vec<Skipped>> {
    let paths: Vec<BString> = special.iter().map(|skipped| skipped.path.clone()).collect();
    let ignored: HashSet<BString> = repository.ignored_among(index.path(), &paths)?.into_iter().collect();
    let seen = |path: &BString| !ignored.contains(path) && !scope.never_holds(path.as_bstr());
    Ok(special.into_iter().filter(|skipped| seen(&skipped.path)).collect())
}
