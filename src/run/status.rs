//! What a project is doing, on one screen.

use super::error::Result;
use super::thread;
use crate::checkpoint::escape;
use crate::state::{Ledger, Post, RunState, StateRecord};
use crate::workspace::Project;
use serde_json::{Value, json};
use std::fmt;

/// How many posts are shown.
const POSTS: usize = 5;

/// What a project is doing, and what needs a person.
#[derive(Debug)]
pub(crate) struct Status {
    root: String,
    record: StateRecord,
    restore_points: usize,
    last: Vec<Post>,
    off: bool,
}

impl Status {
    /// Reads the records; changes nothing.
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let record = StateRecord::load(project.state())?;
        let restore_points = Ledger::load(project.state())?.checkpoints.len();
        let mut last = thread::read(project.state())?;
        last.drain(..last.len().saturating_sub(POSTS));
        let root = project.root().display().to_string();
        Ok(Self { root, record, restore_points, last, off: !project.has_checkpoints() })
    }

    /// Returns what needs a person, each with the command.
    fn needs(&self) -> Vec<String> {
        let stopped = matches!(self.record.state, RunState::Idle | RunState::Error);
        if stopped && self.restore_points > 0 && !self.off {
            vec![format!(
                "{} restore point(s) — rewind now that the run is stopped: autodev restore",
                self.restore_points
            )]
        } else {
            Vec::new()
        }
    }

    /// Returns the status as one object.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "root": self.root, "state": self.record.state, "run": self.record.run, "turn": self.record.turn,
            "participant": self.record.participant, "task": self.record.task, "problem": self.record.problem,
            "checkpoints": self.restore_points, "checkpoints_off": self.off, "thread": self.last, "needs_you": self.needs(),
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        writeln!(f, "project  {}", self.root)?;
        writeln!(f, "state    {}", record.state.word())?;
        for (name, value) in [
            ("run", &record.run),
            ("turn", &record.turn),
            ("worker", &record.participant),
            ("task", &record.task),
            ("problem", &record.problem),
        ] {
            if let Some(value) = value {
                writeln!(f, "{name:8} {}", escape(value))?;
            }
        }
        for post in &self.last {
            let line = post.text.lines().next().unwrap_or_default();
            writeln!(f, "         {}: {}", escape(&post.author), escape(line))?;
        }
        for need in self.needs() {
            writeln!(f, "\nNeeds you\n  {need}")?;
        }
        Ok(())
    }
}
