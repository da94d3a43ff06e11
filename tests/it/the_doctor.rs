//! What does not agree is said with the command that mends it, and the command mends it.

use crate::sandbox::{Ran, Repo, repository_with_a_commit};

fn with_two_checkpoints() -> Repo {
    let repo = repository_with_a_commit();
    repo.write("new.txt", "1\n");
    repo.checkpoint("one");
    repo.write("new.txt", "2\n");
    repo.checkpoint("two");
    repo
}

trait Finds {
    fn finds(self, words: &str) -> Self;
}

impl Finds for Ran {
    fn finds(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "{words:?} is not in {:?}", self.stdout);
        self
    }
}

#[test]
fn a_whole_project_is_said_to_be_whole() {
    let repo = with_two_checkpoints();
    repo.write("new.txt", "3\n");
    repo.autodev(["restore", "c1"]).ok();
    repo.autodev(["doctor"]).ok().says("All agrees");
    assert_eq!(repo.autodev(["doctor", "--json"]).ok().stdout.trim(), r#"{"mended":[],"findings":[]}"#);
}

#[test]
fn a_lost_list_is_made_again_from_the_refs() {
    let repo = with_two_checkpoints();
    let before = repo.list();
    repo.remove(".git/autodev/checkpoints.json");
    repo.autodev(["doctor"]).fails(1).finds("c1 is held by a ref, but the list does not have it");
    repo.autodev(["restore"]).ok().says("No checkpoints yet").mentions("autodev doctor --rebuild");
    repo.autodev(["doctor", "--rebuild"]).ok().says("c2 is in the list again");
    assert_eq!(repo.list(), before);
    repo.judge();
}

#[test]
fn a_damaged_list_is_set_aside_and_made_again() {
    let repo = with_two_checkpoints();
    let before = repo.list();
    repo.write(".git/autodev/checkpoints.json", "{\"version\":1,\"next\":3,\"chec");
    repo.autodev(["doctor"]).fails(1).finds("autodev doctor --rebuild");
    repo.autodev(["doctor", "--rebuild"]).ok().finds("it was set aside as");
    assert_eq!(repo.list(), before);
    let aside = std::fs::read_dir(repo.path(".git/autodev")).unwrap().flatten();
    let aside = aside.filter(|entry| entry.file_name().to_string_lossy().contains("damaged")).count();
    assert_eq!(aside, 1, "the damaged bytes are kept");
}

#[test]
fn an_entry_without_a_ref_gets_one_again() {
    let repo = with_two_checkpoints();
    repo.git(["update-ref", "-d", "refs/autodev/main/c/c1"]);
    repo.autodev(["doctor"]).fails(1).finds("no ref holds c1");
    repo.autodev(["doctor", "--rebuild"]).ok();
    assert_eq!(repo.rev("refs/autodev/main/c/c1^"), repo.list()[1]["commit"].as_str().unwrap());
}

#[test]
fn a_commit_that_is_gone_and_a_foreign_lock_are_named() {
    let repo = with_two_checkpoints();
    repo.write(".git/index.lock", "");
    repo.autodev(["doctor"]).fails(1).finds("index.lock is there").finds("rm ");
    repo.remove(".git/index.lock");
    repo.sh("git switch -q --orphan other && git branch -D -q main && git update-ref -d refs/autodev/main/c/c2 && git reflog expire --expire=now --all && git gc -q --prune=now");
    repo.autodev(["doctor"]).fails(1).finds("of c2 is gone");
}

#[test]
fn a_copied_project_is_adopted() {
    let repo = with_two_checkpoints();
    repo.sh("cp -a . ../copy");
    repo.autodev(["doctor", "--project", "../copy"]).fails(1).finds("autodev doctor --adopt");
    repo.autodev(["doctor", "--adopt", "--project", "../copy"]).ok().says("All agrees");
    repo.autodev(["restore", "c1", "--project", "../copy"]).ok();
}
