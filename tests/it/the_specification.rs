//! Every sentence of the specification of checkpoints that can be true without a run, by name and to the letter.

use crate::sandbox::{Sandbox, repository_with_a_commit};

#[test]
fn a_checkpoint_is_a_commit_on_the_current_branch() {
    let repo = repository_with_a_commit();
    repo.git(["switch", "-q", "-c", "work"]);
    let before = repo.rev("HEAD");
    repo.write("a.txt", "changed\n");
    repo.checkpoint("first step");
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]), "refs/heads/work");
    assert_eq!(repo.rev("HEAD^"), before);
    assert_eq!(repo.rev("main"), before);
    assert_eq!(repo.rev("HEAD^{tree}"), repo.expected_tree(&[]));
    assert_eq!(repo.status(), "");
    repo.judge();
}

#[test]
fn its_subject_is_autodev_and_the_label() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "changed\n");
    repo.checkpoint("first step");
    assert_eq!(repo.git(["log", "-1", "--format=%B"]), "autodev: first step");
}

#[test]
fn its_author_is_autodev_so_it_works_without_user_name() {
    let repo = repository_with_a_commit();
    std::fs::write(repo.sandbox.path().join("home/.gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    repo.write("a.txt", "changed\n");
    repo.checkpoint("first step");
    let people = repo.git(["log", "-1", "--format=%an <%ae> %cn <%ce> %ai"]);
    assert_eq!(people, "autodev <autodev@localhost> autodev <autodev@localhost> 2026-11-30 12:00:00 +0000");
}

#[test]
fn it_skips_the_commit_hooks() {
    let repo = repository_with_a_commit();
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout", "post-index-change"]
    {
        repo.sh(&format!(
            "printf '#!/bin/sh\\ntouch ../hook-ran\\nexit 1\\n' > .git/hooks/{hook}; chmod +x .git/hooks/{hook}"
        ));
    }
    repo.write("a.txt", "changed\n");
    let id = repo.checkpoint("first step");
    repo.write("a.txt", "changed again\n");
    repo.autodev(["restore", &id]).ok();
    assert!(!repo.has("../hook-ran"));
}

#[test]
fn a_checkpoint_keeps_everything_but_the_folder_of_autodev() {
    let repo = repository_with_a_commit();
    repo.write(".autodev/memory.md", "learned\n");
    repo.write("new/deep/file", "new\n");
    repo.write("a.txt", "changed\n");
    repo.remove("src/b.txt");
    let id = repo.checkpoint("all");
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", "HEAD"]), "a.txt\nnew/deep/file");
    repo.write("a.txt", "later\n");
    repo.write(".autodev/memory.md", "learned more\n");
    repo.autodev(["restore", &id]).ok();
    assert!(repo.text(".autodev/memory.md").starts_with("learned more\n"), "a restore does not bring back memory.md");
}

#[test]
fn each_checkpoint_has_an_entry_with_id_commit_label_kind_and_time() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "changed\n");
    assert_eq!(repo.checkpoint("first step"), "c1");
    repo.write("a.txt", "changed again\n");
    assert_eq!(repo.checkpoint("second step"), "c2");
    let file: serde_json::Value = serde_json::from_slice(&repo.read(".git/autodev/checkpoints.json")).unwrap();
    assert_eq!(file["version"], 1);
    assert_eq!(file["next"], 3);
    let expected = serde_json::json!({
        "id": "c2", "commit": repo.rev("HEAD"), "label": "second step", "kind": "manual",
        "time": "2026-11-30T12:00:00Z", "branch": "main",
    });
    assert_eq!(file["checkpoints"][1], expected);
}

#[test]
fn checkpoints_need_a_git_repository() {
    let folder = Sandbox::new().folder("plain");
    folder.write("a.txt", "a\n");
    folder.autodev(["checkpoint"]).fails(10).mentions("hint: git init");
    folder.autodev(["restore", "c1"]).fails(10).mentions("Restore failed: ");
    assert!(!folder.has(".git"));
}

#[test]
fn the_key_checkpoints_turns_them_off_and_the_list_says_so() {
    let repo = repository_with_a_commit();
    repo.write(".autodev/config.toml", "checkpoints = false\n");
    repo.write("a.txt", "changed\n");
    let before = repo.look();
    assert_eq!(repo.autodev(["restore"]).ok().stdout, "Checkpoints are off\n");
    repo.autodev(["checkpoint"]).fails(1).mentions("Checkpoints are off");
    before.assert_same(&repo);
}

#[test]
fn restore_without_an_id_lists_the_checkpoints_newest_first() {
    let repo = repository_with_a_commit();
    assert_eq!(repo.autodev(["restore"]).ok().stdout, "No checkpoints yet\n");
    repo.write("a.txt", "1\n");
    repo.autodev_at("2026-11-30T11:00:00Z", ["checkpoint", "-m", "one"]).ok();
    let one = repo.short("HEAD");
    repo.write("a.txt", "2\n");
    repo.autodev_at("2026-11-30T11:57:00Z", ["checkpoint", "-m", "step number two"]).ok();
    let two = repo.short("HEAD");
    let listed = repo.autodev(["restore"]).ok().stdout;
    let expected = format!(
        "● c2  step number two   — · {two} · manual · 3m ago   ← HEAD\n\
         ● c1  one               — · {one} · manual · 1h ago\n"
    );
    assert_eq!(listed, expected);
}

#[test]
fn the_line_of_a_pre_restore_has_its_own_mark_and_head_moves_along() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.short("HEAD");
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    let parked = repo.short("autodev/pre-restore-20261130-120000");
    let expected = format!(
        "⤿ c2  before restore to \"one\"   — · {parked} · pre-restore · now\n\
         ● c1  one                       — · {one} · manual · now   ← HEAD\n"
    );
    assert_eq!(repo.autodev(["restore"]).ok().stdout, expected);
}

#[test]
fn the_marks_are_those_of_the_kinds() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let text = repo.text(".git/autodev/checkpoints.json");
    for (kind, mark) in [("baseline", "─"), ("task", "✔"), ("pre-restore", "⤿"), ("manual", "●")] {
        repo.write(".git/autodev/checkpoints.json", text.replace("\"manual\"", &format!("\"{kind}\"")));
        let listed = repo.autodev(["restore"]).ok().stdout;
        assert!(listed.starts_with(&format!("{mark} c1  one   — · ")), "{listed}");
    }
}

#[test]
fn only_the_newest_entry_at_head_is_marked() {
    let repo = repository_with_a_commit();
    repo.checkpoint("first");
    let text = repo.text(".git/autodev/checkpoints.json");
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut second = file["checkpoints"][0].clone();
    second["id"] = "c2".into();
    file["checkpoints"].as_array_mut().unwrap().push(second);
    file["next"] = 3.into();
    repo.write(".git/autodev/checkpoints.json", file.to_string());
    let listed = repo.autodev(["restore"]).ok().stdout;
    assert_eq!(listed.matches("← HEAD").count(), 1);
    assert!(listed.lines().next().unwrap().ends_with("   ← HEAD"), "{listed}");
    let heads: Vec<bool> = repo.list().iter().map(|entry| entry["head"] == true).collect();
    assert_eq!(heads, [true, false]);
}

#[test]
fn control_characters_in_labels_are_escaped() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("red \u{1b}[31m and\ttab\u{7}");
    let listed = repo.autodev(["restore"]).ok().stdout;
    assert!(listed.contains("red \\u{1b}[31m and\\ttab\\u{7}"), "{listed}");
    repo.write("a.txt", "2\n");
    let said = repo.autodev(["restore", "c1"]).ok().stdout;
    assert!(!said.trim_end().chars().any(char::is_control), "{said:?}");
}

#[test]
fn the_list_as_json_is_an_array_newest_first() {
    let repo = repository_with_a_commit();
    assert_eq!(repo.autodev(["restore", "--json"]).ok().stdout, "[]\n");
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo.checkpoint("two");
    let list = repo.list();
    assert_eq!(list[0]["id"], "c2");
    assert_eq!(list[0]["head"], true);
    assert_eq!(list[1]["commit"], repo.rev("HEAD^"));
    assert_eq!(list[1]["head"], false);
}

#[test]
fn a_changed_tree_is_parked_on_a_branch() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.rev("HEAD");
    repo.write("a.txt", "2\n");
    repo.write("new.txt", "new\n");
    repo.remove("src/b.txt");
    let tree = repo.expected_tree(&[]);
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.rev("autodev/pre-restore-20261130-120000^"), one);
    assert_eq!(repo.rev("autodev/pre-restore-20261130-120000^{tree}"), tree);
    repo.judge();
}

#[test]
fn a_clean_tree_is_reset_directly() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.short("HEAD");
    repo.write("a.txt", "2\n");
    repo.checkpoint("two");
    let said = repo.autodev(["restore", "c1"]).ok().stdout;
    assert_eq!(said, format!("Restored to \"one\" ({one}).\n"));
    assert_eq!(repo.git(["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(repo.list().len(), 2, "c2 holds what was replaced already");
}

#[test]
fn the_branch_the_index_and_the_tree_go_to_the_commit() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.rev("HEAD");
    repo.write("a.txt", "2\n");
    repo.commit("my own");
    repo.write("later.txt", "later\n");
    repo.git(["add", "later.txt"]);
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.rev("main"), one);
    assert_eq!(repo.git(["symbolic-ref", "--short", "HEAD"]), "main");
    assert_eq!(repo.status(), "");
    assert_eq!(repo.text("a.txt"), "1\n");
    assert!(!repo.has("later.txt"));
    repo.judge();
}

#[test]
fn the_list_can_undo_the_restore() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo.write("untracked.txt", "never committed\n");
    repo.autodev(["restore", "c1"]).ok();
    assert!(!repo.has("untracked.txt"));
    let entry = &repo.list()[0];
    assert_eq!(entry["kind"], "pre-restore");
    assert_eq!(entry["label"], "before restore to \"one\"");
    let id = entry["id"].as_str().unwrap().to_owned();
    repo.autodev(["restore", &id]).ok();
    assert_eq!(repo.text("a.txt"), "2\n");
    assert_eq!(repo.text("untracked.txt"), "never committed\n");
    repo.judge();
}

#[test]
fn the_state_becomes_idle_and_the_task_is_cleared() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write(".git/autodev/state.json", r#"{"version":1,"state":"error","task":"build it","problem":"timeout"}"#);
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    let state: serde_json::Value = serde_json::from_slice(&repo.read(".git/autodev/state.json")).unwrap();
    assert_eq!(state["state"], "idle");
    assert!(state.get("task").is_none() && state.get("problem").is_none(), "{state}");
}

#[test]
fn a_line_restore_is_added_to_the_memory() {
    let repo = repository_with_a_commit();
    repo.write(".autodev/memory.md", "learned, without a line feed");
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.short("HEAD");
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    let memory = repo.text(".autodev/memory.md");
    let lines: Vec<&str> = memory.lines().collect();
    assert_eq!(lines[0], "learned, without a line feed");
    assert!(lines[1].starts_with("RESTORE: ") && lines[1].contains(&format!("\"one\" ({one})")), "{memory}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn it_prints_where_it_went_and_where_the_work_is_saved() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let one = repo.short("HEAD");
    repo.write("a.txt", "2\n");
    let ran = repo.autodev(["restore", "c1"]).ok();
    assert_eq!(ran.stdout, format!("Restored to \"one\" ({one}); saved on autodev/pre-restore-20261130-120000.\n"));
}

#[test]
fn a_wrong_id_is_an_unknown_checkpoint() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    let before = repo.look();
    for wrong in ["c9", "nonsense", "c0", "1", "", "c1x", "HEAD", "main"] {
        let ran = repo.autodev(["restore", wrong]).fails(1);
        assert_eq!(ran.stdout, "");
        let line = format!("Restore failed: unknown checkpoint: {wrong}");
        assert_eq!(ran.stderr.lines().next(), Some(line.as_str()));
    }
    before.assert_same(&repo);
}

#[test]
fn when_the_work_cannot_be_parked_nothing_is_brought_back() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo.git(["branch", "autodev"]);
    let before = repo.look();
    repo.autodev(["restore", "c1"]).fails(1).mentions("Restore failed: ");
    before.assert_same(&repo);
}

#[test]
fn it_is_refused_while_a_run_is_on() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    let lock = std::fs::File::create(repo.path(".git/autodev/run.lock")).unwrap();
    lock.lock().unwrap();
    let before = repo.look();
    let ran = repo.autodev(["restore", "c1"]).fails(11);
    let sentence = "Stop the run before restoring — restore resets the project tree";
    assert_eq!(ran.stderr.lines().next(), Some(sentence));
    before.assert_same(&repo);
    drop(lock);
    repo.autodev(["restore", "c1"]).ok();
}

#[test]
fn it_brings_back_neither_thread_nor_events_nor_sessions_nor_memory() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let kept = [(".git/autodev/thread.jsonl", "{\"n\":1}\n"), (".git/autodev/sessions/s1.jsonl", "raw\n")];
    for (path, text) in kept {
        repo.write(path, text);
    }
    let events = repo.text(".git/autodev/events.jsonl");
    repo.write(".autodev/memory.md", "later\n");
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    for (path, text) in kept {
        assert_eq!(repo.text(path), text);
    }
    assert!(repo.text(".git/autodev/events.jsonl").starts_with(&events));
    assert!(repo.text(".autodev/memory.md").starts_with("later\n"));
}

#[test]
fn a_lost_ledger_is_an_empty_list_and_the_commits_stay() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let commit = repo.rev("HEAD");
    repo.remove(".git/autodev/checkpoints.json");
    assert_eq!(repo.autodev(["restore"]).ok().stdout, "No checkpoints yet\n");
    assert_eq!(repo.git(["log", "--grep=^autodev:", "--format=%H"]), commit);
    repo.write("a.txt", "2\n");
    assert_eq!(repo.checkpoint("two"), "c2", "an id is never used again");
}
