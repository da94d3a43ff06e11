//! Keeps the private index true to the user's: what is tracked there is tracked here, what is only here
//! must still belong, and marks that hide a file from git hide it here too.
//!
//! Costs a comparison of two sorted lists, and nothing where the two files are equal.

use super::error::Result;
use super::scope::Scope;
use crate::git::{EntryFlags, IndexEntry, IndexView, Repository};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::Path;

/// What has to be done to the private index.
#[derive(Debug, Default)]
struct Differences {
    /// Entries to set to what the user's index has.
    set: Vec<(BString, u32, ObjectId)>,
    /// Paths that the user's index does not have.
    only_here: Vec<BString>,
    /// Marks to set or to lift.
    marks: Vec<(&'static str, BString)>,
    /// Paths that are announced without content; their files are to be read.
    announced: Vec<BString>,
}

/// Aligns the index at `scratch` (seen as `private`) with the user's; returns paths whose files are to be read whatever the rules say.
pub(super) fn align(
    repository: &Repository,
    scratch: &Path,
    private: &IndexView,
    user: Option<&IndexView>,
    scope: &Scope<'_>,
) -> Result<Vec<BString>> {
    let differences = compare(private, user);
    // What is gone, or seen only through a link, must not be asked for: git would give up.
    let (there, away): (Vec<_>, Vec<_>) =
        differences.only_here.iter().cloned().partition(|path| scope.look_at(path.as_bstr()).is_some());
    let ignored: HashSet<BString> = repository.ignored_among(scratch, &there)?.into_iter().collect();
    let leaves = |path: &BString| {
        Scope::is_ours(path.as_bstr()) || ignored.contains(path) || scope.reason_not_to_want(path.as_bstr()).is_some()
    };
    let gone: Vec<BString> = away.into_iter().chain(there.iter().filter(|path| leaves(path)).cloned()).collect();
    repository.remove_from_index(scratch, &gone)?;
    repository.set_in_index(scratch, &differences.set)?;
    for flag in ["--no-assume-unchanged", "--no-skip-worktree", "--assume-unchanged", "--skip-worktree"] {
        let paths: Vec<BString> =
            differences.marks.iter().filter(|(mark, _)| *mark == flag).map(|(_, path)| path.clone()).collect();
        repository.flag_in_index(scratch, flag, &paths)?;
    }
    Ok(differences.announced)
}

fn compare(private: &IndexView, user: Option<&IndexView>) -> Differences {
    let mut differences = Differences::default();
    let mut ours = private.entries().peekable();
    let mut theirs = user.into_iter().flat_map(IndexView::entries).peekable();
    loop {
        let order = match (ours.peek(), theirs.peek()) {
            (None, None) => return differences,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(our), Some(their)) => our.path.cmp(their.path),
        };
        let our = if order == Ordering::Greater { None } else { ours.next() };
        let their = if order == Ordering::Less { None } else { theirs.next() };
        match (our, their) {
            (Some(our), None) => differences.only_here.push(our.path.to_owned()),
            (our, Some(their)) => differences.follow(our, their),
            (None, None) => {}
        }
    }
}

impl Differences {
    /// Makes our entry say what the user's says, as far as the file on disk does not say it.
    fn follow(&mut self, our: Option<IndexEntry<'_>>, their: IndexEntry<'_>) {
        let path = || their.path.to_owned();
        if their.flags.intent_to_add {
            if our.is_none() {
                self.announced.push(path());
            }
            return;
        }
        let equal = our.is_some_and(|our| our.mode == their.mode && our.id == their.id);
        let fixed = their.flags.hides_the_file() || Scope::is_ours(their.path);
        let set = our.is_none() || (fixed && !equal);
        if set {
            self.set.push((path(), their.mode.bits(), their.id));
        }
        let flags = if set { EntryFlags::default() } else { our.map(|our| our.flags).unwrap_or_default() };
        for (ours, theirs, on, off) in [
            (flags.assume_unchanged, their.flags.assume_unchanged, "--assume-unchanged", "--no-assume-unchanged"),
            (flags.skip_worktree, their.flags.skip_worktree, "--skip-worktree", "--no-skip-worktree"),
        ] {
            if ours != theirs {
                self.marks.push((if theirs { on } else { off }, path()));
            }
        }
    }
}
