//! What is measured: making checkpoints, looking again at a changed tree, and going back.
//!
//! In each round every contestant gets the same edits and then its turn; the order rotates. `git, synced` is
//! the same git with `core.fsync=all`, for what durability alone costs. The first round does not count.

use super::commands::timed;
use super::table::{Times, line};
use super::{Commands, Repository, Result};
use std::collections::HashSet;
use std::path::Path;

/// How git is called so that what it writes is on disk when it ends, as what the program writes is.
const SYNCED: [&str; 4] = ["-c", "core.fsync=all", "-c", "core.fsyncMethod=batch"];

/// One way to do the work, on a copy of its own.
struct Contestant {
    name: &'static str,
    way: Way,
    copy: Repository,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Git,
    SyncedGit,
    Autodev,
}

impl Contestant {
    fn all(base: &Repository, place: &Path, commands: &Commands) -> Result<Vec<Self>> {
        let ways = [("git", Way::Git), ("git, synced", Way::SyncedGit), ("autodev", Way::Autodev)];
        let make = |(name, way): (&'static str, Way)| {
            Ok(Self { name, way, copy: base.copy_to(place, &name.replace(", ", "-"), commands)? })
        };
        ways.into_iter().map(make).collect()
    }

    /// Keeps the work as a commit.
    fn keep(&self, commands: &Commands) -> Result<()> {
        let root = self.copy.root();
        if self.way == Way::Autodev {
            return commands.autodev(root, &["checkpoint", "-m", "x"]).map(drop);
        }
        commands.git(root, &self.words(&["add", "-A"]))?;
        commands.git_maybe(root, &self.words(&["commit", "--no-verify", "-q", "-m", "x"]))
    }

    /// Keeps the work and goes back to `target`.
    fn go_back(&self, target: &str, commands: &Commands) -> Result<()> {
        let root = self.copy.root();
        if self.way == Way::Autodev {
            return commands.autodev(root, &["restore", target]).map(drop);
        }
        self.keep(commands)?;
        commands.git(root, &self.words(&["reset", "--hard", "-q", target])).map(drop)
    }

    /// Names what is there now, so that one can go back to it.
    fn here(&self, commands: &Commands) -> Result<String> {
        let root = self.copy.root();
        if self.way != Way::Autodev {
            return Ok(commands.git(root, &["rev-parse", "HEAD"])?.trim().to_owned());
        }
        commands.autodev(root, &["checkpoint", "-m", "x"])?;
        let entries: serde_json::Value = serde_json::from_str(&commands.autodev(root, &["restore", "--json"])?)?;
        let here = entries.as_array().into_iter().flatten().find(|entry| entry["head"] == true);
        Ok(here.and_then(|entry| entry["id"].as_str()).ok_or("no checkpoint holds HEAD")?.to_owned())
    }

    fn words<'a>(&self, words: &[&'a str]) -> Vec<&'a str> {
        let before: &[&str] = if self.way == Way::SyncedGit { &SYNCED } else { &[] };
        before.iter().chain(words).copied().collect()
    }
}

/// Lets the contestants take turns; what `prepare` does is not timed.
fn take_turns(
    what: &str,
    contestants: &[Contestant],
    rounds: usize,
    commands: &Commands,
    prepare: impl Fn(&Contestant, usize) -> Result<()>,
    work: impl Fn(usize, &Contestant) -> Result<()>,
) -> Result<()> {
    let mut times: Vec<(&str, Times)> =
        contestants.iter().map(|contestant| (contestant.name, Times::default())).collect();
    for round in 0..=rounds {
        for turn in 0..contestants.len() {
            let index = (round + turn) % contestants.len();
            let contestant = &contestants[index];
            prepare(contestant, round)?;
            commands.settle(contestant.copy.root())?;
            let time = timed(|| work(index, contestant))?;
            if round > 0 {
                times[index].1.add(time);
            }
        }
    }
    line(what, &times);
    Ok(())
}

/// Checkpoints of trees in which nothing, little and much changed.
pub(crate) fn checkpoints(base: &Repository, place: &Path, commands: &Commands, rounds: usize) -> Result<()> {
    let contestants = Contestant::all(base, place, commands)?;
    // A capture after the first knows the files; git's index knows them from the start.
    contestants.iter().try_for_each(|contestant| contestant.keep(commands))?;
    for (count, start) in [(10, 0), (0, 1000), (1000, 2000)] {
        let prepare = |contestant: &Contestant, round| {
            let step = start + round;
            contestant.copy.edit(&contestant.copy.pick(count, step), step)
        };
        let what = format!("checkpoint, {count} changed");
        take_turns(&what, &contestants, rounds, commands, prepare, |_, contestant| contestant.keep(commands))?;
    }
    remove(&contestants)
}

/// A second look at a tree with changed files: which of them are opened?
pub(crate) fn rereading(base: &Repository, place: &Path, commands: &Commands) -> Result<()> {
    const DIRTY: usize = 50;
    let copy = base.copy_to(place, "reread", commands)?;
    let here = Contestant { name: "autodev", way: Way::Autodev, copy };
    let target = here.here(commands)?;
    let numbers = here.copy.pick(DIRTY, 3000);
    here.copy.edit(&numbers, 3000)?;
    // git cannot tell apart what happens within one second and rightly reads such files once more.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let paths: HashSet<String> = numbers.iter().map(|number| Repository::path(*number)).collect();
    let log = place.join("opened");
    let mut opened = Vec::new();
    for _ in 0..2 {
        if !commands.autodev_traced(here.copy.root(), &["restore", &target, "--dry-run"], &log)? {
            println!("  looking again, {DIRTY} dirty: strace is not installed, so openings were not counted");
            return remove(&[here]);
        }
        opened.push(count_opened(&std::fs::read_to_string(&log)?, here.copy.root(), &paths));
    }
    println!(
        "  looking at {DIRTY} dirty files (restore --dry-run)  opened at first {}, at the second look {}",
        opened[0], opened[1]
    );
    remove(&[here])
}

/// Counts how many of `paths` a trace of strace opens, given from the root or absolutely.
fn count_opened(trace: &str, root: &Path, paths: &HashSet<String>) -> usize {
    let prefix = format!("{}/", root.display());
    let names = trace.lines().filter_map(|line| line.split('"').nth(1));
    let opened: HashSet<&str> =
        names.map(|name| name.strip_prefix(&prefix).unwrap_or(name)).filter(|name| paths.contains(*name)).collect();
    opened.len()
}

/// Going back with ten dirty files, to a checkpoint that differs in few and in many files.
pub(crate) fn restores(base: &Repository, place: &Path, commands: &Commands, rounds: usize) -> Result<()> {
    let contestants = Contestant::all(base, place, commands)?;
    let targets = contestants.iter().map(|contestant| contestant.here(commands)).collect::<Result<Vec<_>>>()?;
    for (count, start) in [(10, 4000), (1000, 5000)] {
        let prepare = |contestant: &Contestant, round| {
            let step = start + round;
            contestant.copy.edit(&contestant.copy.pick(count, step), step)?;
            contestant.keep(commands)?;
            contestant.copy.edit(&contestant.copy.pick(10, step + 1), step + 500)
        };
        let what = format!("restore, {count} differ, 10 dirty");
        take_turns(&what, &contestants, rounds, commands, prepare, |index, contestant| {
            contestant.go_back(&targets[index], commands)
        })?;
    }
    remove(&contestants)
}

fn remove(contestants: &[Contestant]) -> Result<()> {
    contestants.iter().try_for_each(|contestant| Ok(std::fs::remove_dir_all(contestant.copy.root())?))
}
