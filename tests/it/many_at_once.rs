//! Many processes make checkpoints and go back, while somebody commits: nothing is lost, nothing is given out twice.

use crate::sandbox::{Repo, repository_with_a_commit};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

const PROCESSES: usize = 8;
const EACH: usize = 50;

/// What a command may say when another one was quicker; nothing has changed then.
const BEATEN: [&str; 4] = [
    "was changed by someone else meanwhile",
    "was edited meanwhile",
    "another git command is at work",
    "another autodev command is at work",
];

/// Commits without looking at the index, as a script of the user's may do; returns the commit where that worked.
fn commit(repo: &Repo, number: usize) -> Option<String> {
    let script = "old=$(git rev-parse HEAD); new=$(git commit-tree \"$old^{tree}\" -p \"$old\" -m \"$1\")
        git update-ref -m theirs HEAD \"$new\" \"$old\" && echo \"$new\"";
    let output = repo.command("sh").args(["-c", script, "sh", &format!("theirs {number}")]).output().unwrap();
    let id = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    (output.status.success() && !id.is_empty()).then_some(id)
}

/// One of the processes: a checkpoint of a file of its own, and now and then back to some checkpoint.
fn work(repo: &Repo, own: usize, done: &Mutex<Vec<String>>, step: &Sender<()>) -> usize {
    let mut successes = 0;
    for round in 0..EACH {
        step.send(()).unwrap();
        let back = round % 5 == 4;
        let ran = if back {
            let ids = repo.list();
            let id = &ids[(own * 7 + round * 3) % ids.len()]["id"];
            repo.autodev(["restore", id.as_str().unwrap()])
        } else {
            repo.write(format!("own{own}.txt"), format!("{own} {round}\n"));
            repo.autodev(["checkpoint", "-m", &format!("process {own}, round {round}")])
        };
        match ran.code {
            Some(0) => {
                successes += 1;
                if !back && ran.stdout.starts_with('c') {
                    done.lock().unwrap().push(ran.stdout.trim().to_owned());
                }
            }
            _ => assert!(BEATEN.iter().any(|words| ran.stderr.contains(words)), "{}{}", ran.stdout, ran.stderr),
        }
    }
    successes
}

#[test]
fn many_processes_and_somebody_who_commits_lose_nothing() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "zero\n");
    repo.checkpoint("zero");
    let (made, theirs) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let (step, steps) = channel();
    let successes: usize = std::thread::scope(|scope| {
        // A commit for every third command, so that neither side has the branch for itself.
        scope.spawn(|| {
            for (number, ()) in steps.into_iter().enumerate().step_by(3) {
                theirs.lock().unwrap().extend(commit(&repo, number));
            }
        });
        let workers: Vec<_> = (0..PROCESSES)
            .map(|own| {
                scope.spawn({
                    let (repo, made, step) = (&repo, &made, step.clone());
                    move || work(repo, own, made, &step)
                })
            })
            .collect();
        drop(step);
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let (made, theirs) = (made.into_inner().unwrap(), theirs.into_inner().unwrap());
    eprintln!("{successes} of {} commands went through, {} other commits", PROCESSES * EACH, theirs.len());
    assert!(successes > PROCESSES * EACH / 4 && theirs.len() > 10, "too few got through to show anything");
    let ids: Vec<String> = repo.list().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id was given out twice");
    assert!(made.iter().all(|id| ids.contains(id)), "a checkpoint that was reported is not listed");
    let held: BTreeSet<String> = repo.git(["rev-list", "--all"]).lines().map(str::to_owned).collect();
    let lost: Vec<&String> = theirs.iter().filter(|id| !held.contains(*id)).collect();
    assert!(lost.is_empty(), "commits that no ref holds: {lost:?}");
    let locks = repo.sh("find .git -name '*.lock' ! -name project.lock ! -name run.lock; ls .git/autodev | grep -e intent -e swap || true");
    assert_eq!(locks, "");
    repo.judge();
    repo.autodev(["doctor"]).ok();
}

#[test]
fn a_commit_after_a_cut_stays_and_is_in_nobodys_way() {
    for arguments in [["checkpoint", "-m", "cut"].as_slice(), &["restore", "c1"]] {
        let mut moved = 0;
        for step in 1.. {
            let repo = repository_with_a_commit();
            repo.write("a.txt", "one\n");
            repo.checkpoint("one");
            repo.write("a.txt", "two\n");
            let marker = repo.sandbox.path().join("reached");
            let cut = [
                ("AUTODEV_TEST_CUT", &*format!("{step}:exit")),
                ("AUTODEV_TEST_CUT_REACHED", marker.to_str().unwrap()),
            ];
            repo.autodev_with(&cut, arguments);
            if !marker.exists() {
                break;
            }
            // Where a lock of the cut command is left, nobody can commit.
            let Some(theirs) = commit(&repo, step) else { continue };
            moved += 1;
            repo.write("b.txt", "next\n");
            let ran = repo.autodev(["checkpoint", "-m", "next"]);
            assert_eq!(ran.code, Some(0), "{arguments:?}, step {step}: {}{}", ran.stdout, ran.stderr);
            assert!(repo.git(["rev-list", "HEAD"]).contains(&theirs), "{arguments:?}, step {step}");
            let held = repo.sh("for c in $(git rev-list --all); do git show $c:a.txt; echo; done | sort -u");
            assert!(held.contains("two"), "{arguments:?}, step {step}: {held}");
            repo.autodev(["doctor"]).ok();
            repo.judge();
        }
        assert!(moved > 30, "{arguments:?}: {moved}");
    }
}
