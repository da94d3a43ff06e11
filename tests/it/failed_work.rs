//! Failed work: to where a run goes back when work crashed, took too long or was never credited, what it
//! leaves alone on the way, and what it says.

use crate::run_sandbox::{
    assert_failed, assert_quiet, assert_restores, configure, honest, scripted, shell, status, table,
};
use crate::sandbox::{Repo, Sandbox, repository_with_a_commit};
use serde_json::{Value, json};

/// The ways in which work fails: a script behind the change that it makes, more keys, and words of the reason.
const WAYS: [(&str, &str, &str); 4] = [
    ("exit 3", "", "exited with code 3"),
    ("kill -9 $$", "", "was ended by signal 9"),
    ("exec sleep 600", "turn_timeout = \"1s\"", "took longer than 1s and was ended"),
    ("exit 0", "", "no credit after 2 attempts"),
];

fn failing(repo: &Repo, name: &str, end: &str, more: &str) -> String {
    shell(repo, name, &format!("echo half > half.txt; echo broken > a.txt; rm -f src/b.txt\n{end}\n")) + more + "\n"
}

fn kinds(repo: &Repo) -> Vec<String> {
    repo.list().iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn failed_work_goes_back_to_where_the_run_began() {
    for (end, more, words) in WAYS {
        let repo = repository_with_a_commit();
        let first = repo.checkpoint("first");
        let builder = failing(&repo, "builder", end, more);
        configure(&repo, "max_attempts = 2", &[builder]);
        let before = repo.rev("HEAD");
        let ran = repo.autodev(["run", "do it"]);
        assert_failed(&repo, &ran, words);
        assert_eq!((repo.text("a.txt"), repo.has("half.txt"), repo.has("src/b.txt")), ("a\n".into(), false, true));
        assert_eq!((repo.rev("HEAD"), repo.status()), (before, String::new()));
        assert_eq!(kinds(&repo), ["pre-restore", "manual"], "exactly as a restore does");
        let branch = "autodev/pre-restore-20261130-120000";
        assert!(ran.stderr.contains(&format!("; saved on {branch}.")), "{}", ran.stderr);
        assert_eq!(repo.git(["show", &format!("{branch}:half.txt")]), "half");
        let memory = repo.text(".autodev/memory.md");
        assert!(memory.starts_with("RESTORE: ") && memory.contains("start of r1"), "{memory}");
        assert_restores(&repo, &first);
    }
}

#[test]
fn failed_work_goes_back_to_the_newest_checkpoint_of_the_run() {
    for (end, more, words) in WAYS {
        let repo = repository_with_a_commit();
        repo.write("a.txt", "mine\n");
        let one = scripted(&repo, "one", &honest("new.txt", "new\n", "Add new.txt"));
        let two = failing(&repo, "two", end, more);
        configure(&repo, "max_attempts = 2", &[one, two]);
        let ran = repo.autodev(["run", "do it"]);
        assert_failed(&repo, &ran, words);
        assert!(ran.stderr.contains("Restored to \"thread — Add new.txt\" ("), "{}", ran.stderr);
        assert_eq!((repo.text("a.txt"), repo.text("new.txt")), ("mine\n".into(), "new\n".into()));
        assert!(!repo.has("half.txt"));
        assert_eq!(kinds(&repo), ["pre-restore", "task", "baseline"]);
        assert_restores(&repo, "c3");
        assert_eq!(repo.text("half.txt"), "half\n", "what was set aside can be had again");
    }
}

#[test]
fn failed_work_goes_back_to_the_baseline_and_never_behind_it() {
    let repo = repository_with_a_commit();
    let old = repo.checkpoint("an old one");
    repo.write("a.txt", "mine\n");
    repo.commit("my own commit");
    repo.write("a.txt", "mine, not committed\n");
    let builder = failing(&repo, "builder", "exit 3", "");
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).fails(1);
    assert_eq!(repo.text("a.txt"), "mine, not committed\n");
    assert_eq!(kinds(&repo), ["pre-restore", "baseline", "manual"]);
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "autodev: baseline before run");
    assert_restores(&repo, &old);
}

#[test]
fn a_run_that_began_on_a_commit_without_an_entry_goes_back_to_that_commit() {
    let repo = repository_with_a_commit();
    let old = repo.checkpoint("an old one");
    repo.write("a.txt", "mine\n");
    let mine = repo.commit("my own commit");
    let builder = failing(&repo, "builder", "git add -A; git commit -qm 'half done'; exit 3", "");
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).fails(1);
    assert_eq!((repo.rev("HEAD"), repo.text("a.txt")), (mine, "mine\n".into()));
    assert_eq!(kinds(&repo), ["pre-restore", "manual"], "what was committed meanwhile has an entry");
    assert_eq!(repo.git(["log", "-1", "--format=%s", repo.list()[0]["commit"].as_str().unwrap()]), "half done");
    assert_restores(&repo, &old);
}

#[test]
fn failed_work_on_another_branch_leaves_that_branch_and_goes_back_to_the_one_it_began_on() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let builder = failing(&repo, "builder", "git switch -qc other; git add -A; git commit -qm half; exit 3", "");
    configure(&repo, "", &[builder]);
    let before = repo.rev("main");
    repo.autodev(["run", "do it"]).fails(1);
    assert_eq!((repo.git(["symbolic-ref", "HEAD"]), repo.rev("HEAD")), ("refs/heads/main".into(), before));
    assert_eq!(repo.git(["log", "-1", "--format=%s", "other"]), "half");
    assert_restores(&repo, &first);
}

#[test]
fn work_that_failed_without_a_change_goes_nowhere() {
    let repo = repository_with_a_commit();
    configure(&repo, "", &[table("builder", &["false"], "")]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "builder exited with code 1");
    assert_eq!(repo.list(), Vec::<Value>::new());
    assert_eq!(repo.git(["branch", "--format=%(refname:short)"]), "main");
    assert!(!repo.has(".autodev/memory.md"));
    assert_quiet(&repo);
}

#[test]
fn rollback_that_is_switched_off_leaves_the_files() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let builder = failing(&repo, "builder", "exit 3", "");
    configure(&repo, "rollback_on_failure = false", &[builder]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "builder exited with code 3");
    assert!(ran.stderr.contains("the files stay as they are (rollback_on_failure = false)"), "{}", ran.stderr);
    assert_eq!((repo.text("a.txt"), repo.text("half.txt")), ("broken\n".into(), "half\n".into()));
    assert_eq!(kinds(&repo), ["manual"]);
    assert_restores(&repo, &first);
}

#[test]
fn failed_work_without_git_or_checkpoints_leaves_the_files_and_the_state_error() {
    for repo in [Sandbox::new().folder("plain"), repository_with_a_commit()] {
        let builder = failing(&repo, "builder", "exit 3", "");
        configure(&repo, if repo.has(".git") { "checkpoints = false" } else { "" }, &[builder]);
        assert_failed(&repo, &repo.autodev(["run", "do it"]), "builder exited with code 3");
        assert_eq!(repo.text("half.txt"), "half\n");
        assert_quiet(&repo);
    }
}

#[test]
fn no_more_turns_than_max_attempts_are_given_and_each_is_told_its_number() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let script = "head -n 1 >> .autodev/prompts; echo x >> tries";
    configure(&repo, "max_attempts = 4", &[table("builder", &["sh", "-c", script], "")]);
    assert_failed(&repo, &repo.autodev(["run", "do it"]), "no credit after 4 attempts");
    let prompts = repo.text(".autodev/prompts");
    let attempts: Vec<Value> =
        prompts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["attempt"].clone()).collect();
    assert_eq!(attempts, [1, 2, 3, 4]);
    assert!(!repo.has("tries"));
    assert_restores(&repo, &first);
}

#[test]
fn the_attempts_of_one_participant_are_not_those_of_the_next() {
    let repo = repository_with_a_commit();
    let work = |file: &str| json!({"turns": [[{"end": true}], honest(file, "x\n", file)]});
    let participants = [scripted(&repo, "one", &work("one.txt")), scripted(&repo, "two", &work("two.txt"))];
    configure(&repo, "max_attempts = 2", &participants);
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(kinds(&repo), ["task", "task"]);
    assert_eq!(status(&repo)["state"], "idle");
    assert_quiet(&repo);
}

#[test]
fn a_run_after_a_failed_one_begins_anew() {
    let repo = repository_with_a_commit();
    let builder = failing(&repo, "builder", "exit 3", "");
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).fails(1);
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it again"]).ok();
    let status = status(&repo);
    assert_eq!((&status["state"], &status["run"], &status["problem"]), (&json!("idle"), &json!("r2"), &Value::Null));
    assert_quiet(&repo);
}

#[test]
fn failed_work_on_a_detached_head_goes_back_to_where_it_was_detached() {
    let repo = repository_with_a_commit();
    repo.git(["switch", "-q", "--detach"]);
    let first = repo.checkpoint("first");
    let builder = failing(&repo, "builder", "git add -A; git commit -qm half; exit 3", "");
    configure(&repo, "", &[builder]);
    let before = repo.rev("HEAD");
    repo.autodev(["run", "do it"]).fails(1);
    assert_eq!((repo.rev("HEAD"), repo.text("a.txt")), (before, "a\n".into()));
    assert_eq!(repo.sh("git symbolic-ref -q HEAD || echo detached"), "detached");
    assert_eq!(repo.git(["log", "-1", "--format=%s", "main"]), "first");
    assert_restores(&repo, &first);
}
