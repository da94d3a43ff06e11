//! Runs of other processes: noticing one that was cut off, and asking one to stop.

use super::error::{Error, Result};
use crate::state::{RunState, StateRecord};
use crate::workspace::Project;
use serde_json::json;
use std::time::Duration;

/// How long `stop` waits for a run to end its participants.
const PATIENCE: Duration = Duration::from_mins(1);

/// Sets the state to idle when it names a run whose process is gone; says so.
pub(crate) fn notice_cut_off(project: &Project) -> Result<Option<String>> {
    let mut record = StateRecord::load(project.state())?;
    if !matches!(record.state, RunState::Running | RunState::Waiting) {
        return Ok(None);
    }
    // Whoever holds the run's lock is alive; with the lock in hand nobody starts one meanwhile.
    let Some(_lock) = project.state().try_lock_run()? else { return Ok(None) };
    let run = record.run.clone().unwrap_or_else(|| "a run".to_owned());
    let place = match (&record.turn, &record.participant) {
        (Some(turn), Some(participant)) => format!(" in turn {turn} of {participant}"),
        _ => String::new(),
    };
    record.rest(None);
    record.save(project.state())?;
    project.event("run_cut_off", json!({ "run": run }))?;
    Ok(Some(format!("{run} was cut off{place}; the files are as it left them")))
}

/// Asks the run that is on to stop, and waits for it; returns its name, or `None` where no run is on.
pub(crate) fn stop(project: &Project) -> Result<Option<String>> {
    if !project.state().run_is_on()? {
        return Ok(None);
    }
    let holder = project.state().run_holder()?.unwrap_or_default();
    let mut words = holder.split_whitespace();
    let (pid, run) = (words.next(), words.next().unwrap_or("the run").to_owned());
    let pid = pid.and_then(|pid| pid.parse().ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // The lock is held, so the process that wrote its number there is alive.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    match crate::fs::Lock::acquire_within(&project.state().file("run.lock"), PATIENCE)? {
        Some(_) => Ok(Some(run)),
        None => Err(Error::StillStopping),
    }
}
