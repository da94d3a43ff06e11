//! Which folder is the project, and what stands where: git folders elsewhere or broken, links, lost counts.

use crate::sandbox::{Sandbox, repository_with_a_commit};

#[test]
fn a_git_folder_elsewhere_is_found_through_its_file() {
    let sandbox = Sandbox::new();
    let repo = sandbox.folder("work");
    repo.sh("git init -q --separate-git-dir ../elsewhere.git . && echo 1 > a && git add a && git commit -qm base");
    repo.write("a", "2\n");
    assert_eq!(repo.checkpoint("first"), "c1");
    repo.write("a", "3\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("a"), "2\n");
    repo.judge();
}

#[test]
fn a_git_folder_behind_a_link_is_found() {
    let sandbox = Sandbox::new();
    let repo = sandbox.folder("work");
    repo.sh("git init -q . && mv .git ../real.git && ln -s ../real.git .git && echo 1 > a");
    assert_eq!(repo.checkpoint("first"), "c1");
    repo.write("a", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("a"), "1\n");
}

#[test]
fn a_broken_git_file_is_named_and_no_repository_above_is_taken_for_it() {
    let outer = repository_with_a_commit();
    outer.sh("mkdir inner && echo 'gitdir: /nowhere' > inner/.git && echo 1 > inner/a");
    let before = outer.rev("HEAD");
    let inner = outer.autodev(["checkpoint", "--project", "inner"]).fails(1);
    assert!(inner.stderr.contains("inner/.git is there, but it is no usable git repository"), "{}", inner.stderr);
    assert_eq!(outer.rev("HEAD"), before);
}

#[test]
fn lost_counts_give_no_number_out_twice() {
    let repo = repository_with_a_commit();
    repo.write("new.txt", "1\n");
    repo.checkpoint("one");
    repo.write("new.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    repo.remove(".git/autodev/project.json");
    repo.write("new.txt", "3\n");
    assert_eq!(repo.checkpoint("two"), "c3");
    repo.write("new.txt", "4\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("new.txt"), "1\n");
    repo.judge();
}

#[test]
fn conversions_of_a_global_configuration_elsewhere_are_seen() {
    let repo = repository_with_a_commit();
    repo.write("lines.txt", "one\r\ntwo\r\n");
    let config = repo.path("../global.conf");
    std::fs::write(&config, "[core]\nautocrlf = true\n").unwrap();
    let variable = [("GIT_CONFIG_GLOBAL", config.to_str().unwrap())];
    repo.autodev_with(&variable, ["checkpoint"]).ok();
    repo.write("lines.txt", "one\nthree\n");
    repo.autodev_with(&variable, ["restore", "c1"]).ok();
    assert_eq!(repo.text("lines.txt"), "one\r\ntwo\r\n");
    repo.autodev_with(&variable, ["undo"]).ok();
    assert_eq!(repo.text("lines.txt"), "one\nthree\n", "the bytes themselves come back");
}

#[test]
fn a_folder_of_ours_that_is_a_link_is_refused() {
    let repo = repository_with_a_commit();
    repo.sh("mkdir ../elsewhere && ln -s ../elsewhere .autodev");
    let refused = repo.autodev(["checkpoint"]).fails(1);
    assert!(refused.stderr.contains(".autodev is a symbolic link"), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(repo.path("../elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let repo = repository_with_a_commit();
    repo.write("new.txt", "1\n");
    repo.checkpoint("one");
    let mut command = repo.program();
    command.args(["restore", "--json"]).stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let ran = command.output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
}

#[test]
fn an_undo_brings_split_untracked_and_announced_files_back() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "staged\n");
    repo.git(["add", "a.txt"]);
    repo.write("a.txt", "unstaged\n");
    repo.write("announced.txt", "later\n");
    repo.git(["add", "-N", "announced.txt"]);
    repo.write("untracked.txt", "mine\n");
    let before = (repo.status(), repo.rev("HEAD"), repo.text("a.txt"));
    repo.checkpoint("one");
    let after = (repo.status(), repo.rev("HEAD"), repo.text("a.txt"));
    repo.autodev(["undo"]).ok().says("Undid checkpoint c1");
    assert_eq!((repo.status(), repo.rev("HEAD"), repo.text("a.txt")), before);
    repo.autodev(["redo"]).ok().says("Redid checkpoint c1");
    assert_eq!((repo.status(), repo.rev("HEAD"), repo.text("a.txt")), after);
    repo.git(["gc", "-q", "--prune=now"]);
    repo.autodev(["undo", "--yes"]).ok();
    assert_eq!((repo.status(), repo.rev("HEAD"), repo.text("a.txt")), before);
    repo.autodev(["undo"]).fails(1).complains("error: there is nothing to undo");
    repo.judge();
}

#[test]
fn a_restore_says_how_far_a_branch_goes_back_and_what_was_last_on_it() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    let first = repo.checkpoint("one");
    repo.write("mine.txt", "m\n");
    repo.commit("work of my own");
    let said = format!("main goes back by 1 commit; the last of them is {} \"work of my own\"", repo.short("HEAD"));
    repo.autodev(["restore", &first, "--dry-run"]).ok().complains(&said);
    repo.autodev(["restore", &first]).ok().complains(&said);
    repo.autodev(["restore", "c2"]).ok();
    assert_eq!(repo.text("mine.txt"), "m\n");
}

#[test]
fn a_branch_whose_own_name_looks_like_a_full_name_is_called_by_its_own_name() {
    let repo = repository_with_a_commit();
    repo.git(["checkout", "-q", "-b", "refs/heads/odd"]);
    repo.write("a.txt", "odd\n");
    let first = repo.checkpoint("odd");
    repo.write("a.txt", "tip\n");
    let tip = repo.commit("tip");
    repo.git(["checkout", "-q", "main"]);
    repo.autodev(["restore", &first]).ok().mentions("switched to branch refs/heads/odd");
    let left = &repo.list()[0];
    assert_eq!((left["commit"].as_str().unwrap(), &left["branch"]), (tip.as_str(), &"refs/heads/odd".into()));
    repo.autodev(["restore", left["id"].as_str().unwrap()]).ok();
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]), "refs/heads/refs/heads/odd");
    assert_eq!(repo.rev("HEAD"), tip);
}
