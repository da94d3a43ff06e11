//! `autodev run` and `autodev stop`.

use super::args::Run as Command;
use super::output::Output;
use crate::agent::Stop;
use crate::run::{self, Finished, Outcome, Request, Watcher};
use crate::{Error, Project, Result};
use serde_json::json;
use std::process::ExitCode;

/// Prints what happens on standard error, one line each.
struct Lines(Output);

impl Watcher for Lines {
    fn say(&mut self, text: String) {
        for line in text.lines() {
            self.0.note(crate::checkpoint::escape(line));
        }
    }
}

/// Runs the participants on a task.
pub(super) fn run(project: &Project, command: &Command, output: Output) -> Result<ExitCode> {
    let stop = Stop::on_signals()?;
    let request = Request { task: command.task.clone(), participant: command.participant.clone() };
    let outcome = run::run(project, &request, &stop, &mut Lines(output)).map_err(Error::from)?;
    report(&outcome, output);
    Ok(match outcome.finished {
        Finished::Done => ExitCode::SUCCESS,
        Finished::Stopped => ExitCode::from(130),
        Finished::Failed(_) => ExitCode::from(1),
    })
}

fn report(outcome: &Outcome, output: Output) {
    let ids: Vec<String> = outcome.checkpoints.iter().map(|checkpoint| checkpoint.id.to_string()).collect();
    let (state, problem) = match &outcome.finished {
        Finished::Done => ("done", None),
        Finished::Stopped => ("stopped", None),
        Finished::Failed(reason) => ("failed", Some(reason)),
    };
    if output.is_json() {
        return output.json(&json!({
            "run": outcome.run, "end": state, "problem": problem, "checkpoints": outcome.checkpoints,
            "restored": outcome.went_back.as_ref().map(ToString::to_string),
        }));
    }
    let kept = if ids.is_empty() { "no checkpoints".to_owned() } else { format!("checkpoints {}", ids.join(", ")) };
    let because = problem.map_or_else(String::new, |problem| format!(": {}", crate::checkpoint::escape(problem)));
    output.line(format_args!("Run {} {state}; {kept}{because}", outcome.run));
}

/// Ends the run that is on.
pub(super) fn stop(project: &Project, output: Output) -> Result<ExitCode> {
    let stopped = run::stop(project).map_err(Error::from)?;
    match (&stopped, output.is_json()) {
        (stopped, true) => output.json(&json!({ "stopped": stopped })),
        (Some(run), false) => output.line(format_args!("Stopped {run}; the files stay as they are")),
        (None, false) => output.line("No run is on"),
    }
    if stopped.is_none() {
        for survivor in run::survivors(project).map_err(Error::from)? {
            output.note(survivor);
        }
    }
    Ok(ExitCode::SUCCESS)
}
