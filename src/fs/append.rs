//! Files that only grow: records of one line, and raw output.
#![expect(clippy::disallowed_methods, reason = "part of the room that owns the file system")]

use super::{Error, Result, at, counted, part, stop_if_torn};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Appends one line (without its line feed) as one write, and syncs; a torn last line is cut off first.
///
/// `line` gets the last whole line and makes the new one, while the file is locked.
pub(crate) fn append_after(path: &Path, line: impl FnOnce(Option<&[u8]>) -> Vec<u8>) -> Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(path).map_err(at("open", path))?;
    fs2::FileExt::lock_exclusive(&file).map_err(at("lock", path))?;
    let end = end_of_last_line(&mut file).map_err(at("read", path))?;
    let last = last_line(&mut file, end).map_err(at("read", path))?;
    let mut whole = line(last.as_deref());
    debug_assert!(!whole.contains(&b'\n'), "a record is one line");
    whole.push(b'\n');
    file.set_len(end).map_err(at("cut", path))?;
    file.seek(SeekFrom::Start(end)).map_err(at("write", path))?;
    let go = counted("write", path)?;
    let done = file.write_all(part(&whole, go));
    stop_if_torn(go);
    if let Err(error) = done.and_then(|()| file.sync_data()) {
        // A line that is half there would be cut by the next writer anyway; better now.
        let _ = file.set_len(end);
        return Err(Error::new("write", path, error));
    }
    Ok(())
}

/// Reads the last whole line, which ends at `end`.
fn last_line(file: &mut File, end: u64) -> io::Result<Option<Vec<u8>>> {
    const BLOCK: u64 = 65_536;
    if end == 0 {
        return Ok(None);
    }
    let mut start = end - 1;
    let mut bytes = Vec::new();
    while start > 0 && !bytes.contains(&b'\n') {
        start = start.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        bytes.clear();
        (&*file).take(end - 1 - start).read_to_end(&mut bytes)?;
    }
    let begin = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
    Ok(Some(bytes.split_off(begin)))
}

/// Finds the offset behind the last line feed, reading backwards in blocks.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    const BLOCK: u64 = 8192;
    let mut end = file.metadata()?.len();
    let mut buffer = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        buffer.clear();
        (&*file).take(end - start).read_to_end(&mut buffer)?;
        if let Some(position) = buffer.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + u64::try_from(position).unwrap_or(0) + 1);
        }
        end = start;
    }
    Ok(0)
}

/// A file that grows: raw output of an agent, up to a cap.
#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    path: PathBuf,
}

impl Appender {
    /// Opens a file for appending, making it where it is missing.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(at("open", path))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Returns the length of the file, in bytes.
    pub(crate) fn length(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(at("read", &self.path))?.len())
    }

    /// Appends bytes as they are, without a sync.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(at("write", &self.path))
    }

    /// Makes what was appended durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(at("sync", &self.path))
    }
}
