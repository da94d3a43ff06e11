//! `.autodev/memory.md`: what runs learned. A restore adds a line, so that the next turn knows that the code
//! went back; nothing else of the file is ever changed here. Where the file is gone, the copy in the state
//! folder comes back first, so that what was learned is not taken for that one line.

use super::error::Result;
use super::project::{Project, write_visible};
use super::scope::OURS;
use crate::fs;
use std::path::PathBuf;

/// The copy of the memory in the state folder.
const COPY: &str = "memory.md";

impl Project {
    /// Returns where the memory is.
    pub(crate) fn memory_path(&self) -> PathBuf {
        self.root().join(OURS).join("memory.md")
    }

    /// Copies the memory, where there is one.
    pub(crate) fn keep_memory(&self) -> Result<()> {
        let copy = self.state().file(COPY);
        match fs::try_read(&self.memory_path())? {
            Some(bytes) if fs::try_read(&copy)?.as_ref() != Some(&bytes) => Ok(fs::replace(&copy, &bytes)?),
            _ => Ok(()),
        }
    }

    /// Brings the memory back where it is gone, and says so.
    pub(crate) fn bring_memory_back(&self) -> Result<Option<String>> {
        let memory = self.memory_path();
        let gone = fs::try_read(&memory)?.is_none();
        let Some(bytes) = fs::try_read(&self.state().file(COPY))?.filter(|_| gone) else { return Ok(None) };
        self.create_folder()?;
        write_visible(&memory, &bytes)?;
        Ok(Some(format!("{} was gone and was brought back", memory.display())))
    }

    /// Adds a line at the end of the memory, unless it is there already.
    pub(crate) fn remember_line(&self, line: &str) -> Result<()> {
        self.create_folder()?;
        self.bring_memory_back()?;
        let path = self.memory_path();
        if std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            let source = std::io::Error::other("it is a symbolic link, and nothing is written through one");
            return Err(fs::Error::new("write", &path, source).into());
        }
        let mut bytes = fs::try_read(&path)?.unwrap_or_default();
        if bytes.split(|byte| *byte == b'\n').any(|there| there == line.as_bytes()) {
            return Ok(());
        }
        if bytes.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        write_visible(&path, &bytes)
    }
}
