//! Who holds the run's lock: its process and its run, noted in the lock's file.
//!
//! The note of a run that was killed stays, and a restore holds the same lock for a moment without a note. So
//! a process is named by its start as well as its pid, and whoever has that pid now is never taken for a run.

use super::error::{Error, Result};
use crate::agent;
use crate::fs::Lock;
use crate::state::{self, StateFolder};
use std::time::{Duration, Instant};

/// How long to wait for a command that holds the lock and is no run.
const PATIENCE: Duration = Duration::from_secs(30);

/// A run that is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: i32,
    pub(super) run: String,
    start: u64,
}

impl Holder {
    /// Writes the note of this process for a run.
    pub(super) fn note(run: &str) -> String {
        let (pid, start) = agent::this_process();
        format!("{pid} {run} {start}\n")
    }

    /// Reads the note; `None` where its process is gone.
    pub(super) fn read(state: &StateFolder) -> Result<Option<Self>> {
        Ok(state.run_holder()?.as_deref().and_then(Self::parse).filter(|it| agent::is_alive(it.pid, it.start)))
    }

    fn parse(note: &str) -> Option<Self> {
        let mut words = note.split_whitespace();
        let (pid, run, start) = (words.next()?, words.next()?, words.next()?);
        Some(Self { pid: pid.parse().ok()?, run: run.to_owned(), start: start.parse().ok()? })
    }

    /// Asks the process to end.
    pub(super) fn ask_to_stop(&self) {
        agent::terminate(self.pid, self.start);
    }

    /// Takes the lock for a run, unless one is on; other commands hold it for a moment only.
    pub(super) fn lock(state: &StateFolder) -> Result<Lock> {
        let since = Instant::now();
        loop {
            state.create()?;
            if let Some(lock) = Lock::acquire_within(&state.file("run.lock"), Duration::from_millis(100))? {
                return Ok(lock);
            }
            if let Some(holder) = Self::read(state)? {
                return Err(Error::RunIsOn(format!("{}, process {}", holder.run, holder.pid)));
            }
            if since.elapsed() >= PATIENCE {
                return Err(state::Error::Busy.into());
            }
        }
    }
}
