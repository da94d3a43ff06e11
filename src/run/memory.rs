//! Keeps a copy of `.autodev/memory.md` in the state folder, out of reach of `git clean -fdx`, and brings it
//! back when the file is gone.

use super::error::Result;
use crate::checkpoint::memory_path;
use crate::fs;
use crate::workspace::Project;

/// Copies the memory, where there is one.
pub(super) fn keep(project: &Project) -> Result<()> {
    let copy = project.state().file("memory.md");
    match fs::try_read(&memory_path(project))? {
        Some(bytes) if fs::try_read(&copy)?.as_ref() != Some(&bytes) => Ok(fs::replace(&copy, &bytes)?),
        _ => Ok(()),
    }
}

/// Brings the memory back where it is gone, and says so.
pub(super) fn bring_back(project: &Project) -> Result<Option<String>> {
    let memory = memory_path(project);
    let gone = fs::try_read(&memory)?.is_none();
    let Some(bytes) = fs::try_read(&project.state().file("memory.md"))?.filter(|_| gone) else { return Ok(None) };
    project.create_folder()?;
    fs::replace(&memory, &bytes)?;
    Ok(Some(format!("{} was gone and was brought back", memory.display())))
}
