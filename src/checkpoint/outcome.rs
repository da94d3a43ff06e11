//! What came of a request: values whose `Display` is the sentence that users read.

use super::go_back::Request;
use crate::git::{Change, TreeChange};
use crate::state::{Checkpoint, PathRecord};
use crate::workspace::show;
use gix::objs::tree::EntryKind;
use serde::Serialize;
use std::fmt;

/// What came of asking for a checkpoint.
#[derive(Debug, Clone)]
pub enum Made {
    /// A new entry.
    New(Checkpoint),
    /// Nothing had changed; this entry holds HEAD already.
    Unchanged(Checkpoint),
    /// Nothing had changed, and no entry was wanted for that.
    Nothing,
}

impl Made {
    /// Returns the entry that holds what is there now.
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        match self {
            Self::New(checkpoint) | Self::Unchanged(checkpoint) => Some(checkpoint),
            Self::Nothing => None,
        }
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New(checkpoint) => write!(f, "{}", checkpoint.id),
            Self::Unchanged(checkpoint) => write!(f, "Nothing has changed since {}, which holds HEAD", checkpoint.id),
            Self::Nothing => write!(f, "Nothing has changed"),
        }
    }
}

/// What came of going back.
#[derive(Debug, Clone)]
pub struct Restored {
    /// The label of the checkpoint.
    pub label: String,
    /// The full id of its commit.
    pub commit: String,
    /// The branch on which changed work was parked.
    pub saved_on: Option<String>,
    /// The entries that hold what was replaced.
    pub replaced: Vec<Checkpoint>,
    /// What else is worth saying: counts, switches, edits made meanwhile.
    pub notes: Vec<String>,
}

impl fmt::Display for Restored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Restored to \"{}\" ({})", escape(&self.label), &self.commit[..7])?;
        match &self.saved_on {
            Some(branch) => write!(f, "; saved on {branch}."),
            None => write!(f, "."),
        }
    }
}

/// What going back would do.
#[derive(Debug, Clone)]
pub struct RestorePlan {
    pub(super) request: Request,
    /// The label of the checkpoint.
    pub label: String,
    /// The full id of its commit.
    pub commit: String,
    /// The branch that the checkpoint was made on and that would be moved; none where HEAD would be detached.
    pub branch: Option<String>,
    /// Whether changed work would be parked on a branch first.
    pub parks: bool,
    /// By how many commits that branch would go back, and which is the last of them, for people.
    pub leaves: Option<String>,
    /// The paths that would change.
    pub steps: Vec<PlannedStep>,
}

/// One path of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedStep {
    /// `write`, `delete`, `create` or `mode`.
    pub action: &'static str,
    #[serde(flatten)]
    path: PathRecord,
    /// The object that is expected there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The object that would be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl PlannedStep {
    pub(super) fn new(step: &TreeChange) -> Self {
        let action = match step.change {
            Change::Added(..) => "create",
            Change::Deleted(..) => "delete",
            Change::Modified { old: (_, old), new: (_, new) } if old == new => "mode",
            Change::Modified { .. } => "write",
        };
        let id = |side: Option<(EntryKind, gix::ObjectId)>| side.map(|(_, id)| id.to_string());
        let path = PathRecord(step.path.clone());
        Self { action, path, from: id(step.change.before()), to: id(step.change.after()) }
    }

    /// Returns the path for people, in one line.
    pub fn shown_path(&self) -> String {
        show(&self.path.0)
    }
}

/// Escapes control characters, so that a label stays in its line and does nothing to a terminal.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}
