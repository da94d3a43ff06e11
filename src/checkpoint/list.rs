//! The list of checkpoints as people and programs read it.

use super::error::Result;
use super::outcome::escape;
use crate::clock::age;
use crate::state::{Checkpoint, Ledger};
use crate::workspace::Project;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::fmt;

/// The width from which on a label pushes the rest of its line to the right.
const WIDEST: usize = 100;

/// The checkpoints of a project, newest first, and which of them HEAD is at.
#[derive(Debug)]
pub(crate) struct Listing {
    checkpoints: Vec<Checkpoint>,
    head: Option<gix::ObjectId>,
    now: DateTime<Utc>,
    off: bool,
}

impl Listing {
    /// Reads the ledger and where HEAD is; changes nothing.
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let mut checkpoints = Ledger::load(project.state())?.checkpoints;
        checkpoints.reverse();
        let head = project.try_repository().map(crate::git::Repository::head).transpose()?;
        let off = !project.has_checkpoints();
        let head = head.and_then(|head| head.commit_id());
        Ok(Self { checkpoints, head, now: project.clock().now(), off })
    }

    /// Returns the entries with `head: true|false`; only the newest entry at HEAD is `true`.
    pub(crate) fn to_json(&self) -> Value {
        let at_head = self.at_head();
        let entry = |(position, checkpoint): (usize, &Checkpoint)| {
            let mut entry = json!(checkpoint);
            entry["head"] = (Some(position) == at_head).into();
            entry
        };
        self.checkpoints.iter().enumerate().map(entry).collect()
    }

    /// Tells whether the ledger is empty although refs hold entries.
    pub(crate) fn is_lost(&self, project: &Project) -> Result<bool> {
        let Some(repository) = project.try_repository().filter(|_| self.checkpoints.is_empty()) else {
            return Ok(false);
        };
        Ok(!repository.refs_below(&format!("{}c/", project.ref_prefix()))?.is_empty())
    }

    fn at_head(&self) -> Option<usize> {
        self.checkpoints.iter().position(|checkpoint| Some(checkpoint.commit) == self.head)
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.off {
            return writeln!(f, "Checkpoints are off");
        }
        if self.checkpoints.is_empty() {
            return writeln!(f, "No checkpoints yet");
        }
        let labels: Vec<String> = self.checkpoints.iter().map(|checkpoint| escape(&checkpoint.label)).collect();
        let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let label_width = width(&mut labels.iter().map(|label| label.chars().count())).min(WIDEST);
        let id_width = width(&mut self.checkpoints.iter().map(|checkpoint| checkpoint.id.to_string().len()));
        let at_head = self.at_head();
        for (position, (checkpoint, label)) in self.checkpoints.iter().zip(&labels).enumerate() {
            let task = checkpoint.task.as_deref().map_or_else(|| "—".to_owned(), escape);
            write!(
                f,
                "{} {:id_width$}  {label:label_width$}   {task} · {} · {} · {}",
                checkpoint.kind.mark(),
                checkpoint.id.to_string(),
                checkpoint.commit.to_hex_with_len(7),
                checkpoint.kind.word(),
                age(self.now, checkpoint.time),
            )?;
            writeln!(f, "{}", if Some(position) == at_head { "   ← HEAD" } else { "" })?;
        }
        Ok(())
    }
}
