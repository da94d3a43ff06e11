//! Participants and configurations that are wrong, broken or hostile: each gets a clear sentence and the right
//! state, nothing of them stays alive, and going back works afterwards.

use crate::run_sandbox::{
    assert_failed, assert_restores, configure, honest, lines, scripted, shell, state_folder, status, table, thread,
};
use crate::sandbox::{Repo, repository_with_a_commit};
use serde_json::{Value, json};

fn repository_with_an_entry() -> Repo {
    let repo = repository_with_a_commit();
    repo.checkpoint("first");
    repo
}

/// Nothing ran and nothing changed.
fn assert_untouched(repo: &Repo) {
    assert_eq!((&status(repo)["state"], &status(repo)["run"]), (&json!("idle"), &Value::Null));
    assert_eq!((repo.list().len(), repo.status()), (1, String::new()));
    assert_restores(repo, "c1");
}

#[test]
fn an_unknown_participant_is_refused_with_the_nearest_name() {
    let repo = repository_with_an_entry();
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    let run = |name: &str| repo.autodev(["run", "--participant", name, "do it"]).fails(2);
    run("bilder").complains("error: unknown participant: bilder; did you mean builder?");
    run("zzz").complains("error: unknown participant: zzz");
    assert_untouched(&repo);
}

#[test]
fn a_run_without_participants_says_how_to_get_some() {
    let repo = repository_with_an_entry();
    let line = "error: no participant is configured, so nobody can work on the task";
    repo.autodev(["run", "do it"]).fails(2).complains(line).mentions("hint: autodev init");
    assert_untouched(&repo);
}

#[test]
fn a_wrong_configuration_names_line_and_nearest_key_and_nothing_runs() {
    let repo = repository_with_an_entry();
    for (text, words) in [
        ("\nmax_atempts = 3", ".autodev/config.toml:2: unknown key \"max_atempts\"; did you mean \"max_attempts\""),
        ("max_attempts = 0", ".autodev/config.toml:1: \"max_attempts\" must be a whole number of at least 1"),
        ("verify = \"cargo test\"", ".autodev/config.toml:1: \"verify\" must be an array of commands"),
        ("[[participants]]\nname = \"a\"", "a participant needs \"command\""),
    ] {
        repo.write(".autodev/config.toml", text);
        repo.write(".autodev/.gitignore", "*\n");
        repo.autodev(["run", "do it"]).fails(2).mentions(words);
    }
    repo.remove(".autodev/config.toml");
    assert_untouched(&repo);
}

#[test]
fn a_participant_that_cannot_start_is_failed_work() {
    let repo = repository_with_an_entry();
    for (command, words) in [
        (["no-such-program", "x"], "builder: cannot start \"no-such-program\""),
        ([".autodev/.gitignore", "x"], "builder: cannot start \".autodev/.gitignore\""),
        (["./src", "x"], "builder: cannot start \"./src\""),
    ] {
        configure(&repo, "", &[table("builder", &command, "")]);
        let ran = repo.autodev(["run", "do it"]);
        assert_failed(&repo, &ran, words);
    }
    assert_restores(&repo, "c1");
}

#[test]
fn a_broken_line_is_said_is_no_claim_and_the_reason_names_it() {
    let repo = repository_with_an_entry();
    let script = "echo x > x; printf '{\"type\":\"work_done\",\"summary\":\"half\\n{\"type\":\"workdone\"}\\n'\n";
    let builder = shell(&repo, "builder", script);
    configure(&repo, "max_attempts = 1", &[builder]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "the turn ended without work_done (looks like JSON but is not: ");
    assert!(status(&repo)["problem"].as_str().unwrap().contains("`workdone`"), "{}", ran.stderr);
    assert!(thread(&repo)[0].starts_with("autodev verdict: builder, your work was not credited: "));
    assert_restores(&repo, "c1");
}

#[test]
fn garbage_between_lines_of_the_protocol_harms_nobody() {
    let repo = repository_with_an_entry();
    let script = json!([
        {"garbage": true}, {"write": {"path": "new.txt", "text": "new\n"}}, {"claim": "Add new.txt"},
        {"garbage": true}, {"end": true}
    ]);
    let builder = scripted(&repo, "builder", &script);
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.list().len(), 2);
    assert_restores(&repo, "c1");
}

#[test]
fn a_line_of_64_mib_is_cut_and_the_turn_counts_for_nothing() {
    let repo = repository_with_an_entry();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    let builder =
        scripted(&repo, "builder", &json!([write, {"flood": 64 << 20}, {"claim": "Add new.txt"}, {"end": true}]));
    configure(&repo, "max_attempts = 1", &[builder]);
    let ran = repo.autodev(["run", "do it"]);
    assert_failed(&repo, &ran, "a line of more than 1 MiB was printed and could not be understood");
    assert!(ran.stderr.contains("a line of 67108864 bytes is too long"), "{}", ran.stderr);
    let session = lines(&repo, "sessions/r1-builder.jsonl");
    assert_eq!(session[0]["bytes"], 64 << 20);
    assert_eq!(session[0]["line"].as_str().unwrap().len(), 4096);
    assert_restores(&repo, "c1");
}

#[test]
fn a_session_is_kept_up_to_its_cap_and_says_so() {
    let repo = repository_with_an_entry();
    let flood = "i=0; while [ $i -lt 40 ]; do head -c 500000 /dev/zero | tr '\\0' x; echo; i=$((i+1)); done\n";
    let builder = shell(&repo, "builder", &format!("{flood}touch done; autodev post --work-done done\n"));
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "talk"]).ok();
    let length = std::fs::metadata(state_folder(&repo).join("sessions/r1-builder.jsonl")).unwrap().len();
    assert!((7 << 20..9 << 20).contains(&length), "{length}");
    let last = lines(&repo, "sessions/r1-builder.jsonl").pop().unwrap();
    assert_eq!(last["note"], "the session is full; later output is not kept");
    assert_restores(&repo, "c1");
}

#[test]
fn a_participant_that_hangs_is_ended_with_all_it_started() {
    let repo = repository_with_an_entry();
    for hang in [
        json!([{"write": {"path": "x", "text": "x"}}, {"orphan": true}, {"hang": true}]),
        json!([{"ignore_term": true}, {"write": {"path": "x", "text": "x"}}, {"claim": "x"}, {"hang": true}]),
    ] {
        let builder = scripted(&repo, "builder", &hang) + "turn_timeout = \"1s\"\n";
        configure(&repo, "", &[builder]);
        let ran = repo.autodev(["run", "do it"]);
        assert_failed(&repo, &ran, "builder took longer than 1s and was ended");
        assert!(!repo.has("x"));
        assert_restores(&repo, "c1");
    }
}

#[test]
fn a_participant_that_goes_on_after_its_end_is_ended_and_its_claim_counts() {
    let repo = repository_with_an_entry();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    let builder = scripted(&repo, "builder", &json!([write, {"claim": "Add new.txt"}, {"end": true}, {"hang": true}]));
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.list().len(), 2);
    assert_restores(&repo, "c1");
}

#[test]
fn an_orphan_that_holds_the_output_is_ended_with_the_turn() {
    let repo = repository_with_an_entry();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    let builder =
        scripted(&repo, "builder", &json!([write, {"orphan": true}, {"claim": "Add new.txt"}, {"end": true}]));
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    assert_restores(&repo, "c1");
}

#[test]
fn a_claim_before_a_crash_is_not_credited() {
    let repo = repository_with_an_entry();
    let write = json!({"write": {"path": "new.txt", "text": "new\n"}});
    let builder = scripted(&repo, "builder", &json!([write, {"claim": "Add new.txt"}, {"exit": 3}]));
    configure(&repo, "", &[builder]);
    assert_failed(&repo, &repo.autodev(["run", "do it"]), "builder exited with code 3");
    assert!(!repo.has("new.txt"));
    assert_eq!(repo.list().iter().filter(|entry| entry["kind"] == "task").count(), 0);
    assert_restores(&repo, "c1");
}

#[test]
fn a_participant_that_reads_nothing_and_closes_everything_is_heard_to_its_end() {
    let repo = repository_with_an_entry();
    let script = "exec <&- >&- 2>&-; echo new > new.txt; autodev post --work-done 'Add new.txt' > .autodev/out\n";
    configure(&repo, "", &[table("builder", &["sh", "-c", script], "")]);
    repo.autodev(["post", &"much to read ".repeat(9_000)]).ok();
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.list().len(), 2);
    assert_restores(&repo, "c1");
}

#[test]
fn an_ask_is_refused_in_words_and_the_turn_goes_on() {
    let repo = repository_with_an_entry();
    let script = json!([
        {"ask": {"call": "k1", "tool": "shell", "input": {"command": "git push"}}},
        {"write": {"path": "new.txt", "text": "new\n"}}, {"claim": "Add new.txt"}, {"end": true}
    ]);
    let builder = scripted(&repo, "builder", &script);
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok().complains("builder: k1 was denied");
    assert_restores(&repo, "c1");
}

#[test]
fn a_restore_or_a_run_from_inside_a_turn_is_refused() {
    let repo = repository_with_an_entry();
    let script = "{ autodev restore c1; echo $?; autodev run nested; echo $?; } > .autodev/said 2>&1 || :
        touch done; autodev post --work-done done\n";
    let builder = shell(&repo, "builder", &script.replace("; echo $?", " || echo $?"));
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    let said = repo.text(".autodev/said");
    assert!(said.contains("from inside a participant's turn (builder)"), "{said}");
    assert!(said.contains("a run is on already (r1, process "), "{said}");
    assert_restores(&repo, "c1");
}

#[test]
fn a_participant_that_removes_the_repository_ends_the_run_with_an_error() {
    let repo = repository_with_an_entry();
    let state = state_folder(&repo);
    configure(&repo, "", &[table("builder", &["sh", "-c", "rm -rf .git"], "")]);
    let gone = format!("error: {} is gone, so the run cannot go on; the files stay as they are", state.display());
    repo.autodev(["run", "do it"]).fails(1).complains(&gone);
    assert_eq!((repo.text("a.txt"), repo.has(".git")), ("a\n".into(), false));
}
