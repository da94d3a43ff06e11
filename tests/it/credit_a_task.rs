//! Crediting a task: what counts as a claim, what it is checked against, and what becomes of it.

use crate::run_sandbox::{
    assert_failed, assert_quiet, assert_restores, configure, honest, lines, scripted, shell, table, thread,
};
use crate::sandbox::{Repo, repository_with_a_commit};
use serde_json::{Value, json};

/// Runs one participant, once, without a second attempt.
fn run_once(repo: &Repo, script: &Value) -> crate::sandbox::Ran {
    let builder = scripted(repo, "builder", script);
    configure(repo, "max_attempts = 1", &[builder]);
    repo.autodev(["run", "do it"])
}

#[test]
fn credited_work_is_a_commit_named_after_the_first_line_of_the_claim() {
    let repo = repository_with_a_commit();
    let before = repo.rev("HEAD");
    run_once(&repo, &honest("new.txt", "new\n", "\n  Add new.txt  \nand more words")).ok();
    let entry = &repo.list()[0];
    assert_eq!((&entry["kind"], &entry["label"]), (&json!("task"), &json!("thread — Add new.txt")), "{entry}");
    assert_eq!((&entry["run"], &entry["turn"]), (&json!("r1"), &json!("t1")), "{entry}");
    assert_eq!((&entry["participant"], &entry["branch"]), (&json!("builder"), &json!("main")), "{entry}");
    assert_eq!((entry.get("task"), &entry["head"]), (None, &json!(true)), "{entry}");
    assert_eq!(entry["commit"], repo.rev("HEAD"));
    let autodev = "autodev <autodev@localhost>";
    let shown = repo.git(["show", "-s", "--format=%s%n%an <%ae>%n%cn <%ce>%n%P"]);
    assert_eq!(shown, format!("autodev: thread — Add new.txt\n{autodev}\n{autodev}\n{before}"));
    assert_eq!(repo.status(), "");
    let listed = repo.autodev(["restore"]).ok().stdout;
    assert!(listed.starts_with("✔ c1  thread — Add new.txt   — · ") && listed.ends_with("   ← HEAD\n"), "{listed}");
    assert_quiet(&repo);
}

#[test]
fn what_a_participant_committed_itself_is_the_checkpoint() {
    let repo = repository_with_a_commit();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    run_once(&repo, &json!([write, {"commit": "my own words"}, {"claim": "Add new.txt"}, {"end": true}])).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "my own words\nfirst");
    let entry = &repo.list()[0];
    assert_eq!((&entry["commit"], &entry["label"]), (&json!(repo.rev("HEAD")), &json!("thread — Add new.txt")));
    assert_eq!(entry["kind"], "task");
    repo.write("a.txt", "later\n");
    repo.commit("later");
    assert_restores(&repo, "c1");
}

#[test]
fn what_a_participant_did_not_commit_itself_is_committed_on_top() {
    let repo = repository_with_a_commit();
    let script = json!([
        {"write": {"path": "new.txt", "text": "new\n"}}, {"commit": "my own words"},
        {"write": {"path": "left.txt", "text": "left\n"}}, {"claim": "Add both"}, {"end": true}
    ]);
    run_once(&repo, &script).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "autodev: thread — Add both\nmy own words\nfirst");
    assert_eq!(repo.list().len(), 1);
    assert_restores(&repo, "c1");
}

#[test]
fn a_participant_that_works_on_a_branch_of_its_own_is_credited_there() {
    let repo = repository_with_a_commit();
    let script = "git switch -qc feature; echo new > new.txt; autodev post --work-done 'on a branch'\n";
    let builder = shell(&repo, "builder", script);
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.list()[0]["branch"], "feature");
    assert_eq!(repo.git(["log", "--format=%s", "main"]), "first", "the branch of the user stays where it is");
    assert_restores(&repo, "c1");
}

#[test]
fn without_verify_an_entry_says_that_it_is_unverified_and_with_it_that_it_is_verified() {
    for (verify, verified) in [("", false), ("verify = [[\"true\"], [\"test\", \"-s\", \"new.txt\"]]", true)] {
        let repo = repository_with_a_commit();
        let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
        configure(&repo, verify, &[builder]);
        repo.autodev(["run", "do it"]).ok();
        assert_eq!(repo.list()[0]["verified"], verified);
        assert_quiet(&repo);
    }
}

#[test]
fn a_failed_verify_is_said_on_the_thread_and_in_the_next_prompt() {
    let repo = repository_with_a_commit();
    let script = "cat > .autodev/prompt-$AUTODEV_TURN\necho x >> tries\nautodev post --work-done 'mended'\n";
    let builder = shell(&repo, "builder", script);
    let check = "test $(wc -l < tries) -ge 2 || { echo 'line 7 is wrong'; exit 3; }";
    configure(&repo, &format!("verify = [[\"sh\", \"-c\", \"{check}\"]]"), &[builder]);
    repo.autodev(["run", "do it"]).ok();
    let thread = thread(&repo);
    let verdict = thread.iter().find(|post| post.starts_with("autodev verdict: ")).unwrap();
    for words in ["builder, your work was not credited", check, "exited with code 3", "line 7 is wrong"] {
        assert!(verdict.contains(words), "{words:?} is not in {verdict}");
    }
    let told = "exited with code 3:\n  line 7 is wrong";
    assert!(!repo.text(".autodev/prompt-t1").contains(told));
    assert!(repo.text(".autodev/prompt-t2").contains(told));
    assert_eq!(repo.text("tries"), "x\nx\n", "a refused claim keeps the files, so that they can be mended");
    assert_eq!(repo.list().len(), 1);
    assert_quiet(&repo);
}

#[test]
fn every_verify_command_must_succeed_and_one_that_cannot_start_fails() {
    for (verify, words) in [
        ("[[\"true\"], [\"false\"]]", "`false` exited with code 1"),
        ("[[\"no-such-program\"]]", "cannot start \"no-such-program\""),
        ("[[\"sh\", \"-c\", \"kill -9 $$\"]]", "was ended by signal 9"),
    ] {
        let repo = repository_with_a_commit();
        let first = repo.checkpoint("first");
        let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
        configure(&repo, &format!("max_attempts = 1\nverify = {verify}"), &[builder]);
        let ran = repo.autodev(["run", "do it"]);
        assert_failed(&repo, &ran, words);
        assert!(!repo.has("new.txt"));
        assert_restores(&repo, &first);
    }
}

#[test]
fn what_verify_starts_does_not_outlive_it() {
    let repo = repository_with_a_commit();
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "verify = [[\"setsid\", \"--fork\", \"sleep\", \"600\"]]", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    assert_quiet(&repo);
}

#[test]
fn a_claim_without_a_change_is_refused() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "changed before the run\n");
    let ran = run_once(&repo, &json!([{"claim": "I did it all"}, {"end": true}]));
    assert_failed(&repo, &ran, "nothing has changed since the last checkpoint");
    let kinds: Vec<Value> = repo.list().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["baseline"]);
    assert_restores(&repo, "c1");
}

#[test]
fn work_that_was_credited_to_one_participant_is_not_credited_to_the_next() {
    let repo = repository_with_a_commit();
    let one = scripted(&repo, "one", &honest("new.txt", "new\n", "Add new.txt"));
    let two = scripted(&repo, "two", &json!([{"claim": "me too"}, {"end": true}]));
    configure(&repo, "max_attempts = 2", &[one, two]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "no credit after 2 attempts; the last time: nothing has changed");
    assert_eq!(repo.list().len(), 1);
    assert_restores(&repo, "c1");
}

#[test]
fn prose_is_no_claim() {
    let repo = repository_with_a_commit();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    let script = json!([write, {"say": "work_done! All is done."}, {"post": "work_done"}, {"end": true}]);
    assert_failed(&repo, &run_once(&repo, &script), "the turn ended without work_done");
    assert_eq!(lines(&repo, "thread.jsonl").iter().filter(|post| post["kind"] == "claim").count(), 0);
    assert_quiet(&repo);
}

#[test]
fn a_claim_without_end_is_refused_where_json_lines_were_spoken() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    let ran = run_once(&repo, &json!([write, {"claim": "Add new.txt"}]));
    assert_failed(&repo, &ran, "work was claimed done, but the turn did not end with `end`");
    assert_restores(&repo, &first);
}

#[test]
fn exit_0_ends_a_turn_where_no_json_was_spoken() {
    let repo = repository_with_a_commit();
    let builder = shell(&repo, "builder", "echo working; echo new > new.txt\nautodev post --work-done 'Add new.txt'\n");
    configure(&repo, "max_attempts = 1", &[builder]);
    let ran = repo.autodev(["run", "do it"]).ok();
    assert!(ran.stdout.starts_with("Run r1 done; checkpoints c1"), "{}", ran.stdout);
    assert!(thread(&repo).contains(&"builder claim: Add new.txt".to_owned()));
    assert_restores(&repo, "c1");
}

#[test]
fn a_claim_counts_in_its_own_turn_only() {
    let repo = repository_with_a_commit();
    let script = json!({"turns": [
        [{"write": {"path": "new.txt", "text": "1\n"}}, {"claim": "once"}],
        [{"write": {"path": "new.txt", "text": "2\n"}}, {"end": true}]
    ]});
    let builder = scripted(&repo, "builder", &script);
    configure(&repo, "max_attempts = 2", &[builder]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "no credit after 2 attempts; the last time: the turn ended without work_done");
    assert_eq!(repo.list().iter().filter(|entry| entry["kind"] == "task").count(), 0);
    assert_quiet(&repo);
}

#[test]
fn of_two_claims_in_a_turn_the_last_one_names_the_work() {
    let repo = repository_with_a_commit();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    run_once(&repo, &json!([write, {"claim": "half"}, {"claim": "whole"}, {"end": true}])).ok();
    assert_eq!(repo.list()[0]["label"], "thread — whole");
    assert_quiet(&repo);
}

#[test]
fn a_claim_without_words_is_none() {
    let repo = repository_with_a_commit();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    let ran = run_once(&repo, &json!([write, {"claim": " \n "}, {"post": ""}, {"end": true}]));
    assert_failed(&repo, &ran, "a post or work_done without a text says nothing");
    assert_quiet(&repo);
}

#[test]
fn odd_characters_in_a_claim_harm_neither_git_nor_the_list() {
    let repo = repository_with_a_commit();
    let claim = format!("a\u{0}b \u{1b}[31mred\u{7} {}\nrest", "long ".repeat(2_000));
    run_once(&repo, &honest("new.txt", "new\n", &claim)).ok();
    let listed = repo.autodev(["restore"]).ok().stdout;
    assert!(listed.contains("a\u{fffd}b \\u{1b}[31mred\\u{7}") && listed.len() < 1_000, "{listed}");
    let claimed = lines(&repo, "thread.jsonl");
    assert_eq!(claimed[0]["text"], claim, "the thread has all of it");
    assert_restores(&repo, "c1");
}

#[test]
fn a_secret_that_a_participant_left_is_not_kept_and_is_named() {
    let repo = repository_with_a_commit();
    let script = json!([
        {"write": {"path": "new.txt", "text": "new\n"}}, {"write": {"path": ".env", "text": "KEY=1\n"}},
        {"claim": "Add new.txt"}, {"end": true}
    ]);
    run_once(&repo, &script).ok().complains("not held: .env (looks like a secret)");
    assert_eq!(repo.list()[0]["skipped"], json!([{"path": ".env", "reason": "secret"}]));
    assert_eq!(repo.text(".env"), "KEY=1\n");
    assert_eq!(repo.expected_tree(&[".env"]), repo.rev("HEAD^{tree}"));
    assert_quiet(&repo);
}

#[test]
fn work_in_the_middle_of_a_merge_is_not_credited_and_the_merge_stays() {
    let repo = repository_with_a_commit();
    repo.sh("git switch -qc side; echo side > a.txt; git commit -qam side; git switch -q main; echo main > a.txt
        git commit -qam main; git merge -q side || :");
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "max_attempts = 1", &[builder]);
    let head = repo.rev("HEAD");
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "a merge is in progress");
    assert!(ran.stderr.contains("no baseline: a merge is in progress"), "{}", ran.stderr);
    assert_eq!(repo.rev("HEAD"), head);
    assert!(repo.has(".git/MERGE_HEAD"));
    assert_eq!(repo.text("new.txt"), "new\n", "nothing is restored in the middle of a merge");
    assert_quiet(&repo);
}

#[test]
fn work_that_cannot_be_kept_is_not_credited_and_says_why() {
    let repo = repository_with_a_commit();
    let script = "echo new > new.txt; : > .git/index.lock; autodev post --work-done 'Add new.txt'\n";
    configure(&repo, "max_attempts = 1", &[table("builder", &["sh", "-c", script], "")]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "the work could not be kept as a checkpoint: ");
    assert!(ran.stderr.contains("index.lock") && ran.stderr.contains("Restore failed: "), "{}", ran.stderr);
    assert!(ran.stdout.contains("the files stay as they are, since going back failed: "), "{}", ran.stdout);
    assert_eq!(repo.text("new.txt"), "new\n");
    repo.remove(".git/index.lock");
    assert_quiet(&repo);
}

#[test]
fn a_reviewer_that_nobody_can_hear_yet_is_said_and_nothing_runs() {
    let repo = repository_with_a_commit();
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder, table("critic", &["true"], "role = \"reviewer\"")]);
    repo.autodev(["run", "do it"]).fails(2).mentions("critic is a reviewer, and reviews cannot be taken yet");
    assert!(!repo.has("new.txt"));
    assert_quiet(&repo);
}

#[test]
fn a_verify_command_that_prints_without_end_makes_a_short_verdict() {
    let repo = repository_with_a_commit();
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    let flood = "for i in 1 2 3; do head -c 900000 /dev/zero | tr '\\\\0' x; echo; done; echo last; exit 3";
    configure(&repo, &format!("max_attempts = 1\nverify = [[\"sh\", \"-c\", \"{flood}\"]]"), &[builder]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "last");
    let verdict = &thread(&repo)[1];
    assert!(verdict.contains("xxx… (900000 bytes)") && verdict.len() < 4_000, "{} bytes", verdict.len());
    assert_quiet(&repo);
}
