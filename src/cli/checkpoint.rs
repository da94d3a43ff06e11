//! `autodev checkpoint`.

use super::args::Checkpoint as Command;
use super::output::Output;
use crate::state::Skipped;
use crate::workspace::show;
use crate::{Made, Project, Result};
use std::process::ExitCode;

/// Makes a checkpoint and prints its id.
pub(super) fn run(project: &Project, command: &Command, output: Output) -> Result<ExitCode> {
    let made = project.checkpoint(&command.message)?;
    match (&made, output.is_json()) {
        (made, true) => output.json(&made.checkpoint()),
        (made, false) => output.line(made),
    }
    if let Made::New(checkpoint) = &made {
        name_skipped(&checkpoint.skipped, output);
    }
    Ok(ExitCode::SUCCESS)
}

/// Names what was left out, up to twenty paths.
pub(super) fn name_skipped(skipped: &[Skipped], output: Output) {
    const MOST: usize = 20;
    for skipped in skipped.iter().take(MOST) {
        output.note(format_args!("not held: {} ({})", show(&skipped.path), skipped.reason));
    }
    if skipped.len() > MOST {
        output.note(format_args!("not held: {} more; autodev restore --json names them all", skipped.len() - MOST));
    }
}
