//! One turn: environment, prompt, listening, and what the way it ended means.

use super::error::Result;
use super::machine::TurnEnd;
use super::prompt::{Parts, prompt};
use super::session::Session;
use super::thread;
use crate::agent::{
    Decision, Ended, Event, How, Line, Listener, Program, PromptForm, Stop, Stream, TurnSpec, run_turn,
};
use crate::config::{Participant, PromptFormat};
use crate::fs;
use crate::state::{Post, PostKind, VERSION};
use crate::workspace::Project;
use serde_json::json;
use std::ffi::OsString;

/// What is fixed for one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'a> {
    pub(super) project: &'a Project,
    pub(super) participant: &'a Participant,
    pub(super) run: &'a str,
    pub(super) id: &'a str,
    pub(super) attempt: u32,
    pub(super) task: Option<&'a str>,
    pub(super) seen: Option<u64>,
}

impl Turn<'_> {
    /// Gives the turn and returns how it ended.
    pub(super) fn take(&self, stop: &Stop, say: &mut dyn FnMut(String)) -> Result<TurnEnd> {
        let session = Session::open(self.project, self.run, self.id, &self.participant.name)?;
        let spec = self.spec()?;
        let mut ears = Ears { turn: self, session, say, odd: Vec::new(), failed: None };
        let ended = run_turn(&spec, stop, &mut ears);
        let Ears { session, odd, failed, .. } = ears;
        if let Some(problem) = session.close() {
            say(format!("not all output of {} could be kept: {problem}", self.participant.name));
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return Ok(TurnEnd::Failed(format!("{}: {error}", self.participant.name))),
        };
        for survivor in &ended.survivors {
            say(format!("{} (process {}) is still alive", survivor.name, survivor.pid));
        }
        self.judge(&ended, &odd)
    }

    fn spec(&self) -> Result<TurnSpec> {
        let memory = fs::try_read(&self.project.memory_path())?.unwrap_or_default();
        let thread = thread::read(self.project.state())?;
        let parts = Parts {
            task: self.task,
            thread: &thread,
            seen: self.seen,
            memory: &String::from_utf8_lossy(&memory),
            verify: &self.project.config().verify,
        };
        Ok(TurnSpec {
            program: Program {
                command: self.participant.command.clone(),
                cwd: self.project.root().to_owned(),
                env: self.environment(),
                timeout: self.participant.turn_timeout,
                grace: crate::agent::GRACE,
            },
            form: match self.participant.prompt {
                PromptFormat::Json => PromptForm::JsonLines,
                PromptFormat::Text => PromptForm::Text,
            },
            run: self.run.to_owned(),
            turn: self.id.to_owned(),
            attempt: self.attempt,
            prompt: prompt(parts),
        })
    }

    /// The allow-listed environment, the run's own variables, and this program in `PATH`.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment = environment(self.project, self.run, &self.participant.env);
        for (name, value) in [("AUTODEV_TURN", self.id), ("AUTODEV_PARTICIPANT", &self.participant.name)] {
            environment.push((name.into(), value.into()));
        }
        environment
    }

    /// Decides what the end of the turn means.
    fn judge(&self, ended: &Ended, odd: &[String]) -> Result<TurnEnd> {
        let name = &self.participant.name;
        let failed = |what: String| Ok(TurnEnd::Failed(format!("{name} {what}")));
        match ended.how {
            How::Stopped => return Ok(TurnEnd::Stopped),
            How::TimedOut => {
                let limit = humantime::format_duration(self.participant.turn_timeout);
                return failed(format!("took longer than {limit} and was ended"));
            }
            How::Exited(code) if code != 0 && !ended.end_seen => return failed(format!("exited with code {code}")),
            How::Signalled(signal) if !ended.end_seen => return failed(format!("was ended by signal {signal}")),
            How::Exited(_) | How::Signalled(_) => {}
        }
        let odd = if odd.is_empty() { String::new() } else { format!(" ({})", odd.join("; ")) };
        if ended.too_long_line && ended.spoke_protocol {
            return Ok(TurnEnd::NoClaim(format!(
                "a line of more than 1 MiB was printed and could not be understood{odd}"
            )));
        }
        match self.claim()? {
            None => Ok(TurnEnd::NoClaim(format!("the turn ended without work_done{odd}"))),
            Some(_) if ended.spoke_protocol && !ended.end_seen => {
                Ok(TurnEnd::NoClaim(format!("work was claimed done, but the turn did not end with `end`{odd}")))
            }
            Some(claim) => Ok(TurnEnd::Claimed(claim)),
        }
    }

    /// The last claim of this turn, by whichever way it came.
    fn claim(&self) -> Result<Option<String>> {
        let posts = thread::read(self.project.state())?;
        let ours = |post: &&Post| {
            post.kind == PostKind::Claim
                && post.run.as_deref() == Some(self.run)
                && post.turn.as_deref() == Some(self.id)
                && post.author == self.participant.name
        };
        Ok(posts.iter().rev().find(ours).map(|post| post.text.clone()))
    }

    fn post(&self, kind: PostKind, text: String) -> Result<u64> {
        let post = Post {
            version: VERSION,
            n: 0,
            time: self.project.clock().now(),
            run: Some(self.run.to_owned()),
            turn: Some(self.id.to_owned()),
            author: self.participant.name.clone(),
            kind,
            text,
        };
        thread::append(self.project.state(), &post)
    }
}

/// The environment of everything that a run starts.
pub(super) fn environment(project: &Project, run: &str, allowed: &[String]) -> Vec<(OsString, OsString)> {
    let own = project.environment();
    let mut environment = own.for_participant(allowed);
    if let Some(folder) = std::env::current_exe().ok().as_deref().and_then(std::path::Path::parent)
        && let Some((_, path)) = environment.iter_mut().find(|(name, _)| name == "PATH")
    {
        let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(path));
        *path = std::env::join_paths(folders).unwrap_or_else(|_| path.clone());
    }
    environment.push(("AUTODEV_RUN".into(), run.into()));
    environment.push(("AUTODEV_PROJECT".into(), project.root().into()));
    environment.push(("AUTODEV_STATE".into(), project.state().path().into()));
    // This program, called inside the turn, must find the same state.
    for (name, folder) in [("XDG_STATE_HOME", &own.state_home), ("AUTODEV_STATE_DIR", &own.state_dir_override)] {
        if let Some(folder) = folder {
            // A turn runs in the root, wherever the run was started.
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            environment.push((name.into(), folder.into()));
        }
    }
    environment
}

/// Listens to a participant: everything raw first, then what it means.
struct Ears<'a> {
    turn: &'a Turn<'a>,
    session: Session,
    say: &'a mut dyn FnMut(String),
    odd: Vec<String>,
    failed: Option<super::Error>,
}

impl Ears<'_> {
    fn note(&mut self, done: Result<u64>) {
        if let Err(error) = done {
            self.failed.get_or_insert(error);
        }
    }
}

impl Listener for Ears<'_> {
    fn raw(&mut self, stream: Stream, line: &Line) {
        self.session.keep(stream, line);
    }

    fn event(&mut self, event: Event) -> Option<Decision> {
        let name = self.turn.participant.name.clone();
        match event {
            Event::Say { text } => (self.say)(format!("{name}: {text}")),
            Event::Post { text } | Event::WorkDone { summary: text } if text.trim().is_empty() => {
                self.warning("a post or work_done without a text says nothing".to_owned());
            }
            Event::Post { text } => {
                (self.say)(format!("{name} posts: {text}"));
                let done = self.turn.post(PostKind::Post, text);
                self.note(done);
            }
            Event::WorkDone { summary } => {
                (self.say)(format!("{name} claims: {summary}"));
                let done = self.turn.post(PostKind::Claim, summary);
                self.note(done);
            }
            Event::Ask(ask) => {
                // Nobody is asked yet, and an action that nobody approved is not let go.
                (self.say)(format!("{name} asks for {} and is refused: nobody can be asked in this run", ask.tool));
                return Some(Decision { call: ask.call, allow: false });
            }
            Event::Spent(spent) => {
                let fields = json!({
                    "run": self.turn.run, "turn": self.turn.id, "participant": name,
                    "input": spent.input, "output": spent.output, "usd": spent.usd,
                });
                let done = self.turn.project.event("spent", fields).map_err(Into::into);
                self.note(done);
            }
            Event::End => {}
        }
        None
    }

    fn warning(&mut self, text: String) {
        (self.say)(format!("{}: {text}", self.turn.participant.name));
        if self.odd.len() < 3 {
            self.odd.push(text);
        }
    }
}
