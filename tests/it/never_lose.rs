//! What must never be lost or touched on the way back: other repositories inside, secrets and ignored files that an
//! agent has added, files that git cannot take, and where a run began.

use crate::run_sandbox::{configure, shell};
use crate::sandbox::repository_with_a_commit;

#[test]
fn nothing_is_written_into_a_repository_that_took_the_place_of_tracked_files() {
    let repo = repository_with_a_commit();
    repo.write("sub/file", "old\n");
    repo.commit("sub");
    repo.checkpoint("one");
    repo.sh("git rm -qr --cached sub && git commit -qm rm && rm -rf sub && git init -q sub");
    repo.write("sub/file", "precious\n");
    repo.sh("cd sub && git add . && git commit -qm n && echo wip > file");
    let refused = repo.autodev(["restore", "c1"]).fails(1);
    assert!(refused.stderr.contains("sub stands in the way"), "{}", refused.stderr);
    assert_eq!(repo.text("sub/file"), "wip\n");
    let made = repo.autodev(["checkpoint", "--json"]).ok().stdout;
    assert!(!repo.git(["ls-tree", "-r", "--name-only", "HEAD"]).contains("sub/"), "{made}");
}

#[test]
fn nothing_is_deleted_in_another_work_tree_inside() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    repo.write("wt/file", "tracked\n");
    repo.checkpoint("two");
    repo.sh("git rm -qr --cached wt && git commit -qm rm && rm -rf wt && git worktree add -q wt -b topic");
    repo.write("wt/file", "work in progress\n");
    for id in ["c1", "c2"] {
        repo.autodev(["restore", id]);
        assert_eq!(repo.text("wt/file"), "work in progress\n", "after {id}");
    }
}

#[test]
fn ignored_files_and_secrets_that_an_agent_added_stay_on_disk() {
    let repo = repository_with_a_commit();
    repo.write(".gitignore", ".env\ndata.db\n");
    repo.commit("rules");
    repo.write(".env", "KEY\n");
    repo.write("data.db", "rows\n");
    repo.write("server.pem", "pem\n");
    configure(&repo, "", &[shell(&repo, "adder", "git add -fA && git commit -qm all && exit 1\n")]);
    repo.autodev(["run", "add everything"]).fails(1);
    for (path, text) in [(".env", "KEY\n"), ("data.db", "rows\n"), ("server.pem", "pem\n")] {
        assert_eq!(repo.text(path), text, "{path}");
    }
    assert_eq!(repo.git(["ls-files", ".env", "data.db", "server.pem"]), "", "and they are not tracked any more");
    repo.autodev(["undo"]).ok();
    assert_eq!(repo.text(".env"), "KEY\n");
    repo.autodev(["redo"]).ok();
    repo.autodev(["undo"]).ok();
    assert_eq!(repo.text(".env"), "KEY\n", "what a redo took away is held");
    repo.judge();
}

#[test]
fn one_file_that_git_cannot_take_costs_no_checkpoint() {
    let repo = repository_with_a_commit();
    repo.git(["config", "filter.bad.clean", "false"]);
    repo.git(["config", "filter.bad.required", "true"]);
    repo.write(".gitattributes", "*.bad filter=bad\n");
    for name in ["a.bad", "b.bad", "c.txt", "d.txt", "e.txt"] {
        repo.write(name, name);
    }
    let made = repo.autodev(["checkpoint"]).ok();
    assert!(made.stderr.contains("not held: a.bad (git cannot take it)"), "{}", made.stderr);
    assert!(made.stderr.contains("not held: b.bad"), "{}", made.stderr);
    let tree = repo.git(["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(["c.txt", "d.txt", "e.txt"].iter().all(|name| tree.contains(name)) && !tree.contains(".bad"), "{tree}");
    assert_eq!(repo.text("a.bad"), "a.bad");
}

#[test]
fn a_name_that_git_does_not_allow_is_named() {
    let repo = repository_with_a_commit();
    repo.sh("mkdir .GIT && echo 1 > .GIT/f");
    repo.write("good.txt", "1\n");
    let made = repo.autodev(["checkpoint"]).ok();
    assert!(made.stderr.contains("not held: .GIT/f"), "{}", made.stderr);
}

#[test]
fn where_a_run_began_is_held_although_a_participant_took_the_branch_away() {
    let repo = repository_with_a_commit();
    repo.write("precious.txt", "1\n");
    let precious = repo.commit("precious");
    let script = "git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now\n\
                  echo n > n; autodev post --work-done oops\n";
    configure(&repo, "", &[shell(&repo, "resetter", script)]);
    let ran = repo.autodev(["run", "reset"]).ok();
    assert!(ran.stderr.contains("it is held by refs/autodev/main/r/r1"), "{}", ran.stderr);
    repo.git(["cat-file", "-e", precious.trim()]);
    assert_eq!(repo.rev("refs/autodev/main/r/r1"), repo.rev(precious.trim()));
}

#[test]
fn a_run_does_not_begin_beside_the_survivors_of_another() {
    let repo = repository_with_a_commit();
    configure(&repo, "", &[shell(&repo, "builder", "echo x > x; autodev post --work-done x\n")]);
    let state = repo.path(".git/autodev");
    let mut survivor = repo.command("sleep");
    let mut survivor = survivor.arg("600").env("AUTODEV_STATE", state).spawn().unwrap();
    let refused = repo.autodev(["run", "again"]).fails(11);
    assert!(refused.stderr.contains(&format!("process {}", survivor.id())), "{}", refused.stderr);
    survivor.kill().unwrap();
    survivor.wait().unwrap();
    repo.autodev(["run", "again"]).ok();
}

#[test]
fn a_label_as_long_as_it_likes_is_listed() {
    let repo = repository_with_a_commit();
    repo.write("new.txt", "1\n");
    repo.autodev(["checkpoint", "-m", &"L".repeat(70_000)]).ok();
    assert!(repo.autodev(["restore"]).ok().stdout.contains("· manual ·"));
}

#[test]
fn a_pipe_in_place_of_the_memory_makes_nothing_wait() {
    let repo = repository_with_a_commit();
    repo.write("new.txt", "1\n");
    repo.checkpoint("one");
    repo.sh("mkdir -p .autodev && mkfifo .autodev/memory.md");
    repo.write("new.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("new.txt"), "1\n");
}
