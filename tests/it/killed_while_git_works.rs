//! A program that is killed does not take its git with it: that one goes on, and nobody else begins meanwhile.

use crate::sandbox::repository_with_a_commit;
use std::process::Stdio;

#[test]
fn the_next_command_waits_for_a_git_that_outlived_its_parent() {
    let repo = repository_with_a_commit();
    // The first time, the filter says that it has begun, and waits for a word.
    repo.sh("mkfifo ../begun ../word
        printf '#!/bin/sh\\n[ -e ../once ] || { touch ../once; echo begun > ../begun; read word < ../word; }\\ncat\\n' > ../filter
        chmod +x ../filter; git config filter.slow.clean \"$PWD/../filter\"; git config filter.slow.required true
        echo '*.slow filter=slow' > .gitattributes; git add -A; git commit -q -m filter; echo one > one.slow");
    let mut command = repo.program();
    command.args(["checkpoint", "-m", "one"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    assert_eq!(std::fs::read_to_string(repo.path("../begun")).unwrap(), "begun\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let is_free = || repo.sh("flock -n .git/autodev/project.lock echo free || true") == "free";
    assert!(!is_free(), "git still works on the private index");
    std::fs::write(repo.path("../word"), "go\n").unwrap();
    repo.checkpoint("two");
    assert_eq!(repo.git(["show", "HEAD:one.slow"]), "one");
    assert!(is_free());
    repo.judge();
}
