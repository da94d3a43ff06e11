//! Finds pipes, sockets, devices and folders that cannot be read, which git's status does not name.
//!
//! One pass over folder entries, by the type that the folder itself gives (nothing is opened, nothing is
//! read but folders), through a few threads; ignored folders and nested repositories are not entered.

use super::scope::on_disk;
use crate::state::{SkipReason, Skipped};
use gix::bstr::{BString, ByteSlice as _};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

/// The folders that wait to be read, and how many are being read.
#[derive(Default)]
struct Queue {
    waiting: Vec<BString>,
    busy: usize,
    found: Vec<Skipped>,
}

/// Returns the special files and the unreadable folders below `root`, without entering the folders in `closed`.
pub(super) fn special_files(root: &Path, closed: &HashSet<BString>) -> Vec<Skipped> {
    let queue = Mutex::new(Queue { waiting: vec![BString::default()], ..Queue::default() });
    let changed = Condvar::new();
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(root, closed, &queue, &changed));
        }
    });
    let mut found = queue.into_inner().unwrap_or_else(PoisonError::into_inner).found;
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

fn work(root: &Path, closed: &HashSet<BString>, queue: &Mutex<Queue>, changed: &Condvar) {
    let mut guard = queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(folder) = guard.waiting.pop() {
            guard.busy += 1;
            drop(guard);
            let (folders, found) = read_folder(root, &folder, closed);
            guard = queue.lock().unwrap_or_else(PoisonError::into_inner);
            guard.busy -= 1;
            guard.waiting.extend(folders);
            guard.found.extend(found);
            changed.notify_all();
        } else if guard.busy == 0 {
            return;
        } else {
            guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Reads one folder: the folders below it that are to be entered, and what is to be named.
fn read_folder(root: &Path, folder: &BString, closed: &HashSet<BString>) -> (Vec<BString>, Vec<Skipped>) {
    let mut folders = Vec::new();
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(on_disk(root, folder.as_bstr())) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() == ErrorKind::PermissionDenied {
                found.push(Skipped { path: folder.clone(), reason: SkipReason::Unreadable });
            }
            return (folders, found);
        }
    };
    for entry in entries.flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let special = kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device();
        if !kind.is_dir() && !special {
            continue;
        }
        let mut path = folder.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.as_bytes());
        if special {
            found.push(Skipped { path, reason: SkipReason::SpecialFile });
        } else if name != ".git" && !closed.contains(&path) {
            folders.push(path);
        }
    }
    (folders, found)
}
