//! The end of everything that one turn has started.
//!
//! The program gets a process group of its own, and autodev makes itself the one to whom orphans are given,
//! so that whatever the program starts stays within sight: by parent, by group, by `AUTODEV_RUN` and
//! `AUTODEV_STATE` in its environment, or as an orphan of ours. Sessions of their own, double forks and
//! ignored signals do not help it. First SIGTERM, after the grace SIGKILL, until two looks in a row find
//! nobody. What even SIGKILL does not end (another user's process, a hung disk) is named as a survivor.
//!
//! The kernel gives orphans to a process and not to a turn. So whoever runs turns must not meanwhile start
//! lasting programs in process groups of their own by other means: they would be taken for orphans.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

use super::processes::{Entry, Process, Table, our_pid, variable};

/// How long to look for the effect of SIGKILL.
const KILL_PATIENCE: Duration = Duration::from_secs(2);

/// The programs that turns of this process have started and not collected yet: they are no orphans.
static STARTED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

fn started() -> MutexGuard<'static, Vec<i32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A started program and everything that comes from it.
#[derive(Debug)]
pub(super) struct Family {
    child: Process,
    /// The variables that, together, mark a process as of this run.
    marks: Vec<Vec<u8>>,
}

impl Family {
    /// Starts a program as the first of a family.
    pub(super) fn start(command: &mut Command, env: &[(OsString, OsString)]) -> io::Result<(Child, Self)> {
        // Where this is refused, marks and groups still find what they can.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        // Held until the child is listed, so that nobody takes it for an orphan in between.
        let mut started = started();
        let mut child = command.process_group(0).spawn()?;
        let pid = Pid::from_child(&child).as_raw_pid();
        match Entry::read(pid) {
            Ok(entry) => {
                started.push(pid);
                Ok((child, Self { child: entry.process, marks: marks(env) }))
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Lists who is alive, and collects the orphans that are not.
    pub(super) fn living(&self) -> io::Result<Vec<Entry>> {
        let table = Table::read()?;
        let strangers: Vec<&Entry> = table.strangers().collect();
        let mut children: HashMap<i32, Vec<&Entry>> = HashMap::new();
        for entry in &strangers {
            children.entry(entry.parent).or_default().push(entry);
        }
        let orphanage = Orphanage::open();
        let mut seen = HashSet::new();
        let mut living = Vec::new();
        let mut next: Vec<&Entry> = strangers.iter().copied().filter(|entry| self.is_root(entry, &orphanage)).collect();
        while let Some(entry) = next.pop() {
            if !seen.insert(entry.process.pid) {
                continue;
            }
            next.extend(children.get(&entry.process.pid).into_iter().flatten());
            if !entry.ended {
                living.push(entry.clone());
            } else if orphanage.has(entry, &self.child) {
                collect(entry.process.pid);
            }
        }
        living.sort_by_key(|entry| entry.process.pid);
        Ok(living)
    }

    /// Ends everyone at once, unheard, and collects the child.
    pub(super) fn kill(&self) {
        let mut ending = Ending::new(self);
        while ending.step(Duration::ZERO).is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        collect(self.child.pid);
    }

    fn is_root(&self, entry: &Entry, orphanage: &Orphanage) -> bool {
        // The child is not collected before the end, so its pid, which names the group, is not used again.
        if entry.process.pid == self.child.pid || entry.group == self.child.pid {
            return true;
        }
        let marked = || !self.marks.is_empty() && self.marks.iter().all(|mark| entry.has_variable(|it| it == mark));
        if orphanage.has(entry, &self.child) {
            let other = || entry.has_variable(|variable| variable.starts_with(b"AUTODEV_RUN="));
            return entry.ended || orphanage.only_ours || marked() || !other();
        }
        !entry.ended && marked()
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Whoever listened has failed; what was started must not outlive that.
            self.kill();
        }
        started().retain(|pid| *pid != self.child.pid);
    }
}

fn marks(env: &[(OsString, OsString)]) -> Vec<Vec<u8>> {
    let mark = |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, value)| variable(name, value));
    match (mark("AUTODEV_RUN"), mark("AUTODEV_STATE")) {
        (Some(run), Some(state)) => vec![run, state],
        _ => Vec::new(),
    }
}

fn collect(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// What is needed to know an orphan: a child of ours that none of us has started.
struct Orphanage {
    us: i32,
    our_group: i32,
    started: Vec<i32>,
    /// Whether no other turn is on in this process.
    only_ours: bool,
}

impl Orphanage {
    /// To be opened after the processes were read: what was started since is then in neither list.
    fn open() -> Self {
        let started = started().clone();
        let only_ours = started.len() <= 1;
        Self { us: our_pid(), our_group: rustix::process::getpgrp().as_raw_pid(), started, only_ours }
    }

    /// Other rooms start programs too, but in our own group.
    fn has(&self, entry: &Entry, eldest: &Process) -> bool {
        entry.parent == self.us
            && entry.group != self.our_group
            && entry.process.start >= eldest.start
            && !self.started.contains(&entry.process.pid)
    }
}

/// The ending of a family, step by step, so that its last words can be heard in between.
#[derive(Debug)]
pub(super) struct Ending<'a> {
    family: &'a Family,
    since: Instant,
    killing_since: Option<Instant>,
    /// Who was asked to end, and who works for them.
    asked: Vec<Process>,
    looks_without_anyone: u8,
}

impl<'a> Ending<'a> {
    /// Begins the ending of `family`.
    pub(super) fn new(family: &'a Family) -> Self {
        Self { family, since: Instant::now(), killing_since: None, asked: Vec::new(), looks_without_anyone: 0 }
    }

    /// Does what is due; returns who survived once it is over.
    pub(super) fn step(&mut self, grace: Duration) -> Option<Vec<Process>> {
        let Ok(living) = self.family.living() else { return Some(vec![self.family.child.clone()]) };
        if living.is_empty() {
            self.looks_without_anyone += 1;
            // One look can miss who moves: a child made behind it by a parent that ended before it.
            return (self.looks_without_anyone > 1).then(Vec::new);
        }
        self.looks_without_anyone = 0;
        if self.since.elapsed() < grace {
            self.ask(living);
            return None;
        }
        if self.killing_since.get_or_insert_with(Instant::now).elapsed() > KILL_PATIENCE {
            return Some(living.into_iter().map(|entry| entry.process).collect());
        }
        for entry in living {
            entry.process.signal(Signal::KILL);
        }
        None
    }

    /// Asks everyone once, but not whom the asked ones have started since to tidy up.
    fn ask(&mut self, living: Vec<Entry>) {
        let before = self.asked.len();
        for Entry { process, parent, .. } in living {
            let asked = self.asked.get(..before).unwrap_or_default();
            if asked.contains(&process) {
                continue;
            }
            if !asked.iter().any(|elder| elder.pid == parent) {
                process.signal(Signal::TERM);
                // Who is stopped cannot follow.
                process.signal(Signal::CONT);
            }
            self.asked.push(process);
        }
    }
}
