//! The intent: a change in progress, as it stands in `intent.json`.
//!
//! It says everything that is needed to complete the change or to take it back, so that a process that was
//! cut off anywhere leaves a state that the next one can bring to one of its two ends. It is written before
//! anything is touched and removed when everything is done.

use super::{Checkpoint, Error, OperationRecord, PathRecord, StateFolder, VERSION, error::Result};
use crate::fs::{self, FileIdentity};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// The user's index from before a change, beside its intent.
pub(crate) const BEFORE: &str = "before.index";

/// A change in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Intent {
    version: u32,
    /// What is being done, for people: `restore to c3`.
    pub(crate) what: String,
    /// Since when, in UTC.
    pub(crate) time: DateTime<Utc>,
    /// The `index.lock` that was made for it; that one is ours, any other is the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lock: Option<FileIdentity>,
    /// Locks that came before it; one of them may have become the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier_locks: Vec<FileIdentity>,
    /// Whether it is being taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) back: bool,
    /// The refs that hold what is replaced; while there is no `change`, nothing else was touched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) holding: Vec<RefRecord>,
    /// The change itself, once everything is held and was read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<ChangeRecord>,
}

/// Everything that a change does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    /// The work tree before, as a tree.
    pub(crate) from: String,
    /// The work tree after, as a tree.
    pub(crate) to: String,
    /// Ignored files that the target overwrites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) in_the_way: Vec<PathRecord>,
    /// Files whose bytes before are held as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) raw_before: Vec<RawRecord>,
    /// Files whose bytes after are given as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) raw_after: Vec<RawRecord>,
    /// The user's index before the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) index_before: Option<FileIdentity>,
    /// What becomes of the user's index.
    pub(crate) index: IndexGoal,
    /// How HEAD and branches move.
    pub(crate) moves: Vec<RefRecord>,
    /// The entries that the ledger gets.
    pub(crate) entries: Vec<Checkpoint>,
    /// The line that `operations.jsonl` gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<OperationRecord>,
    /// The line that memory.md gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<String>,
    /// Whether nothing is going on in the project any more once it is done.
    #[serde(default)]
    pub(crate) rests: bool,
    /// The event that is reported.
    pub(crate) event: String,
    /// The fields of that event.
    pub(crate) fields: Value,
}

/// What becomes of the user's index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "goal")]
pub(crate) enum IndexGoal {
    /// It stays as it is.
    Keep,
    /// It becomes the work tree's, which is this tree, with `.autodev/` as the index has it.
    Work { tree: String },
    /// It becomes this tree.
    Tree { tree: String },
    /// It becomes what a commit under `u/<n>/index` holds.
    Held { commit: String },
}

/// A ref that moves: where it is before and after; a commit's id, or `ref: <name>`; none where there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefRecord {
    /// The full name.
    pub(crate) name: String,
    /// Its value before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// Its value after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    /// Whether it is the branch that HEAD is on, and has to be.
    #[serde(default)]
    pub(crate) through: bool,
}

/// A file whose bytes are held as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RawRecord {
    /// The path.
    #[serde(flatten)]
    pub(crate) path: PathRecord,
    /// `file`, `executable` or `link`.
    pub(crate) kind: String,
    /// The blob with the bytes.
    pub(crate) blob: String,
    /// The permission bits, in octal.
    pub(crate) mode: String,
}

impl Intent {
    /// Begins an intent that has touched nothing yet.
    pub(crate) fn begin(what: impl Into<String>, time: DateTime<Utc>) -> Self {
        let (what, earlier_locks, holding) = (what.into(), Vec::new(), Vec::new());
        Self { version: VERSION, what, time, lock: None, earlier_locks, back: false, holding, change: None }
    }

    /// Reads the intent, or returns `None` where no change is in progress.
    pub(crate) fn load(state: &StateFolder) -> Result<Option<Self>> {
        let path = path(state);
        let Some(bytes) = fs::try_read(&path)? else { return Ok(None) };
        let intent: Self = serde_json::from_slice(&bytes)
            .map_err(|error| Error::Damaged { path: path.clone(), why: error.to_string() })?;
        if intent.version > VERSION {
            return Err(Error::Newer { path, found: intent.version, known: VERSION });
        }
        Ok(Some(intent))
    }

    /// Returns when the intent on disk was written.
    pub(crate) fn written(state: &StateFolder) -> Option<std::time::SystemTime> {
        std::fs::metadata(path(state)).and_then(|metadata| metadata.modified()).ok()
    }

    /// Tells whether a file was made by this change as the lock of the index, or as what the index became.
    pub(crate) fn made(&self, file: Option<FileIdentity>) -> bool {
        file.is_some() && (file == self.lock || self.earlier_locks.iter().any(|earlier| Some(*earlier) == file))
    }

    /// Replaces the intent on disk; it is durable when this returns.
    pub(crate) fn save(&self, state: &StateFolder) -> Result<()> {
        let path = path(state);
        let bytes =
            serde_json::to_vec(self).map_err(|error| Error::Damaged { path: path.clone(), why: error.to_string() })?;
        Ok(fs::replace(&path, &bytes)?)
    }

    /// Says that the change is at one of its two ends.
    pub(crate) fn remove(state: &StateFolder) -> Result<()> {
        fs::remove_file(&path(state))?;
        fs::sync_folder(state.path())?;
        Ok(fs::remove_file(&state.file(BEFORE))?)
    }
}

fn path(state: &StateFolder) -> PathBuf {
    state.file("intent.json")
}
