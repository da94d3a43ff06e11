//! What a ref leads to is on disk before the ref is: seen from outside, in the order of system calls.

use crate::sandbox::{Repo, has_tool, repository_with_a_commit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs the program under strace; returns what was synced and renamed, in order.
fn traced(repo: &Repo, arguments: &[&str]) -> Vec<Call> {
    let log = repo.sandbox.path().join("trace");
    let trace = "trace=fsync,fdatasync,rename,renameat,renameat2";
    let options = ["-f", "-y", "-s", "4096", "-e", trace, "-o", log.to_str().unwrap()];
    let status = repo.strace(&options, arguments).output().unwrap().status;
    assert!(status.success(), "{arguments:?}");
    let trace = std::fs::read_to_string(&log).unwrap();
    trace.lines().filter_map(|line| Call::read(line, &repo.root)).collect()
}

/// A system call that matters here.
enum Call {
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
}

impl Call {
    fn read(line: &str, root: &Path) -> Option<Self> {
        let line = line.split_once(' ')?.1.trim_start();
        if line.starts_with("fsync(") || line.starts_with("fdatasync(") {
            let path = line.split_once('<')?.1.split_once('>')?.0;
            return Some(Self::Sync(path.into()));
        }
        let mut names = line.strip_prefix("rename")?.split('"');
        Some(Self::Rename(root.join(names.nth(1)?), root.join(names.nth(1)?)))
    }
}

/// Goes through the calls: whenever a ref gets its value, all objects that got their names before are on disk.
fn judge(repo: &Repo, calls: Vec<Call>) -> usize {
    let git = repo.path(".git");
    let (mut synced, mut open, mut refs) = (BTreeSet::new(), BTreeSet::new(), 0);
    for call in calls {
        match call {
            Call::Sync(path) => {
                open.remove(&path);
                synced.insert(path);
            }
            Call::Rename(from, to) if to.starts_with(git.join("objects")) => {
                if !synced.contains(&from) {
                    open.insert(to.clone());
                }
                open.insert(to.parent().unwrap().to_owned());
            }
            Call::Rename(_, to) if to.starts_with(git.join("refs")) => {
                refs += 1;
                assert!(open.is_empty(), "{} is there before {open:?}", to.display());
            }
            Call::Rename(..) => {}
        }
    }
    refs
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
    assert_eq!(judge(&repo, traced(&repo, &["checkpoint", "-m", "one"])), 2, "the entry and the branch");
    repo.write("a.txt", "changed again\n");
    repo.sh("echo staged > b.txt; git add b.txt; echo more >> b.txt");
    assert!(judge(&repo, traced(&repo, &["restore", "c1"])) >= 5, "two that hold, one parked, an entry, the branch");
    assert!(judge(&repo, traced(&repo, &["undo", "--yes"])) >= 3);
}
