//! Every command that changes something, cut at each of its steps in each of three ways: the step fails, the
//! process ends before it, the process ends in the middle of its bytes.
//!
//! Whatever was cut, everything is as before or as after, or an intent says how to get to one of them; a failure
//! that is reported is *before* in every ref and entry, a success is *after*. Then recovery goes on or back (and
//! is cut itself now and then), and what is done is undone. What is no part of the change keeps its bytes at
//! every moment. `AUTODEV_TEST_ALL_CUTS=1` cuts at every step in every way and not at a sample of them.

use crate::cut_scenarios::{SCENARIOS, Scenario};
use crate::cut_view::View;
use crate::sandbox::{Ran, Repo, Sandbox};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const MODES: [&str; 3] = ["fail", "exit", "torn"];

/// What may lie in the state folder when nothing is going on.
const KEPT: [&str; 9] = [
    "checkpoints.json",
    "events.jsonl",
    "index",
    "memory.md",
    "operations.jsonl",
    "project.json",
    "project.lock",
    "run.lock",
    "state.json",
];

/// A scenario that was prepared, with the two states that there may be.
pub(crate) struct Prepared<'a> {
    pub(crate) scenario: &'a Scenario,
    before: View,
    after: View,
    /// The sandbox that every cut begins with a copy of.
    origin: Repo,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(scenario: &'a Scenario) -> Self {
        let origin = (scenario.prepare)();
        let reference = copy(origin.sandbox.path());
        reference.autodev(scenario.arguments).ok();
        let (before, after) = (View::of(&origin), View::of(&reference));
        assert_ne!(before, after, "{} changes nothing", scenario.name);
        Self { scenario, before, after, origin }
    }

    /// A repository to cut in.
    pub(crate) fn copy(&self) -> Repo {
        copy(self.origin.sandbox.path())
    }
}

#[test]
fn every_command_can_be_cut_anywhere() {
    let only = std::env::var("AUTODEV_TEST_CUT_ONLY").ok();
    let mut bad = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| only.as_ref().is_none_or(|only| scenario.name.contains(only))) {
        let prepared = Prepared::new(scenario);
        let (steps, cuts, found) = cut_everywhere(&prepared);
        eprintln!("{}: {steps} steps, {cuts} cuts, {} bad states", scenario.name, found.len());
        bad.extend(found);
    }
    assert!(bad.is_empty(), "{} bad states:\n{}", bad.len(), bad.join("\n"));
}

/// Cuts at each step until one is not reached; returns how many there are, how many cuts were made, what is bad.
fn cut_everywhere(prepared: &Prepared<'_>) -> (u64, u64, Vec<String>) {
    let all = std::env::var_os("AUTODEV_TEST_ALL_CUTS").is_some();
    until_not_reached(1, 1, |step| {
        let modes = if all { MODES.to_vec() } else { sampled(step) };
        let name = prepared.scenario.name;
        let cut = |mode| Some(cut(prepared, step, mode)?.map_err(|why| format!("{name}, step {step}, {mode}: {why}")));
        modes.into_iter().map(cut).collect()
    })
}

/// Does something for each `every`-th number from `first` on, several at a time, until one is beyond the end (`None`).
/// Returns the last number before it, how many results there were, and what was bad.
pub(crate) fn until_not_reached(
    first: u64,
    every: u64,
    work: impl Fn(u64) -> Option<Vec<Result<(), String>>> + Sync,
) -> (u64, u64, Vec<String>) {
    let (next, end, count) = (AtomicU64::new(first), AtomicU64::new(u64::MAX), AtomicU64::new(0));
    let bad = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(every, Ordering::SeqCst);
                    if number >= end.load(Ordering::SeqCst) {
                        return;
                    }
                    let Some(results) = work(number) else {
                        end.fetch_min(number, Ordering::SeqCst);
                        return;
                    };
                    count.fetch_add(u64::try_from(results.len()).unwrap(), Ordering::SeqCst);
                    bad.lock().unwrap().extend(results.into_iter().filter_map(Result::err));
                }
            });
        }
    });
    (end.load(Ordering::SeqCst) - 1, count.load(Ordering::SeqCst), bad.into_inner().unwrap())
}

/// One way for each step, each way for a third of them.
fn sampled(step: u64) -> Vec<&'static str> {
    vec![MODES[usize::try_from(step % 3).unwrap()]]
}

fn copy(folder: &Path) -> Repo {
    let sandbox = Sandbox::copy_of(folder);
    let repo = sandbox.folder("project");
    std::fs::write(sandbox.path().join("origin"), std::fs::canonicalize(folder).unwrap().to_str().unwrap()).unwrap();
    // The two work trees know each other by absolute paths.
    let other = repo.root.parent().unwrap().join("other");
    if other.is_dir() {
        std::fs::write(other.join(".git"), format!("gitdir: {}\n", repo.path(".git/worktrees/other").display()))
            .unwrap();
        std::fs::write(repo.path(".git/worktrees/other/gitdir"), format!("{}\n", other.join(".git").display()))
            .unwrap();
    }
    repo
}

/// Runs a command with one step of it cut; `None` where it has fewer steps.
fn run_cut(repo: &Repo, step: u64, mode: &str, arguments: &[&str]) -> Option<Ran> {
    let marker = repo.sandbox.path().join("reached");
    let _ = std::fs::remove_file(&marker);
    let cut = format!("{step}:{mode}");
    let ran = repo.autodev_with(
        &[("AUTODEV_TEST_CUT", cut.as_str()), ("AUTODEV_TEST_CUT_REACHED", marker.to_str().unwrap())],
        arguments,
    );
    marker.exists().then_some(ran)
}

fn cut(prepared: &Prepared<'_>, step: u64, mode: &str) -> Option<Result<(), String>> {
    let repo = prepared.copy();
    let ran = run_cut(&repo, step, mode, prepared.scenario.arguments)?;
    Some(look_and_settle(prepared, &repo, &ran, step, mode))
}

pub(crate) fn look_and_settle(
    prepared: &Prepared<'_>,
    repo: &Repo,
    ran: &Ran,
    step: u64,
    mode: &str,
) -> Result<(), String> {
    let (before, after) = (&prepared.before, &prepared.after);
    let told = |text: &str| format!("{text}\n    stdout: {}    stderr: {}", ran.stdout, ran.stderr);
    let (now, intent) = (View::of(repo), intent(repo));
    let lost = before.common(after).missing_in(&now);
    expect(&lost, || told("what is no part of the change differs"))?;
    match (mode, ran.code) {
        ("fail", Some(0)) => expect(&as_told(after, ran).difference(&as_told(&now, ran)), || {
            told("success was reported, and it is not as after")
        })?,
        ("fail", _) => expect(&before.difference(&now), || told("a failure was reported, and it is not as before"))?,
        _ if intent.is_some() => {}
        _ if now == *before || now == *after => {}
        _ => {
            let (one, other) = (before.difference(&now), after.difference(&now));
            let nearer = if one.len() < other.len() { one } else { other };
            expect(&nearer, || told("neither before nor after, and no intent"))?;
        }
    }
    let end = settle(prepared, repo, step, intent.as_ref())?;
    let wanted = match (end, intent.is_some()) {
        (End::Before, true) => before,
        (End::After, true) => after,
        // Without an intent it stays where it was.
        (_, false) => &now.clone(),
    };
    let now = View::of(repo);
    expect(&as_told(wanted, ran).difference(&as_told(&now, ran)), || told(&format!("{end:?} it should be now")))?;
    go_on(prepared, repo, &now, before, after)
}

/// The last word on a cut: what is done can be undone, what is not done can be done.
fn go_on(prepared: &Prepared<'_>, repo: &Repo, now: &View, before: &View, after: &View) -> Result<(), String> {
    let done = now.of_the_user() == after.of_the_user() && now != before;
    match (done, prepared.scenario.undone_by) {
        (true, Some(word)) => {
            let ran = repo.autodev([word, "--yes"]);
            let difference = before.of_the_user().difference(&View::of(repo).of_the_user());
            expect(&difference, || format!("{word} did not bring it back: {}", ran.stderr))?;
        }
        (true, None) => {}
        (false, _) => {
            let ran = repo.autodev(prepared.scenario.arguments);
            let difference = after.of_the_user().difference(&View::of(repo).of_the_user());
            expect(&difference, || format!("doing it again does not do it: {}", ran.stderr))?;
        }
    }
    let ran = repo.autodev(["checkpoint", "-m", "last"]);
    let left = left_over(repo);
    expect(&left, || format!("something was left lying about; {}", ran.stderr))?;
    let fsck = repo.sh("git fsck --strict --no-dangling 2>&1 | grep -v '^notice: ' || true");
    expect(&fsck.lines().map(str::to_owned).collect::<Vec<_>>(), || "git fsck".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Before,
    After,
}

/// Brings what was cut off to an end, for one half of the cuts forward and for the other back; now and then the
/// recovery is cut as well.
fn settle(prepared: &Prepared<'_>, repo: &Repo, step: u64, intent: Option<&serde_json::Value>) -> Result<End, String> {
    let back = (step / 3) % 2 == 1;
    let word = if back { "--abort" } else { "--continue" };
    let complete = intent.is_some_and(|intent| is_entered(repo, intent));
    let untouched = intent.is_some_and(|intent| intent["change"].is_null());
    if step.is_multiple_of(5) && intent.is_some() {
        let at = 1 + (step * 7) % 40;
        let mode = if step.is_multiple_of(2) { "exit" } else { "fail" };
        if let Some(ran) = run_cut(repo, at, mode, &["restore", word]) {
            let lost = prepared.before.common(&prepared.after);
            let lost = lost.missing_in(&View::of(repo));
            expect(&lost, || format!("a cut {word} (step {at}, {mode}) lost something: {}", ran.stderr))?;
        }
    }
    let ran = repo.autodev(["restore", word]);
    if ran.code != Some(0) {
        return Err(format!("{word} failed: {}{}", ran.stdout, ran.stderr));
    }
    Ok(if (back && !complete) || untouched { End::Before } else { End::After })
}

/// Tells whether everything of a change was written down, so that it counts as done.
fn is_entered(repo: &Repo, intent: &serde_json::Value) -> bool {
    let change = &intent["change"];
    let read = |name: &str| std::fs::read_to_string(repo.path(name)).unwrap_or_default();
    if change["operation"].is_null() {
        let ledger: serde_json::Value =
            serde_json::from_str(&read(".git/autodev/checkpoints.json")).unwrap_or_default();
        let there = ledger["checkpoints"].as_array().cloned().unwrap_or_default();
        let mut entries = change["entries"].as_array().into_iter().flatten();
        return entries.all(|entry| there.iter().any(|other| other["id"] == entry["id"]));
    }
    let lines = read(".git/autodev/operations.jsonl");
    let mut whole = lines.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.any(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["n"] == change["operation"]["n"])
}

fn intent(repo: &Repo) -> Option<serde_json::Value> {
    let bytes = std::fs::read(repo.path(".git/autodev/intent.json")).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// What is only told about a change may fail, which is said; the file that hides `.autodev/` comes with its folder.
fn as_told(view: &View, ran: &Ran) -> View {
    let view = view.without("file .autodev/.gitignore");
    if ran.stderr.contains("not everything could be written down") {
        view.without("file .autodev/memory.md")
    } else {
        view
    }
}

/// Names files that should have gone: locks, scratch files, an intent.
fn left_over(repo: &Repo) -> Vec<String> {
    let found = repo
        .sh("find .git .autodev -name '*.lock' -o -name 'autodev-*' -o -name '.autodev-*' -o -name 'tmp_obj*' | sort");
    let locks = found
        .lines()
        .map(str::to_owned)
        .filter(|path| !path.ends_with("/autodev/project.lock") && !path.ends_with("/autodev/run.lock"));
    let state = std::fs::read_dir(repo.path(".git/autodev")).into_iter().flatten().flatten();
    let state =
        state.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| !KEPT.contains(&name.as_str()));
    locks.chain(state).collect()
}

fn expect(differences: &[String], what: impl FnOnce() -> String) -> Result<(), String> {
    if differences.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> =
        differences.iter().take(4).map(|line| line.chars().take(300).collect::<String>()).collect();
    Err(format!("{}\n    {} differences: {shown:#?}", what(), differences.len()))
}
