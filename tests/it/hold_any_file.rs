//! Any file that git can hold comes into a checkpoint and back: links, modes, swaps, and names of any bytes.

use crate::sandbox::{Repo, checkpoint_as_git_would, repository_with_a_commit};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn deletions_are_held() {
    let repo = repository_with_a_commit();
    repo.sh("rm -r src; rm a.txt");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["ls-tree", "HEAD"]), "");
    repo.autodev(["restore", "c1"]).ok();
}

#[test]
fn files_become_folders_and_folders_files() {
    let repo = repository_with_a_commit();
    repo.sh("rm a.txt; mkdir a.txt; echo in > a.txt/in; rm -r src; echo file > src");
    checkpoint_as_git_would(&repo);
    repo.sh("rm -r a.txt; echo file > a.txt; rm src; mkdir -p src/b.txt; echo deep > src/b.txt/deep");
    repo.checkpoint("two");
    assert_eq!(repo.rev("HEAD^{tree}"), repo.expected_tree(&[]));
}

#[test]
fn links_are_held_as_links() {
    let repo = repository_with_a_commit();
    repo.write("../outside/file", "outside\n");
    repo.sh("ln -s nowhere dangling; ln -s src folder; ln -s ../outside out; ln -s a.txt file; ln -s /etc/passwd abs");
    checkpoint_as_git_would(&repo);
    let modes = repo.git(["ls-tree", "HEAD", "dangling", "folder", "out", "file", "abs"]);
    assert!(modes.lines().all(|line| line.starts_with("120000 ")), "{modes}");
    repo.sh("rm dangling folder out; echo x > dangling; mkdir folder out; echo y > folder/y; echo z > out/z");
    checkpoint_again(&repo);
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.sh("readlink folder"), "src");
    assert_eq!(repo.text("../outside/file"), "outside\n");
    assert!(repo.has("src/b.txt"));
    assert_eq!(repo.status(), "");
}

#[track_caller]
fn checkpoint_again(repo: &Repo) {
    let tree = repo.expected_tree(&[]);
    repo.checkpoint("again");
    assert_eq!(repo.rev("HEAD^{tree}"), tree);
    assert_eq!(repo.status(), "");
}

#[test]
fn a_folder_that_a_link_replaced_is_a_link() {
    let repo = repository_with_a_commit();
    repo.write("lib/deep/x", "x\n");
    repo.write("real/deep/x", "other\n");
    repo.checkpoint("one");
    repo.sh("rm -r lib; ln -s real lib");
    checkpoint_again(&repo);
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", "HEAD"]), "a.txt\nlib\nreal/deep/x\nsrc/b.txt");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("lib/deep/x"), "x\n");
    assert_eq!(repo.text("real/deep/x"), "other\n");
    repo.autodev(["restore", "c2"]).ok();
    assert_eq!(repo.sh("readlink lib"), "real");
    assert_eq!(repo.text("real/deep/x"), "other\n");
}

#[test]
fn an_untracked_folder_that_was_captured_and_became_a_link_is_a_link() {
    let repo = repository_with_a_commit();
    repo.write("lib/x", "x\n");
    repo.checkpoint("one");
    repo.git(["rm", "-q", "-r", "--cached", "lib"]);
    repo.git(["commit", "-q", "-m", "untrack"]);
    repo.sh("mv lib real; ln -s real lib");
    checkpoint_again(&repo);
}

#[test]
fn names_of_any_bytes_are_held() {
    let repo = repository_with_a_commit();
    let names: [&[u8]; 14] = [
        b"caf\xe9",
        b"new\nline",
        b"tab\there",
        b"quote\"'",
        b":(exclude)x",
        b":!x",
        b"-rf",
        b" blank ",
        b"back\\slash",
        b"*",
        b"[a]",
        b"~",
        b"{a,b}",
        b"\xc3\xbc/\xff\xfe/x",
    ];
    for name in names {
        repo.write(OsStr::from_bytes(name), name);
    }
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["ls-tree", "-r", "-z", "--name-only", "HEAD"]).matches('\0').count(), names.len() + 2);
    for name in names {
        repo.write(OsStr::from_bytes(name), "changed\n");
    }
    repo.remove("*");
    repo.autodev(["restore", "c1"]).ok();
    for name in names {
        assert_eq!(repo.read(OsStr::from_bytes(name)), name);
    }
    assert_eq!(repo.status(), "");
    repo.write(OsStr::from_bytes(names[0]), "changed\n");
    let mut command = repo.program();
    command.args(["restore", "c1", "--"]).arg(OsStr::from_bytes(names[0]));
    crate::sandbox::Ran::of(command).ok();
    assert_eq!(repo.read(OsStr::from_bytes(names[0])), names[0]);
}

#[test]
fn names_that_differ_only_in_case_are_two() {
    let repo = repository_with_a_commit();
    repo.write("Readme", "1\n");
    repo.write("README", "2\n");
    repo.write("A/x", "1\n");
    repo.write("a/x", "2\n");
    checkpoint_as_git_would(&repo);
}

#[test]
fn a_path_that_is_not_utf8_is_in_the_skipped_list() {
    let repo = repository_with_a_commit();
    repo.write(OsStr::from_bytes(b"caf\xe9.pem"), "secret\n");
    repo.write("a.txt", "1\n");
    let entry = repo.autodev(["checkpoint", "--json"]).ok();
    let entry: serde_json::Value = serde_json::from_str(&entry.stdout).unwrap();
    assert_eq!(entry["skipped"], serde_json::json!([{"path_b64": "Y2Fm6S5wZW0=", "reason": "secret"}]));
}

#[test]
fn executable_bits_are_held_also_alone() {
    let repo = repository_with_a_commit();
    let mode = |mode| std::fs::set_permissions(repo.path("a.txt"), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o755);
    checkpoint_as_git_would(&repo);
    assert!(repo.git(["ls-tree", "HEAD", "a.txt"]).starts_with("100755 "));
    mode(0o644);
    repo.autodev(["restore", "c1", "--dry-run"]).ok().says("mode   a.txt");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(std::fs::metadata(repo.path("a.txt")).unwrap().permissions().mode() & 0o111, 0o111);
    repo.git(["config", "core.fileMode", "false"]);
    mode(0o644);
    repo.autodev(["checkpoint"]).ok().says("Nothing has changed since c1, which holds HEAD");
}
