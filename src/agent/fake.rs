//! A scripted agent: plays JSON steps the way a real one would act, speak and misbehave.
//!
//! It stands behind the hidden command `autodev fake-agent SCRIPT`, so that tests and the demo run the real
//! paths of starting, speaking and ending with nothing installed. A script is an array of steps, or
//! `{"turns":[[…],[…]]}` where the n-th list is for attempt n and the last one repeats. The whole script is
//! checked before its first step. Paths stay inside the working folder; that guards against a slip in a
//! script and not against a hostile one.
#![expect(clippy::disallowed_methods, reason = "plays the part of a program that is not autodev")]

use std::io::{self, BufRead, Read as _, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::Error;
use super::protocol::{Ask, Event};

/// One step of a script, an object with one key.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    Say(String),
    Post(String),
    Write(FileText),
    Append(FileText),
    Delete(PathBuf),
    Commit(String),
    Claim(String),
    Ask(Ask),
    Run(Vec<String>),
    Sleep(f64),
    Hang(bool),
    IgnoreTerm(bool),
    Orphan(bool),
    Garbage(bool),
    Flood(u64),
    Exit(i32),
    End(bool),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    path: PathBuf,
    text: String,
}

/// Plays a script in the current folder and returns the exit code.
pub(crate) fn play(script: &Path, input: impl BufRead, output: impl Write) -> Result<i32, Error> {
    play_in(Path::new("."), script, input, output)
}

fn play_in(folder: &Path, script: &Path, mut input: impl BufRead, output: impl Write) -> Result<i32, Error> {
    let turns = read_script(script)?;
    let mut prompt = Vec::new();
    // A prompt that is plain text or not there at all is the first attempt.
    let _ = input.read_until(b'\n', &mut prompt);
    let prompt: Value = serde_json::from_slice(&prompt).unwrap_or_default();
    let attempt = prompt.get("attempt").and_then(Value::as_u64).unwrap_or(1);
    let index = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    let steps = turns.get(index).or(turns.last()).map_or(&[][..], Vec::as_slice);
    let mut player = Player { folder, input, output };
    for (number, step) in (1..).zip(steps) {
        if let Step::Exit(code) = step {
            return Ok(*code);
        }
        player.play(step).map_err(|reason| Error::StepFailed { step: number, reason: reason.to_string() })?;
    }
    Ok(0)
}

fn read_script(path: &Path) -> Result<Vec<Vec<Step>>, Error> {
    let broken = |reason: String| Error::BrokenScript { path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|source| Error::UnreadableScript { path: path.to_owned(), source })?;
    let script: Value = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
    if let Value::Array(steps) = script {
        return Ok(vec![read_steps(steps).map_err(broken)?]);
    }
    let Some(Value::Array(turns)) = script.get("turns") else {
        return Err(broken("it is neither an array of steps nor an object with `turns`".to_owned()));
    };
    let read = |(number, turn): (usize, &Value)| match turn {
        Value::Array(steps) => read_steps(steps.clone()).map_err(|reason| format!("turn {number}, {reason}")),
        _ => Err(format!("turn {number} is no array of steps")),
    };
    (1..).zip(turns).map(read).collect::<Result<_, _>>().map_err(broken)
}

fn read_steps(steps: Vec<Value>) -> Result<Vec<Step>, String> {
    let read = |(number, step): (usize, Value)| {
        serde_json::from_value(step)
            .map_err(|error| format!("step {number}: {error}").replace("unknown variant", "unknown step"))
    };
    (1..).zip(steps).map(read).collect()
}

/// The agent while it plays.
struct Player<'a, R, W> {
    folder: &'a Path,
    input: R,
    output: W,
}

impl<R: BufRead, W: Write> Player<'_, R, W> {
    fn play(&mut self, step: &Step) -> io::Result<()> {
        match step {
            Step::Say(text) => self.say(text.clone()),
            Step::Post(text) => self.tell(&Event::Post { text: text.clone() }),
            Step::Claim(summary) => self.tell(&Event::WorkDone { summary: summary.clone() }),
            Step::Ask(ask) => self.ask(ask),
            Step::Write(file) => std::fs::write(self.file(&file.path)?, &file.text),
            Step::Append(file) => {
                let path = self.file(&file.path)?;
                std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(file.text.as_bytes())
            }
            Step::Delete(path) => std::fs::remove_file(self.inside(path)?),
            Step::Commit(message) => self.commit(message),
            Step::Run(command) => self.run(command),
            Step::Sleep(seconds) => {
                std::thread::sleep(Duration::try_from_secs_f64(*seconds).map_err(io::Error::other)?);
                Ok(())
            }
            Step::Garbage(true) => self.write(b"{\"type\":\"say\",\"text\":\n\xff\xfe\x00{]\n"),
            Step::Flood(bytes) => self.flood(*bytes),
            Step::End(true) => self.tell(&Event::End),
            Step::Hang(true) => loop {
                std::thread::park();
            },
            Step::IgnoreTerm(true) => {
                let noticed = Arc::new(AtomicBool::new(false));
                signal_hook::flag::register(signal_hook::consts::SIGTERM, noticed).map(drop)
            }
            // It keeps our output open and belongs to nobody.
            Step::Orphan(true) => self.start("setsid", &["--fork", "sleep", "600"], Stdio::inherit()).map(drop),
            Step::Exit(_)
            | Step::Garbage(false)
            | Step::End(false)
            | Step::Hang(false)
            | Step::IgnoreTerm(false)
            | Step::Orphan(false) => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.output.flush()
    }

    fn tell(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.write(&line)
    }

    fn say(&mut self, text: String) -> io::Result<()> {
        self.tell(&Event::Say { text })
    }

    fn ask(&mut self, ask: &Ask) -> io::Result<()> {
        self.tell(&Event::Ask(ask.clone()))?;
        loop {
            let mut line = Vec::new();
            if self.input.read_until(b'\n', &mut line)? == 0 {
                return self.say(format!("nobody decided on {}", ask.call));
            }
            let decision: Value = serde_json::from_slice(&line).unwrap_or_default();
            if decision.get("call").and_then(Value::as_str) == Some(&ask.call) {
                let allowed = decision.get("allow").and_then(Value::as_bool) == Some(true);
                return self.say(format!("{} was {}", ask.call, if allowed { "allowed" } else { "denied" }));
            }
        }
    }

    fn flood(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut io::repeat(b'x').take(bytes), &mut self.output)?;
        self.write(b"\n")
    }

    /// Refuses paths that could lead out of the folder.
    fn inside(&self, path: &Path) -> io::Result<PathBuf> {
        let plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !plain {
            return Err(io::Error::other(format!("{} leads out of the working folder", path.display())));
        }
        Ok(self.folder.join(path))
    }

    fn file(&self, path: &Path) -> io::Result<PathBuf> {
        let path = self.inside(path)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(path)
    }

    fn commit(&self, message: &str) -> io::Result<()> {
        const IDENTITY: [&str; 6] =
            ["-c", "user.name=fake agent", "-c", "user.email=fake-agent@localhost", "-c", "commit.gpgSign=false"];
        let add: &[&str] = &["add", "-A"];
        for arguments in [add, &["commit", "-q", "--no-verify", "-m", message]] {
            let code = self.start("git", &[&IDENTITY, arguments].concat(), Stdio::null())?;
            if code != Some(0) {
                return Err(io::Error::other(format!("git {} failed", arguments.join(" "))));
            }
        }
        Ok(())
    }

    fn run(&mut self, command: &[String]) -> io::Result<()> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::other("the command is empty"));
        };
        match self.start(program, arguments, Stdio::inherit())? {
            Some(0) => Ok(()),
            Some(code) => self.say(format!("{program} exited with {code}")),
            None => self.say(format!("{program} was ended by a signal")),
        }
    }

    fn start(
        &self,
        program: &str,
        arguments: &[impl AsRef<std::ffi::OsStr>],
        stdout: Stdio,
    ) -> io::Result<Option<i32>> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder).stdin(Stdio::null()).stdout(stdout);
        command.status().map(|status| status.code()).map_err(|error| io::Error::other(format!("{program}: {error}")))
    }
}

#[cfg(test)]
mod tests;
