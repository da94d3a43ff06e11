//! Refs: where HEAD is, and moving refs by compare-and-swap, all or none of a set.
//!
//! Expectations are checked under the locks of all refs of a set before the first is written; a value that
//! someone else moved is an error and stays. What was moved is synced, since gix syncs nothing. A branch
//! name that a branch of the user blocks is noticed here, also where that branch is packed.

use super::{Error, Repository, Signature, error::Result};
use crate::fs;
use gix::ObjectId;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target as GixTarget};
use std::time::Duration;

/// How long a git command of the user's may hold a ref before ours gives up.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far the time of a file may lie behind that of the clock.
const TICK: Duration = Duration::from_millis(20);

/// Where HEAD is. Names of branches are full: `refs/heads/…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Head {
    /// On a branch; without a commit the branch is unborn.
    Branch { name: String, commit_id: Option<ObjectId> },
    /// On a commit.
    Detached { commit_id: ObjectId },
}

impl Head {
    /// Returns the commit that HEAD is at.
    pub(crate) fn commit_id(&self) -> Option<ObjectId> {
        match self {
            Self::Branch { commit_id, .. } => *commit_id,
            Self::Detached { commit_id } => Some(*commit_id),
        }
    }

    /// Returns the full name of the branch that HEAD is on.
    pub(crate) fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch { name, .. } => Some(name),
            Self::Detached { .. } => None,
        }
    }

    /// Returns what HEAD itself leads to.
    pub(crate) fn target(&self) -> Target {
        match self {
            Self::Branch { name, .. } => Target::Ref(name.clone()),
            Self::Detached { commit_id } => Target::Commit(*commit_id),
        }
    }
}

/// Returns the name of a branch without `refs/heads/`, as people call it.
pub(crate) fn short_name(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

/// What a ref points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A commit.
    Commit(ObjectId),
    /// Another ref, by its full name.
    Ref(String),
}

impl std::fmt::Display for Target {
    /// As it stands in the file of a ref.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Commit(id) => write!(f, "{id}"),
            Self::Ref(name) => write!(f, "ref: {name}"),
        }
    }
}

/// What a ref must be before it is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expect {
    /// It does not exist.
    Absent,
    /// It has this value.
    Value(Target),
}

/// One ref of a set that is to be moved together.
#[derive(Debug, Clone)]
pub(crate) struct RefUpdate {
    /// The full name, or `HEAD`.
    pub(crate) name: String,
    /// The new value; `None` deletes the ref.
    pub(crate) to: Option<Target>,
    /// What it must be now.
    pub(crate) expect: Expect,
    /// Whether it must be the branch that HEAD is on; HEAD gets the move into its log then.
    pub(crate) through: bool,
}

impl RefUpdate {
    /// Makes a ref that must not exist.
    pub(crate) fn create(name: impl Into<String>, commit_id: ObjectId) -> Self {
        Self { name: name.into(), to: Some(Target::Commit(commit_id)), expect: Expect::Absent, through: false }
    }

    /// The way back, once the ref was moved.
    pub(crate) fn reversed(&self) -> Self {
        let to = match &self.expect {
            Expect::Absent => None,
            Expect::Value(target) => Some(target.clone()),
        };
        let expect = self.to.clone().map_or(Expect::Absent, Expect::Value);
        Self { name: self.name.clone(), to, expect, through: self.through }
    }

    /// Moves HEAD to a commit, by way of the branch it is on (and stays on) where it is on one.
    pub(crate) fn head(head: &Head, to: ObjectId) -> Self {
        let name = head.branch().unwrap_or("HEAD");
        Self { through: head.branch().is_some(), ..Self::moved(name, head.commit_id(), to) }
    }

    /// Leads HEAD itself elsewhere, onto a branch or a commit; no branch moves.
    pub(crate) fn switch(head: &Head, to: Target) -> Self {
        Self { name: "HEAD".into(), to: Some(to), expect: Expect::Value(head.target()), through: false }
    }

    /// Moves a ref from one commit (or from nowhere) to another.
    pub(crate) fn moved(name: impl Into<String>, from: Option<ObjectId>, to: ObjectId) -> Self {
        let expect = from.map_or(Expect::Absent, |from| Expect::Value(Target::Commit(from)));
        Self { name: name.into(), to: Some(Target::Commit(to)), expect, through: false }
    }
}

impl Repository {
    /// Returns where HEAD is.
    pub(crate) fn head(&self) -> Result<Head> {
        let doing = || "read HEAD".to_owned();
        let head = self.gix.head().map_err(|source| Error::library(doing(), source))?;
        let commit_id = head.id().map(gix::Id::detach);
        match head.referent_name() {
            Some(name) => Ok(Head::Branch { name: utf8(name.as_bstr())?, commit_id }),
            None => match commit_id {
                Some(commit_id) => Ok(Head::Detached { commit_id }),
                None => Err(Error::Unreadable { command: "HEAD" }),
            },
        }
    }

    /// Returns the object that a ref (by its full name) leads to, or `None` where it does not exist.
    pub(crate) fn try_find_ref(&self, name: &str) -> Result<Option<ObjectId>> {
        let doing = || format!("read {name}");
        let full = full_name(name)?;
        let found = self.gix.refs.try_find(full.as_ref()).map_err(|source| Error::library(doing(), source))?;
        Ok(found.and_then(|reference| reference.target.try_into_id().ok()))
    }

    /// Returns all refs below a prefix that ends with `/`, with the objects they name.
    pub(crate) fn refs_below(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>> {
        let doing = || format!("list {prefix}");
        let platform = self.gix.references().map_err(|source| Error::library(doing(), source))?;
        let references = platform.prefixed(prefix).map_err(|source| Error::library(doing(), source))?;
        let mut found = Vec::new();
        for reference in references {
            let reference = reference.map_err(|source| Error::Library { doing: doing(), said: source.to_string() })?;
            if let Some(id) = reference.target().try_id() {
                found.push((utf8(reference.name().as_bstr())?, id.to_owned()));
            }
        }
        Ok(found)
    }

    /// Returns the folder of another work tree in which a branch is checked out.
    pub(crate) fn checked_out_elsewhere(&self, branch: &str) -> Result<Option<std::path::PathBuf>> {
        let doing = || "look at the other work trees".to_owned();
        for other in self.gix.worktrees_including_main().map_err(|source| Error::library(doing(), source))? {
            let Ok(other) = other else { continue };
            let same = std::fs::canonicalize(other.git_dir()).is_ok_and(|folder| folder == self.git_dir);
            let on = other.head_name().ok().flatten();
            if !same && !other.is_bare() && on.is_some_and(|name| name.as_bstr() == branch) {
                return Ok(Some(other.workdir().unwrap_or_else(|| other.git_dir()).to_owned()));
            }
        }
        Ok(None)
    }

    /// Picks the first free branch name of `wanted`, `wanted-2`, `wanted-3`…; all without `refs/heads/`.
    pub(crate) fn free_branch(&self, prefix: &str, wanted: &str) -> Result<String> {
        let wanted = format!("{prefix}/{wanted}");
        let mut parts: Vec<&str> = wanted.split('/').collect();
        parts.pop();
        for length in 1..=parts.len() {
            let blocker = parts[..length].join("/");
            if self.try_find_ref(&format!("refs/heads/{blocker}"))?.is_some() {
                return Err(Error::BranchBlocked { blocker, wanted });
            }
        }
        let mut name = wanted.clone();
        let mut number = 2;
        while self.try_find_ref(&format!("refs/heads/{name}"))?.is_some()
            || !self.refs_below(&format!("refs/heads/{name}/"))?.is_empty()
        {
            name = format!("{wanted}-{number}");
            number += 1;
        }
        Ok(name)
    }

    /// Moves all refs of the set, or none where one is not as expected; what they lead to is on disk before.
    ///
    /// A failure after the first has moved (or before all are synced) may leave the set between; each ref is at
    /// one of its two ends then, and whoever asked moves back those that moved.
    pub(crate) fn update_refs(&self, updates: &[RefUpdate], message: &str, signature: Signature) -> Result<()> {
        self.make_durable()?;
        super::program::step("the move of a ref")?;
        let edits = updates.iter().map(|update| to_edits(update, message)).collect::<Result<Vec<_>>>()?.concat();
        let signature = signature.to_gix();
        let mut buffer = gix::date::parse::TimeBuf::default();
        let patience = gix::lock::acquire::Fail::AfterDurationWithBackoff(PATIENCE);
        let since = std::time::SystemTime::from(crate::clock::Clock::System.now()) - TICK;
        let prepared = match self.gix.refs.transaction().prepare(edits, patience, patience) {
            Ok(prepared) => prepared,
            Err(source) => return Err(self.explain(updates, source)?),
        };
        // HEAD is locked now: what it leads to is what moves, and must be what was asked for.
        for update in updates.iter().filter(|update| update.through) {
            if self.head()?.branch() != Some(update.name.as_str()) {
                return Err(Error::RefMoved { name: "HEAD".to_owned() });
            }
        }
        let done = prepared.commit(Some(signature.to_ref(&mut buffer)));
        // The library gives its locks back and does not say when it cannot.
        self.release_ref_locks(updates, since)?;
        done.map_err(|source| Error::library("move a ref", source))?;
        updates.iter().try_for_each(|update| self.sync_ref(update))
    }

    /// Finds out whether a failed set failed because somebody moved one of its refs, or holds one.
    fn explain(&self, updates: &[RefUpdate], source: gix::Error) -> Result<Error> {
        for update in updates.iter().filter(|update| update.name != "HEAD") {
            let now = self.try_find_ref(&update.name)?.map(Target::Commit);
            let expected = match &update.expect {
                Expect::Absent => None,
                Expect::Value(target) => Some(target.clone()),
            };
            if now != expected {
                return Ok(Error::RefMoved { name: update.name.clone() });
            }
        }
        let locked = self.ref_lock_in_the_way(updates.iter().map(|update| update.name.as_str()));
        Ok(locked.unwrap_or_else(|| Error::library("move a ref", source)))
    }

    fn sync_ref(&self, update: &RefUpdate) -> Result<()> {
        let base = if update.name == "HEAD" { self.git_dir.as_path() } else { self.gix.common_dir() };
        let path = base.join(&update.name);
        if path.is_file() {
            fs::sync_file(&path)?;
        }
        // The folder of a ref that is made may be new too.
        let folders = if update.expect == Expect::Absent { 2 } else { 1 };
        for folder in path.ancestors().skip(1).take(folders).filter(|folder| folder.is_dir()) {
            fs::sync_folder(folder)?;
        }
        Ok(())
    }
}

fn utf8(name: &gix::bstr::BStr) -> Result<String> {
    String::from_utf8(name.to_vec()).map_err(|_| Error::Unsupported { what: "a branch whose name is not UTF-8" })
}

fn full_name(name: &str) -> Result<FullName> {
    FullName::try_from(name).map_err(|source| Error::library(format!("use the ref name {name}"), source))
}

fn to_edits(update: &RefUpdate, message: &str) -> Result<Vec<RefEdit>> {
    let target = |target: &Target| -> Result<GixTarget> {
        Ok(match target {
            Target::Commit(id) => GixTarget::Object(*id),
            Target::Ref(name) => GixTarget::Symbolic(full_name(name)?),
        })
    };
    let expected = match &update.expect {
        Expect::Absent => PreviousValue::MustNotExist,
        Expect::Value(value) => PreviousValue::MustExistAndMatch(target(value)?),
    };
    let log =
        |message: &str| LogChange { mode: RefLog::AndReference, force_create_reflog: false, message: message.into() };
    let head = || full_name("HEAD");
    Ok(match (&update.to, update.through) {
        // By way of HEAD, so that both get their log.
        (Some(value), true) => {
            vec![RefEdit {
                change: Change::Update { log: log(message), expected, new: target(value)? },
                name: head()?,
                deref: true,
            }]
        }
        // HEAD is written as it is, so that it is locked while its branch goes.
        (None, true) => {
            let stays = GixTarget::Symbolic(full_name(&update.name)?);
            let kept = PreviousValue::MustExistAndMatch(stays.clone());
            let guard = Change::Update { log: log(message), expected: kept, new: stays };
            let delete = Change::Delete { expected, log: RefLog::AndReference };
            vec![
                RefEdit { change: guard, name: head()?, deref: false },
                RefEdit { change: delete, name: full_name(&update.name)?, deref: false },
            ]
        }
        (Some(value), false) => {
            let change = Change::Update { log: log(message), expected, new: target(value)? };
            vec![RefEdit { change, name: full_name(&update.name)?, deref: false }]
        }
        (None, false) => {
            let change = Change::Delete { expected, log: RefLog::AndReference };
            vec![RefEdit { change, name: full_name(&update.name)?, deref: false }]
        }
    })
}
