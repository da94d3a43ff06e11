//! `autodev undo` and `autodev redo`.

use super::args::Step as Command;
use super::output::Output;
use crate::checkpoint::{Step, step};
use crate::{Error, Project, Result};
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

/// Goes one step back or forth; says first what is set aside, and asks on a terminal.
pub(super) fn run(project: &Project, direction: Step, command: &Command, output: Output) -> Result<ExitCode> {
    let mut agree = |aside: &str| {
        output.note(aside);
        command.yes || !std::io::stdin().is_terminal() || asked(output)
    };
    let Some(done) = step(project, direction, &mut agree).map_err(Error::from)? else {
        output.note("nothing was changed");
        return Ok(ExitCode::from(1));
    };
    if output.is_json() {
        output.json(&json!({"done": done.to_string(), "set_aside": done.aside, "notes": done.notes}));
    } else {
        output.line(&done);
    }
    for note in &done.notes {
        output.note(note);
    }
    Ok(ExitCode::SUCCESS)
}

fn asked(output: Output) -> bool {
    output.note("Go on? [y/N]");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
