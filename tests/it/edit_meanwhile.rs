//! What somebody writes while a restore is under way, or after it was cut off, is on disk afterwards or held by a ref.

use crate::sandbox::{Repo, repository_with_a_commit};

/// Tells whether a word is in a file here, or in an object that a ref leads to.
fn is_somewhere(repo: &Repo, word: &str) -> bool {
    let script = "grep -rqs --exclude-dir=.git -e \"$1\" . && exit 0
        git rev-list --objects --all | cut -d' ' -f1 | git cat-file --batch | grep -q -a -e \"$1\"";
    repo.command("sh").args(["-c", script, "sh", word]).status().unwrap().success()
}

#[test]
fn an_edit_of_a_file_that_was_just_written_survives_a_failure() {
    let repo = repository_with_a_commit();
    // The filter sees the file of the target while the result is compared, edits it, and lets the refs fail.
    repo.sh("printf '#!/bin/sh\\nif grep -qx one a.txt && [ ! -e ../once ]; then
            touch ../once .git/HEAD.lock; echo late >> a.txt; fi; cat\\n' > ../filter; chmod +x ../filter
        echo '*.dat filter=race' > .gitattributes; echo one > a.txt; echo 1 > w.dat");
    let first = repo.checkpoint("one");
    repo.sh("git config filter.race.clean \"$PWD/../filter\"; echo two > a.txt; echo 2 > w.dat");
    repo.checkpoint("two");
    let ran = repo.autodev(["restore", &first]).fails(1);
    assert!(repo.has("../once"), "the filter was never there at the right time: {}", ran.stderr);
    assert!(is_somewhere(&repo, "late"), "{}", ran.stderr);
    repo.remove(".git/HEAD.lock");
    for word in ["--continue", "--abort"] {
        repo.autodev(["restore", word]);
        assert!(is_somewhere(&repo, "late"), "{word}");
    }
    repo.judge();
}

fn with_a_filter_and_ignored_files() -> Repo {
    let repo = repository_with_a_commit();
    repo.sh("git config filter.strip.clean 'sed /secret/d'; git config filter.strip.smudge cat
        echo '*.dat filter=strip' > .gitattributes; echo '*.log' > .gitignore
        echo one > a.txt; echo file > swap; printf 'x\\nsecret 1\\n' > data.dat; mkdir gen; echo g > gen/g.txt");
    repo.checkpoint("one");
    repo.sh("echo two > a.txt; rm swap; mkdir swap; echo in > swap/in.txt; printf 'x\\nmore\\nsecret 2\\n' > data.dat
        rm -r gen; git add -A; git commit -q -m two; printf 'x\\nmore\\nsecret 3\\n' > data.dat");
    repo
}

#[test]
fn what_is_written_between_a_cut_and_its_recovery_is_not_lost() {
    let mut cuts = 0;
    for step in 1.. {
        let repo = with_a_filter_and_ignored_files();
        let marker = repo.sandbox.path().join("reached");
        let cut = format!("{step}:exit");
        let cut = [("AUTODEV_TEST_CUT", &*cut), ("AUTODEV_TEST_CUT_REACHED", marker.to_str().unwrap())];
        repo.autodev_with(&cut, ["restore", "c1"]);
        if !marker.exists() {
            break;
        }
        cuts += 1;
        repo.sh("echo 'secret since' >> data.dat; if [ -d swap ]; then echo log-since > swap/x.log; fi
            [ -e gen ] || echo log-too > gen.log; echo edit-since >> a.txt");
        let words = ["secret 3", "secret since", "log-since", "edit-since"];
        let words: Vec<&str> = words.into_iter().filter(|word| is_somewhere(&repo, word)).collect();
        let how = ["--continue", "--abort"][step % 2];
        let mut told = Vec::new();
        // Forward or back, or first asked and then one of them.
        for arguments in [["checkpoint", "-m", "next"].as_slice(), &["restore", how], &["checkpoint", "-m", "next"]] {
            let ran = repo.autodev(arguments);
            told.push(ran);
            for word in &words {
                assert!(is_somewhere(&repo, word), "step {step}: {word:?} is gone\n{told:#?}");
            }
        }
        repo.autodev(["doctor"]).ok();
        repo.judge();
    }
    assert!(cuts > 60, "{cuts}");
}
