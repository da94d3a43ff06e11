//! `autodev status` and `autodev post`.

use super::args::{Args, Post as Command};
use super::output::Output;
use crate::clock::Clock;
use crate::config::Environment;
use crate::run::{self, Status};
use crate::state::StateFolder;
use crate::{Error, Project, Result};
use std::process::ExitCode;

/// Prints what the project is doing.
pub(super) fn status(project: &Project, output: Output) -> Result<ExitCode> {
    let status = Status::read(project).map_err(Error::from)?;
    if output.is_json() {
        output.json(&status.to_json());
    } else {
        output.text(&status);
    }
    Ok(ExitCode::SUCCESS)
}

/// Says something on the thread; inside a turn that is the thread of its run, wherever the command is given.
pub(super) fn post(args: &Args, command: &Command, output: Output) -> Result<ExitCode> {
    let environment = Environment::current();
    let inside = environment.state.clone().filter(|_| environment.turn.is_some());
    let (state, clock) = if let Some(state) = inside {
        (StateFolder::at(state), environment.autodev_clock.map_or(Clock::System, Clock::Fixed))
    } else {
        let project = super::open(args, output)?;
        (project.state().clone(), project.clock())
    };
    let post = run::post(&state, &environment, clock, &command.text, command.work_done).map_err(Error::from)?;
    if output.is_json() {
        output.json(&post);
    } else {
        output.line(format_args!("Posted as {}", post.author));
    }
    Ok(ExitCode::SUCCESS)
}
