//! Runs of other processes: noticing one that was cut off, and asking one to stop.

use super::error::{Error, Result};
use super::holder::Holder;
use crate::state::{self, RunState, StateRecord};
use crate::workspace::Project;
use serde_json::json;
use std::time::{Duration, Instant};

/// How long a run may take from its lock to the note in it.
const NOTING: Duration = Duration::from_secs(1);

/// How long `stop` waits for a run to end its participants.
const PATIENCE: Duration = Duration::from_mins(1);

/// Sets the state to idle when it names a run whose process is gone; says so.
pub(crate) fn notice_cut_off(project: &Project) -> Result<Option<String>> {
    if !is_going_on(&StateRecord::load(project.state())?) {
        return Ok(None);
    }
    // Whoever holds the run's lock is alive; with the lock in hand nobody starts one meanwhile.
    let Some(_lock) = project.state().try_lock_run()? else { return Ok(None) };
    // It may have come to its own end since.
    let mut record = StateRecord::load(project.state())?;
    if !is_going_on(&record) {
        return Ok(None);
    }
    let run = record.run.clone().unwrap_or_else(|| "a run".to_owned());
    let place = match (&record.turn, &record.participant) {
        (Some(turn), Some(participant)) => format!(" in turn {turn} of {participant}"),
        _ => String::new(),
    };
    record.rest(None);
    match record.save(project.state()) {
        // It can be read and is not ours to write.
        Err(state::Error::Newer { .. }) => return Ok(None),
        saved => saved?,
    }
    project.event("run_cut_off", json!({ "run": run }))?;
    Ok(Some(format!("{run} was cut off{place}; the files are as it left them")))
}

fn is_going_on(record: &StateRecord) -> bool {
    matches!(record.state, RunState::Running | RunState::Waiting)
}

/// Asks the run that is on to stop, and waits for it; returns its name, or `None` where no run is on.
pub(crate) fn stop(project: &Project) -> Result<Option<String>> {
    let since = Instant::now();
    let holder = loop {
        if !project.state().run_is_on()? {
            return Ok(None);
        }
        match Holder::read(project.state())? {
            Some(holder) => break holder,
            // A restore holds the lock too, and a run that begins has not noted itself yet.
            None if since.elapsed() >= NOTING => return Ok(None),
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    holder.ask_to_stop();
    match crate::fs::Lock::acquire_within(&project.state().file("run.lock"), PATIENCE)? {
        Some(_) => Ok(Some(holder.run)),
        None => Err(Error::StillStopping),
    }
}

/// Names the processes that an earlier run left behind, each with the command that ends it.
pub(crate) fn survivors(project: &Project) -> Result<Vec<String>> {
    let found = crate::agent::find_by_state_folder(project.state().path())?;
    let mut named = Vec::new();
    for it in found {
        named.push(format!("{it} of an earlier run is still at work; to end it: kill {}", it.pid));
    }
    Ok(named)
}
