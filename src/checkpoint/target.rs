//! Which checkpoint is meant, and what going back to it means for branches.

use super::book::Book;
use super::error::{Error, Result};
use crate::state::{Checkpoint, CheckpointId};
use gix::ObjectId;

/// What is gone back to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// What the user typed: an id of the list, or the start of a commit's id.
    Named(String),
    /// A state that autodev itself knows: where a run began.
    Known { commit_id: ObjectId, label: String, branch: Option<String> },
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) | Self::Known { label: name, .. } => f.write_str(name),
        }
    }
}

impl From<String> for Target {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

/// A target that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// How it is called in messages: its id, or its label.
    pub(super) name: String,
    /// The commit.
    pub(super) commit_id: ObjectId,
    /// One line for people.
    pub(super) label: String,
    /// The full name of the branch it was made on.
    pub(super) branch: Option<String>,
}

/// Finds what is meant. Ids win; a start of a commit's id has four digits or more and must fit one commit.
pub(super) fn find(book: &Book<'_>, target: &Target) -> Result<Found> {
    let name = match target {
        Target::Named(name) => name,
        Target::Known { commit_id, label, branch } => {
            return Ok(Found {
                name: label.clone(),
                commit_id: *commit_id,
                label: label.clone(),
                branch: branch.clone(),
            });
        }
    };
    if let Ok(id) = name.parse::<CheckpointId>()
        && let Some(checkpoint) = book.checkpoints().iter().find(|checkpoint| checkpoint.id == id)
    {
        return Ok(found(checkpoint));
    }
    let digits = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let wanted = name.to_ascii_lowercase();
    let fits = |checkpoint: &&Checkpoint| digits && checkpoint.commit.to_string().starts_with(&wanted);
    let fitting: Vec<&Checkpoint> = book.checkpoints().iter().rev().filter(fits).collect();
    let Some(newest) = fitting.first() else { return Err(Error::Unknown(name.clone())) };
    if fitting.iter().any(|checkpoint| checkpoint.commit != newest.commit) {
        let candidates = fitting.iter().map(|checkpoint| checkpoint.id.to_string()).collect();
        return Err(Error::Ambiguous { given: name.clone(), candidates });
    }
    Ok(found(newest))
}

fn found(checkpoint: &Checkpoint) -> Found {
    Found {
        name: checkpoint.id.to_string(),
        commit_id: checkpoint.commit,
        label: checkpoint.label.clone(),
        branch: checkpoint.branch.as_ref().map(|branch| format!("refs/heads/{branch}")),
    }
}
