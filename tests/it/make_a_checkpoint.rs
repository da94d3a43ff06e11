//! Making a checkpoint: what a commit holds, what it leaves out, and that the real git agrees on the tree.

use crate::sandbox::{Sandbox, checkpoint_as_git_would, has_tool, repository_with_a_commit};

#[test]
fn with_nothing_changed_it_makes_an_entry_for_head_and_then_names_it() {
    let repo = repository_with_a_commit();
    let head = repo.rev("HEAD");
    assert_eq!(repo.checkpoint("as it is"), "c1");
    assert_eq!(repo.rev("HEAD"), head);
    assert_eq!(repo.list()[0]["commit"], *head);
    let before = repo.look();
    repo.autodev(["checkpoint"]).ok().says("Nothing has changed since c1, which holds HEAD");
    before.assert_same(&repo);
    assert_eq!(repo.list().len(), 1);
}

#[test]
fn as_json_it_prints_the_new_entry() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.write(".env", "secret\n");
    let ran = repo.autodev(["checkpoint", "-m", "one", "--json"]).ok();
    let entry: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(entry["id"], "c1");
    assert_eq!(entry["commit"], *repo.rev("HEAD"));
    assert_eq!(entry["skipped"], serde_json::json!([{"path": ".env", "reason": "secret"}]));
}

#[test]
fn what_was_staged_is_held_under_u() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "staged\n");
    repo.git(["add", "a.txt"]);
    repo.write("a.txt", "unstaged\n");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["show", "refs/autodev/main/u/1/index:a.txt"]), "staged");
    assert_eq!(repo.git(["show", "refs/autodev/main/u/1/work:a.txt"]), "unstaged");
}

#[test]
fn without_a_split_nothing_is_held() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "staged\n");
    repo.git(["add", "-A"]);
    checkpoint_as_git_would(&repo);
    repo.write("a.txt", "unstaged\n");
    repo.checkpoint("two");
    assert_eq!(repo.git(["for-each-ref", "refs/autodev/main/u"]), "");
}

#[test]
fn a_path_that_was_only_announced_is_read() {
    let repo = repository_with_a_commit();
    repo.write("announced", "content\n");
    repo.write("gone", "gone\n");
    repo.git(["add", "-N", "announced", "gone"]);
    repo.remove("gone");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["show", "HEAD:announced"]), "content");
}

#[test]
fn an_announced_path_that_is_seen_only_through_a_link_is_not_there() {
    let repo = repository_with_a_commit();
    repo.write("folder/file", "content\n");
    repo.git(["add", "-N", "folder/file"]);
    repo.sh("mv folder real; ln -s real folder");
    repo.checkpoint("one");
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", "HEAD"]), "a.txt\nfolder\nreal/file\nsrc/b.txt");
    assert_eq!(repo.status(), "");
}

#[test]
fn on_an_unborn_branch_it_makes_the_first_commit() {
    let repo = Sandbox::new().repository("project");
    repo.autodev(["checkpoint"]).fails(1).mentions("there is nothing to hold yet");
    repo.write("a.txt", "a\n");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]), "refs/heads/main");
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("a.txt"), "a\n");
}

#[test]
fn a_staged_file_on_an_unborn_branch_is_held_too() {
    let repo = Sandbox::new().repository("project");
    repo.write("a.txt", "staged\n");
    repo.git(["add", "a.txt"]);
    repo.write("a.txt", "unstaged\n");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["show", "refs/autodev/main/u/1/index:a.txt"]), "staged");
}

#[test]
fn a_detached_head_moves_and_no_branch_does() {
    let repo = repository_with_a_commit();
    repo.git(["switch", "-q", "--detach"]);
    let main = repo.rev("main");
    repo.write("a.txt", "1\n");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.rev("main"), main);
    assert_eq!(repo.rev("HEAD^"), main);
}

#[test]
fn no_hook_ever_runs() {
    let repo = repository_with_a_commit();
    let names = "pre-commit commit-msg post-commit reference-transaction post-index-change post-checkout pre-auto-gc";
    let script = "for name in $NAMES; do for folder in .git/hooks ../hooks; do mkdir -p $folder
        printf '#!/bin/sh\\ntouch '$PWD'/../hook-ran\\nexit 1\\n' > $folder/$name; chmod +x $folder/$name; done; done";
    repo.sh(&format!("NAMES='{names}'; {script}"));
    for path in ["", "../hooks"] {
        if !path.is_empty() {
            repo.git(["config", "core.hooksPath", path]);
        }
        repo.write("a.txt", format!("1 {path}\n"));
        let id = repo.checkpoint("one");
        repo.write("a.txt", "2\n");
        repo.autodev(["restore", &id]).ok();
        assert!(!repo.has("../hook-ran"));
    }
}

#[test]
fn nothing_is_signed() {
    let repo = repository_with_a_commit();
    repo.git(["config", "commit.gpgSign", "true"]);
    repo.git(["config", "gpg.program", "false"]);
    repo.git(["config", "commit.template", "/nonexistent"]);
    repo.write("a.txt", "1\n");
    checkpoint_as_git_would(&repo);
    assert!(!repo.git(["cat-file", "commit", "HEAD"]).contains("gpgsig"));
}

#[test]
fn safecrlf_fails_no_capture() {
    let repo = repository_with_a_commit();
    repo.git(["config", "core.autocrlf", "input"]);
    repo.git(["config", "core.safecrlf", "true"]);
    repo.write("mixed.txt", "one\r\ntwo\n");
    repo.checkpoint("one");
    assert_eq!(repo.git(["show", "HEAD:mixed.txt"]), "one\ntwo");
}

#[test]
fn autocrlf_is_followed_both_ways() {
    let repo = Sandbox::new().repository("project");
    repo.git(["config", "core.autocrlf", "true"]);
    repo.write("dos.txt", "one\r\ntwo\r\n");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["cat-file", "blob", "HEAD:dos.txt"]), "one\ntwo");
    repo.write("dos.txt", "three\r\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("dos.txt"), "one\r\ntwo\r\n");
    assert_eq!(repo.status(), "");
}

#[test]
fn encodings_and_ident_come_back_as_git_writes_them() {
    let repo = Sandbox::new().repository("project");
    repo.write(".gitattributes", "*.txt working-tree-encoding=UTF-16LE eol=lf\n*.c ident\n");
    let text: Vec<u8> = "grün\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    repo.write("a.txt", &text);
    repo.write("b.c", "$Id$\n");
    checkpoint_as_git_would(&repo);
    repo.remove("a.txt");
    repo.write("b.c", "other\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.read("a.txt"), text);
    assert!(repo.text("b.c").starts_with("$Id: "));
    assert_eq!(repo.status(), "");
}

#[test]
fn an_edit_of_equal_size_in_the_same_tick_is_seen() {
    let repo = repository_with_a_commit();
    for number in 10..40 {
        repo.write("a.txt", format!("{number}\n"));
        repo.checkpoint("racy");
        assert_eq!(repo.git(["show", "HEAD:a.txt"]), number.to_string());
    }
    for number in 10..40 {
        repo.write("a.txt", format!("{number}\n"));
        repo.autodev(["restore", "c1"]).ok();
        assert_eq!(repo.text("a.txt"), "10\n");
        assert_eq!(repo.status(), "");
    }
}

#[test]
fn an_edit_of_equal_size_and_time_is_seen() {
    let repo = repository_with_a_commit();
    repo.sh("printf 1 > a.txt; touch -d 2020-01-01T00:00:00Z a.txt");
    repo.checkpoint("one");
    for number in 2..10 {
        repo.sh(&format!("printf {number} > a.txt; touch -d 2020-01-01T00:00:00Z a.txt"));
        repo.checkpoint("again");
        assert_eq!(repo.git(["show", "HEAD:a.txt"]), number.to_string());
    }
    repo.sh("printf 3 > new; touch -d 2020-01-01T00:00:00Z new; mv new a.txt");
    repo.git(["config", "core.trustctime", "false"]);
    repo.git(["config", "core.checkStat", "minimal"]);
    repo.checkpoint("three");
    assert_eq!(repo.git(["show", "HEAD:a.txt"]), "3");
}

#[test]
fn a_tracked_file_that_is_ignored_is_held() {
    let repo = repository_with_a_commit();
    repo.write("build.log", "1\n");
    repo.commit("tracked");
    repo.write(".gitignore", "*.log\n");
    repo.write("build.log", "2\n");
    repo.write("other.log", "ignored\n");
    checkpoint_as_git_would(&repo);
    assert_eq!(repo.git(["show", "HEAD:build.log"]), "2");
    repo.remove("build.log");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!((repo.text("build.log"), repo.text("other.log")), ("2\n".into(), "ignored\n".into()));
}

#[test]
fn settings_of_status_hide_nothing() {
    let repo = repository_with_a_commit();
    for (key, value) in [
        ("status.showUntrackedFiles", "no"),
        ("status.relativePaths", "true"),
        ("status.renames", "copies"),
        ("status.branch", "true"),
        ("status.short", "true"),
        ("status.showStash", "true"),
        ("core.quotePath", "true"),
        ("color.ui", "always"),
        ("diff.ignoreSubmodules", "all"),
        ("core.preloadIndex", "false"),
    ] {
        repo.git(["config", key, value]);
    }
    repo.write("new/file", "new\n");
    repo.write("a.txt", "1\n");
    checkpoint_as_git_would(&repo);
    repo.write("later", "later\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.status(), "");
    assert!(!repo.has("later"));
}

#[test]
fn indexes_of_all_kinds_are_read() {
    for setup in [
        "git config core.splitIndex true; git update-index --split-index",
        "git config core.untrackedCache true; git update-index --untracked-cache",
        "git config index.version 4; git update-index --index-version 4",
        "git config feature.manyFiles true; git update-index --force-write-index",
    ] {
        let repo = repository_with_a_commit();
        repo.sh(setup);
        repo.write("new/file", "new\n");
        repo.write("a.txt", "1\n");
        repo.git(["add", "a.txt"]);
        repo.write("a.txt", "2\n");
        checkpoint_as_git_would(&repo);
        assert_eq!(repo.git(["show", "refs/autodev/main/u/1/index:a.txt"]), "1", "{setup}");
        repo.write("a.txt", "3\n");
        repo.write("later", "later\n");
        repo.sh(setup);
        repo.autodev(["restore", "c1"]).ok();
        assert_eq!(repo.status(), "", "{setup}");
        assert_eq!((repo.text("a.txt"), repo.has("later")), ("2\n".into(), false), "{setup}");
        repo.judge();
    }
}

#[test]
fn a_git_init_over_tracked_files_hides_none_of_them() {
    let repo = repository_with_a_commit();
    repo.git(["init", "-q", "src"]);
    repo.write("src/b.txt", "2\n");
    repo.checkpoint("one");
    assert_eq!(repo.git(["show", "HEAD:src/b.txt"]), "2");
    repo.write("src/b.txt", "3\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("src/b.txt"), "2\n");
    assert!(repo.has("src/.git/HEAD"));
}

#[test]
fn marks_that_hide_a_file_from_git_are_followed_and_kept() {
    let repo = repository_with_a_commit();
    repo.git(["update-index", "--assume-unchanged", "a.txt"]);
    repo.git(["update-index", "--skip-worktree", "src/b.txt"]);
    repo.write("a.txt", "local\n");
    repo.remove("src");
    repo.write("new", "new\n");
    repo.checkpoint("one");
    assert_eq!(repo.git(["show", "HEAD:a.txt"]), "a");
    assert_eq!(repo.git(["show", "HEAD:src/b.txt"]), "b");
    assert_eq!(repo.git(["ls-files", "-v"]), "h a.txt\nH new\nS src/b.txt");
    assert_eq!(repo.text("a.txt"), "local\n");
}

#[test]
fn a_sparse_checkout_deletes_nothing() {
    let repo = repository_with_a_commit();
    repo.write("docs/d.txt", "d\n");
    repo.commit("docs");
    repo.git(["sparse-checkout", "set", "--cone", "--sparse-index", "docs"]);
    assert!(!repo.has("src"));
    repo.write("docs/d.txt", "1\n");
    repo.checkpoint("one");
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", "HEAD"]), "a.txt\ndocs/d.txt\nsrc/b.txt");
    assert!(!repo.has("src"));
    repo.write("docs/d.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("docs/d.txt"), "1\n");
    assert!(!repo.has("src"));
    assert_eq!(repo.status(), "");
    repo.judge();
}

#[test]
fn sha256_repositories_work_the_same() {
    let repo = Sandbox::new().folder("project");
    repo.git(["init", "-q", "--object-format=sha256"]);
    repo.write("a.txt", "a\n");
    checkpoint_as_git_would(&repo);
    repo.write("a.txt", "2\n");
    repo.write("new", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("a.txt"), "a\n");
    assert_eq!(repo.rev("HEAD").len(), 64);
    repo.judge();
}

#[test]
fn an_empty_label_still_names_the_checkpoint() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    repo.autodev(["checkpoint", "-m", "first line\nsecond line"]).ok();
    assert_eq!(repo.list()[0]["label"], "first line");
    repo.write("a.txt", "2\n");
    repo.autodev(["checkpoint", "-m", " \n "]).ok();
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "autodev: checkpoint");
    assert_eq!(repo.list()[0]["label"], "checkpoint");
}

#[test]
fn it_works_from_a_folder_inside_and_through_a_link() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    let mut command = repo.program();
    command.current_dir(repo.path("src")).args(["checkpoint", "-m", "from inside"]);
    crate::sandbox::Ran::of(command).ok().says("c1");
    repo.sh("ln -s project ../link");
    repo.write("a.txt", "2\n");
    let mut command = repo.program();
    command.current_dir(repo.path("..")).args(["--project", "link/src", "checkpoint", "-m", "through a link"]);
    crate::sandbox::Ran::of(command).ok().says("c2");
    assert_eq!(repo.list().len(), 2);
}

#[test]
fn a_second_capture_opens_no_file_that_stayed_dirty() {
    if !has_tool("strace") {
        return;
    }
    let repo = repository_with_a_commit();
    for number in 0..50 {
        repo.write(format!("dirty/{number}"), "clean\n");
    }
    repo.checkpoint("one");
    for number in 0..50 {
        repo.write(format!("dirty/{number}"), format!("changed {number}\n"));
        repo.write(format!("untracked/{number}"), format!("new {number}\n"));
    }
    repo.sh("touch -d 2020-01-01T00:00:00Z dirty/* untracked/*");
    repo.autodev(["restore", "c1", "--dry-run"]).ok();
    let trace = repo.path("../trace");
    let mut command = repo.program();
    let program = command.get_program().to_owned();
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command = repo.command("strace");
    command.env_clear().envs(environment).args(["-f", "-qq", "-e", "trace=open,openat,openat2", "-o"]).arg(&trace);
    command.arg(program).args(["restore", "c1", "--dry-run"]);
    let ran = crate::sandbox::Ran::of(command).ok();
    assert_eq!(ran.stdout.lines().count(), 100);
    let trace = std::fs::read_to_string(trace).unwrap();
    let opened: Vec<&str> =
        trace.lines().filter(|line| line.contains("dirty/") || line.contains("untracked/")).collect();
    let files: Vec<&&str> =
        opened.iter().filter(|line| !line.contains("O_DIRECTORY") && !line.contains(".gitignore")).collect();
    assert!(files.is_empty(), "{} files were opened again, such as {:#?}", files.len(), &files[..files.len().min(60)]);
    assert!(trace.contains("checkpoints.json"), "strace saw the program");
}
