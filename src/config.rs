//! The configuration: one checked value, where it came from, and the environment around it.
//!
//! `.autodev/config.toml` is read once and becomes a [`Config`]: every key has a default and works alone,
//! and whoever holds the value needs no further check. What is wrong in the file is one sentence with file,
//! line, key and the nearest right word, and nothing runs. The same types give the JSON Schema, so what is
//! documented is what is parsed. It does not follow changes of the file and never writes it.

mod environment;
mod error;
mod participant;
mod sample;
mod secrets;
mod source;
mod suggestion;
#[cfg(test)]
mod tests;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use environment::Environment;
pub(crate) use error::Error;
pub use participant::{Adapter, Participant, PromptFormat, Role};
pub(crate) use sample::{IGNORE_TEMPLATE, MEMORY_TEMPLATE, TEMPLATE, schema};
pub(crate) use secrets::SecretRules;

/// The configuration file, from the root of the project.
pub(crate) const FILE: &str = ".autodev/config.toml";

/// The checked configuration of a project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "autodev configuration", description = "The file .autodev/config.toml of a project.")]
#[non_exhaustive]
pub struct Config {
    /// Whether checkpoints are made, and with them the whole of restore and rollback.
    pub checkpoints: bool,
    /// The commands that must all exit with 0 before finished work is credited; each an array of words.
    #[serde(deserialize_with = "values::commands")]
    #[schemars(inner(length(min = 1)))]
    pub verify: Vec<Vec<String>>,
    /// How many turns a participant gets for one piece of work.
    #[serde(deserialize_with = "values::count")]
    #[schemars(range(min = 1))]
    pub max_attempts: u32,
    /// Whether failed work is rolled back to the newest checkpoint of the run.
    pub rollback_on_failure: bool,
    /// Patterns for base names of untracked files that are never kept, besides the built-in; `!name` takes one out.
    #[serde(deserialize_with = "values::patterns")]
    #[schemars(inner(regex(pattern = values::PATTERN_SCHEMA)))]
    pub secrets: Vec<String>,
    /// The size, in bytes, up to which an untracked file is kept in checkpoints and turns.
    #[serde(deserialize_with = "values::count")]
    #[schemars(range(min = 1))]
    pub max_file_bytes: u64,
    /// Whether snapshots are kept inside a git repository too.
    pub snapshots: bool,
    /// What the names of the branches made by autodev begin with, before a slash.
    #[serde(deserialize_with = "values::branch_prefix")]
    #[schemars(regex(pattern = values::BRANCH_SCHEMA))]
    pub branch_prefix: String,
    /// How many turns are kept; older ones go when `autodev gc` runs.
    #[serde(deserialize_with = "values::count")]
    #[schemars(range(min = 1))]
    pub keep_turns: usize,
    /// How many operations can be undone; what older ones replaced goes when `autodev gc` runs.
    #[serde(deserialize_with = "values::count")]
    #[schemars(range(min = 1))]
    pub keep_undo: usize,
    /// How long a gate waits for an answer before it expires, such as `24h`.
    #[serde(deserialize_with = "values::duration", serialize_with = "values::write_duration")]
    #[schemars(with = "String", regex(pattern = values::DURATION_SCHEMA))]
    pub gate_expires: Duration,
    /// The size, in bytes, up to which a file is kept in a snapshot.
    #[serde(deserialize_with = "values::count")]
    #[schemars(range(min = 1))]
    pub snapshot_file_bytes: u64,
    /// The size, in bytes, of all files of one snapshot together.
    #[serde(deserialize_with = "values::count")]
    #[schemars(range(min = 1))]
    pub snapshot_total_bytes: u64,
    /// The agents that take part in a run, in the order in which they get their turns.
    #[serde(deserialize_with = "participant::participants")]
    pub participants: Vec<Participant>,
    #[serde(skip)]
    origin: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            checkpoints: true,
            verify: Vec::new(),
            max_attempts: 3,
            rollback_on_failure: true,
            secrets: Vec::new(),
            max_file_bytes: 50 << 20,
            snapshots: false,
            branch_prefix: "autodev".to_owned(),
            keep_turns: 200,
            keep_undo: 50,
            gate_expires: Duration::from_hours(24),
            snapshot_file_bytes: 8 << 20,
            snapshot_total_bytes: 64 << 20,
            participants: Vec::new(),
            origin: None,
        }
    }
}

impl Config {
    /// Reads the configuration of the project at `root`; a project without the file has the defaults.
    pub(crate) fn load(root: &Path) -> Result<Self, Error> {
        let path = root.join(FILE);
        // Anything else would be an odd read error, or a wait for whoever writes into a pipe.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Error::NotAFile { file: FILE.into() });
        }
        let unreadable = |error| Error::Unreadable { file: FILE.into(), source: Box::new(error) };
        match crate::fs::try_read(&path).map_err(unreadable)? {
            None => Ok(Self::default()),
            Some(bytes) => Ok(Self { origin: Some(path), ..source::parse(&bytes, Path::new(FILE))? }),
        }
    }

    /// Returns the file that the configuration was read from, if there was one.
    pub fn origin(&self) -> Option<&Path> {
        self.origin.as_deref()
    }
}
