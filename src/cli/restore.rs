//! `autodev restore`: the list, the plan, and going back.

use super::args::Restore as Command;
use super::output::Output;
use crate::checkpoint::{Caller, Listing, Request, Target, go_back, plan_to};
use crate::workspace::{Direction, show};
use crate::{Error, ErrorKind, Project, RestorePlan, Restored, Result};
use gix::bstr::BString;
use serde_json::json;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// Lists the checkpoints, or goes back.
pub(super) fn run(project: &Project, command: &Command, output: Output) -> Result<ExitCode> {
    if command.proceed || command.abort {
        let direction = if command.abort { Direction::Back } else { Direction::Forward };
        return Ok(settle(project, direction, output));
    }
    let Some(id) = &command.id else { return list(project, output) };
    match go(project, id, command, output) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            // A run that is on has a sentence of its own; every other reason stands behind the prefix.
            let prefix = if is_run_on(&error) { "" } else { "Restore failed: " };
            output.failure(prefix, &error);
            Ok(super::exit_code(error.kind()))
        }
    }
}

/// Brings what was cut off to an end.
fn settle(project: &Project, direction: Direction, output: Output) -> ExitCode {
    match project.settle(direction).map_err(Error::from) {
        Ok(done) => {
            let done = done.unwrap_or_else(|| "nothing was cut off".to_owned());
            if output.is_json() {
                output.json(&json!({ "settled": done }));
            } else {
                output.line(done);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            output.failure("Restore failed: ", &error);
            super::exit_code(error.kind())
        }
    }
}

fn is_run_on(error: &Error) -> bool {
    error.kind() == ErrorKind::Busy && error.to_string() == crate::checkpoint::Error::RunIsOn.to_string()
}

fn list(project: &Project, output: Output) -> Result<ExitCode> {
    let listing = Listing::read(project).map_err(Error::from)?;
    if output.is_json() {
        output.json(&listing.to_json());
    } else {
        output.text(&listing);
    }
    if listing.is_lost(project)? {
        output
            .note("refs hold checkpoints that the list does not have; it can be made again: autodev doctor --rebuild");
    }
    Ok(ExitCode::SUCCESS)
}

fn go(project: &Project, id: &str, command: &Command, output: Output) -> Result<()> {
    let paths = command.paths.iter().map(|path| inside(project.root(), path)).collect::<Result<Vec<_>>>()?;
    let request = Request { target: Target::from(id.to_owned()), paths, caller: Caller::User };
    if command.dry_run {
        print_plan(&plan_to(project, &request)?, output);
    } else {
        print_restored(&go_back(project, &request, None)?, output);
    }
    Ok(())
}

fn print_plan(plan: &RestorePlan, output: Output) {
    if output.is_json() {
        return output.json(&json!({
            "label": plan.label, "commit": plan.commit, "branch": plan.branch, "parks": plan.parks,
            "leaves": plan.leaves, "steps": plan.steps,
        }));
    }
    for step in &plan.steps {
        output.line(format_args!("{:6} {}", step.action, step.shown_path()));
    }
    if let Some(leaves) = &plan.leaves {
        output.note(leaves);
    }
    let parks = if plan.parks { "changed work would be parked on a branch first" } else { "nothing to park" };
    output.note(format_args!("{} to change; {parks}; nothing was changed", plan.steps.len()));
}

fn print_restored(restored: &Restored, output: Output) {
    if output.is_json() {
        output.json(&json!({
            "restored": restored.to_string(), "label": restored.label, "commit": restored.commit,
            "saved_on": restored.saved_on, "replaced": restored.replaced, "notes": restored.notes,
        }));
    } else {
        output.line(restored);
    }
    for note in &restored.notes {
        output.note(note);
    }
    for checkpoint in &restored.replaced {
        super::checkpoint::name_skipped(&checkpoint.skipped, output);
    }
    if let Some(checkpoint) = restored.replaced.first() {
        output.note(format_args!("to go back again: autodev restore {}", checkpoint.id));
    }
}

/// Turns a path as it was typed into one from the root, without following its last part.
fn inside(root: &Path, path: &Path) -> Result<BString> {
    let outside = || Error::from(crate::checkpoint::Error::OutsidePath(show(&path.as_os_str().as_bytes().into())));
    let here = std::fs::canonicalize(".").map_err(|source| crate::fs::Error::new("find", Path::new("."), source))?;
    let mut whole = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    let below = whole.strip_prefix(root).map_err(|_| outside())?;
    Ok(below.as_os_str().as_bytes().into())
}
