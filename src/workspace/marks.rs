//! What an index says that its tree cannot: announced paths, marks that hide files, and conflict stages.
//!
//! Written into the message of the commit that holds an index, and given back from it.

use super::error::{Error, Result};
use super::raw::last_record;
use super::scratch::ScratchIndex;
use crate::git::{IndexView, Repository, Staged};
use crate::state::PathRecord;
use gix::ObjectId;
use gix::bstr::BString;
use serde::{Deserialize, Serialize};

/// The marks of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    intent_to_add: Vec<PathRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assume_unchanged: Vec<PathRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    skip_worktree: Vec<PathRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stages: Vec<Stage>,
}

/// One side of a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stage {
    #[serde(flatten)]
    path: PathRecord,
    side: u8,
    mode: u32,
    blob: String,
}

impl Marks {
    /// Reads the marks off an index.
    pub(crate) fn of(index: Option<&IndexView>) -> Self {
        let mut marks = Self::default();
        let Some(index) = index else { return marks };
        for entry in index.entries() {
            let path = || PathRecord(entry.path.to_owned());
            if entry.flags.intent_to_add {
                marks.intent_to_add.push(path());
            }
            if entry.flags.assume_unchanged {
                marks.assume_unchanged.push(path());
            }
            if entry.flags.skip_worktree {
                marks.skip_worktree.push(path());
            }
        }
        marks.stages = index
            .conflicts()
            .map(|staged| Stage {
                path: PathRecord(staged.path),
                side: staged.stage,
                mode: staged.mode,
                blob: staged.id.to_string(),
            })
            .collect();
        marks
    }

    /// Writes the marks as one line of a commit's message; nothing where there are none.
    pub(crate) fn to_message(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        format!("\n{}\n", serde_json::to_string(self).unwrap_or_default())
    }

    /// Reads the marks from the message of a commit that holds an index.
    pub(crate) fn from_message(message: &[u8]) -> Self {
        last_record(message).unwrap_or_default()
    }

    /// Gives the marks to an index that has the entries already.
    pub(crate) fn give_to(&self, repository: &Repository, index: &ScratchIndex) -> Result<()> {
        let paths = |records: &[PathRecord]| records.iter().map(|record| record.0.clone()).collect::<Vec<BString>>();
        repository.announce_in_index(index.path(), &paths(&self.intent_to_add))?;
        repository.flag_in_index(index.path(), "--assume-unchanged", &paths(&self.assume_unchanged))?;
        repository.flag_in_index(index.path(), "--skip-worktree", &paths(&self.skip_worktree))?;
        let mut stages = Vec::new();
        for stage in &self.stages {
            let id = ObjectId::from_hex(stage.blob.as_bytes())
                .map_err(|_| Error::NotReadBack { path: stage.path.0.clone() })?;
            stages.push(Staged { path: stage.path.0.clone(), stage: stage.side, mode: stage.mode, id });
        }
        Ok(repository.set_stages_in_index(index.path(), &stages)?)
    }
}
