//! Keeps a copy of `.autodev/memory.md` in the state folder, out of reach of `git clean -fdx`, and brings it
//! back when the file is gone.

use super::error::Result;
use crate::checkpoint::memory_path;
use crate::fs;
use crate::workspace::Project;

/// Copies the memory at the start of a turn, or brings it back; says so when it was brought back.
pub(super) fn keep(project: &Project) -> Result<Option<String>> {
    let (memory, copy) = (memory_path(project), project.state().file("memory.md"));
    match (fs::try_read(&memory)?, fs::try_read(&copy)?) {
        (Some(bytes), kept) => {
            if kept.as_ref() != Some(&bytes) {
                fs::replace(&copy, &bytes)?;
            }
            Ok(None)
        }
        (None, Some(bytes)) => {
            project.create_folder()?;
            fs::replace(&memory, &bytes)?;
            Ok(Some(format!("{} was gone and was brought back", memory.display())))
        }
        (None, None) => Ok(None),
    }
}
