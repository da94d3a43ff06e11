//! The thread: who can say something, where it is kept, and who reads it.

use crate::run_sandbox::{
    assert_quiet, assert_restores, configure, honest, lines, scripted, shell, state_folder, status, thread,
};
use crate::sandbox::{Ran, Sandbox, repository_with_a_commit};
use serde_json::{Value, json};

#[test]
fn a_post_of_the_user_is_numbered_dated_and_in_the_next_prompt() {
    let repo = repository_with_a_commit();
    repo.autodev(["post", "use tabs"]).ok().says("Posted as user");
    let post: Value = serde_json::from_str(&repo.autodev(["post", "--json", "and\nno spaces"]).ok().stdout).unwrap();
    assert_eq!((&post["n"], &post["author"], &post["kind"]), (&json!(2), &json!("user"), &json!("post")), "{post}");
    assert_eq!(post["time"], "2026-11-30T12:00:00Z");
    assert_eq!(lines(&repo, "thread.jsonl")[1], post);
    let builder = shell(&repo, "builder", "cat > prompt.txt; autodev post --work-done read\n");
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "read"]).ok();
    let prompt = repo.text("prompt.txt");
    assert!(prompt.contains("user: use tabs") && prompt.contains("user: and\n  no spaces\n"), "{prompt}");
    assert_quiet(&repo);
}

#[test]
fn a_post_of_a_participant_carries_its_name_run_and_turn() {
    let repo = repository_with_a_commit();
    let builder = shell(&repo, "builder", "touch done; autodev post hello; autodev post --work-done done\n");
    let speaker = scripted(
        &repo,
        "speaker",
        &json!([
            {"post": "hello, all"}, {"write": {"path": "x", "text": "x"}}, {"claim": "spoke"}, {"end": true}
        ]),
    );
    configure(&repo, "", &[builder, speaker]);
    repo.autodev(["run", "talk"]).ok();
    let said = ["builder post: hello", "builder claim: done", "speaker post: hello, all", "speaker claim: spoke"];
    assert_eq!(thread(&repo), said);
    for (post, turn) in lines(&repo, "thread.jsonl").iter().zip(["t1", "t1", "t2", "t2"]) {
        assert_eq!((&post["run"], &post["turn"]), (&json!("r1"), &json!(turn)), "{post}");
    }
    assert_quiet(&repo);
}

#[test]
fn a_post_from_any_folder_inside_a_turn_reaches_the_thread_of_its_run() {
    let repo = repository_with_a_commit();
    let script = "touch done; cd /; autodev post --work-done 'from afar'\n";
    let builder = shell(&repo, "builder", script);
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "travel"]).ok();
    assert_eq!(thread(&repo), ["builder claim: from afar"]);
    assert_quiet(&repo);
}

#[test]
fn a_claim_outside_of_a_turn_and_an_empty_post_are_refused() {
    let repo = repository_with_a_commit();
    let belongs = "error: --work-done belongs inside a participant's turn, and there is none here";
    repo.autodev(["post", "--work-done", "done"]).fails(2).complains(belongs);
    repo.autodev(["post", " \n"]).fails(2).complains("error: a post needs a text");
    assert_eq!(thread(&repo), Vec::<String>::new());
    assert_quiet(&repo);
}

#[test]
fn a_participant_is_not_told_again_what_it_has_read() {
    let repo = repository_with_a_commit();
    let script = "cat > .autodev/prompt-$AUTODEV_TURN; echo x >> x
        test $AUTODEV_TURN = t1 || autodev post --work-done done\n";
    let builder = shell(&repo, "builder", script);
    configure(&repo, "", &[builder]);
    repo.autodev(["post", "once is enough"]).ok();
    repo.autodev(["run", "read"]).ok();
    assert!(repo.text(".autodev/prompt-t1").contains("once is enough"));
    let second = repo.text(".autodev/prompt-t2");
    assert!(!second.contains("once is enough") && second.contains("your work was not credited"), "{second}");
    assert_quiet(&repo);
}

#[test]
fn many_posts_at_once_are_all_there_and_numbered() {
    let repo = repository_with_a_commit();
    let children: Vec<_> = (0..8)
        .map(|n| {
            repo.program().args(["post", &format!("post {n}")]).stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let numbers: Vec<u64> = lines(&repo, "thread.jsonl").iter().map(|post| post["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    assert_quiet(&repo);
}

#[test]
fn what_participants_say_does_nothing_to_a_terminal() {
    let repo = repository_with_a_commit();
    let script = json!([{"say": "\u{1b}[2J"}, {"post": "\u{1b}]0;title\u{7}"}, {"exit": 3}]);
    let builder = scripted(&repo, "b", &script);
    configure(&repo, "", &[builder]);
    repo.autodev(["post", "\u{1b}[31mred"]).ok();
    let ran = repo.autodev(["--color", "always", "run", "\u{1b}[1mbold"]).fails(1);
    let status = repo.autodev(["--color", "always", "status"]).ok();
    for text in [ran.stdout, ran.stderr, status.stdout] {
        assert!(!text.contains("\u{1b}[2J") && !text.contains("\u{1b}]0") && !text.contains("\u{1b}[1mb"), "{text:?}");
        assert!(!text.contains("\u{1b}[31mred") && !text.contains('\u{7}'), "{text:?}");
    }
    assert_quiet(&repo);
}

#[test]
fn status_says_that_a_stopped_run_can_be_rewound() {
    let repo = repository_with_a_commit();
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    let needs = "  1 restore point(s) — rewind now that the run is stopped: autodev restore";
    repo.autodev(["status"]).ok().says("state    idle").says("Needs you").says(needs);
    assert_eq!(status(&repo)["needs_you"][0], needs.trim());
    assert_restores(&repo, "c1");
}

#[test]
fn status_of_a_folder_that_nothing_was_done_in_is_idle_and_writes_nothing() {
    for repo in [repository_with_a_commit(), Sandbox::new().folder("plain")] {
        assert_eq!(status(&repo)["state"], "idle");
        repo.autodev(["status"]).ok().says("state    idle");
        repo.autodev(["stop"]).ok().says("No run is on");
        assert!(!repo.has(".autodev") && !repo.has(".git/autodev"));
    }
}

#[test]
fn stop_spares_the_process_that_has_the_pid_of_a_killed_run_now() {
    let repo = repository_with_a_commit();
    let mut bystander = repo.command("sleep").arg("600").spawn().unwrap();
    let state = state_folder(&repo);
    std::fs::create_dir(&state).unwrap();
    std::fs::write(state.join("run.lock"), format!("{} r1\n", bystander.id())).unwrap();
    // A restore holds the lock for a moment, too.
    let lock = std::fs::File::open(state.join("run.lock")).unwrap();
    lock.lock().unwrap();
    let ran: Ran = repo.autodev(["stop"]);
    assert!(bystander.try_wait().unwrap().is_none(), "it was ended: {ran:?}");
    ran.ok().says("No run is on");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}
