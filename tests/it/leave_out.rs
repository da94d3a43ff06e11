//! What a checkpoint leaves out: each path is named with its reason, and tracked files never are.

use crate::sandbox::repository_with_a_commit;

#[test]
fn what_is_left_out_is_named_with_its_reason() {
    let repo = repository_with_a_commit();
    repo.write(".autodev/config.toml", "max_file_bytes = 1000\nsecrets = [\"*.token\", \"!*.pem\"]\n");
    repo.write("big", vec![b'x'; 1001]);
    repo.write("fits", vec![b'x'; 1000]);
    repo.write("my.token", "secret\n");
    repo.write("open.pem", "open\n");
    repo.sh("mkfifo pipe; mkdir deep; mkfifo deep/pipe; git init -q inner; echo x > inner/x");
    repo.write("a.txt", "1\n");
    repo.checkpoint("one");
    let skipped = serde_json::json!([
        {"path": "big", "reason": "oversized"},
        {"path": "deep/pipe", "reason": "special-file"},
        {"path": "inner", "reason": "nested-repository"},
        {"path": "my.token", "reason": "secret"},
        {"path": "pipe", "reason": "special-file"},
    ]);
    assert_eq!(repo.list()[0]["skipped"], skipped);
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", "HEAD"]), "a.txt\nfits\nopen.pem\nsrc/b.txt");
    repo.judge();
}

#[test]
fn a_bare_repository_below_is_left_alone_and_named() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    let first = repo.checkpoint("one");
    repo.sh("git clone -q --bare . ../bare.git; mkdir deep; mv ../bare.git deep/bare.git; echo n > deep/n.txt");
    repo.checkpoint("two");
    let skipped = repo.list()[0]["skipped"].clone();
    assert!(skipped.as_array().unwrap().iter().any(|left| left["reason"] == "nested-repository"), "{skipped}");
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", "HEAD", "deep"]), "deep/n.txt");
    repo.autodev(["restore", &first]).ok();
    assert_eq!(repo.sh("git --git-dir=deep/bare.git log --format=%s"), "autodev: one\nfirst");
}

#[test]
fn a_tracked_file_over_the_limit_is_held() {
    let repo = repository_with_a_commit();
    repo.write("big", vec![b'x'; 2000]);
    repo.commit("big");
    repo.write(".autodev/config.toml", "max_file_bytes = 1000\n");
    repo.write("big", vec![b'y'; 3000]);
    repo.checkpoint("one");
    assert_eq!(repo.git(["cat-file", "-s", "HEAD:big"]), "3000");
}

#[test]
fn a_file_that_grew_over_the_limit_after_a_capture_is_left_out_again() {
    let repo = repository_with_a_commit();
    repo.write(".autodev/config.toml", "max_file_bytes = 1000\n");
    repo.write("grows", "small\n");
    repo.autodev(["restore", "c1"]).fails(1);
    repo.checkpoint("one");
    repo.git(["rm", "-q", "--cached", "grows"]);
    repo.git(["commit", "-q", "-m", "untrack"]);
    repo.write("grows", vec![b'x'; 2000]);
    repo.write("a.txt", "1\n");
    repo.checkpoint("two");
    assert_eq!(repo.list()[0]["skipped"], serde_json::json!([{"path": "grows", "reason": "oversized"}]));
    assert_eq!(repo.git(["ls-tree", "--name-only", "HEAD"]), "a.txt\nsrc");
}
