//! `autodev init`: the folder `.autodev/`, or the schema of its configuration.

use super::args::{Args, Init as Command};
use super::output::Output;
use crate::config::{IGNORE_TEMPLATE, MEMORY_TEMPLATE, TEMPLATE, schema};
use crate::{Result, fs};
use serde_json::json;
use std::process::ExitCode;

/// Writes what is missing of `.autodev/`.
pub(super) fn run(args: &Args, command: &Command, output: Output) -> Result<ExitCode> {
    if command.schema {
        output.json(&schema());
        return Ok(ExitCode::SUCCESS);
    }
    let project = super::open(args, output)?;
    let folder = project.root().join(crate::workspace::OURS);
    fs::create_folder_as_usual(&folder)?;
    let mut written = Vec::new();
    for (name, text) in [(".gitignore", IGNORE_TEMPLATE), ("config.toml", TEMPLATE), ("memory.md", MEMORY_TEMPLATE)] {
        let path = folder.join(name);
        if fs::try_read(&path)?.is_none() {
            fs::replace(&path, text.as_bytes())?;
            fs::set_mode(&path, 0o644)?;
            written.push(path.display().to_string());
        }
    }
    if output.is_json() {
        output.json(&json!({ "written": written }));
    } else if written.is_empty() {
        output.line(format_args!("{} is complete already", folder.display()));
    } else {
        output.line(format_args!("Wrote {}", written.join(", ")));
        output.note("next: add a [[participants]] table to config.toml, then: autodev run '<task>'");
    }
    Ok(ExitCode::SUCCESS)
}
