//! `.autodev/memory.md`: what runs learned. A restore adds a line, so that the next turn knows that the code
//! went back; nothing else of the file is ever changed here.

use super::error::Result;
use crate::fs;
use crate::workspace::{OURS, Project};
use std::path::PathBuf;

/// Returns where the memory is.
pub(crate) fn path(project: &Project) -> PathBuf {
    project.root().join(OURS).join("memory.md")
}

/// Adds a line at the end of the memory.
pub(crate) fn append_line(project: &Project, line: &str) -> Result<()> {
    project.create_folder()?;
    let path = path(project);
    let mut bytes = fs::try_read(&path)?.unwrap_or_default();
    if bytes.last().is_some_and(|last| *last != b'\n') {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    Ok(fs::replace(&path, &bytes)?)
}
