//! Going back: what a restore brings back, what it leaves, what it refuses, and that it can be gone back from.

use crate::look::Look;
use crate::sandbox::{Repo, has_tool, repository_with_a_commit, skip};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

/// A repository at `one` (held by c1) with changed, new and deleted files since.
fn changed_since_c1() -> Repo {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.write("gone.txt", "gone\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo.write("new/file", "new\n");
    repo.remove("gone.txt");
    repo
}

const PARKED: &str = "autodev/pre-restore-20261130-120000";

#[test]
fn a_dry_run_prints_the_plan_and_changes_nothing() {
    let repo = changed_since_c1();
    let before = repo.look();
    let ran = repo.autodev(["restore", "c1", "--dry-run"]).ok();
    assert_eq!(ran.stdout, "write  a.txt\ncreate gone.txt\ndelete new/file\n");
    before.assert_same(&repo);
    let planned = repo.autodev(["restore", "c1", "--dry-run", "--json"]).ok().stdout;
    let planned: serde_json::Value = serde_json::from_str(&planned).unwrap();
    assert_eq!(planned["branch"], "main");
    assert_eq!(planned["parks"], true);
    assert_eq!(planned["steps"].as_array().unwrap().len(), 3);
    before.assert_same(&repo);
}

#[test]
fn paths_alone_come_back_and_branch_and_index_stay() {
    let repo = changed_since_c1();
    repo.write("staged.txt", "staged\n");
    repo.git(["add", "staged.txt"]);
    let index = repo.read(".git/index");
    let head = repo.rev("HEAD");
    repo.autodev(["restore", "c1", "--", "gone.txt", "new"]).ok();
    assert_eq!(repo.text("gone.txt"), "gone\n");
    assert!(!repo.has("new"));
    assert_eq!(repo.text("a.txt"), "2\n");
    assert_eq!(repo.text("staged.txt"), "staged\n");
    assert_eq!(repo.read(".git/index"), index);
    assert_eq!(repo.rev("HEAD"), head);
    assert_eq!(repo.rev(&format!("{PARKED}:new/file")), repo.sh("printf 'new\\n' | git hash-object --stdin"));
    repo.judge();
}

#[test]
fn paths_are_meant_from_the_folder_in_which_they_are_typed() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    repo.write("src/b.txt", "2\n");
    repo.write("a.txt", "2\n");
    let mut command = repo.program();
    command.current_dir(repo.path("src")).args(["restore", "c1", "--", "b.txt"]);
    crate::sandbox::Ran::of(command).ok();
    assert_eq!(repo.text("src/b.txt"), "b\n");
    assert_eq!(repo.text("a.txt"), "2\n");
}

#[test]
fn a_path_that_is_nowhere_or_outside_is_refused() {
    let repo = changed_since_c1();
    let before = repo.look();
    repo.autodev(["restore", "c1", "--", "nowhere"]).fails(1).mentions("Restore failed: no file matches \"nowhere\"");
    repo.autodev(["restore", "c1", "--", "../x"]).fails(1).mentions("is outside of the project");
    repo.autodev(["restore", "c1", "--", ".autodev"]).fails(1).mentions("Restore failed: ");
    before.assert_same(&repo);
}

#[test]
fn another_branch_that_is_checked_out_stays_where_it_is() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.rev("HEAD");
    repo.git(["switch", "-q", "-c", "feature"]);
    repo.write("a.txt", "feature\n");
    let feature = repo.commit("on feature");
    let ran = repo.autodev(["restore", "c1"]).ok().mentions("switched to branch main (feature stays where it is)");
    assert!(ran.stdout.starts_with("Restored to \"one\""));
    assert_eq!(repo.git(["symbolic-ref", "--short", "HEAD"]), "main");
    assert_eq!(repo.rev("main"), one);
    assert_eq!(repo.rev("feature"), feature);
    assert_eq!(repo.text("a.txt"), "1\n");
    assert_eq!(repo.status(), "");
    repo.judge();
}

#[test]
fn what_the_branch_leaves_behind_is_held_by_a_ref() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "mine\n");
    let mine = repo.commit("mine");
    repo.git(["switch", "-q", "-c", "feature"]);
    repo.write("a.txt", "feature\n");
    let feature = repo.commit("on feature");
    repo.autodev(["restore", "c1"]).ok();
    repo.git(["branch", "-q", "-D", "feature"]);
    repo.sh("rm -rf .git/logs; git gc -q --prune=now");
    for commit in [&mine, &feature] {
        repo.git(["cat-file", "-e", commit]);
        assert!(repo.list().iter().any(|entry| entry["commit"] == **commit), "{commit} is in the list");
    }
    repo.judge();
}

#[test]
fn a_branch_that_was_deleted_since_is_made_again() {
    let repo = repository_with_a_commit();
    repo.git(["switch", "-q", "-c", "work"]);
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.rev("HEAD");
    repo.git(["switch", "-q", "main"]);
    repo.git(["branch", "-q", "-D", "work"]);
    let main = repo.rev("main");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.rev("work"), one);
    assert_eq!(repo.rev("main"), main);
    assert_eq!(repo.git(["symbolic-ref", "--short", "HEAD"]), "work");
    repo.judge();
}

#[test]
fn what_was_made_detached_is_detached_again() {
    let repo = repository_with_a_commit();
    repo.git(["switch", "-q", "--detach"]);
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.rev("HEAD");
    assert!(repo.list()[0].get("branch").is_none());
    repo.git(["switch", "-q", "main"]);
    let main = repo.rev("main");
    repo.autodev(["restore", "c1"]).ok().mentions("HEAD is detached, as it was then");
    assert_eq!(repo.text(".git/HEAD").trim(), one);
    assert_eq!(repo.rev("main"), main);
    assert_eq!(repo.text("a.txt"), "1\n");
    repo.judge();
}

#[test]
fn a_branch_that_is_checked_out_in_another_worktree_is_refused() {
    let repo = repository_with_a_commit();
    repo.git(["switch", "-q", "-c", "work"]);
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.git(["switch", "-q", "main"]);
    repo.git(["worktree", "add", "-q", "../other", "work"]);
    repo.write("a.txt", "2\n");
    let before = repo.look();
    let ran = repo.autodev(["restore", "c1"]).fails(1);
    assert!(ran.stderr.contains("work") && ran.stderr.contains("/other"), "{}", ran.stderr);
    before.assert_same(&repo);
}

#[test]
fn restores_in_a_linked_worktree_leave_the_main_one_alone() {
    let repo = repository_with_a_commit();
    repo.git(["worktree", "add", "-q", "-b", "side", "../other"]);
    let other = repo.sandbox.folder("other");
    other.write("a.txt", "side\n");
    assert_eq!(other.checkpoint("on the side"), "c1");
    let side = other.rev("HEAD");
    other.write("a.txt", "later\n");
    let (files, main, index) = (Look::of_files(&repo), repo.rev("HEAD"), repo.read(".git/index"));
    other.autodev(["restore", "c1"]).ok();
    assert_eq!(other.text("a.txt"), "side\n");
    assert_eq!(other.rev("side"), side);
    assert_eq!(other.status(), "");
    files.compare(&Look::of_files(&repo));
    assert_eq!((repo.rev("HEAD"), repo.read(".git/index")), (main, index));
    assert_eq!(repo.rev("refs/autodev/other/c/c1^"), side);
    assert_eq!(repo.checkpoint("in the main one"), "c1");
    assert_eq!(repo.text("a.txt"), "a\n");
    repo.judge();
}

#[test]
fn a_failure_midway_gives_everything_back() {
    if !has_tool("chattr") {
        return;
    }
    let repo = repository_with_a_commit();
    for number in 0..300 {
        repo.write(format!("many/{number:03}"), format!("old {number}\n"));
    }
    repo.write("many/kept-mode", "old\n");
    repo.checkpoint("one");
    for number in 0..300 {
        match number % 3 {
            0 => repo.write(format!("many/{number:03}"), format!("new {number}\r\n")),
            1 => repo.remove(format!("many/{number:03}")),
            _ => {}
        }
        repo.write(format!("fresh/{number:03}"), "fresh\n");
    }
    repo.write("many/kept-mode", "new\n");
    std::fs::set_permissions(repo.path("many/kept-mode"), std::fs::Permissions::from_mode(0o600)).unwrap();
    repo.git(["add", "fresh/000"]);
    let tree = repo.expected_tree(&[]);
    let staged = repo.git(["diff", "--cached", "--name-status"]);
    let head = repo.rev("HEAD");
    let index = repo.read(".git/index");
    let stuck = repo.path("many/150");
    let chattr = |flag: &str| repo.command("chattr").arg(flag).arg(&stuck).output().unwrap().status.success();
    if !chattr("+i") {
        return skip("chattr +i does not work here");
    }
    let ran = repo.autodev(["restore", "c1"]);
    assert!(chattr("-i"));
    let ran = ran.fails(1);
    assert!(ran.stderr.starts_with("Restore failed: "), "{}", ran.stderr);
    assert_eq!(repo.expected_tree(&[]), tree, "{}", ran.stderr);
    assert_eq!(repo.rev("HEAD"), head);
    assert_eq!(repo.read(".git/index"), index);
    assert_eq!(repo.git(["diff", "--cached", "--name-status"]), staged);
    assert_eq!(std::fs::metadata(repo.path("many/kept-mode")).unwrap().mode() & 0o777, 0o600);
    assert_eq!(repo.git(["branch", "--list", "autodev/*"]), "");
    assert_eq!(repo.git(["for-each-ref", "refs/autodev/main/u"]), "");
    assert!(!repo.has(".git/index.lock"));
    repo.judge();
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.status(), "");
}

#[test]
fn two_restores_in_one_second_park_on_two_branches() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    repo.write("a.txt", "3\n");
    let ran = repo.autodev(["restore", "c1"]).ok();
    assert!(ran.stdout.trim_end().ends_with(&format!("; saved on {PARKED}-2.")), "{}", ran.stdout);
    repo.write("a.txt", "4\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.git(["show", &format!("{PARKED}:a.txt")]), "2");
    assert_eq!(repo.git(["show", &format!("{PARKED}-2:a.txt")]), "3");
    assert_eq!(repo.git(["show", &format!("{PARKED}-3:a.txt")]), "4");
    repo.judge();
}

#[test]
fn a_clock_that_was_set_back_changes_no_order() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.autodev_at("2026-11-30T12:00:00Z", ["checkpoint", "-m", "one"]).ok();
    repo.write("a.txt", "2\n");
    repo.autodev_at("2020-01-01T00:00:00Z", ["checkpoint", "-m", "two"]).ok();
    let ids: Vec<String> = repo.list().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["c2", "c1"]);
    let listed = repo.autodev_at("2020-01-01T00:00:00Z", ["restore"]).ok().stdout;
    assert!(listed.lines().nth(1).unwrap().ends_with("now"), "an age is never negative: {listed}");
    repo.autodev_at("2019-01-01T00:00:00Z", ["restore", "c1"]).ok();
    assert_eq!(repo.text("a.txt"), "1\n");
}

#[test]
fn the_pre_restore_entry_brings_everything_back() {
    let repo = changed_since_c1();
    repo.write("untracked/deep/file", "untracked\n");
    repo.sh("ln -s nowhere link; printf x > run.sh; chmod +x run.sh; git add run.sh");
    let tree = repo.expected_tree(&[]);
    repo.autodev(["restore", "c1"]).ok().mentions("to go back again: autodev restore c2");
    assert!(!repo.has("untracked") && !repo.has("link") && !repo.has("run.sh"));
    repo.autodev(["restore", "c2"]).ok();
    assert_eq!(repo.expected_tree(&[]), tree);
    assert_eq!(std::fs::metadata(repo.path("run.sh")).unwrap().mode() & 0o111, 0o111);
    assert_eq!(std::fs::read_link(repo.path("link")).unwrap().to_str(), Some("nowhere"));
    assert_eq!(repo.status(), "");
    repo.judge();
}

#[test]
fn what_was_staged_is_held_under_u() {
    let repo = changed_since_c1();
    repo.write("a.txt", "staged\n");
    repo.git(["add", "a.txt"]);
    repo.write("a.txt", "unstaged\n");
    repo.autodev(["restore", "c1"]).ok().mentions("what was staged is held by refs/autodev/main/u/2/index");
    assert_eq!(repo.git(["show", "refs/autodev/main/u/2/index:a.txt"]), "staged");
    assert_eq!(repo.git(["show", "refs/autodev/main/u/2/work:a.txt"]), "unstaged");
    repo.judge();
}

#[test]
fn going_back_to_where_one_is_does_nothing() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let before = repo.look();
    let one = repo.short("HEAD");
    repo.autodev(["restore", "c1"]).ok().says(&format!("Restored to \"one\" ({one})."));
    before.assert_same(&repo);
}

#[test]
fn a_staged_change_alone_is_not_lost() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    repo.write("a.txt", "staged\n");
    repo.git(["add", "a.txt"]);
    repo.write("a.txt", "a\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.status(), "");
    assert_eq!(repo.git(["show", "refs/autodev/main/u/1/index:a.txt"]), "staged");
    repo.judge();
}

#[test]
fn an_id_wins_over_a_commit_and_a_prefix_of_four_digits_is_enough() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.rev("HEAD");
    repo.write("a.txt", "2\n");
    repo.checkpoint("two");
    repo.autodev(["restore", &one[..3]]).fails(1).mentions("unknown checkpoint");
    repo.autodev(["restore", &one[..4].to_uppercase()]).ok();
    assert_eq!(repo.rev("HEAD"), one);
    repo.autodev(["restore", "c2"]).ok();
    repo.autodev(["restore", &one]).ok();
    assert_eq!(repo.rev("HEAD"), one);
}

#[test]
fn a_file_that_became_a_folder_becomes_a_file_again_and_back() {
    let repo = repository_with_a_commit();
    repo.write("swap", "file\n");
    repo.write("other/in", "folder\n");
    repo.checkpoint("one");
    repo.remove("swap");
    repo.write("swap/in/deep", "folder\n");
    repo.remove("other");
    repo.write("other", "file\n");
    repo.checkpoint("two");
    for _ in 0..2 {
        repo.autodev(["restore", "c1"]).ok();
        assert_eq!((repo.text("swap"), repo.text("other/in")), ("file\n".into(), "folder\n".into()));
        repo.autodev(["restore", "c2"]).ok();
        assert_eq!((repo.text("swap/in/deep"), repo.text("other")), ("folder\n".into(), "file\n".into()));
    }
    assert_eq!(repo.status(), "");
    repo.judge();
}

#[test]
fn a_restore_keeps_bytes_that_a_filter_would_not_give_back() {
    let repo = repository_with_a_commit();
    repo.write(".gitattributes", "*.crlf text eol=crlf\n*.nb filter=strip\n");
    repo.git(["config", "filter.strip.clean", "grep -v output || true"]);
    repo.git(["config", "filter.strip.smudge", "cat"]);
    repo.write("mixed.crlf", "one\r\ntwo\r\n");
    repo.write("note.nb", "code\n");
    repo.checkpoint("one");
    repo.write("mixed.crlf", "one\r\ntwo\nthree\r\n");
    repo.write("note.nb", "code two\noutput of an hour\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("mixed.crlf"), "one\r\ntwo\r\n");
    let raw = |path: &str| {
        repo.command("git").args(["cat-file", "blob", &format!("refs/autodev/main/u/2/raw:{path}")]).output().unwrap()
    };
    assert_eq!(raw("mixed.crlf").stdout, b"one\r\ntwo\nthree\r\n");
    assert_eq!(raw("note.nb").stdout, b"code two\noutput of an hour\n");
    repo.judge();
}

#[test]
fn on_an_unborn_branch_the_work_is_parked_and_the_checkpoint_comes_back() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    let one = repo.rev("HEAD");
    repo.git(["switch", "-q", "--orphan", "fresh"]);
    repo.write("b.txt", "unborn\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.rev("main"), one);
    assert_eq!(repo.git(["show", &format!("{PARKED}:b.txt")]), "unborn");
    assert!(!repo.has("b.txt"));
    let parked = repo.list()[0]["id"].as_str().unwrap().to_owned();
    repo.autodev(["restore", &parked]).ok();
    assert_eq!(repo.text("b.txt"), "unborn\n");
    repo.judge();
}
