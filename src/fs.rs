//! Bytes on disk: the only room that writes, renames, locks and removes files.
//!
//! Two ways of writing: *replace* (temporary file in the same folder, sync, rename, sync of the folder: a
//! reader sees the old bytes or the new ones) and *append* (one write of one whole line under a lock of the
//! file, sync; a torn last line of a dead writer is cut off first). Files are made for the owner alone
//! (0600, folders 0700) whatever the umask. Every error names the path. Nothing here knows what the bytes
//! mean, and nothing here follows a symbolic link in its last component when it removes.
#![expect(clippy::disallowed_methods, reason = "this is the room that owns the file system")]

mod append;
mod identity;
mod lock;
mod place;
mod steps;

pub(crate) use append::{Appender, append_after};
pub(crate) use identity::FileIdentity;
pub(crate) use lock::Lock;
pub(crate) use place::{Place, remove_own_folder};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

pub(crate) use steps::{Go, end, step};

/// The start of the name of a file that is to replace another one; the process that makes it follows.
const TEMPORARY: &str = ".autodev-";

/// An operation of the file system that failed, with its path.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}: {source}", .path.display())]
pub(crate) struct Error {
    /// What was being done, as a verb: `read`, `write`, `rename`…
    doing: &'static str,
    /// The path it was done to.
    path: PathBuf,
    /// What the system said.
    source: io::Error,
}

impl Error {
    /// Wraps what the system said about doing something to a path.
    pub(crate) fn new(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self { doing, path: path.to_owned(), source }
    }

    /// Tells whether the cause is that the path does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// Tells whether the cause is that the path exists already.
    pub(crate) fn is_already_there(&self) -> bool {
        self.source.kind() == io::ErrorKind::AlreadyExists
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        Self::new(crate::ErrorKind::Failed, error.to_string())
    }
}

/// The result of this room's functions.
pub(crate) type Result<T> = std::result::Result<T, Error>;

fn at<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
    move |source| Error::new(doing, path, source)
}

/// Counts a step of a change for tests that cut it.
fn counted(doing: &'static str, path: &Path) -> Result<Go> {
    step().map_err(at(doing, path))
}

/// The bytes that a step writes: half of them where a test tears it.
fn part(bytes: &[u8], go: Go) -> &[u8] {
    if go == Go::Half { &bytes[..bytes.len() / 2] } else { bytes }
}

fn stop_if_torn(go: Go) {
    if go == Go::Half {
        end();
    }
}

/// Reads a whole file.
///
/// Only a file: a pipe in its place would wait for ever.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let metadata = std::fs::metadata(path).map_err(at("read", path))?;
    if !metadata.is_file() {
        return Err(Error::new("read", path, io::Error::other("it is no regular file")));
    }
    std::fs::read(path).map_err(at("read", path))
}

/// Reads a whole file, or returns `None` where there is none.
pub(crate) fn try_read(path: &Path) -> Result<Option<Vec<u8>>> {
    match read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a folder and its parents, for the owner alone; one that is there already keeps its mode.
pub(crate) fn create_folder(path: &Path) -> Result<()> {
    counted("create", path)?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(at("create", path))
}

/// Makes a folder of the work tree and its parents, with the modes that the user's umask gives.
pub(crate) fn create_folder_as_usual(path: &Path) -> Result<()> {
    counted("create", path)?;
    std::fs::create_dir_all(path).map_err(at("create", path))
}

/// Replaces whatever file stands at `path` by a symbolic link to `text`.
pub(crate) fn replace_link(path: &Path, text: &[u8]) -> Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    remove_file(path)?;
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(text), path).map_err(at("link", path))
}

/// Replaces a file durably: readers see the old bytes or the new ones, also after a crash.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_with_mode(path, bytes, 0o600)
}

/// Replaces a file durably by one with these permission bits.
pub(crate) fn replace_with_mode(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let go = counted("write", path)?;
    let folder = parent(path);
    let prefix = format!("{TEMPORARY}{}-", std::process::id());
    let mut temporary =
        tempfile::Builder::new().prefix(&prefix).tempfile_in(folder).map_err(at("create a file in", folder))?;
    temporary.write_all(part(bytes, go)).map_err(at("write", path))?;
    stop_if_torn(go);
    if mode != 0o600 {
        let permissions = std::fs::Permissions::from_mode(mode);
        temporary.as_file().set_permissions(permissions).map_err(at("set the mode of", path))?;
    }
    temporary.as_file().sync_all().map_err(at("sync", path))?;
    counted("replace", path)?;
    temporary.persist(path).map_err(|failed| Error::new("replace", path, failed.error))?;
    sync_folder(folder)
}

/// Removes the temporary files in a folder whose makers are dead.
pub(crate) fn remove_left_over(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY)?.split('-').next()?.parse().ok());
        let Some(maker) = maker.and_then(rustix::process::Pid::from_raw) else { continue };
        if rustix::process::test_kill_process(maker) == Err(rustix::io::Errno::SRCH) {
            let _ = remove_file(&entry.path());
        }
    }
}

/// Makes a file that must not exist yet and writes `bytes`; for lock files of git's kind.
pub(crate) fn create_new(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let go = counted("create", path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(at("create", path))?;
    file.write_all(part(bytes, go)).map_err(at("write", path))?;
    stop_if_torn(go);
    Ok(())
}

/// Copies a file to a new place with its modification time and for the owner alone.
///
/// The time matters where the file is a git index: with a younger one git would take files that were
/// written in the same tick for unchanged.
pub(crate) fn copy_with_time(from: &Path, to: &Path) -> Result<()> {
    counted("copy to", to)?;
    let mut source = File::open(from).map_err(at("open", from))?;
    let modified = source.metadata().and_then(|metadata| metadata.modified()).map_err(at("read", from))?;
    let mut target =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to).map_err(at("create", to))?;
    io::copy(&mut source, &mut target).map_err(at("copy to", to))?;
    target.set_modified(modified).map_err(at("set the time of", to))
}

/// Writes over the last bytes of a file that nobody else looks at yet, and keeps its modification time, which
/// matters for a git index as in [`copy_with_time`].
pub(crate) fn overwrite_end(path: &Path, bytes: &[u8]) -> Result<()> {
    let go = counted("write", path)?;
    let mut file = OpenOptions::new().write(true).open(path).map_err(at("open", path))?;
    let modified = file.metadata().and_then(|metadata| metadata.modified()).map_err(at("read", path))?;
    let length =
        i64::try_from(bytes.len()).map_err(|_| Error::new("write", path, io::ErrorKind::InvalidInput.into()))?;
    file.seek(SeekFrom::End(-length)).map_err(at("write", path))?;
    file.write_all(part(bytes, go)).map_err(at("write", path))?;
    stop_if_torn(go);
    file.set_modified(modified).map_err(at("set the time of", path))
}

/// Gives a file a second name; for files that are only ever replaced, never written in place.
pub(crate) fn link(from: &Path, to: &Path) -> Result<()> {
    counted("link", to)?;
    std::fs::hard_link(from, to).map_err(at("link", to))
}

/// Renames within one file system and syncs the folder.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    counted("rename to", to)?;
    std::fs::rename(from, to).map_err(at("rename to", to))?;
    sync_folder(parent(to))
}

/// Removes a file; one that is not there is no error.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    counted("remove", path)?;
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::new("remove", path, error)),
    }
}

/// Sets the permission bits of a file.
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<()> {
    counted("set the mode of", path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(at("set the mode of", path))
}

/// Makes the contents of a file durable.
pub(crate) fn sync_file(path: &Path) -> Result<()> {
    counted("sync", path)?;
    File::open(path).and_then(|file| file.sync_all()).map_err(at("sync", path))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    sync_file(path)
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_torn_last_line_is_cut_off_before_the_next_append() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        append_after(&path, |_| b"{\"n\":1}".to_vec()).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"n\":2,\"to").unwrap();
        append_after(&path, |last| {
            assert_eq!(last, Some(b"{\"n\":1}".as_slice()));
            b"{\"n\":3}".to_vec()
        })
        .unwrap();
        assert_eq!(read(&path).unwrap(), b"{\"n\":1}\n{\"n\":3}\n");
    }

    #[test]
    fn a_file_without_any_line_feed_counts_as_one_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thread.jsonl");
        std::fs::write(&path, vec![b'x'; 20_000]).unwrap();
        append_after(&path, |_| b"1".to_vec()).unwrap();
        assert_eq!(read(&path).unwrap(), b"1\n");
    }

    #[test]
    fn what_is_replaced_is_for_the_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        replace(&path, b"a").unwrap();
        replace(&path, b"b").unwrap();
        assert_eq!(read(&path).unwrap(), b"b");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays behind");
    }

    #[test]
    fn the_end_of_a_file_is_overwritten_without_a_change_of_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        std::fs::write(&path, b"entries0000").unwrap();
        let then = std::time::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
        File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        overwrite_end(&path, b"1234").unwrap();
        assert_eq!(read(&path).unwrap(), b"entries1234");
        assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), then);
    }

    #[test]
    fn a_held_lock_is_not_given_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        let held = Lock::try_acquire(&path).unwrap();
        assert!(held.is_some());
        assert!(Lock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(Lock::acquire_within(&path, Duration::ZERO).unwrap().is_some());
    }
}
