//! What no command ever touches: what is ignored, secret or somebody else's, and whatever is right already.

use crate::look::Look;
use crate::sandbox::{Repo, repository_with_a_commit};
use std::os::unix::fs::MetadataExt as _;

/// Makes a checkpoint, changes something, goes back to it, and goes back from that again.
fn there_and_back(repo: &Repo) {
    repo.write("a.txt", "there\n");
    let id = repo.checkpoint("one");
    repo.write("a.txt", "and back\n");
    repo.write("fresh.txt", "fresh\n");
    repo.autodev(["restore", &id]).ok();
    assert_eq!(repo.text("a.txt"), "there\n");
    let parked = repo.list()[0]["id"].as_str().unwrap().to_owned();
    repo.autodev(["restore", &parked]).ok();
    assert_eq!(repo.text("a.txt"), "and back\n");
    repo.judge();
}

/// What stands at a path: kind, mode, inode, time and content.
fn seen(repo: &Repo, path: &str) -> Look {
    Look::of_path(&repo.path(path))
}

#[test]
fn ignored_files_keep_their_bytes() {
    let repo = repository_with_a_commit();
    repo.write(".gitignore", "target/\n*.log\n");
    repo.commit("ignore");
    repo.write("target/debug/app", "built\n");
    repo.write("src/run.log", "log\n");
    repo.write(".git/info/exclude", "private\n");
    repo.write("private", "mine\n");
    let before: Vec<Look> = ["target", "src/run.log", "private"].iter().map(|path| seen(&repo, path)).collect();
    there_and_back(&repo);
    let after: Vec<Look> = ["target", "src/run.log", "private"].iter().map(|path| seen(&repo, path)).collect();
    assert_eq!(before, after);
    let kept = repo.git(["log", "--all", "--name-only", "--format="]);
    assert!(!kept.contains("run.log") && !kept.contains("target") && !kept.contains("private"), "{kept}");
}

#[test]
fn secrets_stay_out_are_named_and_keep_their_bytes() {
    let repo = repository_with_a_commit();
    let secrets = [".env", "conf/.ENV.local", "conf/server.pem", "id_rsa"];
    for path in secrets {
        repo.write(path, "secret\n");
    }
    repo.write("id_rsa.pub", "public\n");
    repo.write(".env.example", "open\n");
    let before: Vec<Look> = secrets.iter().map(|path| seen(&repo, path)).collect();
    repo.write("a.txt", "1\n");
    repo.autodev(["checkpoint", "-m", "one"]).ok().complains("not held: .env (looks like a secret)");
    assert_eq!(repo.rev("HEAD^{tree}"), repo.expected_tree(&secrets));
    let skipped: Vec<String> = repo.list()[0]["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skipped| format!("{} {}", skipped["path"].as_str().unwrap(), skipped["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(skipped, [".env secret", "conf/.ENV.local secret", "conf/server.pem secret", "id_rsa secret"]);
    there_and_back(&repo);
    let after: Vec<Look> = secrets.iter().map(|path| seen(&repo, path)).collect();
    assert_eq!(before, after);
    let kept = repo.sh("git rev-list --all --objects | cut -d' ' -f2-");
    assert!(!kept.lines().any(|path| secrets.contains(&path)), "{kept}");
}

#[test]
fn a_secret_that_is_tracked_is_captured() {
    let repo = repository_with_a_commit();
    repo.write("server.pem", "1\n");
    repo.commit("tracked");
    repo.write("server.pem", "2\n");
    repo.checkpoint("one");
    assert_eq!(repo.git(["show", "HEAD:server.pem"]), "2");
    assert!(repo.list()[0].get("skipped").is_none());
}

#[test]
fn a_secret_that_was_tracked_and_is_not_any_more_stays_on_disk() {
    let repo = repository_with_a_commit();
    repo.write(".env", "secret\n");
    repo.commit("oops");
    repo.checkpoint("with it");
    repo.git(["rm", "-q", "--cached", ".env"]);
    repo.git(["commit", "-q", "-m", "out"]);
    let before = seen(&repo, ".env");
    repo.write("a.txt", "1\n");
    repo.checkpoint("without it");
    assert_eq!(repo.git(["ls-tree", "--name-only", "HEAD"]), "a.txt\nsrc");
    assert_eq!(before, seen(&repo, ".env"));
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(before, seen(&repo, ".env"), "it has the bytes of the checkpoint already, and is left as it is");
    repo.write(".env", "another\n");
    repo.git(["rm", "-q", "--cached", ".env"]);
    repo.git(["commit", "-q", "-m", "out again"]);
    repo.autodev(["restore", "c1"]).fails(1).mentions(".env");
    assert_eq!(repo.text(".env"), "another\n");
}

#[test]
fn the_folder_of_autodev_is_left_alone_also_where_it_is_tracked() {
    let repo = repository_with_a_commit();
    repo.write(".autodev/config.toml", "max_attempts = 2\n");
    repo.write(".autodev/memory.md", "first\n");
    repo.commit("share the configuration");
    repo.write(".autodev/config.toml", "max_attempts = 4\n");
    repo.write(".autodev/new.md", "new\n");
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    assert_eq!(repo.rev("HEAD:.autodev"), repo.rev("HEAD^:.autodev"), "the entries of the parent are kept");
    let before = [seen(&repo, ".autodev/config.toml"), seen(&repo, ".autodev/new.md")];
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(before, [seen(&repo, ".autodev/config.toml"), seen(&repo, ".autodev/new.md")]);
    assert!(repo.text(".autodev/memory.md").starts_with("first\nRESTORE: "));
    let status = repo.status();
    assert!(status.contains(".M") && status.contains(".autodev/config.toml"), "{status}");
    assert!(!status.contains("a.txt"), "{status}");
    repo.judge();
}

#[test]
fn a_restore_over_a_commit_that_removed_the_folder_of_autodev_leaves_its_files() {
    let repo = repository_with_a_commit();
    repo.checkpoint("before it was shared");
    repo.write(".autodev/config.toml", "max_attempts = 2\n");
    repo.commit("share");
    let before = seen(&repo, ".autodev/config.toml");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(before, seen(&repo, ".autodev/config.toml"));
    assert_eq!(repo.git(["ls-files", ".autodev"]), "");
    repo.autodev(["restore", "c2"]).ok();
    assert_eq!(before, seen(&repo, ".autodev/config.toml"));
    assert_eq!(repo.git(["ls-files", ".autodev"]), ".autodev/config.toml");
}

#[test]
fn nested_repositories_keep_everything_and_are_named() {
    let repo = repository_with_a_commit();
    let inner = repo.sandbox.repository("project/vendor/inner");
    inner.write("x", "x\n");
    inner.commit("inner");
    inner.write("dirty", "dirty\n");
    repo.sandbox.repository("project/empty");
    let (before, empty) = (inner.look(), seen(&repo, "empty"));
    there_and_back(&repo);
    before.assert_same(&inner);
    assert_eq!(empty, seen(&repo, "empty"));
    let list = repo.list();
    let skipped = list.last().unwrap()["skipped"].as_array().unwrap();
    assert!(skipped.iter().any(|entry| entry["path"] == "vendor/inner" && entry["reason"] == "nested-repository"));
}

/// A repository with a submodule at `sub`.
fn with_a_submodule() -> (Repo, Repo) {
    let repo = repository_with_a_commit();
    let origin = repo.sandbox.repository("origin");
    origin.write("lib.c", "int x;\n");
    origin.commit("lib");
    repo.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../origin", "sub"]);
    repo.commit("submodule");
    let sub = repo.sandbox.folder("project/sub");
    (repo, sub)
}

#[test]
fn submodules_keep_their_content_and_their_link_is_captured() {
    let (repo, sub) = with_a_submodule();
    sub.write("lib.c", "int y;\n");
    let moved = sub.commit("moved on");
    sub.write("dirty", "dirty\n");
    let before = sub.look();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    assert_eq!(repo.rev("HEAD:sub"), moved);
    there_and_back(&repo);
    before.assert_same(&sub);
}

#[test]
fn a_pipe_in_a_submodule_is_its_own_affair() {
    let (repo, sub) = with_a_submodule();
    sub.sh("mkfifo pipe");
    there_and_back(&repo);
    assert!(sub.has("pipe"));
    assert!(repo.list().iter().all(|entry| entry.get("skipped").is_none()), "it is not in scope");
}

#[test]
fn a_restore_to_before_a_submodule_leaves_its_files() {
    let repo = repository_with_a_commit();
    repo.checkpoint("before");
    let origin = repo.sandbox.repository("origin");
    origin.write("lib.c", "int x;\n");
    origin.commit("lib");
    repo.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../origin", "sub"]);
    repo.commit("submodule");
    let sub = repo.sandbox.folder("project/sub");
    sub.write("dirty", "dirty\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(sub.text("lib.c"), "int x;\n");
    assert_eq!(sub.text("dirty"), "dirty\n");
    repo.judge();
}

#[test]
fn other_worktrees_keep_everything() {
    let repo = repository_with_a_commit();
    repo.git(["worktree", "add", "-q", "-b", "side", "../outside"]);
    repo.git(["worktree", "add", "-q", "-b", "inside", "inside"]);
    let outside = repo.sandbox.folder("outside");
    let inside = repo.sandbox.folder("project/inside");
    outside.write("a.txt", "edited\n");
    outside.git(["add", "a.txt"]);
    inside.write("b.txt", "new\n");
    let places = [Look::of_files(&outside), Look::of_files(&inside)];
    let index = repo.read(".git/worktrees/outside/index");
    let branches = (repo.rev("side"), repo.rev("inside"));
    there_and_back(&repo);
    places[0].compare(&Look::of_files(&outside));
    places[1].compare(&Look::of_files(&inside));
    assert_eq!(repo.read(".git/worktrees/outside/index"), index);
    assert_eq!(branches, (repo.rev("side"), repo.rev("inside")));
}

#[test]
fn files_that_are_right_keep_their_time_and_inode() {
    let repo = repository_with_a_commit();
    repo.write("script.sh", "#!/bin/sh\n");
    repo.commit("more");
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo.checkpoint("two");
    repo.write("changed-twice", "x\n");
    let right = ["src/b.txt", "script.sh"];
    let before: Vec<Look> = right.iter().map(|path| seen(&repo, path)).collect();
    repo.autodev(["restore", "c1"]).ok();
    repo.autodev(["restore", "c2"]).ok();
    let after: Vec<Look> = right.iter().map(|path| seen(&repo, path)).collect();
    assert_eq!(before, after);
}

#[test]
fn a_file_changed_and_changed_back_keeps_its_time_and_inode() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    repo.write("a.txt", "other\n");
    repo.write("a.txt", "a\n");
    repo.write("src/b.txt", "2\n");
    let before = std::fs::metadata(repo.path("a.txt")).unwrap();
    repo.autodev(["restore", "c1"]).ok();
    let after = std::fs::metadata(repo.path("a.txt")).unwrap();
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
}

#[test]
fn a_hard_linked_copy_elsewhere_is_not_written_through() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    std::fs::hard_link(repo.path("a.txt"), repo.path("../copy")).unwrap();
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("a.txt"), "a\n");
    assert_eq!(repo.text("../copy"), "2\n");
}

#[test]
fn settings_stash_hooks_and_other_branches_stay_byte_for_byte() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "stashed\n");
    repo.git(["stash", "push", "-q"]);
    repo.git(["branch", "other"]);
    repo.git(["tag", "-a", "-m", "tag", "v1"]);
    repo.git(["config", "my.setting", "mine"]);
    repo.git(["notes", "add", "-m", "note"]);
    let names =
        ["config", "hooks", "refs/stash", "logs/refs/stash", "refs/heads/other", "refs/tags", "refs/notes", "info"];
    let look = || names.map(|name| seen(&repo, &format!(".git/{name}")));
    let global = || std::fs::read(repo.sandbox.path().join("home/.gitconfig")).unwrap();
    let before = (look(), global());
    there_and_back(&repo);
    assert_eq!(before, (look(), global()));
    assert_eq!(repo.git(["stash", "list"]).lines().count(), 1);
}

#[test]
fn nothing_is_written_outside_of_the_project() {
    let repo = repository_with_a_commit();
    repo.write("../beside/file", "beside\n");
    repo.sh("ln -s ../beside out");
    let others = ["home", "config", "state", "cache", "data", "beside"];
    let look = || others.map(|name| seen(&repo, &format!("../{name}")));
    let before = look();
    there_and_back(&repo);
    assert_eq!(before, look());
    assert_eq!(std::fs::read_dir(repo.path("../tmp")).unwrap().count(), 0);
}

#[test]
fn empty_folders_stay() {
    let repo = repository_with_a_commit();
    repo.sh("mkdir -p empty/deep");
    there_and_back(&repo);
    assert!(repo.path("empty/deep").is_dir());
}
