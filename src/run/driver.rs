//! The driver: carries out what the machine decides, and reports what came of it.

use super::check::{Base, base, check};
use super::error::{Error, Result};
use super::machine::{Effect, Event, Finished, Machine, TurnEnd};
use super::turn::{Turn, environment};
use super::{memory, thread};
use crate::agent::Stop;
use crate::checkpoint::{self, Caller, Clean, NewCheckpoint, Restored, Target, go_back, make};
use crate::config::{Config, Participant, Role};
use crate::fs::{self, Lock};
use crate::state::{Checkpoint, CheckpointKind, Counters, Post, PostKind, RunState, StateRecord, VERSION};
use crate::workspace::Project;
use gix::ObjectId;
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
    let Some(mut lock) = project.state().try_lock_run()? else {
        let holder = project.state().run_holder()?.unwrap_or_default();
        let mut words = holder.split_whitespace();
        let (pid, run) = (words.next().unwrap_or("?"), words.next().unwrap_or("?"));
        return Err(Error::RunIsOn(format!("{run}, process {pid}")));
    };
    let mut counters = Counters::load(project.state(), project.root())?;
    counters.run += 1;
    counters.save(project.state())?;
    let run = format!("r{}", counters.run);
    lock.note(&format!("{} {run}\n", std::process::id()))?;
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

/// Picks who is to work.
fn choose(config: &Config, name: Option<&str>) -> Result<Vec<Participant>> {
    let workers = || config.participants.iter().filter(|participant| participant.role == Role::Worker);
    let Some(name) = name else {
        let all: Vec<Participant> = workers().cloned().collect();
        return if all.is_empty() { Err(Error::NoParticipant) } else { Ok(all) };
    };
    if let Some(participant) = config.participants.iter().find(|participant| participant.name == name) {
        return Ok(vec![participant.clone()]);
    }
    let near = workers()
        .map(|participant| (strsim::damerau_levenshtein(&participant.name, name), &participant.name))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map(|(_, name)| name.clone());
    Err(Error::UnknownParticipant { given: name.to_owned(), near })
}

/// Where a run began, after its baseline.
#[derive(Debug, Default)]
struct Start {
    commit_id: Option<ObjectId>,
    branch: Option<String>,
}

struct Driver<'a> {
    project: &'a Project,
    stop: &'a Stop,
    watcher: &'a mut dyn Watcher,
    participants: Vec<Participant>,
    task: Option<String>,
    run: String,
    turn: Option<String>,
    seen: HashMap<String, u64>,
    start: Start,
    /// What new work must differ from: the newest checkpoint of this run, or where it began.
    newest: Option<Base>,
    checkpoints: Vec<Checkpoint>,
    went_back: Option<Restored>,
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
        if self.project.try_repository().is_none() {
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
            }
            Err(error @ checkpoint::Error::Operation { .. }) => {
                self.watcher.say(format!("no baseline: {error}"));
            }
            Err(error) => return Err(error.into()),
        }
        self.newest = base(self.project)?;
        let head = self.project.repository()?.head().map_err(checkpoint::Error::from)?;
        self.start = Start { commit_id: head.commit_id(), branch: head.branch().map(str::to_owned) };
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
        if let Some(said) = memory::keep(self.project)? {
            self.watcher.say(said);
        }
        self.report_changed_config()?;
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
        self.project.event("turn_ended", json!({"run": self.run, "turn": turn, "end": describe(&end)}))?;
        self.turn = Some(turn);
        Ok(Event::TurnEnded(end))
    }

    /// The configuration is read once; a change of it is said once.
    fn report_changed_config(&mut self) -> Result<()> {
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
        self.project.event(
            "credited",
            json!({"run": self.run, "turn": self.turn, "participant": name, "verified": verified}),
        )?;
        if !self.project.has_checkpoints() {
            self.watcher.say(format!("credited: {}", first_line(claim)));
            return Ok(Event::Credited);
        }
        let request = NewCheckpoint {
            run: Some(self.run.clone()),
            turn: self.turn.clone(),
            participant: name,
            verified: Some(verified),
            ..NewCheckpoint::new(CheckpointKind::Task, &format!("thread — {}", first_line(claim)))
        };
        match make(self.project, &request, Clean::Entry) {
            Ok(made) => {
                if let Some(checkpoint) = made.checkpoint() {
                    self.newest = base(self.project)?;
                    self.note_checkpoint(checkpoint.clone());
                }
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

    /// Goes back to the newest checkpoint of this run, or to where it began, never behind it.
    fn go_back(&mut self, reason: &str) -> Result<Event> {
        self.watcher.say(format!("the work failed: {reason}"));
        let newest = self.checkpoints.last();
        let target = match (newest, self.start.commit_id) {
            _ if !self.project.has_checkpoints() => None,
            _ if !self.project.config().rollback_on_failure => {
                self.watcher.say("the files stay as they are (rollback_on_failure = false)".to_owned());
                None
            }
            (Some(checkpoint), _) => Some(Target::from(checkpoint.id.to_string())),
            (None, Some(commit_id)) => {
                let (label, branch) = (format!("start of {}", self.run), self.start.branch.clone());
                Some(Target::Known { commit_id, label, branch })
            }
            (None, None) => {
                self.watcher.say("there is no commit to go back to; the files stay as they are".to_owned());
                None
            }
        };
        if let Some(target) = target
            && base(self.project)? != self.newest
        {
            let request = checkpoint::Request { target, paths: Vec::new(), caller: Caller::Run };
            match go_back(self.project, &request, None) {
                Ok(restored) => {
                    self.watcher.say(restored.to_string());
                    self.project.event("went_back", json!({"run": self.run, "to": restored.label}))?;
                    self.went_back = Some(restored);
                }
                Err(error) => self.watcher.say(format!("Restore failed: {error}")),
            }
        }
        Ok(Event::WentBack)
    }

    fn end(&mut self, finished: &Finished) -> Result<()> {
        let problem = match finished {
            Finished::Done | Finished::Stopped => None,
            Finished::Failed(reason) => Some(reason.clone()),
        };
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

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
}

fn describe(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Stopped => "stopped".to_owned(),
        TurnEnd::Failed(reason) => format!("failed: {reason}"),
        TurnEnd::Claimed(_) => "claimed".to_owned(),
        TurnEnd::NoClaim(reason) => format!("no claim: {reason}"),
    }
}
