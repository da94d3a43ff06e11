//! What stands in the way of a restore: ordinary ignored files are held byte for byte, all else is refused.

use crate::sandbox::repository_with_a_commit;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn ignored_files_in_the_way_are_held_raw() {
    let repo = repository_with_a_commit();
    repo.write("out/log", "tracked once\n");
    repo.checkpoint("one");
    repo.git(["rm", "-q", "-r", "out"]);
    repo.write(".gitignore", "out\n");
    repo.commit("ignore out");
    repo.write("out/log", b"precious \xff\r\nbytes");
    std::fs::set_permissions(repo.path("out/log"), std::fs::Permissions::from_mode(0o600)).unwrap();
    repo.write("out/beside", "not in the way\n");
    repo.autodev(["restore", "c1"]).ok().mentions("out/log was ignored and in the way");
    assert_eq!(repo.text("out/log"), "tracked once\n");
    assert_eq!(repo.text("out/beside"), "not in the way\n");
    repo.git(["cat-file", "-e", "refs/autodev/main/u/2/raw:out/log"]);
    let held = repo.command("git").args(["cat-file", "blob", "refs/autodev/main/u/2/raw:out/log"]).output().unwrap();
    assert_eq!(held.stdout, b"precious \xff\r\nbytes");
    assert!(repo.git(["log", "-1", "--format=%B", "refs/autodev/main/u/2/raw"]).contains("600"));
    repo.judge();
}

#[test]
fn an_ignored_folder_that_becomes_a_file_is_held_raw() {
    let repo = repository_with_a_commit();
    repo.write("out", "a file\n");
    repo.checkpoint("one");
    repo.git(["rm", "-q", "out"]);
    repo.write(".gitignore", "out/\n");
    repo.commit("ignore out");
    repo.write("out/deep/log", "precious\n");
    repo.sh("ln -s nowhere out/link");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("out"), "a file\n");
    assert_eq!(repo.git(["show", "refs/autodev/main/u/2/raw:out/deep/log"]), "precious");
    assert_eq!(repo.git(["show", "refs/autodev/main/u/2/raw:out/link"]), "nowhere");
    repo.judge();
}

#[test]
fn an_ignored_link_in_place_of_a_folder_is_held_and_nothing_is_written_through_it() {
    let repo = repository_with_a_commit();
    repo.write("out/log", "tracked\n");
    repo.checkpoint("one");
    repo.git(["rm", "-q", "-r", "out"]);
    repo.write(".gitignore", "out\n");
    repo.commit("ignore out");
    repo.write("../elsewhere/log", "outside\n");
    repo.sh("ln -s ../elsewhere out");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("out/log"), "tracked\n");
    assert!(std::fs::symlink_metadata(repo.path("out")).unwrap().is_dir());
    assert_eq!(repo.text("../elsewhere/log"), "outside\n");
    assert_eq!(repo.git(["show", "refs/autodev/main/u/2/raw:out"]), "../elsewhere");
    repo.judge();
}

/// Restores c1, in which `path` is a tracked file, while `script` has put something else there.
fn refused_for(path: &str, script: &str, reason: &str) {
    let repo = repository_with_a_commit();
    repo.write(".autodev/config.toml", "max_file_bytes = 1000\n");
    repo.write(path, "tracked\n");
    repo.commit("tracked");
    repo.checkpoint("one");
    repo.git(["rm", "-q", path]);
    repo.git(["commit", "-q", "-m", "gone"]);
    repo.sh(script);
    repo.write("a.txt", "2\n");
    let before = repo.look();
    let ran = repo.autodev(["restore", "c1"]).fails(1);
    let first = ran.stderr.lines().next().unwrap();
    assert!(first.starts_with("Restore failed: ") && first.contains(path) && first.contains(reason), "{first}");
    before.assert_same(&repo);
    assert_eq!(repo.git(["branch", "--list", "autodev/*"]), "", "nothing is parked");
    repo.judge();
}

#[test]
fn a_secret_in_the_way_is_refused() {
    refused_for("server.pem", "printf secret > server.pem", "looks like a secret");
}

#[test]
fn an_ignored_secret_in_the_way_is_refused() {
    refused_for("server.pem", "printf secret > server.pem; echo '*.pem' > .git/info/exclude", "looks like a secret");
}

#[test]
fn a_secret_below_a_folder_in_the_way_is_refused() {
    refused_for("conf", "mkdir conf; printf secret > conf/.env", "looks like a secret");
}

#[test]
fn an_oversized_file_in_the_way_is_refused() {
    refused_for("big", "head -c 2000 /dev/zero > big", "larger than max_file_bytes");
}

#[test]
fn a_nested_repository_in_the_way_is_refused() {
    refused_for("inner", "git init -q inner; printf x > inner/x", "a repository of its own");
}

#[test]
fn a_nested_repository_below_an_ignored_folder_in_the_way_is_refused() {
    refused_for(
        "deps",
        "mkdir deps; git init -q deps/inner; echo deps/ > .git/info/exclude",
        "a repository of its own",
    );
}

#[test]
fn a_special_file_in_the_way_is_refused() {
    refused_for("pipe", "mkfifo pipe", "a special file");
}

#[test]
fn a_special_file_below_a_folder_in_the_way_is_refused() {
    refused_for("place", "mkdir place; mkfifo place/pipe", "a special file");
}

#[test]
fn an_assume_unchanged_file_with_content_of_its_own_is_refused() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo.checkpoint("two");
    repo.git(["update-index", "--assume-unchanged", "a.txt"]);
    repo.write("a.txt", "my own local setting\n");
    let before = repo.look();
    repo.autodev(["restore", "c1"]).fails(1).mentions("hint: git update-index --no-assume-unchanged a.txt");
    before.assert_same(&repo);
}
