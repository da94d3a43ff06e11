//! A run from its baseline to its end: what it keeps, in which order it works, what a participant gets to
//! see, and how runs stay out of each other's way and out of the way of a restore.

use crate::run_sandbox::{
    assert_quiet, assert_restores, configure, honest, lines, scripted, shell, state_folder, status, table, thread,
};
use crate::sandbox::{Ran, Repo, Sandbox, repository_with_a_commit};
use serde_json::{Value, json};

const NO_GIT: &str = "Not a git repository; checkpoints/rollback disabled (git init to enable recovery snapshots)";

fn repository_with_a_builder() -> Repo {
    let repo = repository_with_a_commit();
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    repo
}

#[test]
fn a_changed_tree_gets_a_baseline_by_autodev_itself() {
    let repo = repository_with_a_builder();
    repo.write("a.txt", "changed by the user\n");
    repo.write("untracked.txt", "kept too\n");
    let before = repo.rev("HEAD");
    repo.autodev(["run", "do it"]).ok();
    let list = repo.list();
    let baseline = list.last().unwrap();
    assert_eq!((&baseline["id"], &baseline["kind"]), (&json!("c1"), &json!("baseline")), "{baseline}");
    assert_eq!(baseline["label"], "baseline before run");
    let commit = baseline["commit"].as_str().unwrap();
    let shown = repo.git(["show", "-s", "--format=%s%n%an <%ae>%n%cn <%ce>%n%P", commit]);
    let autodev = "autodev <autodev@localhost>";
    assert_eq!(shown, format!("autodev: baseline before run\n{autodev}\n{autodev}\n{before}"));
    assert_eq!(repo.git(["show", &format!("{commit}:untracked.txt")]), "kept too");
    assert_quiet(&repo);
}

#[test]
fn a_clean_tree_gets_no_baseline() {
    let repo = repository_with_a_builder();
    repo.autodev(["run", "do it"]).ok();
    let kinds: Vec<Value> = repo.list().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["task"]);
    assert_quiet(&repo);
}

#[test]
fn no_hook_runs_and_no_identity_is_needed() {
    let repo = repository_with_a_builder();
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "reference-transaction"] {
        repo.write(format!(".git/hooks/{hook}"), "#!/bin/sh\ntouch \"$(dirname \"$0\")/../hook-ran\"\nexit 1\n");
        repo.sh(&format!("chmod +x .git/hooks/{hook}"));
    }
    std::fs::write(repo.sandbox.path().join("home/.gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    repo.git(["config", "commit.gpgsign", "true"]);
    repo.git(["config", "gpg.program", "false"]);
    repo.write("a.txt", "changed\n");
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.list().len(), 2);
    assert!(!repo.has(".git/hook-ran"));
    repo.sh("rm .git/hooks/*");
    assert_quiet(&repo);
}

#[test]
fn a_run_on_an_unborn_branch_begins_with_its_baseline() {
    let repo = Sandbox::new().repository("project");
    repo.write("a.txt", "a\n");
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.git(["log", "--format=%s"]), "autodev: thread — Add new.txt\nautodev: baseline before run");
    assert_restores(&repo, "c1");
}

#[test]
fn without_git_the_run_says_so_and_goes_on() {
    let repo = Sandbox::new().folder("plain");
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    let ran = repo.autodev(["run", "do it"]).ok().complains(NO_GIT);
    assert_eq!(ran.stderr.matches("Not a git repository").count(), 1, "{}", ran.stderr);
    assert_eq!(repo.text("new.txt"), "new\n");
    repo.autodev(["restore"]).ok().says("Checkpoints are off");
    assert_eq!(status(&repo)["state"], "idle");
    assert_quiet(&repo);
}

#[test]
fn checkpoints_that_are_switched_off_are_off_quietly() {
    for repo in [repository_with_a_commit(), Sandbox::new().folder("plain")] {
        repo.write("a.txt", "changed\n");
        let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
        configure(&repo, "checkpoints = false", &[builder]);
        let before = repo.has(".git").then(|| repo.rev("HEAD"));
        let ran = repo.autodev(["run", "do it"]).ok();
        assert!(!ran.stderr.to_lowercase().contains("git") && !ran.stderr.contains("disabled"), "{}", ran.stderr);
        assert_eq!(before, repo.has(".git").then(|| repo.rev("HEAD")));
        repo.autodev(["restore"]).ok().says("Checkpoints are off");
        assert_quiet(&repo);
    }
}

#[test]
fn a_restore_brings_back_neither_thread_nor_events_nor_sessions_nor_memory() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let script = json!([
        {"say": "hello"}, {"post": "something to remember"},
        {"run": ["sh", "-c", "echo '- learned' >> .autodev/memory.md"]},
        {"write": {"path": "new.txt", "text": "new\n"}}, {"claim": "Add new.txt"}, {"end": true}
    ]);
    let builder = scripted(&repo, "builder", &script);
    configure(&repo, "", &[builder]);
    repo.write(".autodev/memory.md", "- known\n");
    repo.autodev(["run", "do it"]).ok();
    let read = |name: &str| std::fs::read_to_string(state_folder(&repo).join(name)).unwrap();
    let (posts, events, session) = (read("thread.jsonl"), read("events.jsonl"), read("sessions/r1-builder.jsonl"));
    repo.autodev(["restore", &first]).ok();
    assert_eq!(read("thread.jsonl"), posts);
    assert!(read("events.jsonl").starts_with(&events));
    assert_eq!(read("sessions/r1-builder.jsonl"), session);
    let memory = repo.text(".autodev/memory.md");
    let added = memory.strip_prefix("- known\n- learned\n").unwrap();
    assert!(added.starts_with("RESTORE: ") && added.contains("\"first\"") && added.lines().count() == 1, "{added}");
    assert_quiet(&repo);
}

#[test]
fn the_next_turn_reads_in_its_prompt_that_the_code_went_back() {
    let repo = repository_with_a_builder();
    let first = repo.checkpoint("first");
    repo.autodev(["run", "do it"]).ok();
    repo.autodev(["restore", &first]).ok();
    repo.write(".autodev/memory.md", format!("{}{}", "- a line\n".repeat(20_000), repo.text(".autodev/memory.md")));
    let reader = shell(&repo, "reader", "cat > prompt.txt\nautodev post --work-done read\n");
    configure(&repo, "", &[reader]);
    repo.autodev(["run", "read"]).ok();
    let prompt = repo.text("prompt.txt");
    assert!(prompt.contains("\nRESTORE: ") && prompt.contains("went back to \"first\""), "{prompt:.200}");
    assert!(prompt.len() < 100_000, "a memory of any length fits: {}", prompt.len());
    assert_quiet(&repo);
}

#[test]
fn participants_work_in_the_order_of_the_configuration() {
    let repo = repository_with_a_commit();
    let work = |name: &str| {
        let script =
            json!([{"append": {"path": "order.txt", "text": format!("{name}\n")}}, {"claim": name}, {"end": true}]);
        scripted(&repo, name, &script)
    };
    configure(&repo, "", &[work("zoe"), work("adam"), work("mia")]);
    repo.autodev(["run", "line up"]).ok();
    assert_eq!(repo.text("order.txt"), "zoe\nadam\nmia\n");
    let who: Vec<Value> = repo.list().iter().rev().map(|entry| entry["participant"].clone()).collect();
    assert_eq!(who, ["zoe", "adam", "mia"]);
    repo.autodev(["run", "--participant", "adam", "once more"]).ok();
    assert_eq!(repo.text("order.txt"), "zoe\nadam\nmia\nadam\n");
    assert_quiet(&repo);
}

#[test]
fn the_prompt_comes_as_a_line_of_json_or_as_text() {
    let repo = repository_with_a_commit();
    let script = "cat > .autodev/got; date +%N > x; autodev post --work-done read";
    let json_form = table("one", &["sh", "-c", &script.replace("cat", "head -n 1").replace("got", "json")], "");
    let text_form = table("two", &["sh", "-c", &script.replace("got", "text")], "prompt = \"text\"");
    configure(&repo, "verify = [[\"test\", \"-s\", \"x\"]]", &[json_form, text_form]);
    repo.write(".autodev/memory.md", "- remember me\n");
    repo.autodev(["post", "use tabs"]).ok();
    repo.autodev(["run", "sort the list"]).ok();
    let line: Value = serde_json::from_str(&repo.text(".autodev/json")).unwrap();
    let shown = |name: &str| line[name].as_str().unwrap().to_owned();
    assert_eq!((shown("type"), shown("run"), shown("turn")), ("turn".into(), "r1".into(), "t1".into()));
    assert_eq!(shown("cwd"), repo.root.to_str().unwrap());
    for text in [shown("prompt"), repo.text(".autodev/text")] {
        for words in ["sort the list", "user: use tabs", "- remember me", "work_done", "test -s x"] {
            assert!(text.contains(words), "{words:?} is not in {text}");
        }
    }
    assert!(repo.text(".autodev/text").contains("one (work done): read"), "what others said since");
    assert_quiet(&repo);
}

#[test]
fn a_participant_gets_an_environment_of_allowed_names() {
    let repo = repository_with_a_commit();
    let builder = shell(&repo, "builder", "env > .autodev/env; touch done; autodev post --work-done done\n");
    configure(&repo, "", &[builder + "env = [\"API_KEY\"]\n"]);
    let secrets = [("API_KEY", "allowed"), ("OTHER_KEY", "secret"), ("GIT_DIR", "/nowhere"), ("EDITOR", "vi")];
    repo.autodev_with(&secrets, ["run", "look"]).ok();
    let env = repo.text(".autodev/env");
    let value = |name: &str| env.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
    assert_eq!(value("API_KEY"), Some("allowed"));
    assert_eq!((value("OTHER_KEY"), value("EDITOR")), (None, None));
    assert!(!env.lines().any(|line| line.starts_with("GIT_")), "{env}");
    assert_eq!((value("AUTODEV_RUN"), value("AUTODEV_TURN")), (Some("r1"), Some("t1")));
    assert_eq!((value("AUTODEV_PARTICIPANT"), value("AUTODEV_PROJECT")), (Some("builder"), repo.root.to_str()));
    assert_eq!(value("AUTODEV_STATE"), state_folder(&repo).to_str());
    assert_quiet(&repo);
}

#[test]
fn the_program_inside_a_turn_sees_the_same_project_also_without_git() {
    for repo in [repository_with_a_commit(), Sandbox::new().folder("plain")] {
        let look = "autodev status --json > .autodev/seen\ntouch done\nautodev post --work-done done\n";
        let builder = shell(&repo, "builder", look);
        configure(&repo, "", &[builder]);
        repo.autodev(["run", "look"]).ok();
        let seen: Value = serde_json::from_str(&repo.text(".autodev/seen")).unwrap();
        assert_eq!((&seen["state"], &seen["run"]), (&json!("running"), &json!("r1")), "{seen}");
        assert_quiet(&repo);
    }
}

#[test]
fn a_run_from_a_folder_inside_works_at_the_root() {
    let repo = repository_with_a_commit();
    repo.write(".autodev/agent", "#!/bin/sh\npwd > where.txt\nautodev post --work-done done\n");
    repo.sh("chmod +x .autodev/agent");
    configure(&repo, "", &[table("builder", &[".autodev/agent"], "")]);
    let mut command = repo.program();
    command.current_dir(repo.path("src")).args(["run", "where am I"]);
    Ran::of(command).ok();
    assert_eq!(repo.text("where.txt").trim_end(), repo.root.to_str().unwrap());
    assert_quiet(&repo);
}

#[test]
fn all_output_is_kept_raw_in_the_session() {
    let repo = repository_with_a_commit();
    let script = "echo said; echo complained >&2; printf 'caf\\351\\n'; printf '{\"type\":\"wor\\n'\n\
                  touch done; autodev post --work-done done\n";
    let builder = shell(&repo, "builder", script);
    configure(&repo, "", &[builder]);
    repo.autodev(["run", "talk"]).ok();
    let session = lines(&repo, "sessions/r1-builder.jsonl");
    let of = |stream: &str| -> Vec<Value> { session.iter().filter(|line| line["stream"] == stream).cloned().collect() };
    let out = of("out");
    assert_eq!(out[0], json!({"version": 1, "turn": "t1", "stream": "out", "line": "said"}));
    assert_eq!(out[1]["line_b64"], "Y2Fm6Q==", "bytes that are no text are kept as they were: {}", out[1]);
    assert_eq!(out[2]["line"], "{\"type\":\"wor");
    assert_eq!(of("err")[0]["line"], "complained");
    assert_quiet(&repo);
}

#[test]
fn events_are_numbered_without_a_gap() {
    let repo = repository_with_a_builder();
    repo.autodev(["run", "do it"]).ok();
    repo.autodev(["restore", "c1"]).ok();
    let events = lines(&repo, "events.jsonl");
    let numbers: Vec<u64> = events.iter().map(|event| event["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=u64::try_from(events.len()).unwrap()).collect::<Vec<_>>());
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    for name in ["run_started", "turn_started", "turn_ended", "credited", "checkpoint_made", "run_ended"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    assert!(thread(&repo).iter().all(|post| !post.contains("turn_started")), "events are not for participants");
}

#[test]
fn a_configuration_that_changes_meanwhile_is_said_and_not_followed() {
    let changed = ".autodev/config.toml has changed; this run goes on with what it began with";
    // In the last turn as well: what a participant writes there counts from the next run.
    for rest in ["", "two"] {
        let repo = repository_with_a_commit();
        let change = "echo 'verify = [[\"false\"]]' > .autodev/config.toml; touch done; autodev post --work-done done";
        let mut participants = vec![shell(&repo, "one", change)];
        if !rest.is_empty() {
            participants.push(scripted(&repo, rest, &honest("two.txt", "2\n", "Two")));
        }
        configure(&repo, "", &participants);
        let ran = repo.autodev(["run", "change it"]).ok().complains(changed);
        assert_eq!(ran.stderr.matches(changed).count(), 1, "{}", ran.stderr);
        assert!(lines(&repo, "events.jsonl").iter().any(|event| event["event"] == "config_changed"));
        assert_quiet(&repo);
    }
}

#[test]
fn a_memory_that_a_clean_took_is_brought_back_and_that_is_said() {
    let repo = repository_with_a_commit();
    let clean = "git clean -qfdx; touch done; autodev post --work-done done\n";
    let one = table("one", &["sh", "-c", clean], "");
    let two = table("two", &["sh", "-c", &clean.replace("touch done", "touch more")], "");
    configure(&repo, "", &[one, two]);
    repo.write(".autodev/memory.md", "- worth keeping\n");
    let ran = repo.autodev(["run", "clean up"]).ok();
    let said = format!("{} was gone and was brought back", repo.path(".autodev/memory.md").display());
    assert_eq!(ran.stderr.lines().filter(|line| **line == said).count(), 2, "after each turn: {}", ran.stderr);
    assert_eq!(repo.text(".autodev/memory.md"), "- worth keeping\n");
    assert_eq!(repo.status(), "", "and git does not see it");
    assert_quiet(&repo);
}

#[test]
fn a_memory_that_a_clean_took_between_runs_is_brought_back_by_the_next_one() {
    let repo = repository_with_a_builder();
    repo.write(".autodev/memory.md", "- worth keeping\n");
    repo.autodev(["run", "do it"]).ok();
    let config = repo.text(".autodev/config.toml").replace(".autodev/builder.json", "../builder.json");
    std::fs::copy(repo.path(".autodev/builder.json"), repo.root.parent().unwrap().join("builder.json")).unwrap();
    repo.git(["clean", "-qfdx"]);
    repo.write(".autodev/config.toml", config);
    repo.remove("new.txt");
    let said = format!("{} was gone and was brought back", repo.path(".autodev/memory.md").display());
    repo.autodev(["run", "do it again"]).ok().complains(&said);
    assert_eq!(repo.text(".autodev/memory.md"), "- worth keeping\n");
    assert_quiet(&repo);
}

#[test]
fn a_run_in_a_linked_worktree_keeps_to_it() {
    let repo = repository_with_a_commit();
    repo.git(["worktree", "add", "-q", "../linked"]);
    let linked = Repo { sandbox: repo.sandbox.clone(), root: repo.root.parent().unwrap().join("linked") };
    let builder = scripted(&linked, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&linked, "", &[builder]);
    linked.write("a.txt", "changed there\n");
    linked.autodev(["run", "do it"]).ok();
    assert_eq!(linked.git(["log", "-2", "--format=%s"]), "autodev: thread — Add new.txt\nautodev: baseline before run");
    assert_eq!((repo.git(["log", "--format=%s"]), repo.status()), ("first".into(), String::new()));
    assert_eq!(repo.list(), Vec::<Value>::new());
    assert_restores(&linked, "c1");
    repo.judge();
}

#[test]
fn a_run_as_json_is_one_object_on_standard_output() {
    let repo = repository_with_a_builder();
    let run = |repo: &Repo, code| -> Value {
        serde_json::from_str(&repo.autodev(["run", "--json", "do it"]).fails(code).stdout).unwrap()
    };
    let done = run(&repo, 0);
    assert_eq!((&done["run"], &done["end"], &done["problem"]), (&json!("r1"), &json!("done"), &Value::Null));
    assert_eq!(done["checkpoints"][0]["id"], "c1");
    configure(&repo, "", &[table("builder", &["sh", "-c", "echo x > x; exit 3"], "")]);
    let failed = run(&repo, 1);
    assert_eq!((&failed["end"], &failed["problem"]), (&json!("failed"), &json!("builder exited with code 3")));
    assert!(failed["restored"].as_str().unwrap().starts_with("Restored to \"start of r2\" ("), "{failed}");
    assert_quiet(&repo);
}
