//! The command line: typed words become one request, an outcome becomes lines.
//!
//! Data alone goes to standard output; errors, notes and progress go to standard error. Only this room knows
//! clap, colours and exit codes. It decides nothing about repositories or runs.

mod args;
mod checkpoint;
mod demo;
mod doctor;
mod init;
mod output;
mod restore;
mod run;
mod status;
mod undo;

use args::{Args, Command};
use clap::Parser as _;
use output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

use crate::checkpoint::Step;
use crate::run::notice_cut_off;
use crate::{Error, ErrorKind, Project, Result};

/// Runs the program with its arguments (the first is its name) and returns the exit code.
pub fn program(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            // clap words and colours its own messages; help and version are no errors.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let output = Output::new(args.json, args.color);
    // A panic is a bug of ours, and has told where on standard error.
    let done = std::panic::catch_unwind(|| dispatch(&args, output));
    match done.unwrap_or_else(|_| Err(Error::new(ErrorKind::Bug, "autodev has a bug; please report what is above"))) {
        Ok(_) if output::has_lost_a_result() => {
            output.note("error: the result could not be written to standard output");
            ExitCode::from(1)
        }
        Ok(code) => code,
        Err(error) => {
            output.error(&error);
            exit_code(error.kind())
        }
    }
}

fn dispatch(args: &Args, output: Output) -> Result<ExitCode> {
    match &args.command {
        Command::Init(command) => init::run(args, command, output),
        Command::Run(command) => run::run(&open(args, output)?, command, output),
        Command::Stop(_) => run::stop(&open(args, output)?, output),
        Command::Status(_) => status::status(&open(args, output)?, output),
        Command::Post(command) => status::post(args, command, output),
        Command::Undo(command) => undo::run(&open(args, output)?, Step::Undo, command, output),
        Command::Redo(command) => undo::run(&open(args, output)?, Step::Redo, command, output),
        Command::Doctor(command) => doctor::run(&open(args, output)?, command, output),
        Command::Demo(_) => demo::run(output),
        Command::FakeAgent(command) => {
            let code = crate::agent::play(&command.script, std::io::stdin().lock(), std::io::stdout().lock())?;
            Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
        }
        Command::Restore(command) => restore::run(&open(args, output)?, command, output),
        Command::Checkpoint(command) => checkpoint::run(&open(args, output)?, command, output),
    }
}

/// Opens the project and says what there is to say about that.
fn open(args: &Args, output: Output) -> Result<Project> {
    let project = Project::open(&args.project)?;
    // A state that cannot be read is the command's own to report, in its own words.
    let cut_off = notice_cut_off(&project).ok().flatten();
    let unfinished = project.unfinished().ok().flatten();
    for notice in project.notices().iter().cloned().chain(cut_off).chain(unfinished) {
        output.note(notice);
    }
    Ok(project)
}

fn exit_code(kind: ErrorKind) -> ExitCode {
    ExitCode::from(match kind {
        ErrorKind::Failed => 1,
        ErrorKind::Usage => 2,
        ErrorKind::NoRepository => 10,
        ErrorKind::Busy => 11,
        ErrorKind::NewerState => 12,
        ErrorKind::Bug => 70,
        ErrorKind::Interrupted => 130,
    })
}
