//! One program as one turn: started, spoken with, listened to, and ended with all it has started.
//!
//! The program runs in its own process group with exactly the environment it is given. Every line of its
//! output reaches the listener raw before anything is understood of it. However a turn ends (exit, signal,
//! timeout, a wish to stop), nothing that it started is alive when the result is returned, or it is named
//! in it. A pipe that someone holds open delays nothing. Nothing here judges what was said.
#![expect(clippy::disallowed_methods, reason = "this is the room that starts programs")]

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::ending::{Ending, Family};
use super::lines::Line;
use super::pipes::{Message, Pipes, Stream};
use super::processes::{Process, Table};
use super::protocol::{Decision, Event, Parsed, Prompt, parse};
use super::{Error, Stop};

/// How long a program may take to follow SIGTERM before SIGKILL, unless it is told otherwise.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// How long a participant may take to exit after its `end`.
const AFTER_END: Duration = Duration::from_secs(2);

/// How long to read what is left in the pipes once everyone who could write is gone.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How often to look at the clock and at the wish to stop.
const TICK: Duration = Duration::from_millis(25);

/// How often to collect orphans that end during a turn.
const COLLECT_EVERY: Duration = Duration::from_secs(10);

/// A program to run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The program and its arguments; never a shell line.
    pub(crate) command: Vec<String>,
    /// The folder it runs in.
    pub(crate) cwd: PathBuf,
    /// Its complete environment; with `AUTODEV_RUN` and `AUTODEV_STATE` its descendants are found by these too.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// How long it may run, without the time that the listener takes for events.
    pub(crate) timeout: Duration,
    /// How long it and its descendants may take to follow SIGTERM; [`GRACE`] is a good value.
    pub(crate) grace: Duration,
}

/// The form in which a participant gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptForm {
    /// As a line of the protocol; stdin stays open for decisions until the turn ends.
    JsonLines,
    /// As plain text, after which stdin is closed.
    Text,
}

/// A turn of a participant.
#[derive(Debug, Clone)]
pub(crate) struct TurnSpec {
    /// The participant's program.
    pub(crate) program: Program,
    /// The form in which it gets the prompt.
    pub(crate) form: PromptForm,
    /// The run's id.
    pub(crate) run: String,
    /// The turn's id.
    pub(crate) turn: String,
    /// How often this work was tried, from 1.
    pub(crate) attempt: u32,
    /// The prompt itself.
    pub(crate) prompt: String,
}

/// Who hears what a participant says.
///
/// While a method is at work nothing else is heard, and a wish to stop is not seen.
pub(crate) trait Listener {
    /// Hears a line of output as it came, before it is understood.
    fn raw(&mut self, stream: Stream, line: &Line);
    /// Hears an event; what is returned is written to the participant's stdin.
    fn event(&mut self, event: Event) -> Option<Decision>;
    /// Hears that something the participant said was odd.
    fn warning(&mut self, text: String);
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it; also ours, where it went on after its `end`.
    Signalled(i32),
    /// It took too long and was ended.
    TimedOut,
    /// Someone wished to stop and it was ended, or it was not started at all.
    Stopped,
}

/// What is left to say about a program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) how: How,
    /// Whether it said `end`.
    pub(crate) end_seen: bool,
    /// Whether at least one line was of the protocol.
    pub(crate) spoke_protocol: bool,
    /// Whether a line of its stdout was too long to be understood.
    pub(crate) too_long_line: bool,
    /// Who is still alive in spite of everything, by pid.
    pub(crate) survivors: Vec<Process>,
}

/// Runs one turn of a participant to its end.
pub(crate) fn run_turn(spec: &TurnSpec, stop: &Stop, listener: &mut dyn Listener) -> Result<Ended, Error> {
    let TurnSpec { program, run, turn, prompt, .. } = spec;
    let input = match spec.form {
        PromptForm::Text => prompt.clone().into_bytes(),
        PromptForm::JsonLines => Prompt { run, turn, attempt: spec.attempt, text: prompt, cwd: &program.cwd }.to_line(),
    };
    Session::run(program, Some((input, spec.form)), stop, Ears::Participant(listener))
}

/// Runs a plain command to its end, with nothing on its stdin; `raw` hears its output.
pub(crate) fn run_plain(program: &Program, stop: &Stop, raw: &mut dyn FnMut(Stream, &Line)) -> Result<Ended, Error> {
    Session::run(program, None, stop, Ears::Command(raw))
}

/// Who listens to what.
enum Ears<'a> {
    Participant(&'a mut dyn Listener),
    Command(&'a mut dyn FnMut(Stream, &Line)),
}

/// A program while it runs.
struct Session<'a> {
    program: &'a Program,
    stop: &'a Stop,
    ears: Ears<'a>,
    pipes: Pipes,
    start: Instant,
    /// Time that the listener took for events: a decision may take a person hours.
    deciding: Duration,
    exited: bool,
    end_since: Option<Instant>,
    /// What is known so far.
    ended: Ended,
}

impl<'a> Session<'a> {
    fn run(
        program: &'a Program,
        input: Option<(Vec<u8>, PromptForm)>,
        stop: &'a Stop,
        ears: Ears<'a>,
    ) -> Result<Ended, Error> {
        let mut command = prepare(program, if input.is_some() { Stdio::piped() } else { Stdio::null() })?;
        let ended = Ended {
            how: How::Stopped,
            end_seen: false,
            spoke_protocol: false,
            too_long_line: false,
            survivors: Vec::new(),
        };
        if stop.requested() {
            return Ok(ended);
        }
        Table::read().map_err(|source| Error::CannotSee { source })?;
        let name = command.get_program().to_string_lossy().into_owned();
        let cannot_start = |source| Error::CannotStart { program: name.clone(), source };
        let (mut child, family) = Family::start(&mut command, &program.env).map_err(cannot_start)?;
        let pipes = match Pipes::open(&mut child) {
            Ok(pipes) => pipes,
            Err(error) => {
                family.kill();
                return Err(cannot_start(error));
            }
        };
        let (start, deciding) = (Instant::now(), Duration::ZERO);
        let mut session = Self { program, stop, ears, pipes, start, deciding, exited: false, end_since: None, ended };
        session.prompt(input);
        Ok(session.finish(child, &family))
    }

    fn prompt(&mut self, input: Option<(Vec<u8>, PromptForm)>) {
        if let (Some((bytes, form)), Some(pipe)) = (input, &self.pipes.input) {
            // It can only fail where the program has closed its input already.
            let _ = pipe.send(bytes);
            if form == PromptForm::Text {
                self.pipes.input = None;
            }
        }
    }

    fn finish(mut self, mut child: Child, family: &Family) -> Ended {
        let cause = self.watch(family);
        self.pipes.input = None;
        self.ended.survivors = self.end(family);
        let start = Instant::now();
        while self.pipes.open_outputs > 0 && start.elapsed() < LAST_WORDS {
            self.hear(TICK);
        }
        let status = child.try_wait().ok().flatten();
        self.ended.how = cause.unwrap_or_else(|| match status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => How::Exited(code),
            Some((None, Some(signal))) => How::Signalled(signal),
            // Even SIGKILL did not end it: it is among the survivors.
            _ => How::Signalled(signal_hook::consts::SIGKILL),
        });
        self.ended
    }

    /// Listens until the turn is over; says why, where that was not the program's own doing.
    fn watch(&mut self, family: &Family) -> Option<How> {
        let mut collected = Instant::now();
        loop {
            if self.exited {
                return None;
            }
            if self.stop.requested() {
                return Some(How::Stopped);
            }
            if self.start.elapsed().saturating_sub(self.deciding) >= self.program.timeout {
                return Some(How::TimedOut);
            }
            if self.end_since.is_some_and(|since| since.elapsed() >= AFTER_END) {
                return None;
            }
            if collected.elapsed() >= COLLECT_EVERY {
                let _ = family.living();
                collected = Instant::now();
            }
            self.hear(TICK);
        }
    }

    /// Ends the whole family, listening meanwhile, so that nobody hangs on a full pipe.
    fn end(&mut self, family: &Family) -> Vec<Process> {
        let mut ending = Ending::new(family);
        let mut pause = Duration::from_millis(1);
        loop {
            let grace = if self.stop.hurried() { Duration::ZERO } else { self.program.grace };
            if let Some(survivors) = ending.step(grace) {
                return survivors;
            }
            let next = Instant::now() + pause;
            while Instant::now() < next {
                self.hear(next.saturating_duration_since(Instant::now()));
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Hears at most one message, within `patience`.
    fn hear(&mut self, patience: Duration) {
        match self.pipes.messages.recv_timeout(patience) {
            Ok(Message::Line(stream, line)) => self.line(stream, &line),
            Ok(Message::Closed) => self.pipes.open_outputs -= 1,
            Ok(Message::Exited) => self.exited = true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }

    fn line(&mut self, stream: Stream, line: &Line) {
        let listener = match &mut self.ears {
            Ears::Command(raw) => return raw(stream, line),
            Ears::Participant(listener) => listener,
        };
        listener.raw(stream, line);
        if stream == Stream::Stderr {
            return;
        }
        match line {
            Line::TooLong { bytes, .. } => {
                self.ended.too_long_line = true;
                listener.warning(format!("a line of {bytes} bytes is too long and was not read as a whole"));
            }
            Line::Whole(bytes) => match parse(bytes) {
                Parsed::Protocol(event) => {
                    self.ended.spoke_protocol = true;
                    self.event(event);
                }
                Parsed::Text { text, warning } => {
                    if let Some(warning) = warning {
                        listener.warning(warning);
                    }
                    self.event(Event::Say { text });
                }
            },
        }
    }

    fn event(&mut self, event: Event) {
        if event == Event::End {
            self.ended.end_seen = true;
            self.end_since.get_or_insert_with(Instant::now);
            // Who waits for the end of its input may go.
            self.pipes.input = None;
        }
        let Ears::Participant(listener) = &mut self.ears else { return };
        let start = Instant::now();
        let decision = listener.event(event);
        self.deciding += start.elapsed();
        let Some(decision) = decision else { return };
        match &self.pipes.input {
            Some(input) => drop(input.send(decision.to_line())),
            None => listener.warning(format!("nobody waits for the decision on {}: stdin is closed", decision.call)),
        }
    }
}

fn prepare(program: &Program, stdin: Stdio) -> Result<Command, Error> {
    let Some((name, arguments)) = program.command.split_first() else { return Err(Error::EmptyCommand) };
    if !program.cwd.is_dir() {
        return Err(Error::NoFolder { program: name.clone(), folder: program.cwd.clone() });
    }
    let mut command = Command::new(name);
    command.args(arguments).current_dir(&program.cwd).env_clear().envs(program.env.iter().cloned());
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

#[cfg(test)]
mod tests;
