//! Failed work: where a run goes back to, and what is said where it cannot.
//!
//! To the newest checkpoint of this run, or to where it began, and never behind that; exactly as a restore
//! does. Why the work failed is always the reason of the run's end; that going back failed as well is added.

use super::check::base;
use super::driver::Driver;
use super::error::Result;
use super::machine::Event;
use crate::checkpoint::{Caller, Request, Target, go_back};
use serde_json::json;

impl Driver<'_> {
    /// Goes back to the newest checkpoint of this run, or to where it began, never behind it.
    pub(super) fn go_back(&mut self, reason: &str) -> Result<Event> {
        self.watcher.say(format!("the work failed: {reason}"));
        // What cannot even be looked at has changed.
        let Some(target) = self.target() else { return Ok(Event::WentBack) };
        if base(self.project).is_ok_and(|now| now == self.newest) {
            return Ok(Event::WentBack);
        }
        let request = Request { target, paths: Vec::new(), caller: Caller::Run };
        match go_back(self.project, &request, None) {
            Ok(restored) => {
                self.watcher.say(restored.to_string());
                for note in &restored.notes {
                    self.watcher.say(note.clone());
                }
                self.project.event("went_back", json!({"run": self.run, "to": restored.label}))?;
                self.went_back = Some(restored);
                Ok(Event::WentBack)
            }
            Err(error) => {
                self.watcher.say(format!("Restore failed: {error}"));
                Ok(Event::StayedThere(error.to_string()))
            }
        }
    }

    fn target(&mut self) -> Option<Target> {
        if !self.project.has_checkpoints() {
            return None;
        }
        if !self.project.config().rollback_on_failure {
            self.watcher.say("the files stay as they are (rollback_on_failure = false)".to_owned());
            return None;
        }
        if let Some(checkpoint) = self.checkpoints.last() {
            return Some(Target::from(checkpoint.id.to_string()));
        }
        let Some(commit_id) = self.start.commit_id else {
            self.watcher.say("there is no commit to go back to; the files stay as they are".to_owned());
            return None;
        };
        Some(Target::Known { commit_id, label: format!("start of {}", self.run), branch: self.start.branch.clone() })
    }
}
