//! What is cut: one command each, on a repository with a bit of everything.
//!
//! Every repository has a filter that loses lines, ignored files, a secret, a nested repository, a submodule,
//! another work tree and files of autodev's own; `c1` is a checkpoint of the branch `main`, and a commit of the
//! user's stands on it.

use crate::sandbox::{Repo, Sandbox};

/// One command that changes something, and how the repository is before it.
pub(crate) struct Scenario {
    /// What it is called in reports.
    pub(crate) name: &'static str,
    /// The command.
    pub(crate) arguments: &'static [&'static str],
    /// The command that takes it back; none where it writes no operation.
    pub(crate) undone_by: Option<&'static str>,
    /// Makes the repository.
    pub(crate) prepare: fn() -> Repo,
}

const CHECKPOINT: &[&str] = &["checkpoint", "-m", "held"];
const RESTORE: &[&str] = &["restore", "c1"];
const UNDO: &[&str] = &["undo", "--yes"];
const REDO: &[&str] = &["redo", "--yes"];

const fn scenario(
    name: &'static str,
    arguments: &'static [&'static str],
    undone_by: Option<&'static str>,
    prepare: fn() -> Repo,
) -> Scenario {
    Scenario { name, arguments, undone_by, prepare }
}

/// All of them.
pub(crate) const SCENARIOS: [Scenario; 18] = [
    scenario("checkpoint, clean", CHECKPOINT, None, committed),
    scenario("checkpoint, staged only", CHECKPOINT, None, staged_only),
    scenario("checkpoint, dirty", CHECKPOINT, Some("undo"), edited),
    scenario("checkpoint, staged split", CHECKPOINT, Some("undo"), dirty),
    scenario("checkpoint, unborn branch", CHECKPOINT, Some("undo"), unborn),
    scenario("checkpoint, detached", CHECKPOINT, Some("undo"), edited_detached),
    scenario("restore, clean", RESTORE, Some("undo"), committed),
    scenario("restore, dirty", RESTORE, Some("undo"), dirty),
    scenario("restore, other branch", RESTORE, Some("undo"), on_another_branch),
    scenario("restore, detached", &["restore", "c2"], Some("undo"), detached_then),
    scenario("restore, deleted branch", RESTORE, Some("undo"), branch_deleted),
    scenario("restore, ignored since", RESTORE, Some("undo"), ignored_since),
    scenario("restore, paths", &["restore", "c1", "--", "a.txt", "swap", "built.out"], Some("undo"), dirty),
    scenario("undo a restore", UNDO, Some("redo"), restored),
    scenario("undo a checkpoint", UNDO, Some("redo"), checkpointed),
    scenario("undo the first checkpoint", UNDO, Some("redo"), checkpointed_unborn),
    scenario("undo a switch", UNDO, Some("redo"), switched),
    scenario("redo", REDO, Some("undo"), undone),
];

/// A repository with a bit of everything, at a checkpoint `c1`.
fn at_c1() -> Repo {
    let repo = Sandbox::new().repository("project");
    repo.sh("git init -q ../lib; cd ../lib; printf 'l\\n' > l.txt; git add -A; git commit -q -m lib");
    repo.sh("printf 'a\\n' > a.txt; mkdir src; printf 'b\\n' > src/b.txt; printf 'gone\\n' > gone.txt
        ln -s a.txt link; printf '#!/bin/sh\\n' > run.sh; chmod 755 run.sh; printf 'keep\\n' > keep.txt
        printf '*.log\\n*.out\\n' > .gitignore; printf '*.dat filter=strip\\n' > .gitattributes
        git config filter.strip.clean \"sed /secret/d\"; git config filter.strip.smudge cat
        printf 'x\\nsecret 1\\n' > data.dat; printf 'then\\n' > built.out; printf 'file\\n' > swap; printf 'p\\n' > private
        git -c protocol.file.allow=always submodule --quiet add ../lib sub
        git add -A; git add -f built.out; git commit -q -m first
        git worktree add -q -b side ../other
        printf 's\\n' > .env; git init -q nested; printf 'n\\n' > nested/n.txt
        mkdir .autodev; printf '*\\n' > .autodev/.gitignore; printf 'learned\\n' > .autodev/memory.md
        printf 'log\\n' > x.log");
    repo.write("a.txt", "one\n");
    repo.checkpoint("one");
    repo
}

/// A commit of the user's on top of `c1`.
fn committed() -> Repo {
    let repo = at_c1();
    repo.sh("printf 'two\\n' > a.txt; git rm -q built.out swap; mkdir swap; printf 'in\\n' > swap/in.txt
        printf 'new\\n' > new.txt; mkdir -p deep/er; printf 'd\\n' > deep/er/file; rm link; ln -s src/b.txt link
        git add a.txt swap new.txt deep link; git commit -q -m second
        printf 'mine\\n' > built.out; printf 'mine too\\n' > swap/inner.log");
    repo
}

/// A change that only the index has: the file is as HEAD has it again.
fn staged_only() -> Repo {
    let repo = committed();
    repo.sh("cp a.txt ../kept; printf 'staged\\n' > a.txt; git add a.txt; cp ../kept a.txt; rm ../kept");
    repo
}

/// Files changed and not staged.
fn edited() -> Repo {
    let repo = committed();
    repo.sh("printf 'b2\\n' > src/b.txt; rm gone.txt; printf 'u\\n' > untracked.txt; chmod 755 keep.txt");
    repo
}

fn edited_detached() -> Repo {
    let repo = edited();
    repo.git(["checkout", "-q", "--detach"]);
    repo
}

/// Everything at once: staged and unstaged, deleted, untracked, announced, marked, filtered, and for one alone.
fn dirty() -> Repo {
    let repo = edited();
    repo.sh("printf 'staged\\n' > a.txt; git add a.txt; printf 'on top\\n' > a.txt
        printf 'fresh\\n' > fresh.txt; git add fresh.txt; printf 'ita\\n' > ita.txt; git add -N ita.txt
        git update-index --assume-unchanged run.sh
        printf 'x\\nsecret 2\\nmore\\n' > data.dat; printf 'private\\n' > private; chmod 600 private");
    repo
}

fn unborn() -> Repo {
    let repo = Sandbox::new().repository("project");
    repo.sh("printf 'a\\n' > a.txt; mkdir src; printf 'b\\n' > src/b.txt; git add src; printf 'b2\\n' > src/b.txt
        printf 's\\n' > .env; printf '*.log\\n' > .gitignore; printf 'l\\n' > x.log");
    repo
}

fn on_another_branch() -> Repo {
    let repo = at_c1();
    repo.sh("printf 'tip\\n' > tip.txt; git add tip.txt; git commit -q -m tip
        git checkout -q -b elsewhere; printf 'e\\n' > a.txt; git commit -q -a -m elsewhere; printf 'u\\n' > untracked.txt");
    repo
}

fn detached_then() -> Repo {
    let repo = committed();
    repo.git(["checkout", "-q", "--detach"]);
    repo.write("a.txt", "three\n");
    repo.checkpoint("detached");
    repo.git(["checkout", "-q", "main"]);
    repo.write("untracked.txt", "u\n");
    repo
}

fn branch_deleted() -> Repo {
    let repo = on_another_branch();
    repo.git(["branch", "-q", "-D", "main"]);
    repo
}

/// A file that the checkpoint tracks and the rules of now leave out is not there.
fn ignored_since() -> Repo {
    let repo = committed();
    repo.remove("built.out");
    repo
}

fn restored() -> Repo {
    let repo = dirty();
    repo.autodev(RESTORE).ok();
    repo.sh("printf 'since\\n' > a.txt; printf 'since\\n' > since.txt");
    repo
}

fn checkpointed() -> Repo {
    let repo = dirty();
    repo.autodev(CHECKPOINT).ok();
    repo.write("keep.txt", "since\n");
    repo
}

fn checkpointed_unborn() -> Repo {
    let repo = unborn();
    repo.autodev(CHECKPOINT).ok();
    repo
}

fn switched() -> Repo {
    let repo = on_another_branch();
    repo.autodev(RESTORE).ok();
    repo
}

fn undone() -> Repo {
    let repo = dirty();
    repo.autodev(RESTORE).ok();
    repo.autodev(UNDO).ok();
    repo
}
