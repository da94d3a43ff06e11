//! `autodev doctor`.

use super::args::Doctor as Command;
use super::output::Output;
use crate::doctor::{adopt, examine, rebuild};
use crate::{Project, Result};
use serde_json::json;
use std::process::ExitCode;

/// Mends what is asked for, then examines; exit code 1 when something does not agree.
pub(super) fn run(project: &Project, command: &Command, output: Output) -> Result<ExitCode> {
    let mut done = Vec::new();
    if command.rebuild {
        done.extend(rebuild(project)?);
    }
    if command.adopt {
        done.extend(adopt(project)?);
    }
    let findings = examine(project)?;
    if output.is_json() {
        output.json(&json!({ "mended": done, "findings": findings }));
    } else {
        for line in &done {
            output.line(line);
        }
        for finding in &findings {
            output.line(format_args!("{}\n  mend: {}", finding.what, finding.mend));
        }
        if findings.is_empty() {
            output.line("All agrees");
        }
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
