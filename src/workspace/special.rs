//! Walks the folders: finds what git does not track, and what it cannot: pipes, sockets, devices, closed folders.
//!
//! One pass over folder entries, by the type that the folder itself gives (nothing is opened, nothing is
//! read but folders), through a few threads. First the folders with tracked files: what stands beside these is
//! what git is asked about, instead of walking everything once more. Then those of the others that are neither
//! ignored nor repositories of their own. Each folder is opened from the one above it, since looking up whole
//! paths would cost more than reading the entries.

use super::error::Result;
use super::scope::{folders_above, join, on_disk};
use crate::git::{IndexView, Unknown};
use crate::state::{SkipReason, Skipped};
use gix::bstr::{BStr, BString, ByteSlice as _};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Flags for opening a folder to read its entries, never through a link.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How many folders one thread holds open above the one it reads.
const DEEPEST: usize = 48;

/// The folders that wait to be read, how many threads are reading, and how many have nothing to do.
#[derive(Default)]
struct Queue {
    waiting: Mutex<(Vec<BString>, usize)>,
    idle: AtomicUsize,
    changed: Condvar,
}

impl Queue {
    /// Takes a folder, waiting while others may still give some; `None` when all are read.
    fn take(&self, has_read_one: bool) -> Option<BString> {
        let mut guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        guard.1 -= usize::from(has_read_one);
        self.idle.fetch_add(1, Ordering::Relaxed);
        let folder = loop {
            if let Some(folder) = guard.0.pop() {
                guard.1 += 1;
                break Some(folder);
            }
            if guard.1 == 0 {
                self.changed.notify_all();
                break None;
            }
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        };
        self.idle.fetch_sub(1, Ordering::Relaxed);
        folder
    }

    fn give(&self, folder: BString) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).0.push(folder);
        self.changed.notify_one();
    }
}

/// What was found so far, and what was passed by.
#[derive(Debug, Default)]
pub(super) struct Look {
    found: Vec<Skipped>,
    /// The first folder that could not be read for another reason than that one may not.
    failed: Option<(BString, Errno)>,
    /// What stands on disk where the index has nothing.
    pub(super) unknown: Unknown,
}

impl Look {
    /// Looks below `root` into the folders with files of `index`, which no ignore rule can close.
    pub(super) fn begin(root: &Path, index: Option<&IndexView>) -> Self {
        walk(root, vec![BString::default()], &Enter::Tracked(index))
    }

    /// Looks into the other folders but those in `closed`; returns all that was found.
    pub(super) fn finish(self, root: &Path, closed: &HashSet<BString>) -> Result<Vec<Skipped>> {
        let open = self.unknown.folders.into_iter().filter(|folder| !closed.contains(folder)).collect();
        let rest = walk(root, open, &Enter::AllBut(closed));
        if let Some((folder, error)) = self.failed.or(rest.failed) {
            return Err(crate::fs::Error::new("read", &on_disk(root, folder.as_bstr()), error.into()).into());
        }
        let inside = |path: &BString| folders_above(path.as_bstr()).any(|folder| closed.contains(folder));
        let outside = |skipped: &Skipped| !closed.contains(&skipped.path) && !inside(&skipped.path);
        let mut found: Vec<Skipped> = self.found.into_iter().chain(rest.found).filter(outside).collect();
        found.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(found)
    }
}

/// Which folders are entered.
enum Enter<'a> {
    /// Those with files of the index.
    Tracked(Option<&'a IndexView>),
    /// All but these.
    AllBut(&'a HashSet<BString>),
}

/// Reads the folders in `start` and those below them that are to be entered, through a few threads.
fn walk(root: &Path, start: Vec<BString>, enter: &Enter<'_>) -> Look {
    if start.is_empty() {
        return Look::default();
    }
    let queue = Queue { waiting: Mutex::new((start, 0)), ..Queue::default() };
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    std::thread::scope(|scope| {
        let work = || {
            let mut worker =
                Worker { root, enter, queue: &queue, look: Look::default(), buffer: Vec::with_capacity(16_384) };
            worker.work();
            worker.look
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().fold(Look::default(), |mut all, worker| {
            let look = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.found.extend(look.found);
            all.unknown.folders.extend(look.unknown.folders);
            all.unknown.files.extend(look.unknown.files);
            all.failed = all.failed.or(look.failed);
            all
        })
    })
}

/// One thread, with what it has found.
struct Worker<'a> {
    root: &'a Path,
    enter: &'a Enter<'a>,
    queue: &'a Queue,
    look: Look,
    buffer: Vec<u8>,
}

impl Worker<'_> {
    fn work(&mut self) {
        let mut has_read_one = false;
        while let Some(folder) = self.queue.take(has_read_one) {
            has_read_one = true;
            match rustix::fs::open(on_disk(self.root, folder.as_bstr()), FOLDER, Mode::empty()) {
                Ok(place) => self.descend(&place, folder.as_bstr(), 0),
                Err(error) => self.note_closed(folder, error),
            }
        }
    }

    /// Reads an open folder and those below it, which are opened from it; gives some away when others wait.
    fn descend(&mut self, place: &OwnedFd, folder: &BStr, depth: usize) {
        for path in self.read(place, folder) {
            if depth == DEEPEST || self.queue.idle.load(Ordering::Relaxed) > 0 {
                self.queue.give(path);
            } else {
                let name = &path[path.rfind_byte(b'/').map_or(0, |slash| slash + 1)..];
                match rustix::fs::openat(place, name, FOLDER, Mode::empty()) {
                    Ok(below) => self.descend(&below, path.as_bstr(), depth + 1),
                    Err(error) => self.note_closed(path, error),
                }
            }
        }
    }

    /// Names a folder that nobody may read; one that has gone meanwhile is no folder, anything else is a failure.
    fn note_closed(&mut self, path: BString, error: Errno) {
        match error {
            Errno::ACCESS | Errno::PERM => {
                self.look.found.push(Skipped { path, reason: SkipReason::Unreadable });
            }
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => {}
            error => {
                self.look.failed.get_or_insert((path, error));
            }
        }
    }

    /// Reads the entries of one folder: returns the folders in it that are to be entered, and notes the rest.
    fn read(&mut self, place: &OwnedFd, folder: &BStr) -> Vec<BString> {
        let mut folders = Vec::new();
        let tracked = match self.enter {
            Enter::Tracked(index) => index.map(|index| index.folder(folder)),
            Enter::AllBut(_) => None,
        };
        let mut entries = RawDir::new(place, self.buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.look.failed.get_or_insert((folder.to_owned(), error));
                    break;
                }
            };
            let name = entry.file_name();
            let kind = match entry.file_type() {
                FileType::Unknown => rustix::fs::statat(place, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            let name = name.to_bytes();
            match kind {
                FileType::Directory if name == b"." || name == b".." || name == b".git" => {}
                FileType::Directory => {
                    let path = join(folder, name);
                    match (self.enter, &tracked) {
                        (Enter::AllBut(closed), _) if closed.contains(&path) => {}
                        (Enter::AllBut(_), _) => folders.push(path),
                        (Enter::Tracked(_), Some(tracked)) if tracked.has_files_below(name) => folders.push(path),
                        (Enter::Tracked(_), Some(tracked)) if tracked.has_submodule(name) => {}
                        (Enter::Tracked(_), _) => self.look.unknown.folders.push(path),
                    }
                }
                FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
                    let path = join(folder, name);
                    self.look.found.push(Skipped { path, reason: SkipReason::SpecialFile });
                }
                _ if matches!(self.enter, Enter::AllBut(_)) || name == b".git" => {}
                _ if tracked.as_ref().is_some_and(|tracked| tracked.has_entry(name)) => {}
                _ => self.look.unknown.files.push(join(folder, name)),
            }
        }
        folders
    }
}
