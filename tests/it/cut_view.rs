//! A view of everything that a change may touch or must leave alone, line by line, to compare with another one.
//!
//! HEAD, all refs, the index with stages and flags, the work tree with bytes, modes and links (ignored files,
//! secrets, nested repositories and submodules too), other work trees, settings, ledger and operations. What
//! autodev keeps for itself (refs that hold, the memory) can be left out of a comparison.

use crate::sandbox::Repo;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What belongs to autodev alone, and is not what an undo brings back.
const OWN: [&str; 6] = [
    "ref refs/autodev/",
    "ref refs/heads/autodev/",
    "entry ",
    "operation ",
    "file .autodev/memory.md",
    "file .autodev/.gitignore",
];

/// Everything that counts, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View(BTreeMap<String, String>);

impl View {
    pub(crate) fn of(repo: &Repo) -> Self {
        let mut lines = BTreeMap::new();
        let text = |path: &str| std::fs::read_to_string(repo.path(path)).unwrap_or_default();
        lines.insert("HEAD".to_owned(), text(".git/HEAD"));
        for line in repo.git(["for-each-ref", "--format=%(refname) %(objectname)"]).lines() {
            let (name, id) = line.split_once(' ').unwrap();
            lines.insert(format!("ref {name}"), id.to_owned());
        }
        index(repo, &mut lines);
        walk(&repo.root, &repo.root, "file", &mut lines);
        let beside = repo.root.parent().unwrap();
        for folder in ["other", "home"] {
            walk(&beside.join(folder), beside, "beside", &mut lines);
        }
        for folder in [".git/modules", ".git/worktrees", ".git/info", ".git/hooks"] {
            walk(&repo.path(folder), &repo.root, "git", &mut lines);
        }
        lines.insert("git config".to_owned(), text(".git/config"));
        let ledger: serde_json::Value =
            serde_json::from_str(&text(".git/autodev/checkpoints.json")).unwrap_or_default();
        for entry in ledger["checkpoints"].as_array().into_iter().flatten() {
            lines.insert(format!("entry {}", entry["id"]), entry.to_string());
        }
        for line in text(".git/autodev/operations.jsonl").split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let operation: serde_json::Value = serde_json::from_str(line).unwrap();
            let twice = lines.insert(format!("operation {}", operation["n"]), line.to_owned());
            assert!(twice.is_none(), "an operation is written down twice: {line}");
        }
        // Copies of a repository lie elsewhere, and a submodule's settings say where.
        let place = std::fs::canonicalize(beside).unwrap().display().to_string();
        let origin = std::fs::read_to_string(beside.join("origin")).unwrap_or_else(|_| place.clone());
        let moved = |line: String| line.replace(&place, "…").replace(&origin, "…");
        Self(lines.into_iter().map(|(name, line)| (name, moved(line))).collect())
    }

    /// Returns it without what autodev keeps for itself.
    pub(crate) fn of_the_user(&self) -> Self {
        let own = |name: &String| OWN.iter().any(|start| name.starts_with(start));
        Self(self.0.iter().filter(|(name, _)| !own(name)).map(|(name, line)| (name.clone(), line.clone())).collect())
    }

    /// Returns it without a line.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut lines = self.0.clone();
        lines.remove(name);
        Self(lines)
    }

    /// Returns what is the same in both.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let same = |(name, line): &(&String, &String)| other.0.get(*name) == Some(*line);
        Self(self.0.iter().filter(same).map(|(name, line)| (name.clone(), line.clone())).collect())
    }

    /// Says what of this is missing or different in another one.
    pub(crate) fn missing_in(&self, other: &Self) -> Vec<String> {
        let differs = self.0.iter().filter(|(name, line)| other.0.get(*name) != Some(*line));
        differs.map(|(name, line)| format!("{name}: {:?} -> {:?}", line, other.0.get(name))).collect()
    }

    /// Says what differs between the two.
    pub(crate) fn difference(&self, other: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let differing = names.into_iter().filter(|name| self.0.get(*name) != other.0.get(*name));
        differing.map(|name| format!("{name}: {:?} -> {:?}", self.0.get(name), other.0.get(name))).collect()
    }
}

/// Adds the entries of the index, with their stages and with what git keeps of flags.
fn index(repo: &Repo, lines: &mut BTreeMap<String, String>) {
    if !repo.has(".git/index") {
        return;
    }
    let mut name = String::new();
    for line in repo.git(["ls-files", "-s", "-v", "--debug"]).lines() {
        if let Some((what, path)) = line.split_once('\t').filter(|_| !line.starts_with(' ')) {
            let stage = what.rsplit(' ').next().unwrap();
            name = format!("index {path} {stage}");
            lines.insert(name.clone(), what.to_owned());
        } else if let Some((_, flags)) = line.split_once("flags: ") {
            let entry = lines.get_mut(&name).unwrap();
            *entry = format!("{entry} {flags}");
        }
    }
}

fn walk(folder: &Path, root: &Path, what: &str, lines: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let below = String::from_utf8_lossy(path.strip_prefix(root).unwrap().as_os_str().as_bytes()).into_owned();
        if below == ".git" || below == ".git/hooks" {
            continue;
        }
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_dir() {
            walk(&path, root, what, lines);
            continue;
        } else if metadata.is_symlink() {
            std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            std::fs::read(&path).unwrap()
        };
        let mode = metadata.permissions().mode();
        lines.insert(format!("{what} {below}"), format!("{mode:o} {}", String::from_utf8_lossy(&content)));
    }
}
