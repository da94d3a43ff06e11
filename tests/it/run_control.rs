//! Runs that are on, stopped, interrupted or killed: how they stay out of each other's way and out of the way of
//! a restore, and what they leave behind.

use crate::run_sandbox::{
    Running, Waiter, alive, assert_failed, assert_quiet, assert_restores, configure, honest, scripted, shell,
    state_folder, status, table, thread,
};
use crate::sandbox::{Ran, Repo, repository_with_a_commit};
use serde_json::{Value, json};

fn repository_with_a_builder() -> Repo {
    let repo = repository_with_a_commit();
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    repo
}

#[test]
fn a_restore_is_refused_while_a_run_is_on_and_changes_nothing() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    repo.write("a.txt", "second\n");
    repo.checkpoint("second");
    let waiter = Waiter::new(&repo);
    let builder = shell(&repo, "builder", &format!("{}autodev post --work-done done\n", waiter.script()));
    configure(&repo, "", &[builder]);
    let running = waiter.start(&repo, "wait");
    repo.write("a.txt", "work in progress\n");
    let look = repo.look();
    let refusal = "Stop the run before restoring — restore resets the project tree";
    let ran = repo.autodev(["restore", &first]).fails(11).complains(refusal);
    assert_eq!(ran.stdout, "");
    look.assert_same(&repo);
    assert_eq!(status(&repo)["state"], "running");
    waiter.go_on.write("go\n");
    running.wait().ok();
    assert_restores(&repo, &first);
}

#[test]
fn a_second_run_is_refused_and_names_the_first() {
    let repo = repository_with_a_commit();
    let waiter = Waiter::new(&repo);
    let builder = shell(&repo, "builder", &format!("{}echo x > x; autodev post --work-done done\n", waiter.script()));
    configure(&repo, "", &[builder]);
    let running = waiter.start(&repo, "wait");
    repo.autodev(["doctor"]).ok().says("All agrees");
    repo.autodev(["run", "me too"]).fails(11).mentions("a run is on already (r1, process ");
    assert_eq!(status(&repo)["task"], "wait");
    waiter.go_on.write("go\n");
    running.wait().ok();
    assert_quiet(&repo);
}

#[test]
fn a_restore_sets_the_state_idle_and_clears_the_task() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    configure(&repo, "", &[table("builder", &["false"], "")]);
    let ran = repo.autodev(["run", "the task"]);
    assert_failed(&repo, &ran, "builder exited with code 1");
    assert_eq!(status(&repo)["task"], "the task");
    repo.autodev(["restore", &first]).ok();
    let status = status(&repo);
    assert_eq!((&status["state"], &status["task"], &status["problem"]), (&json!("idle"), &Value::Null, &Value::Null));
    assert_quiet(&repo);
}

#[test]
fn a_killed_run_is_noticed_and_a_survivor_stands_in_the_way_of_a_restore() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let waiter = Waiter::new(&repo);
    // The survivor closes nothing and listens to nobody; only the test ends it.
    let builder = shell(&repo, "builder", &format!("trap '' PIPE HUP\n{}", waiter.script()));
    configure(&repo, "", &[builder]);
    let running = waiter.start(&repo, "wait");
    repo.write("a.txt", "half done\n");
    running.signal(&repo, "KILL");
    assert_eq!(running.wait().code, None);
    let ran = repo.autodev(["status", "--json"]).ok();
    assert_eq!(ran.stderr, "r1 was cut off in turn t1 of builder; the files are as it left them\n");
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap()["state"], "idle");
    let survivors = alive(&repo);
    assert_eq!(survivors.len(), 1, "{survivors:?}");
    let pid = survivors[0].split(' ').next().unwrap();
    let look = repo.look();
    let line = format!("Restore failed: sh (process {pid}) of an earlier run is still at work in this folder");
    repo.autodev(["restore", &first]).fails(11).complains(&line);
    look.assert_same(&repo);
    let survivor = format!("sh (pid {pid}) of an earlier run is still at work; to end it: kill {pid}");
    repo.autodev(["stop"]).ok().says("No run is on").complains(&survivor);
    waiter.go_on.write("go\n");
    let start = std::time::Instant::now();
    while !alive(&repo).is_empty() {
        assert!(start.elapsed().as_secs() < 60);
    }
    assert_restores(&repo, &first);
}

/// A participant that starts what is hard to find, then waits.
fn stubborn(repo: &Repo, waiter: &Waiter) -> String {
    let script = format!(
        "trap '' TERM INT HUP
        setsid --fork sh -c 'sleep 600; :'
        (setsid sh -c 'sleep 600; :' &)
        env -i PATH=\"$PATH\" setsid --fork sh -c 'trap \"\" TERM; echo $$ > .autodev/hidden; sleep 600; :'
        while ! test -s .autodev/hidden; do :; done
        echo half > half.txt\n{}",
        waiter.script()
    );
    shell(repo, "builder", &script)
}

/// What must be true after a run was stopped.
fn assert_stopped(repo: &Repo, ran: &Ran, first: &str) {
    assert_eq!(ran.code, Some(130), "{ran:?}");
    let status = status(repo);
    assert_eq!((&status["state"], &status["task"], &status["problem"]), (&json!("idle"), &Value::Null, &Value::Null));
    assert_eq!(repo.text("half.txt"), "half\n", "the files stay as they are");
    let hidden = repo.text(".autodev/hidden");
    assert!(!std::path::Path::new(&format!("/proc/{}", hidden.trim())).exists(), "{hidden} is alive");
    assert_restores(repo, first);
}

#[test]
fn stop_ends_everyone_and_leaves_the_files() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let waiter = Waiter::new(&repo);
    let builder = stubborn(&repo, &waiter);
    configure(&repo, "", &[builder]);
    let running = waiter.start(&repo, "wait");
    repo.autodev(["stop"]).ok().says("Stopped r1; the files stay as they are");
    assert_stopped(&repo, &running.wait(), &first);
    repo.autodev(["stop"]).ok().says("No run is on");
}

#[test]
fn two_times_ctrl_c_ends_everyone_without_grace() {
    let repo = repository_with_a_commit();
    let first = repo.checkpoint("first");
    let waiter = Waiter::new(&repo);
    let builder = stubborn(&repo, &waiter);
    configure(&repo, "", &[builder]);
    let running = waiter.start(&repo, "wait");
    running.signal(&repo, "INT");
    running.signal(&repo, "INT");
    assert_stopped(&repo, &running.wait(), &first);
}

#[test]
fn a_run_that_is_on_can_be_asked_for_its_state_and_posted_to() {
    let repo = repository_with_a_commit();
    let waiter = Waiter::new(&repo);
    let script = json!({"turns": [
        [{"run": ["sh", "-c", waiter.script()]}, {"end": true}],
        [{"run": ["sh", "-c", "touch done"]}, {"claim": "done"}, {"end": true}]
    ]});
    let builder = scripted(&repo, "builder", &script);
    configure(&repo, "", &[builder]);
    let running = Running::start(&repo, &["run", "wait"]);
    waiter.here.read();
    let status = status(&repo);
    assert_eq!((&status["state"], &status["turn"]), (&json!("running"), &json!("t1")), "{status}");
    assert_eq!((&status["participant"], &status["task"]), (&json!("builder"), &json!("wait")), "{status}");
    repo.autodev(["post", "hurry up"]).ok();
    waiter.go_on.write("go\n");
    running.wait().ok();
    assert!(thread(&repo).contains(&"user post: hurry up".to_owned()));
    assert_quiet(&repo);
}

#[test]
fn ctrl_c_in_the_middle_of_the_baseline_lets_it_be_finished_and_then_stops() {
    let repo = repository_with_a_commit();
    let waiter = Waiter::new(&repo);
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    configure(&repo, "", &[builder]);
    // git waits, in a filter of the user's; a terminal sends its signal to everyone in the group.
    repo.write(".git/info/attributes", "a.txt filter=wait\n");
    repo.write(".git/wait.sh", format!("test -e .git/waited && exec cat\n: > .git/waited\n{}cat\n", waiter.script()));
    repo.write("a.txt", "changed\n");
    repo.git(["config", "filter.wait.clean", "sh .git/wait.sh"]);
    let running = Running::start_in_a_group(&repo, &["run", "wait"]);
    waiter.here.read();
    running.signal_group(&repo, "INT");
    waiter.go_on.write("go\n");
    let ran = running.wait();
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!(status(&repo)["state"], "idle");
    assert_eq!((repo.text("a.txt"), repo.has("new.txt")), ("changed\n".into(), false));
    repo.git(["config", "--remove-section", "filter.wait"]);
    assert_restores(&repo, "c1");
}

#[test]
fn a_baseline_that_a_lock_stands_in_the_way_of_ends_the_run_before_its_first_turn() {
    let repo = repository_with_a_builder();
    repo.write("a.txt", "changed\n");
    repo.write(".git/index.lock", "");
    repo.autodev(["run", "do it"]).fails(11).mentions("index.lock");
    assert_eq!(status(&repo)["state"], "error");
    assert!(!repo.has("new.txt"));
    repo.remove(".git/index.lock");
    repo.autodev(["run", "do it"]).ok();
    assert_restores(&repo, "c1");
}

#[test]
fn ctrl_c_during_verify_is_a_stop() {
    let repo = repository_with_a_commit();
    let waiter = Waiter::new(&repo);
    let builder = scripted(&repo, "builder", &honest("new.txt", "new\n", "Add new.txt"));
    repo.write(".autodev/verify.sh", waiter.script());
    configure(&repo, "verify = [[\"sh\", \".autodev/verify.sh\"]]", &[builder]);
    let running = waiter.start(&repo, "wait");
    running.signal(&repo, "INT");
    let ran = running.wait();
    assert_eq!((ran.code, &status(&repo)["state"]), (Some(130), &json!("idle")), "{ran:?}");
    assert_eq!((repo.text("new.txt"), repo.list().len()), ("new\n".into(), 0));
    assert_quiet(&repo);
}

#[test]
fn a_state_that_cannot_be_read_is_named_and_not_overwritten() {
    let repo = repository_with_a_builder();
    repo.checkpoint("first");
    for (name, text) in [("state.json", "{\"version\":1,\"sta"), ("checkpoints.json", "[]x"), ("project.json", "")] {
        let file = state_folder(&repo).join(name);
        let before = std::fs::read(&file).ok();
        std::fs::write(&file, text).unwrap();
        let ran = repo.autodev(["run", "do it"]).fails(1);
        assert!(ran.stderr.contains(name), "{}", ran.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "{name}");
        match before {
            Some(bytes) => std::fs::write(&file, bytes).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
    }
    repo.autodev(["run", "do it"]).ok();
    assert_restores(&repo, "c1");
}

#[test]
fn a_state_of_a_newer_version_is_not_written_and_that_has_its_exit_code() {
    let repo = repository_with_a_builder();
    repo.checkpoint("first");
    for name in ["checkpoints.json", "project.json"] {
        let file = state_folder(&repo).join(name);
        let before = std::fs::read_to_string(&file).unwrap();
        let newer =
            before.replacen("\"version\": 1", "\"version\": 99", 1).replacen("\"version\":1", "\"version\":99", 1);
        assert_ne!(before, newer);
        std::fs::write(&file, &newer).unwrap();
        repo.autodev(["run", "do it"]).fails(12).mentions(name);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), newer);
        std::fs::write(&file, before).unwrap();
    }
    assert!(!repo.has("new.txt"));
    assert_restores(&repo, "c1");
}

#[test]
fn a_cut_off_run_of_a_newer_version_can_be_looked_at_and_is_left_alone() {
    let repo = repository_with_a_builder();
    repo.checkpoint("first");
    let file = state_folder(&repo).join("state.json");
    let newer = "{\"version\": 99, \"state\": \"running\", \"run\": \"r7\", \"new\": true}";
    std::fs::write(&file, newer).unwrap();
    assert_eq!(status(&repo)["run"], "r7");
    repo.autodev(["run", "do it"]).fails(12).mentions("state.json");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), newer);
    assert_quiet(&repo);
}
