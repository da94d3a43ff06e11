//! The same cuts from outside: `strace` ends the program, or lets a call of the system fail, at its n-th call of a kind.
//!
//! Where `cut_anywhere` counts what the program counts, this counts what the system sees, so a step that somebody
//! forgot to count, or that a library takes, is cut too. `AUTODEV_TEST_ALL_CUTS=1` cuts in every scenario and at
//! every call.

use crate::cut_anywhere::{Prepared, look_and_settle, until_not_reached};
use crate::cut_scenarios::SCENARIOS;
use crate::sandbox::{Ran, Repo, has_tool};

/// The calls, as strace names them; it counts each by itself.
const CALLS: [&str; 12] = [
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "link",
    "linkat",
    "fsync",
    "fdatasync",
    "mkdir",
    "mkdirat",
];

/// What happens at a call, and how `cut_anywhere` calls that.
const FAULTS: [(&str, &str); 2] = [("signal=KILL", "exit"), ("error=ENOSPC", "fail")];

/// What is cut where not everything is.
const SOME: [&str; 4] = ["checkpoint, staged split", "restore, dirty", "restore, other branch", "undo a restore"];

#[test]
fn every_command_can_be_cut_from_outside() {
    if !has_tool("strace") {
        return;
    }
    let all = std::env::var_os("AUTODEV_TEST_ALL_CUTS").is_some();
    let only = std::env::var("AUTODEV_TEST_CUT_ONLY").ok();
    let mut bad = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| all || SOME.contains(&scenario.name)) {
        if only.as_ref().is_some_and(|only| !scenario.name.contains(only)) {
            continue;
        }
        let prepared = Prepared::new(scenario);
        for (kind, calls) in CALLS.iter().enumerate() {
            for (fault, mode) in FAULTS {
                let (cuts, found) = cut_all(&prepared, calls, fault, mode, if all { 1 } else { 4 }, kind);
                eprintln!("{}: {fault} at {calls}: {cuts} cuts, {} bad states", scenario.name, found.len());
                bad.extend(found);
            }
        }
    }
    assert!(bad.is_empty(), "{} bad states:\n{}", bad.len(), bad.join("\n"));
}

/// Cuts at each `every`-th call until one is not reached.
fn cut_all(
    prepared: &Prepared<'_>,
    calls: &str,
    fault: &str,
    mode: &str,
    every: u64,
    kind: usize,
) -> (u64, Vec<String>) {
    let first = if every == 1 { 1 } else { 1 + u64::try_from(kind).unwrap() % every };
    let (_, cuts, bad) = until_not_reached(first, every, |number| {
        let repo = prepared.copy();
        let ran = run_cut(&repo, calls, fault, number, prepared.scenario.arguments)?;
        let what = || format!("{}, {fault} at call {number} of {calls}", prepared.scenario.name);
        Some(vec![look_and_settle(prepared, &repo, &ran, number, mode).map_err(|why| format!("{}: {why}", what()))])
    });
    (cuts, bad)
}

/// Runs a command with a fault at its n-th call; `None` where it has fewer.
fn run_cut(repo: &Repo, calls: &str, fault: &str, number: u64, arguments: &[&str]) -> Option<Ran> {
    let log = repo.sandbox.path().join("trace");
    let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:{fault}:when={number}"));
    let ran = Ran::of(repo.strace(&["-o", log.to_str().unwrap(), "-e", &trace, "-e", &inject], arguments));
    let trace = std::fs::read_to_string(&log).unwrap();
    (trace.contains("(INJECTED)") || trace.contains("killed by SIGKILL")).then_some(ran)
}
