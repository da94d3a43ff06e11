//! What git says of the work tree, against an index of our own.
//!
//! One `status` names what changed, what is new and what the ignore rules leave out. Where the caller walks the
//! folders itself, git is asked about tracked files only, and then about what stands beside them: it walks the
//! whole tree for each question that it can answer alone.

use super::program::{Call, Program};
use super::{Error, Repository, error::Result};
use gix::bstr::{BString, ByteSlice as _};
use std::collections::HashSet;
use std::path::Path;

/// Up to how many folders git is asked about each by itself.
const A_FEW: usize = 20;

/// With how few cores git looks at its files one after another.
const TWO: usize = 2;

/// Which files a status is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// All that are there.
    All,
    /// Those of the index.
    Tracked,
}

/// What stands on disk where an index has nothing.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    /// Files and links.
    pub(crate) files: Vec<BString>,
    /// Folders, not looked into.
    pub(crate) folders: Vec<BString>,
}

/// What one walk over the work tree says against an index.
#[derive(Debug, Default)]
pub(crate) struct Status {
    /// Paths of the index whose file differs.
    pub(crate) changed: Vec<StatusChange>,
    /// Files that are not in the index and not ignored.
    pub(crate) untracked: Vec<BString>,
    /// Folders that are repositories of their own, without their `/`.
    pub(crate) nested: Vec<BString>,
    /// What the ignore rules leave out: files, and whole folders with a `/` at the end.
    pub(crate) ignored: Vec<BString>,
    /// Paths in conflict.
    pub(crate) conflicts: Vec<BString>,
}

/// A path of the index whose file differs from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusChange {
    /// The path.
    pub(crate) path: BString,
    /// Whether it is gone from the work tree (or something else than a file stands there).
    pub(crate) gone: bool,
    /// Whether it is a submodule.
    pub(crate) submodule: bool,
}

impl Repository {
    /// Looks at the work tree once against `index`, and lets the index remember what was learned.
    pub(crate) fn status(&self, index: &Path, walk: Walk) -> Result<Status> {
        status(&self.program, index, walk)
    }

    /// Does as [`Repository::status`], and something else while git walks.
    pub(crate) fn status_while<T>(
        &self,
        index: &Path,
        walk: Walk,
        meanwhile: impl FnOnce() -> T,
    ) -> (Result<Status>, T) {
        let program = &self.program;
        std::thread::scope(|threads| {
            let walk = threads.spawn(|| status(program, index, walk));
            let other = meanwhile();
            (walk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
        })
    }

    /// Adds to a status of tracked files what git says of the others; `unknown` is all that stands beside them.
    pub(crate) fn add_untracked(&self, index: &Path, unknown: &Unknown, status: &mut Status) -> Result<()> {
        use std::os::unix::ffi::OsStrExt as _;
        let paths: Vec<BString> = unknown.files.iter().chain(&unknown.folders).cloned().collect();
        if paths.is_empty() {
            return Ok(());
        }
        let ignored: HashSet<BString> = self.ignored_among(index, &paths)?.into_iter().collect();
        status.untracked.extend(unknown.files.iter().filter(|path| !ignored.contains(*path)).cloned());
        status.ignored.extend(unknown.files.iter().filter(|path| ignored.contains(*path)).cloned());
        let (closed, open): (Vec<_>, Vec<_>) = unknown.folders.iter().partition(|path| ignored.contains(*path));
        status.ignored.extend(closed.into_iter().map(|folder| [folder.as_slice(), b"/"].concat().into()));
        if open.is_empty() {
            return Ok(());
        }
        let mut call = status_call(&self.program, index, Walk::All);
        // git compares each of its paths with each one that it is given.
        if open.len() <= A_FEW {
            call = call.literal_paths().args(["--"]).args(open.iter().map(|path| std::ffi::OsStr::from_bytes(path)));
        }
        let asked: HashSet<&[u8]> = open.iter().map(|folder| folder.as_slice()).collect();
        let above = |path: &'_ BString| path.find_iter("/").any(|slash| asked.contains(&path[..slash]));
        let inside = |path: &BString| asked.contains(path.as_slice()) || above(path);
        let others = parse_status(&call.run()?).ok_or(Error::Unreadable { command: "status" })?;
        status.untracked.extend(others.untracked.into_iter().filter(inside));
        status.nested.extend(others.nested.into_iter().filter(inside));
        status.ignored.extend(others.ignored.into_iter().filter(inside));
        Ok(())
    }
}

fn status(program: &Program, index: &Path, walk: Walk) -> Result<Status> {
    let output = status_call(program, index, walk).refreshing().run()?;
    parse_status(&output).ok_or(Error::Unreadable { command: "status" })
}

fn status_call<'a>(program: &'a Program, index: &Path, walk: Walk) -> Call<'a> {
    let others: &[&str] = match walk {
        Walk::All => &["--untracked-files=all", "--ignored=matching"],
        Walk::Tracked => &["--untracked-files=no"],
    };
    let mut call = program.call("status").args(["--porcelain=v2", "-z", "--no-renames", "--no-ahead-behind"]);
    if walk == Walk::Tracked && std::thread::available_parallelism().is_ok_and(|count| count.get() <= TWO) {
        // The walk of the folders has the other core; threads of git's would only take turns with it.
        call = call.setting("core.preloadIndex=false");
    }
    call.args(["--ignore-submodules=dirty"]).args(others).index(index)
}

/// Reads `status --porcelain=v2 -z --no-renames`; `None` when a record is not as documented.
fn parse_status(output: &[u8]) -> Option<Status> {
    let mut status = Status::default();
    for record in output.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        let (kind, rest) = (record[0], record.get(2..)?);
        match kind {
            b'?' => match rest.strip_suffix(b"/") {
                Some(folder) => status.nested.push(folder.into()),
                None => status.untracked.push(rest.into()),
            },
            b'!' => status.ignored.push(rest.into()),
            // 1 XY sub mH mI mW hH hI path
            b'1' => {
                let fields: Vec<&[u8]> = rest.splitn(8, |byte| *byte == b' ').collect();
                let (pair, path) = (*fields.first()?, *fields.get(7)?);
                let in_work_tree = *pair.get(1)?;
                if in_work_tree != b'.' {
                    status.changed.push(StatusChange {
                        path: path.into(),
                        gone: in_work_tree == b'D',
                        submodule: fields.get(1)?.first() == Some(&b'S'),
                    });
                }
            }
            // u XY sub m1 m2 m3 mW h1 h2 h3 path
            b'u' => status.conflicts.push((*rest.splitn(10, |byte| *byte == b' ').collect::<Vec<_>>().get(9)?).into()),
            b'#' => {}
            _ => return None,
        }
    }
    Some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_with_blanks_and_line_feeds_in_names() {
        let output = b"1 .M N... 100644 100644 100644 aa bb a b\nc\0? new \0? inner/\0! target/\0! x.log\0\
            1 AD N... 000000 100644 000000 00 bb gone\x001 A. N... 000000 100644 100644 00 bb staged\0\
            1 .M SC.. 160000 160000 160000 aa bb sub\0u UU N... 100644 100644 100644 100644 a b c both\0";
        let status = parse_status(output).unwrap();
        let changed = |path: &str, gone, submodule| StatusChange { path: path.into(), gone, submodule };
        assert_eq!(
            status.changed,
            [changed("a b\nc", false, false), changed("gone", true, false), changed("sub", false, true)]
        );
        assert_eq!(status.untracked, ["new "]);
        assert_eq!(status.nested, ["inner"]);
        assert_eq!(status.ignored, ["target/", "x.log"]);
        assert_eq!(status.conflicts, ["both"]);
        assert!(parse_status(b"9 what\0").is_none());
    }
}
