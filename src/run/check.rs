//! Checking a claim: something must have changed, and every verify command must succeed.

use super::error::Result;
use super::machine::Event;
use crate::agent::{How, Line, Program, Stop, run_plain};
use crate::checkpoint::{committed_tree, current_tree};
use crate::workspace::Project;
use gix::ObjectId;
use std::ffi::OsString;
use std::time::Duration;

/// How long a verify command may take.
const LIMIT: Duration = Duration::from_mins(30);

/// How much of a failing command's output goes on the thread, in lines.
const TAIL: usize = 20;

/// How much of one line of it, in bytes.
const MOST: usize = 500;

/// The commit and tree that new work must differ from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Base {
    /// HEAD's commit; none on an unborn branch.
    pub(super) commit_id: Option<ObjectId>,
    /// The work tree.
    pub(super) tree_id: ObjectId,
}

impl Base {
    /// HEAD's commit and its tree: what is there after a checkpoint.
    pub(super) fn committed(project: &Project) -> Result<Self> {
        let (commit_id, tree_id) = committed_tree(project)?;
        Ok(Self { commit_id, tree_id })
    }
}

/// Returns what is there now, where checkpoints can be made.
pub(super) fn base(project: &Project) -> Result<Option<Base>> {
    if !project.has_checkpoints() {
        return Ok(None);
    }
    let (head, tree_id) = current_tree(project)?;
    Ok(Some(Base { commit_id: head.commit_id(), tree_id }))
}

/// Checks a claim against the newest checkpoint of the run (or where it began).
pub(super) fn check(
    project: &Project,
    before: Option<Base>,
    environment: &[(OsString, OsString)],
    stop: &Stop,
) -> Result<Event> {
    if before.is_some() && base(project)? == before {
        return Ok(Event::Refused(
            "nothing has changed since the last checkpoint, so there is nothing to credit".to_owned(),
        ));
    }
    for command in &project.config().verify {
        let mut output: Vec<String> = Vec::new();
        let program = Program {
            command: command.clone(),
            cwd: project.root().to_owned(),
            env: environment.to_vec(),
            timeout: LIMIT,
            grace: crate::agent::GRACE,
        };
        let ended = run_plain(&program, stop, &mut |_, line| {
            if output.len() == TAIL {
                output.remove(0);
            }
            output.push(shown(line));
        });
        let said = match ended {
            Ok(ended) => match ended.how {
                How::Exited(0) => continue,
                How::Stopped => return Ok(Event::StopWished),
                How::Exited(code) => format!("exited with code {code}"),
                How::Signalled(signal) => format!("was ended by signal {signal}"),
                How::TimedOut => format!("took longer than {} minutes", LIMIT.as_secs() / 60),
            },
            Err(error) => error.to_string(),
        };
        let tail = if output.is_empty() { String::new() } else { format!(":\n{}", output.join("\n")) };
        return Ok(Event::Refused(format!("`{}` {said}{tail}", command.join(" "))));
    }
    Ok(Event::Passed { verified: !project.config().verify.is_empty() })
}

/// Shows a line of output at a length that a thread bears.
fn shown(line: &Line) -> String {
    let (bytes, length) = match line {
        Line::Whole(bytes) => (bytes, u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
        Line::TooLong { start, bytes } => (start, *bytes),
    };
    match bytes.get(..MOST) {
        Some(start) => format!("{}… ({length} bytes)", String::from_utf8_lossy(start)),
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}
