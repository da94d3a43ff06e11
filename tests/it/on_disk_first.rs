//! What a ref leads to is on disk before the ref is: seen from outside, in the order of system calls.

use crate::sandbox::{Repo, has_tool, repository_with_a_commit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs the program under strace; returns what was synced and renamed, in order.
fn traced(repo: &Repo, arguments: &[&str]) -> Vec<Call> {
    let log = repo.sandbox.path().join("trace");
    let trace = "trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat,mkdir,mkdirat";
    let options = ["-f", "-y", "-s", "4096", "-e", trace, "-o", log.to_str().unwrap()];
    let status = repo.strace(&options, arguments).output().unwrap().status;
    assert!(status.success(), "{arguments:?}");
    let trace = std::fs::read_to_string(&log).unwrap();
    trace.lines().filter_map(|line| Call::read(line, &repo.root)).collect()
}

/// A system call that matters here.
enum Call {
    Sync(PathBuf),
    /// A file gets a name (or another one), from the first path.
    Name(PathBuf, PathBuf),
    Folder(PathBuf),
}

impl Call {
    fn read(line: &str, root: &Path) -> Option<Self> {
        let line = line.split_once(' ')?.1.trim_start();
        if line.ends_with("(File exists)") || line.contains(" = -1 ") {
            return None;
        }
        if line.starts_with("fsync(") || line.starts_with("fdatasync(") {
            let path = line.split_once('<')?.1.split_once('>')?.0;
            return Some(Self::Sync(path.into()));
        }
        let mut names = line.split('"');
        let mut next = || names.nth(1).map(|name| root.join(name));
        match line.split('(').next()? {
            "mkdir" | "mkdirat" => Some(Self::Folder(next()?)),
            "rename" | "renameat" | "renameat2" | "link" | "linkat" => Some(Self::Name(next()?, next()?)),
            _ => None,
        }
    }
}

/// Goes through the calls: whenever a ref gets its value, all objects that got their names before are on disk, and so
/// are the names of their folders. Returns how many refs and objects there were.
fn judge(repo: &Repo, calls: Vec<Call>) -> (usize, usize) {
    let git = repo.path(".git");
    // What git writes aside gets its name in a second step.
    let is_object = |path: &Path| {
        path.strip_prefix(git.join("objects")).is_ok_and(|below| !below.to_string_lossy().starts_with("tmp_objdir-"))
    };
    let (mut synced, mut open, mut refs, mut objects) = (BTreeSet::new(), BTreeSet::new(), 0, 0);
    for call in calls {
        match call {
            Call::Sync(path) => {
                open.remove(&path);
                synced.insert(path);
            }
            Call::Folder(folder) if is_object(&folder) => {
                open.insert(folder.parent().unwrap().to_owned());
            }
            Call::Name(from, to) if is_object(&to) => {
                objects += 1;
                if !synced.contains(&from) {
                    open.insert(to.clone());
                }
                open.insert(to.parent().unwrap().to_owned());
            }
            Call::Name(_, to) if to.starts_with(git.join("refs")) => {
                refs += 1;
                assert!(open.is_empty(), "{} is there before {open:?}", to.display());
            }
            Call::Name(..) | Call::Folder(_) => {}
        }
    }
    (refs, objects)
}

#[test]
fn a_ref_comes_after_all_that_it_leads_to() {
    if !has_tool("strace") {
        return;
    }
    let repo = repository_with_a_commit();
    repo.checkpoint("zero");
    repo.write("src/deep/er/new.txt", "new\n");
    repo.write("a.txt", "changed\n");
    let (refs, objects) = judge(&repo, traced(&repo, &["checkpoint", "-m", "one"]));
    assert_eq!((refs, objects), (2, 8), "the entry and the branch; two files, four folders, two commits");
    repo.write("a.txt", "changed again\n");
    repo.sh("echo staged > b.txt; git add b.txt; echo more >> b.txt");
    let (refs, objects) = judge(&repo, traced(&repo, &["restore", "c1"]));
    assert!(refs >= 5 && objects >= 8, "two that hold, one parked, an entry, the branch: {refs}; {objects}");
    let (refs, objects) = judge(&repo, traced(&repo, &["undo", "--yes"]));
    assert!(refs >= 3 && objects >= 2, "{refs}; {objects}");
}
