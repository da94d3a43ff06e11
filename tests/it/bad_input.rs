//! Bad input and bad moments: one sentence that says what is wrong, the right exit code, and nothing changed.

use crate::look::Look;
use crate::sandbox::{Ran, Repo, Sandbox, repository_with_a_commit};

/// Runs both commands that change something; each must fail with `code`, say `words`, and change nothing.
#[track_caller]
fn both_refuse(repo: &Repo, code: i32, words: &str) {
    let before = repo.look();
    for arguments in [["checkpoint", "-m", "x"].as_slice(), &["restore", "c1"]] {
        let ran = repo.autodev(arguments).fails(code).mentions(words);
        assert_eq!(ran.stdout, "", "data alone goes to standard output");
        before.assert_same(repo);
    }
}

/// A repository with c1, and a change since.
fn with_c1() -> Repo {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    repo.write("a.txt", "2\n");
    repo
}

#[test]
fn an_ambiguous_prefix_names_the_candidates() {
    let repo = with_c1();
    let text = repo.text(".git/autodev/checkpoints.json");
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let commit = file["checkpoints"][0]["commit"].as_str().unwrap().to_owned();
    let mut second = file["checkpoints"][0].clone();
    second["id"] = "c2".into();
    second["commit"] = format!("{}{}", &commit[..6], "0".repeat(34)).into();
    file["checkpoints"].as_array_mut().unwrap().push(second);
    repo.write(".git/autodev/checkpoints.json", file.to_string());
    let before = repo.look();
    let ran = repo.autodev(["restore", &commit[..5]]).fails(1);
    let line = format!("Restore failed: ambiguous checkpoint: {} could be c2 or c1", &commit[..5]);
    assert_eq!(ran.stderr.lines().next(), Some(line.as_str()));
    before.assert_same(&repo);
    repo.autodev(["restore", "c2"]).fails(1).mentions("Restore failed: the commit ").mentions("c2 is gone");
    before.assert_same(&repo);
}

#[test]
fn a_damaged_list_is_an_error_and_is_not_overwritten() {
    for damage in ["", "{", "[]", "{\"version\":1,\"next\":2,\"checkpoints\":[{\"id\":\"c1\"}]}", "\0\0\0\0"] {
        let repo = with_c1();
        repo.write(".git/autodev/checkpoints.json", damage);
        both_refuse(&repo, 1, "checkpoints.json is damaged");
        repo.autodev(["restore"]).fails(1).mentions("is damaged").mentions("autodev doctor --rebuild");
        assert_eq!(repo.text(".git/autodev/checkpoints.json"), damage);
    }
}

#[test]
fn a_list_from_a_newer_version_is_read_and_not_written() {
    let repo = with_c1();
    let text = repo.text(".git/autodev/checkpoints.json").replacen("\"version\": 1", "\"version\": 9", 1);
    repo.write(".git/autodev/checkpoints.json", &text);
    both_refuse(&repo, 12, "was written by a newer version of autodev");
    assert_eq!(repo.text(".git/autodev/checkpoints.json"), text);
    assert!(repo.autodev(["restore"]).ok().stdout.contains("c1  one"));
}

#[test]
fn other_files_of_a_newer_version_are_not_written_either() {
    for (name, text) in [
        ("project.json", r#"{"version":9,"root":"/","device":0,"inode":0}"#),
        ("state.json", r#"{"version":9,"state":"idle"}"#),
    ] {
        let repo = with_c1();
        repo.write(format!(".git/autodev/{name}"), text);
        let before = repo.look();
        repo.autodev(["restore", "c1"]).fails(12).mentions(name);
        before.assert_same(&repo);
        assert_eq!(repo.text(format!(".git/autodev/{name}")), text);
    }
}

#[test]
fn a_damaged_state_is_found_before_anything_is_changed() {
    for name in ["project.json", "state.json"] {
        let repo = with_c1();
        repo.write(format!(".git/autodev/{name}"), "{\"state\":");
        let before = repo.look();
        repo.autodev(["restore", "c1"]).fails(1).mentions(name).mentions("Restore failed: ");
        before.assert_same(&repo);
        assert_eq!(repo.text(format!(".git/autodev/{name}")), "{\"state\":");
    }
}

#[test]
fn a_wrong_configuration_names_line_and_key() {
    let repo = with_c1();
    repo.write(".autodev/config.toml", "checkpoints = true\nmax_atempts = 3\n");
    both_refuse(&repo, 2, "config.toml");
    let ran = repo.autodev(["checkpoint"]).fails(2);
    assert!(ran.stderr.contains('2') && ran.stderr.contains("max_atempts") && ran.stderr.contains("max_attempts"));
    repo.write(".autodev/config.toml", "checkpoints = \"yes\"\n");
    both_refuse(&repo, 2, "checkpoints");
    repo.write(".autodev/config.toml", "= nonsense\n");
    both_refuse(&repo, 2, "config.toml");
}

#[test]
fn wrong_arguments_exit_with_2() {
    let repo = with_c1();
    let before = repo.look();
    for arguments in
        [["restore", "--dry-run"].as_slice(), &["restore", "c1", "c2"], &["rstore"], &["checkpoint", "--x"]]
    {
        repo.autodev(arguments).fails(2);
    }
    before.assert_same(&repo);
}

#[test]
fn a_bare_repository_has_no_work_tree() {
    let sandbox = Sandbox::new();
    let bare = sandbox.folder("bare.git");
    bare.git(["init", "-q", "--bare"]);
    bare.autodev(["checkpoint"]).fails(1).mentions("bare repository: ").mentions("has no work tree");
    let repo = repository_with_a_commit();
    repo.git(["config", "core.bare", "true"]);
    let before = Look::of_files(&repo);
    repo.autodev(["checkpoint"]).fails(1).mentions("`core.bare` is true").mentions("hint: git config core.bare false");
    repo.autodev(["restore"]).fails(1).mentions("`core.bare` is true");
    before.compare(&Look::of_files(&repo));
}

#[test]
fn inside_the_git_folder_nothing_is_done() {
    let repo = repository_with_a_commit();
    let mut command = repo.program();
    command.current_dir(repo.path(".git/refs")).arg("checkpoint");
    Ran::of(command).fails(1).mentions("is inside a git folder");
}

#[test]
fn the_root_of_the_file_system_and_the_home_folder_are_refused() {
    let sandbox = Sandbox::new();
    let home = sandbox.repository("home");
    home.autodev(["checkpoint"]).fails(1).mentions("your home folder");
    home.remove(".git");
    home.autodev(["restore"]).fails(1).mentions("your home folder");
    let above = sandbox.folder(".");
    above.git(["init", "-q"]);
    above.autodev(["checkpoint"]).fails(1).mentions("a folder above your home folder");
    home.autodev(["--project", "/", "checkpoint"]).fails(1).mentions("the root of the file system");
    assert!(!above.has(".git/autodev"));
}

#[test]
fn a_second_folder_of_autodev_below_the_root_is_refused() {
    let repo = with_c1();
    repo.write("src/.autodev/config.toml", "");
    let before = repo.look();
    let mut command = repo.program();
    command.current_dir(repo.path("src")).arg("checkpoint");
    let ran = Ran::of(command).fails(1).mentions("there is a second ");
    assert!(ran.stderr.contains("project/src/.autodev") && ran.stderr.contains("root is "), "{}", ran.stderr);
    before.assert_same(&repo);
}

#[test]
fn a_branch_in_the_way_of_the_parking_branch_is_named_with_the_key() {
    for script in ["git branch autodev", "git branch autodev; git pack-refs --all"] {
        let repo = with_c1();
        repo.sh(script);
        let before = repo.look();
        let ran = repo.autodev(["restore", "c1"]).fails(1).mentions("`branch_prefix`");
        let line = "Restore failed: the branch `autodev` stands in the way of `autodev/pre-restore-20261130-120000`";
        assert_eq!(ran.stderr.lines().next(), Some(line));
        before.assert_same(&repo);
        repo.write(".autodev/config.toml", "branch_prefix = \"saved\"\n");
        let ran = repo.autodev(["restore", "c1"]).ok();
        assert!(ran.stdout.ends_with("; saved on saved/pre-restore-20261130-120000.\n"), "{}", ran.stdout);
    }
}

#[test]
fn an_operation_in_progress_is_named_with_the_command_that_ends_it() {
    let operations = [
        ("git merge --no-commit --no-ff -q other", "a merge is in progress", "git merge --continue"),
        ("git rebase -q clash || true", "a rebase is in progress", "git rebase --continue"),
        ("git cherry-pick clash || true", "a cherry-pick is in progress", "git cherry-pick --continue"),
        ("git revert --no-edit HEAD^ || true", "a revert is in progress", "git revert --continue"),
        (
            "git bisect start -q HEAD HEAD^^ || git bisect start HEAD HEAD^^",
            "a bisect is in progress",
            "git bisect reset",
        ),
    ];
    for (script, words, ended_by) in operations {
        let repo = repository_with_a_commit();
        repo.sh("git switch -q -c other; echo other > other; git add -A; git commit -q -m other
             git switch -q -c clash main; echo clash > a.txt; git commit -q -a -m clash
             git switch -q main; echo 1 > a.txt; git commit -q -a -m 1; echo 2 > a.txt; git commit -q -a -m 2");
        repo.checkpoint("one");
        repo.sh(&format!("{{ {script}; }} >/dev/null 2>&1"));
        both_refuse(&repo, 1, words);
        repo.autodev(["checkpoint"]).fails(1).mentions(&format!("hint: {ended_by}"));
        repo.autodev(["restore"]).ok();
    }
}

#[test]
fn conflicts_in_the_index_are_refused_also_without_an_operation() {
    let repo = with_c1();
    repo.git(["checkout", "-q", "-f"]);
    repo.write("a.txt", "stashed\n");
    repo.git(["stash", "-q"]);
    repo.write("a.txt", "committed\n");
    repo.commit("other");
    repo.sh("git stash apply -q >/dev/null 2>&1 || true");
    both_refuse(&repo, 1, "the index has conflicts (a.txt is one)");
}

#[test]
fn a_live_lock_of_the_index_is_named_and_left_alone() {
    let repo = with_c1();
    repo.write(".git/index.lock", "theirs");
    both_refuse(&repo, 11, "index.lock");
    assert_eq!(repo.text(".git/index.lock"), "theirs");
    repo.autodev(["restore", "c1", "--dry-run"]).ok();
    repo.remove(".git/index.lock");
    repo.autodev(["restore", "c1"]).ok();
}

#[test]
fn a_lock_of_a_ref_stops_it_and_everything_is_given_back() {
    let repo = with_c1();
    repo.checkpoint("two");
    repo.write("a.txt", "3\n");
    repo.write(".git/refs/heads/main.lock", "");
    let index = repo.read(".git/index");
    let tree = repo.expected_tree(&[]);
    let refs = repo.git(["for-each-ref"]);
    repo.autodev(["restore", "c1"]).fails(1).mentions("Restore failed: ");
    assert_eq!(repo.expected_tree(&[]), tree);
    assert_eq!(repo.read(".git/index"), index);
    assert_eq!(repo.git(["for-each-ref"]), refs);
    assert!(!repo.has(".git/index.lock"));
    repo.autodev(["checkpoint"]).fails(1);
    assert_eq!(repo.read(".git/index"), index);
    assert_eq!(repo.git(["for-each-ref"]), refs);
    repo.remove(".git/refs/heads/main.lock");
    repo.autodev(["restore", "c1"]).ok();
}

#[test]
fn a_reftable_is_refused_in_one_sentence() {
    let repo = Sandbox::new().folder("project");
    repo.git(["init", "-q", "--ref-format=reftable"]);
    repo.write("a.txt", "a\n");
    let head = repo.read(".git/HEAD");
    let ran = repo.autodev(["checkpoint"]).fails(1);
    assert_eq!(ran.stderr, "error: a repository that keeps its refs in a reftable is not supported yet\n");
    assert_eq!(repo.read(".git/HEAD"), head);
    assert!(!repo.has(".git/autodev"));
}

#[test]
fn an_object_that_is_missing_is_named_before_anything_is_changed() {
    let repo = with_c1();
    let blob = repo.rev("HEAD:a.txt");
    repo.remove(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    let before = repo.look();
    repo.autodev(["restore", "c1"]).fails(1).mentions("Restore failed: object ").mentions("a.txt");
    before.assert_same(&repo);
}

#[test]
fn a_damaged_index_is_an_error_and_never_an_empty_one() {
    let repo = with_c1();
    let mut bytes = repo.read(".git/index");
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    repo.write(".git/index", &bytes);
    let (head, files) = (repo.rev("HEAD"), Look::of_files(&repo));
    repo.autodev(["checkpoint"]).fails(1).mentions("index");
    repo.autodev(["restore", "c1"]).fails(1).mentions("index");
    assert_eq!(repo.rev("HEAD"), head);
    assert_eq!(repo.read(".git/index"), bytes);
    files.compare(&Look::of_files(&repo));
}

#[test]
fn an_object_that_is_damaged_is_found_before_anything_is_changed() {
    let repo = with_c1();
    repo.checkpoint("two");
    let blob = repo.rev("HEAD:a.txt");
    let path = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    let mut bytes = repo.read(&path);
    let last = bytes.len() - 3;
    bytes[last] ^= 0xff;
    repo.remove(&path);
    repo.write(&path, bytes);
    let before = repo.look();
    repo.autodev(["restore", "c1"]).fails(1).mentions("could not be read back");
    before.assert_same(&repo);
}

#[test]
fn a_memory_that_cannot_be_written_is_said_and_the_restore_is_done() {
    let repo = with_c1();
    repo.sh("mkdir -p .autodev/memory.md");
    let ran = repo.autodev(["restore", "c1"]).ok().mentions("not everything could be written down: ");
    assert!(ran.stdout.starts_with("Restored to \"one\" ("), "{}", ran.stdout);
    assert_eq!(repo.text("a.txt"), "1\n");
    assert_eq!(repo.list().len(), 2);
    assert!(repo.text(".git/autodev/state.json").contains("idle"));
}
