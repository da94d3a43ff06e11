//! The driver: carries out what the machine decides, and reports what came of it.

use super::check::{Base, base, check};
use super::choose::choose;
use super::error::{Error, Result};
use super::holder::Holder;
use super::machine::{Effect, Event, Finished, Machine, TurnEnd};
use super::start::Start;
use super::thread;
use super::turn::{Turn, environment};
use crate::agent::Stop;
use crate::checkpoint::{self, Clean, NewCheckpoint, Restored, make, refuse_survivor};
use crate::config::Participant;
use crate::fs::{self, Lock};
use crate::state::{Checkpoint, CheckpointKind, Counters, Post, PostKind, RunState, StateRecord, VERSION};
use crate::workspace::Project;
use serde_json::json;
use std::collections::{HashMap, VecDeque};

/// What a run is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// What is to be done.
    pub(crate) task: Option<String>,
    /// The only participant to work, instead of all.
    pub(crate) participant: Option<String>,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The run's id.
    pub(crate) run: String,
    /// How it ended.
    pub(crate) finished: Finished,
    /// The checkpoints it made, oldest first.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// What going back did, after failed work.
    pub(crate) went_back: Option<Restored>,
}

/// Who watches a run.
pub(crate) trait Watcher {
    /// Hears one line about what happens.
    fn say(&mut self, text: String);
}

/// Runs the participants on the task to the end.
pub(crate) fn run(project: &Project, request: &Request, stop: &Stop, watcher: &mut dyn Watcher) -> Result<Outcome> {
    let participants = choose(project.config(), request.participant.as_deref())?;
    let mut lock = Holder::lock(project.state())?;
    refuse_survivor(project)?;
    let mut counters = Counters::load(project.state(), project.root())?;
    counters.run += 1;
    counters.save(project.state())?;
    let run = format!("r{}", counters.run);
    lock.note(&Holder::note(&run))?;
    let config_bytes = fs::try_read(&project.root().join(crate::config::FILE))?;
    let machine = Machine::new(participants.len(), project.config().max_attempts);
    let mut driver = Driver {
        project,
        stop,
        watcher,
        participants,
        task: request.task.clone(),
        run,
        turn: None,
        seen: HashMap::new(),
        start: Start::default(),
        newest: None,
        checkpoints: Vec::new(),
        went_back: None,
        config_bytes,
        _lock: lock,
    };
    driver.drive(machine)
}

/// A run while it is on.
pub(super) struct Driver<'a> {
    pub(super) project: &'a Project,
    stop: &'a Stop,
    pub(super) watcher: &'a mut dyn Watcher,
    participants: Vec<Participant>,
    task: Option<String>,
    pub(super) run: String,
    turn: Option<String>,
    seen: HashMap<String, u64>,
    pub(super) start: Start,
    /// What new work must differ from: the newest checkpoint of this run, or where it began.
    pub(super) newest: Option<Base>,
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) went_back: Option<Restored>,
    config_bytes: Option<Vec<u8>>,
    /// Held for the whole life of the run.
    _lock: Lock,
}

impl Driver<'_> {
    /// Carries out effects until the run ends; an error of our own ends it too, in state `error`.
    fn drive(&mut self, mut machine: Machine) -> Result<Outcome> {
        match self.begin().and_then(|()| self.carry_out(&mut machine)) {
            Ok(finished) => {
                self.end(&finished)?;
                Ok(Outcome {
                    run: self.run.clone(),
                    finished,
                    checkpoints: std::mem::take(&mut self.checkpoints),
                    went_back: self.went_back.take(),
                })
            }
            Err(error) => {
                let _ = self.end(&Finished::Failed(error.to_string()));
                Err(error)
            }
        }
    }

    fn carry_out(&mut self, machine: &mut Machine) -> Result<Finished> {
        let mut effects = VecDeque::from(machine.on(Event::Ready));
        while let Some(effect) = effects.pop_front() {
            let event = match effect {
                Effect::Finish(finished) => return Ok(finished),
                _ if self.stop.requested() => Some(Event::StopWished),
                Effect::StartTurn { participant, attempt } => Some(self.start_turn(participant, attempt)?),
                Effect::Check { .. } => {
                    self.watcher.say("checking the claim".to_owned());
                    let environment = environment(self.project, &self.run, &[]);
                    Some(check(self.project, self.newest, &environment, self.stop)?)
                }
                Effect::Credit { participant, claim, verified } => Some(self.credit(participant, &claim, verified)?),
                Effect::Tell { participant, reason } => {
                    self.tell(participant, &reason)?;
                    None
                }
                Effect::GoBack { reason } => Some(self.go_back(&reason)?),
            };
            if let Some(event) = event {
                effects.extend(machine.on(event));
            }
        }
        Ok(Finished::Failed("the run came to no end".to_owned()))
    }

    fn begin(&mut self) -> Result<()> {
        self.save_state(RunState::Running, None, None)?;
        let names: Vec<&str> = self.participants.iter().map(|participant| participant.name.as_str()).collect();
        self.project.event("run_started", json!({"run": self.run, "task": self.task, "participants": names}))?;
        self.watcher.say(format!("run {} began with {}", self.run, names.join(", ")));
        if self.project.config().checkpoints && self.project.try_repository().is_none() {
            self.watcher.say(
                "Not a git repository; checkpoints/rollback disabled (git init to enable recovery snapshots)"
                    .to_owned(),
            );
        }
        if !self.project.has_checkpoints() {
            return Ok(());
        }
        let request = NewCheckpoint {
            run: Some(self.run.clone()),
            ..NewCheckpoint::new(CheckpointKind::Baseline, "baseline before run")
        };
        match make(self.project, &request, Clean::Nothing) {
            Ok(made) => {
                if let Some(checkpoint) = made.checkpoint() {
                    self.note_checkpoint(checkpoint.clone());
                }
                self.newest = Some(Base::committed(self.project)?);
            }
            Err(error @ checkpoint::Error::Operation { .. }) => {
                self.watcher.say(format!("no baseline: {error}"));
                self.newest = base(self.project)?;
            }
            Err(error) => return Err(error.into()),
        }
        self.start = Start::hold(self.project, &self.run)?;
        Ok(())
    }

    fn start_turn(&mut self, participant: usize, attempt: u32) -> Result<Event> {
        let Some(participant) = self.participants.get(participant).cloned() else {
            return Ok(Event::TurnEnded(TurnEnd::Failed("there is no such participant".to_owned())));
        };
        let mut counters = Counters::load(self.project.state(), self.project.root())?;
        counters.turn += 1;
        counters.save(self.project.state())?;
        let turn = format!("t{}", counters.turn);
        self.look_after_folder()?;
        self.project.keep_memory()?;
        self.save_state(RunState::Running, Some(turn.clone()), Some(participant.name.clone()))?;
        let fields = json!({"run": self.run, "turn": turn, "participant": participant.name, "attempt": attempt});
        self.project.event("turn_started", fields)?;
        self.watcher.say(format!("turn {turn}: {} works (attempt {attempt})", participant.name));
        let seen = self.seen.get(&participant.name).copied();
        let last = thread::read(self.project.state())?.last().map_or(0, |post| post.n);
        self.seen.insert(participant.name.clone(), last);
        let (project, run, stop, task) = (self.project, self.run.clone(), self.stop, self.task.clone());
        let mut say = |text: String| self.watcher.say(text);
        let taking =
            Turn { project, participant: &participant, run: &run, id: &turn, attempt, task: task.as_deref(), seen };
        let end = taking.take(stop, &mut say)?;
        if !self.project.state().path().is_dir() {
            // Made anew it would give out the same numbers again.
            return Err(Error::StateGone(self.project.state().path().to_owned()));
        }
        self.project.event("turn_ended", json!({"run": self.run, "turn": turn, "end": describe(&end)}))?;
        self.turn = Some(turn);
        self.look_after_folder()?;
        Ok(Event::TurnEnded(end))
    }

    /// Brings back what a clean took. The configuration is read once; a change of it is said once.
    fn look_after_folder(&mut self) -> Result<()> {
        if let Some(said) = self.project.bring_memory_back()? {
            self.watcher.say(said);
        }
        let bytes = fs::try_read(&self.project.root().join(crate::config::FILE))?;
        if bytes != self.config_bytes {
            self.watcher.say(format!("{} has changed; this run goes on with what it began with", crate::config::FILE));
            self.project.event("config_changed", json!({"run": self.run}))?;
            self.config_bytes = bytes;
        }
        Ok(())
    }

    fn credit(&mut self, participant: usize, claim: &str, verified: bool) -> Result<Event> {
        let name = self.participants.get(participant).map(|participant| participant.name.clone());
        let fields = json!({"run": self.run, "turn": self.turn, "participant": name, "verified": verified});
        if !self.project.has_checkpoints() {
            self.project.event("credited", fields)?;
            self.watcher.say(format!("credited: {}", label(claim)));
            return Ok(Event::Credited);
        }
        let request = NewCheckpoint {
            run: Some(self.run.clone()),
            turn: self.turn.clone(),
            participant: name,
            verified: Some(verified),
            ..NewCheckpoint::new(CheckpointKind::Task, &format!("thread — {}", label(claim)))
        };
        match make(self.project, &request, Clean::Entry) {
            Ok(made) => {
                if let Some(checkpoint) = made.checkpoint() {
                    self.newest = Some(Base::committed(self.project)?);
                    self.note_checkpoint(checkpoint.clone());
                }
                self.project.event("credited", fields)?;
                Ok(Event::Credited)
            }
            Err(
                error @ (checkpoint::Error::Operation { .. }
                | checkpoint::Error::Workspace(_)
                | checkpoint::Error::Git(_)),
            ) => Ok(Event::Refused(format!("the work could not be kept as a checkpoint: {error}"))),
            Err(error) => Err(error.into()),
        }
    }

    fn note_checkpoint(&mut self, checkpoint: Checkpoint) {
        self.watcher.say(format!("checkpoint {}: {}", checkpoint.id, checkpoint.label));
        for skipped in &checkpoint.skipped {
            self.watcher.say(format!("not held: {} ({})", crate::workspace::show(&skipped.path), skipped.reason));
        }
        self.checkpoints.push(checkpoint);
    }

    fn tell(&mut self, participant: usize, reason: &str) -> Result<()> {
        let name = self.participants.get(participant).map_or("?", |participant| participant.name.as_str());
        let post = Post {
            version: VERSION,
            n: 0,
            time: self.project.clock().now(),
            run: Some(self.run.clone()),
            turn: self.turn.clone(),
            author: "autodev".to_owned(),
            kind: PostKind::Verdict,
            text: format!("{name}, your work was not credited: {reason}"),
        };
        self.project.event("refused", json!({"run": self.run, "turn": self.turn, "reason": reason}))?;
        self.watcher.say(format!("not credited: {reason}"));
        thread::append(self.project.state(), &post)?;
        Ok(())
    }

    fn end(&mut self, finished: &Finished) -> Result<()> {
        let problem = match finished {
            Finished::Done | Finished::Stopped => None,
            Finished::Failed(reason) => Some(reason.clone()),
        };
        if let Some(said) = self.start.release(self.project, &self.run)? {
            self.watcher.say(said);
        }
        let mut record = StateRecord::load(self.project.state())?;
        record.rest(problem);
        record.save(self.project.state())?;
        self.project.event("run_ended", json!({"run": self.run, "state": record.state, "problem": record.problem}))?;
        Ok(())
    }

    fn save_state(&self, state: RunState, turn: Option<String>, participant: Option<String>) -> Result<()> {
        let mut record = StateRecord::load(self.project.state())?;
        record.state = state;
        record.run = Some(self.run.clone());
        record.turn = turn;
        record.participant = participant;
        record.task.clone_from(&self.task);
        record.problem = None;
        Ok(record.save(self.project.state())?)
    }
}

/// Makes the label of a claim: its first line, of a length that a list bears, without what no commit may hold.
fn label(claim: &str) -> String {
    const MOST: usize = 200;
    let line = claim.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().replace('\0', "\u{fffd}");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line).trim_end()),
        None => line,
    }
}

fn describe(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Stopped => "stopped".to_owned(),
        TurnEnd::Failed(reason) => format!("failed: {reason}"),
        TurnEnd::Claimed(_) => "claimed".to_owned(),
        TurnEnd::NoClaim(reason) => format!("no claim: {reason}"),
    }
}
