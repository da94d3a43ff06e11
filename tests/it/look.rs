//! A look at what must not change: kind, mode, inode, time and content of everything, to compare with a later one.

use crate::sandbox::Repo;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Everything that must not change when a command refuses: HEAD, refs, index, settings, and all files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    lines: BTreeMap<String, String>,
}

impl Look {
    pub(crate) fn at(repo: &Repo) -> Self {
        let mut lines = BTreeMap::new();
        let git_dir = PathBuf::from(repo.git(["rev-parse", "--absolute-git-dir"]));
        for name in ["HEAD", "index", "config", "packed-refs", "logs/HEAD", "index.lock", "MERGE_HEAD", "info/exclude"]
        {
            lines.insert(format!("{name} in the git folder"), seen(&git_dir.join(name)));
        }
        for folder in ["refs", "hooks", "logs"] {
            walk(&git_dir.join(folder), &mut lines);
        }
        walk(&repo.root, &mut lines);
        Self { lines }
    }

    /// Returns the paths below the root that are files or links, with what they are.
    pub(crate) fn of_files(repo: &Repo) -> Self {
        let mut lines = BTreeMap::new();
        walk(&repo.root, &mut lines);
        Self { lines }
    }

    /// Looks at a file, or at a folder and all below it.
    pub(crate) fn of_path(path: &Path) -> Self {
        let mut lines = BTreeMap::new();
        if path.is_dir() && !path.is_symlink() {
            walk(path, &mut lines);
        } else {
            lines.insert(shown(path), seen(path));
        }
        Self { lines }
    }

    /// Asserts that everything is as it was.
    #[track_caller]
    pub(crate) fn assert_same(&self, repo: &Repo) {
        self.compare(&Self::at(repo));
    }

    #[track_caller]
    pub(crate) fn compare(&self, now: &Self) {
        let names: std::collections::BTreeSet<&String> = self.lines.keys().chain(now.lines.keys()).collect();
        let differing: Vec<String> = names
            .into_iter()
            .filter(|name| self.lines.get(*name) != now.lines.get(*name))
            .map(|name| format!("{name}: {:?} -> {:?}", self.lines.get(name), now.lines.get(name)))
            .collect();
        assert!(differing.is_empty(), "something changed:\n{}", differing.join("\n"));
    }
}

/// Walks a folder without following links; the git folder and objects are looked at by others.
fn walk(folder: &Path, lines: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() == ".git" && entry.path().parent() == Some(folder) && folder.join(".git/HEAD").exists() {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            lines.insert(shown(&entry.path()), "a folder".to_owned());
            walk(&entry.path(), lines);
        } else {
            lines.insert(shown(&entry.path()), seen(&entry.path()));
        }
    }
}

fn shown(path: &Path) -> String {
    String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned()
}

/// Says what stands at a path: kind, mode, inode, time and content.
fn seen(path: &Path) -> String {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return "nothing".to_owned() };
    let content = if metadata.is_symlink() {
        shown(&std::fs::read_link(path).unwrap())
    } else if metadata.is_file() {
        let bytes = std::fs::read(path).unwrap();
        format!("{} bytes, {:x}", bytes.len(), hash(&bytes))
    } else {
        "special".to_owned()
    };
    let time = (metadata.mtime(), metadata.mtime_nsec());
    format!("{:o} inode {} time {time:?}: {content}", metadata.mode(), metadata.ino())
}

fn hash(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
