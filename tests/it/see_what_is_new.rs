//! A later checkpoint sees what git would see: the folders are walked by the program, and git is asked about the rest.
//!
//! Each line is a change of a repository that has a checkpoint already; the tree that comes of it must be the one
//! that git makes of the same files.

use crate::sandbox::{Repo, Sandbox, checkpoint_as_git_would, has_tool};

/// What is done between two checkpoints.
const CHANGES: [(&str, &str); 26] = [
    ("a new file beside tracked ones", "echo n > src/new.txt"),
    ("a new file at the top", "echo n > new.txt"),
    ("a new folder", "mkdir -p new/deep; echo n > new/deep/n.txt; echo m > new/m.txt"),
    ("more new folders than git is asked about singly", "for k in $(seq 30); do mkdir -p n$k; echo n > n$k/n; done"),
    ("an ignored file beside tracked ones", "echo o > src/x.o"),
    ("an ignored folder", "mkdir -p target; echo t > target/t.txt"),
    ("an ignored file in a new folder", "mkdir -p new; echo o > new/x.o; echo n > new/n.txt"),
    ("a folder of which all is ignored", "mkdir -p new; echo o > new/x.o"),
    ("an empty folder", "mkdir -p new/empty"),
    ("a file that a rule takes back in", "echo k > src/keep.o"),
    ("a rule that was made now", "echo '*.tmp' >> .gitignore; echo t > src/a.tmp; mkdir -p d; echo t > d/b.tmp"),
    ("a rule that went away", "echo o > src/x.o; sed -i /o$/d .gitignore"),
    ("a rule in a folder", "echo '/inner.txt' > src/.gitignore; echo i > src/inner.txt; echo i > inner.txt"),
    ("a rule of the repository alone", "echo 'mine.txt' >> .git/info/exclude; echo m > src/mine.txt"),
    ("a rule of the user", "echo user.txt > ../rules; git config core.excludesFile ../rules; echo u > src/user.txt"),
    ("a new file in an ignored folder with a tracked file", "echo n > cache/new.txt; echo t > cache/kept.txt"),
    ("a link", "ln -sfn src link; ln -sfn nowhere src/broken"),
    ("a folder in place of a file", "rm a.txt; mkdir a.txt; echo i > a.txt/inside.txt"),
    ("a file in place of a folder", "rm -r src; echo f > src"),
    ("a link in place of a folder", "mv src elsewhere; ln -s elsewhere src"),
    ("a file in place of an ignored folder", "rm -r cache; echo f > cache"),
    (
        "odd names",
        "echo 1 > 'a b'; echo 2 > ' lead'; echo 3 > ':(top)x'; echo 4 > -dash; mkdir -p -- '-d *'; echo 5 > '-d */x'",
    ),
    (
        "names with line feeds and bytes that are no text",
        "echo 1 > \"$(printf 'a\\nb')\"; echo 2 > \"$(printf 'src/\\377')\"",
    ),
    ("names that begin alike", "mkdir -p src-2; echo 1 > src-2/a; echo 2 > src.txt; echo 3 > src0"),
    ("a file that is gone, and one moved", "rm a.txt; mv src/b.txt src/c.txt"),
    (
        "what is staged and announced",
        "echo s > s.txt; git add s.txt; echo i > src/i.txt; git add -N src/i.txt; echo u > u.txt",
    ),
];

fn with_a_checkpoint() -> Repo {
    let repo = Sandbox::new().repository("project");
    repo.sh("echo a > a.txt; mkdir src src/sub cache; echo b > src/b.txt; echo s > src/sub/s.txt; echo k > cache/kept.txt
        printf '*.o\n!keep.o\n/target/\n/cache/\n' > .gitignore; git add -A; git add -f cache/kept.txt; git commit -q -m first
        echo more >> a.txt");
    repo.checkpoint("zero");
    repo
}

/// What the newest checkpoint left out.
fn skipped(repo: &Repo) -> Vec<String> {
    let newest = &repo.list()[0];
    newest["skipped"].as_array().unwrap().iter().map(|left| left["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_later_checkpoint_has_what_git_would_add() {
    for (what, script) in CHANGES {
        let repo = with_a_checkpoint();
        repo.sh(script);
        eprintln!("{what}");
        checkpoint_as_git_would(&repo);
    }
}

#[test]
fn a_later_checkpoint_has_what_git_would_add_after_all_changes_that_go_together() {
    let repo = with_a_checkpoint();
    for (what, script) in CHANGES.iter().filter(|(what, _)| !what.contains("in place of") && !what.contains("gone")) {
        eprintln!("{what}");
        repo.sh(script);
        checkpoint_as_git_would(&repo);
    }
}

#[test]
fn a_later_checkpoint_leaves_repositories_alone_wherever_they_lie() {
    let repo = with_a_checkpoint();
    repo.sh("git init -q nested; echo n > nested/n.txt
        mkdir -p new/deep; git init -q new/deep/inner; echo i > new/deep/inner/i.txt; echo n > new/n.txt
        git init -q src/beside; echo b > src/beside/b.txt; git -C src/beside add -A; git -C src/beside commit -q -m b
        mkdir broken broken/.git; echo e > broken/e.txt");
    let tree = repo.expected_tree(&["broken", "nested", "new/deep/inner", "src/beside"]);
    repo.checkpoint("one");
    assert_eq!(repo.rev("HEAD^{tree}"), tree);
    assert_eq!(skipped(&repo), ["broken/e.txt", "nested", "new/deep/inner", "src/beside"]);
}

#[test]
fn a_later_checkpoint_names_special_files_but_not_ignored_ones() {
    let repo = with_a_checkpoint();
    repo.sh("mkfifo src/pipe src/x.o; mkdir target new; mkfifo target/pipe new/pipe; echo n > new/n.txt");
    let tree = repo.expected_tree(&["src/pipe", "new/pipe"]);
    repo.checkpoint("one");
    assert_eq!(repo.rev("HEAD^{tree}"), tree);
    assert_eq!(skipped(&repo), ["new/pipe", "src/pipe"]);
}

#[test]
fn rules_that_are_left_off_the_disk_count() {
    let repo = with_a_checkpoint();
    repo.sh("git update-index --skip-worktree .gitignore; rm .gitignore");
    repo.checkpoint("hidden");
    repo.sh("echo o > src/x.o; echo n > src/n.txt; mkdir target; echo t > target/t.txt");
    repo.checkpoint("one");
    let held = repo.git(["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(held, ".gitignore\na.txt\ncache/kept.txt\nsrc/b.txt\nsrc/n.txt\nsrc/sub/s.txt");
}

#[test]
fn git_is_asked_about_tracked_files_alone_and_then_about_what_is_new() {
    if !has_tool("strace") {
        return;
    }
    let repo = with_a_checkpoint();
    repo.sh("echo n > src/n.txt; echo o > src/x.o; mkdir .autodev; echo m > .autodev/memory.md");
    let log = repo.sandbox.path().join("trace");
    let options = ["-f", "-s", "4096", "-v", "-e", "trace=execve", "-o", log.to_str().unwrap()];
    assert!(repo.strace(&options, &["checkpoint", "-m", "one"]).output().unwrap().status.success());
    let trace = std::fs::read_to_string(&log).unwrap();
    let started = |words: &str| {
        let lines = trace.lines().filter(|line| line.contains(words)).filter_map(|line| line.split(' ').next());
        lines.collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(started("--untracked-files=no"), 1);
    assert_eq!(started("\"check-ignore\""), 1);
    assert_eq!(started("--untracked-files=all"), 0, "no new folder, and .autodev is nobody's business");
}
