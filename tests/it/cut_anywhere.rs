//! Cut anywhere: every change is cut at every one of its steps, and is before or after, or says how to get there.
//!
//! The program counts its steps (writes, renames, removals, syncs, refs, starts of git) and fails, ends, or tears a
//! write at the n-th, for n = 1, 2, 3 … until there is none. A step that fails must leave everything as it was. After a
//! cut, completing must lead to the state after, and taking back to the state before; what is outside of the change
//! has the same bytes throughout.

use crate::sandbox::{Repo, Sandbox};
use std::path::Path;

/// Everything that a change may change, and what it must not: HEAD, branches, index, files with modes, the list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    head: String,
    branches: String,
    index: String,
    files: String,
    entries: usize,
}

impl Seen {
    fn of(repo: &Repo) -> Self {
        let files = "find . -path ./.git -prune -o -path ./.autodev -prune -o ! -type d -printf '%p %m %l ' \
                     ! -type l ! -type p -exec cksum {} \\; -o ! -type d -printf '\\n' | sort";
        Self {
            head: repo.sh("git symbolic-ref -q HEAD || git rev-parse HEAD"),
            branches: repo.sh("git for-each-ref refs/heads | grep -v refs/heads/autodev/ || true"),
            index: repo.sh("git ls-files -s -v; git ls-files -s"),
            files: repo.sh(files),
            entries: repo.list().len(),
        }
    }
}

/// A project in which everything is there that a change must get right.
fn prepare(sandbox: &Sandbox) -> Repo {
    let repo = sandbox.repository("origin");
    repo.write(".gitignore", "*.log\nout/\n");
    repo.write(".gitattributes", "*.crlf text eol=crlf\n");
    for name in ["same.txt", "edited.txt", "gone.txt", "folder/inner.txt", "becomes/a"] {
        repo.write(name, format!("{name} one\n"));
    }
    repo.write("lines.crlf", "one\r\n");
    repo.write("swap", "a file\n");
    repo.sh("ln -s same.txt link; chmod +x edited.txt");
    repo.commit("base");
    repo.write("edited.txt", "for the checkpoint\n");
    repo.checkpoint("one");
    repo.sh("git rm -q -r --cached becomes; rm -r becomes swap; mkdir -p swap out; ln -sf gone.txt link");
    repo.write("swap/in", "a folder now\n");
    repo.write("becomes", "a file now\n");
    repo.write("edited.txt", "staged\n");
    repo.git(["add", "edited.txt"]);
    repo.write("edited.txt", "and edited on\n");
    repo.remove("gone.txt");
    repo.write("untracked.txt", "mine\n");
    repo.write("announced.txt", "later\n");
    repo.git(["add", "-N", "announced.txt"]);
    repo.write("lines.crlf", "one\ntwo\r\n");
    repo.write("folder/inner.txt", "private\n");
    repo.sh("chmod 600 folder/inner.txt");
    repo.write(".env", "secret\n");
    repo.write("debug.log", "ignored\n");
    repo.sh("git init -q nested && echo n > nested/n && mkfifo pipe");
    repo
}

fn copy(sandbox: &Sandbox, from: &Repo, name: &str) -> Repo {
    let repo = sandbox.folder(name);
    std::fs::remove_dir_all(repo.path("")).unwrap();
    from.sh(&format!("cp -a . ../{name}"));
    repo
}

/// Runs a command with its n-th step cut; tells its exit code (-1 where it was ended), or `None` when it has fewer steps.
fn cut(repo: &Repo, arguments: &[&str], n: usize, fault: &str) -> Option<i32> {
    let marker = repo.path("../reached");
    let _ = std::fs::remove_file(&marker);
    let mut command = repo.program();
    command.args(arguments).env("AUTODEV_TEST_CUT", format!("{n}:{fault}")).env("AUTODEV_TEST_CUT_REACHED", &marker);
    let ran = command.output().unwrap();
    Path::new(&marker).exists().then_some(ran.status.code().unwrap_or(-1))
}

/// Cuts one command at every step, in three ways, and brings it to both ends.
fn everywhere(prepare: impl Fn(&Sandbox) -> Repo, arguments: &[&str]) {
    let sandbox = Sandbox::new();
    let origin = prepare(&sandbox);
    let before = Seen::of(&origin);
    let whole = copy(&sandbox, &origin, "whole");
    whole.autodev(arguments).ok();
    let after = Seen::of(&whole);
    let mut cuts = 0;
    for n in 1.. {
        let fault = ["fail", "exit", "torn"][n % 3];
        let repo = copy(&sandbox, &origin, "cut");
        let Some(code) = cut(&repo, arguments, n, fault) else { break };
        cuts += 1;
        let place = format!("{arguments:?} cut at {n} ({fault}, exit {code})");
        let open = repo.has(".git/autodev/intent.json");
        if fault == "fail" && !open {
            let expected = if code == 0 { &after } else { &before };
            assert_eq!(&Seen::of(&repo), expected, "{place}");
        }
        let (wish, ends) = if n % 2 == 0 { ("--continue", "after") } else { ("--abort", "before") };
        repo.autodev(["restore", wish]).ok();
        let end = Seen::of(&repo);
        let fits = end == before || end == after;
        assert!(
            fits,
            "{place}, then {wish}: neither before nor after\nbefore {before:#?}\nnow {end:#?}\nafter {after:#?}"
        );
        assert!(!repo.has(".git/autodev/intent.json") && !repo.has(".git/index.lock"), "{place}: something is left");
        assert!(!repo.has(".git/autodev/swap"), "{place}: files are left aside, wanted {ends}");
        repo.judge();
        // Whatever the end, the next change works.
        repo.write("untracked.txt", "once more\n");
        repo.autodev(["checkpoint", "-m", "next"]).ok();
    }
    eprintln!("{arguments:?}: {cuts} cuts");
    assert!(cuts > 10, "the counter counts");
}

#[test]
fn a_checkpoint() {
    everywhere(prepare, &["checkpoint", "-m", "two"]);
}

#[test]
fn a_restore() {
    everywhere(prepare, &["restore", "c1"]);
}

#[test]
fn a_restore_of_single_paths() {
    everywhere(prepare, &["restore", "c1", "--", "edited.txt", "gone.txt", "swap"]);
}

#[test]
fn a_restore_onto_another_branch() {
    let prepare = |sandbox: &Sandbox| {
        let repo = prepare(sandbox);
        repo.sh("git switch -q -c other && git commit -q -m 'on other'");
        repo
    };
    everywhere(prepare, &["restore", "c1"]);
}

#[test]
fn an_undo() {
    let prepare = |sandbox: &Sandbox| {
        let repo = prepare(sandbox);
        repo.autodev(["restore", "c1"]).ok();
        repo
    };
    everywhere(prepare, &["undo", "--yes"]);
}

#[test]
fn a_redo() {
    let prepare = |sandbox: &Sandbox| {
        let repo = prepare(sandbox);
        repo.autodev(["restore", "c1"]).ok();
        repo.autodev(["undo"]).ok();
        repo
    };
    everywhere(prepare, &["redo", "--yes"]);
}
