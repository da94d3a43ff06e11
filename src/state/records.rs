//! The records: plain values as they stand in files and in `--json`.

use super::RefRecord;
use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::BString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// The id of a checkpoint, shown as `c1`; given out once in the life of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CheckpointId(pub u64);

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl From<CheckpointId> for String {
    fn from(id: CheckpointId) -> Self {
        id.to_string()
    }
}

impl FromStr for CheckpointId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('c').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse().ok());
        number.map(Self).ok_or_else(|| format!("{text:?} is no checkpoint id"))
    }
}

impl TryFrom<String> for CheckpointId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Why a checkpoint was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointKind {
    /// A run began on a changed tree.
    Baseline,
    /// Work was credited.
    Task,
    /// A restore replaced work.
    PreRestore,
    /// The user asked for it.
    Manual,
}

impl CheckpointKind {
    /// Returns the word in lists and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Task => "task",
            Self::PreRestore => "pre-restore",
            Self::Manual => "manual",
        }
    }

    /// Returns the mark at the start of a line of the list.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Baseline => "─",
            Self::Task => "✔",
            Self::PreRestore => "⤿",
            Self::Manual => "●",
        }
    }
}

/// An entry of the ledger: a commit that one can go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The id, such as `c3`.
    pub id: CheckpointId,
    /// The full id of the commit.
    #[serde(with = "hex")]
    pub commit: ObjectId,
    /// One line for people.
    pub label: String,
    /// Why it was made.
    pub kind: CheckpointKind,
    /// When it was made, in UTC.
    pub time: DateTime<Utc>,
    /// The task it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The run that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The turn that it records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// Who did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// The branch it was made on, without `refs/heads/`; none where HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether verify commands ran and passed; only for credited work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// What was in scope and could not be held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// Fields of other versions.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Why a path in scope was not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Untracked, and its name looks like a secret's.
    Secret,
    /// Untracked, and larger than `max_file_bytes`.
    Oversized,
    /// A repository of its own.
    NestedRepository,
    /// A pipe, socket or device.
    SpecialFile,
    /// It cannot be read.
    Unreadable,
    /// git cannot take it: a filter or an encoding fails, or git allows no such name.
    Unstageable,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret => "looks like a secret",
            Self::Oversized => "larger than max_file_bytes",
            Self::NestedRepository => "a repository of its own",
            Self::SpecialFile => "a special file",
            Self::Unreadable => "cannot be read",
            Self::Unstageable => "git cannot take it",
        })
    }
}

/// A path in scope that was seen and not held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The path; one that is not UTF-8 stands as `path_b64`.
    #[serde(flatten, with = "path")]
    pub path: BString,
    /// Why it was not held.
    pub reason: SkipReason,
}

/// Where HEAD was, in a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeadRecord {
    /// The full name of the branch; none where HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// The commit; none on an unborn branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
}

/// The commits that hold what an operation replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// The work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) work: Option<String>,
    /// The index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<String>,
    /// Bytes that no checkout gives back: ignored files in the way, files behind filters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<String>,
}

/// What an operation was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OperationKind {
    /// A checkpoint that flattened a staged split.
    Checkpoint,
    /// A restore of a whole checkpoint.
    Restore,
    /// A restore of single paths.
    RestorePaths,
    /// The state before an operation was brought back.
    Undo,
    /// The state before an undo was brought back.
    Redo,
}

/// A line of `operations.jsonl`: what was replaced, and where it is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OperationRecord {
    /// The format.
    pub(crate) version: u32,
    /// The number, as in `refs/autodev/<key>/u/<n>`.
    pub(crate) n: u64,
    /// When, in UTC.
    pub(crate) time: DateTime<Utc>,
    /// What was done.
    pub(crate) operation: OperationKind,
    /// Where HEAD was before.
    pub(crate) from: HeadRecord,
    /// The commit gone to.
    pub(crate) to: String,
    /// What it replaced.
    pub(crate) held: Held,
    /// How HEAD and branches moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) moves: Vec<RefRecord>,
    /// What it was, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) what: String,
    /// The operation that it took back, where it is an undo, or brought again, where it is a redo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<u64>,
}

/// What a post on the thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PostKind {
    /// Something said to all.
    Post,
    /// `work_done`.
    Claim,
    /// What autodev found about a claim or a turn.
    Verdict,
}

/// A line of `thread.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Post {
    /// The format.
    pub(crate) version: u32,
    /// The number, counted by the thread.
    pub(crate) n: u64,
    /// When, in UTC.
    pub(crate) time: DateTime<Utc>,
    /// The run, where one is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// The turn it was written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<String>,
    /// Who wrote it: a participant, `user` or `autodev`.
    pub(crate) author: String,
    /// What it is.
    pub(crate) kind: PostKind,
    /// What it says.
    pub(crate) text: String,
}

/// Object ids as hexadecimal text.
mod hex {
    use super::{Deserialize, ObjectId};
    use serde::{Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(id: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectId, D::Error> {
        let text = String::deserialize(deserializer)?;
        ObjectId::from_hex(text.as_bytes()).map_err(D::Error::custom)
    }
}

/// Paths as `path`, or as `path_b64` where they are not UTF-8.
mod path {
    use super::{BString, Deserialize, Serialize};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use gix::bstr::ByteSlice as _;
    use serde::{Deserializer, Serializer, de::Error as _};

    #[derive(Serialize, Deserialize)]
    struct Written {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path_b64: Option<String>,
    }

    pub(super) fn serialize<S: Serializer>(path: &BString, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match path.to_str() {
            Ok(text) => Written { path: Some(text.to_owned()), path_b64: None },
            Err(_) => Written { path: None, path_b64: Some(STANDARD.encode(path)) },
        };
        written.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BString, D::Error> {
        match Written::deserialize(deserializer)? {
            Written { path: Some(path), .. } => Ok(path.into()),
            Written { path_b64: Some(encoded), .. } => {
                STANDARD.decode(encoded).map(BString::from).map_err(D::Error::custom)
            }
            Written { .. } => Err(D::Error::missing_field("path")),
        }
    }
}

/// A path as it stands in JSON output: `{"path": …}` or `{"path_b64": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PathRecord(#[serde(with = "path")] pub(crate) BString);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_utf8_survives_json() {
        for path in [b"a b".as_slice(), b"caf\xe9", b"new\nline"] {
            let skipped = Skipped { path: path.into(), reason: SkipReason::Secret };
            let text = serde_json::to_string(&skipped).unwrap();
            assert_eq!(serde_json::from_str::<Skipped>(&text).unwrap(), skipped, "{text}");
        }
        let text = serde_json::to_string(&PathRecord("x".into())).unwrap();
        assert_eq!(text, r#"{"path":"x"}"#);
    }

    #[test]
    fn ids_are_read_as_they_are_shown() {
        assert_eq!("c12".parse(), Ok(CheckpointId(12)));
        for wrong in ["", "c", "12", "c-1", "c+1", "C1", "c1 "] {
            assert!(wrong.parse::<CheckpointId>().is_err(), "{wrong:?}");
        }
    }
}
