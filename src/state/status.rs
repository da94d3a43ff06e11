//! `state.json`: what a project is doing.

use super::{Error, StateFolder, VERSION, error::Result};
use crate::fs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a project is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunState {
    /// Nothing.
    #[default]
    Idle,
    /// A run is on.
    Running,
    /// A run waits for a person.
    Waiting,
    /// The last run failed; `problem` says why.
    Error,
}

impl RunState {
    /// Returns the word in files and output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Error => "error",
        }
    }
}

/// The record of what a project is doing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct StateRecord {
    #[serde(default)]
    version: u32,
    /// What it is doing.
    #[serde(default)]
    pub(crate) state: RunState,
    /// The run that is on, or was on last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// The turn that is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<String>,
    /// The participant whose turn it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) participant: Option<String>,
    /// The task of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl StateRecord {
    /// Reads the record; a missing one is idle.
    pub(crate) fn load(state: &StateFolder) -> Result<Self> {
        let path = state.file("state.json");
        let Some(bytes) = fs::try_read(&path)? else {
            return Ok(Self::default());
        };
        serde_json::from_slice(&bytes).map_err(|error| Error::Damaged { path, why: error.to_string() })
    }

    /// Says that nothing is going on any more: idle without a task, or in error with what went wrong.
    pub(crate) fn rest(&mut self, problem: Option<String>) {
        self.state = if problem.is_some() { RunState::Error } else { RunState::Idle };
        self.turn = None;
        self.participant = None;
        if problem.is_none() {
            self.task = None;
        }
        self.problem = problem;
    }

    /// Fails when the record was written by a newer version, before anything is done on its strength.
    pub(crate) fn require_writable(&self, state: &StateFolder) -> Result<()> {
        if self.version > VERSION {
            return Err(Error::Newer { path: state.file("state.json"), found: self.version, known: VERSION });
        }
        Ok(())
    }

    /// Replaces the record on disk.
    pub(crate) fn save(&self, state: &StateFolder) -> Result<()> {
        self.require_writable(state)?;
        let path = state.file("state.json");
        let record = Self { version: VERSION, ..self.clone() };
        let mut bytes = serde_json::to_vec_pretty(&record)
            .map_err(|error| Error::Damaged { path: path.clone(), why: error.to_string() })?;
        bytes.push(b'\n');
        Ok(fs::replace(&path, &bytes)?)
    }
}
