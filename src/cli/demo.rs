//! `autodev demo`: a whole run in a temporary folder, played by the scripted agent.
//!
//! Everything shown is the real program on a real repository: the commands are printed as they could be
//! typed, and their output is theirs. The folder stays, so that the commands at the end can be pasted.

use super::output::Output;
use crate::agent::{GRACE, How, Line, Program, Stop, Stream, run_plain};
use crate::config::{Environment, IGNORE_TEMPLATE, MEMORY_TEMPLATE, TEMPLATE};
use crate::state::Checkpoint;
use crate::{Error, ErrorKind, Project, Result, fs};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How long one command of the demo may take.
const LIMIT: Duration = Duration::from_mins(1);

/// The stage of the demo: its folder, its repository, and this program.
struct Stage {
    folder: PathBuf,
    repository: PathBuf,
    program: String,
    environment: Vec<(OsString, OsString)>,
    stop: Stop,
    output: Output,
}

/// Plays the demo.
pub(super) fn run(output: Output) -> Result<ExitCode> {
    let folder = tempfile::Builder::new().prefix("autodev-demo-").tempdir();
    let folder = folder.map_err(|source| fs::Error::new("create a folder in", &std::env::temp_dir(), source))?.keep();
    let folder = std::fs::canonicalize(&folder).map_err(|source| fs::Error::new("find", &folder, source))?;
    let program = std::env::current_exe().map_err(|source| fs::Error::new("find", Path::new("autodev"), source))?;
    let stage = Stage {
        repository: folder.join("project"),
        folder,
        program: program.display().to_string(),
        environment: environment(&Environment::current()),
        stop: Stop::on_signals()?,
        output,
    };
    stage.set()?;
    stage.play()?;
    Ok(ExitCode::SUCCESS)
}

/// Everything but what would lead the demo into another repository or a run that is on.
///
/// A folder for all states is the user's choice, and the commands at the end will follow it too.
fn environment(own: &Environment) -> Vec<(OsString, OsString)> {
    let mut environment = own.for_git();
    environment.extend(own.state_dir_override.iter().map(|folder| ("AUTODEV_STATE_DIR".into(), folder.into())));
    environment
}

/// Quotes a word for a shell where it needs that.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:,@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl Stage {
    /// Makes the repository, its remote, the configuration and the scripts.
    fn set(&self) -> Result<()> {
        self.output.note(format_args!("A project to play with: {}", self.repository.display()));
        let remote = self.folder.join("remote.git").display().to_string();
        fs::create_folder_as_usual(&self.repository)?;
        self.git(&["init", "-q", "-b", "main", "."])?;
        self.write("notes.txt", "shopping list\n")?;
        self.git(&["add", "-A"])?;
        // Neither a signature nor a hook of the user's: this is a commit to play with.
        let own =
            ["user.name=You", "user.email=you@example.invalid", "commit.gpgSign=false", "core.hooksPath=/dev/null"];
        let own = own.iter().flat_map(|setting| ["-c", setting]);
        self.git(&own.chain(["commit", "-q", "-m", "begin"]).collect::<Vec<_>>())?;
        self.git(&["init", "-q", "--bare", &remote])?;
        self.git(&["remote", "add", "origin", &remote])?;
        self.write("notes.txt", "shopping list\n- bread (a change of yours, not committed yet)\n")?;
        self.write(".autodev/.gitignore", IGNORE_TEMPLATE)?;
        self.write(".autodev/memory.md", MEMORY_TEMPLATE)?;
        let mut config = TEMPLATE.to_owned();
        for (name, script) in [("writer", writer()), ("reader", reader())] {
            let file = format!(".autodev/{name}.json");
            self.write(&file, &script.to_string())?;
            let command = json!([self.program, "fake-agent", file]);
            let _ = write!(config, "\n[[participants]]\nname = \"{name}\"\ncommand = {command}\n");
        }
        self.write(".autodev/config.toml", &config)
    }

    /// Runs, lists, goes back, and says how to go on.
    fn play(&self) -> Result<()> {
        self.show(&["run", "write a greeting and a test for it"])?;
        self.show(&["restore"])?;
        let checkpoints = self.checkpoints()?;
        let credited: Vec<_> = checkpoints.iter().filter(|checkpoint| checkpoint.kind.word() == "task").collect();
        let Some(first) = credited.last() else {
            return Err(Error::new(ErrorKind::Bug, "the demo's run has credited nothing"));
        };
        self.write("greeting.txt", "something you typed since, not committed\n")?;
        self.output.line("\nYou change greeting.txt by hand, and then want the first step back:");
        self.show(&["restore", &first.id.to_string()])?;
        self.show(&["restore"])?;
        let checkpoints = self.checkpoints()?;
        let saved = checkpoints.iter().find(|checkpoint| checkpoint.kind.word() == "pre-restore");
        self.go_on(saved);
        Ok(())
    }

    /// Says how to go on: lines that any shell takes as they are.
    fn go_on(&self, saved: Option<&Checkpoint>) {
        self.output.line("\nNothing is lost: what you typed is in the list. See what bringing it back would change,");
        self.output.line("bring it back, and look around. Go on with:\n");
        let name = quoted(&self.program);
        self.output.line(format_args!("  cd {}", quoted(&self.repository.display().to_string())));
        if let Some(saved) = saved {
            self.output.line(format_args!("  {name} restore {} --dry-run", saved.id));
            self.output.line(format_args!("  {name} restore {}", saved.id));
        }
        self.output.line(format_args!("  {name} status\n  git log --oneline --graph --all"));
    }

    fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        Project::open_with(&self.repository, Environment::from_pairs(self.environment.clone()))?.list()
    }

    /// Runs this program in the repository and shows the command with its output.
    fn show(&self, arguments: &[&str]) -> Result<()> {
        let typed: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        self.output.line(format_args!("\n$ autodev {}", typed.join(" ")));
        let command =
            std::iter::once(self.program.clone()).chain(arguments.iter().map(|argument| (*argument).to_owned()));
        let output = self.output;
        // A run tells its story on standard error as it goes; elsewhere the result comes first.
        let (mut notes, as_it_goes) = (Vec::new(), arguments.first() == Some(&"run"));
        self.command(command.collect(), &mut |stream, line| match stream {
            Stream::Stderr if !as_it_goes => notes.push(line.to_owned()),
            _ => output.line(format_args!("  {line}")),
        })?;
        for line in &notes {
            output.line(format_args!("  {line}"));
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let command = std::iter::once("git").chain(arguments.iter().copied()).map(str::to_owned).collect();
        self.command(command, &mut |_, _| {})
    }

    fn command(&self, command: Vec<String>, show: &mut dyn FnMut(Stream, &str)) -> Result<()> {
        let words = command.join(" ");
        let program = Program {
            command,
            cwd: self.repository.clone(),
            env: self.environment.clone(),
            timeout: LIMIT,
            grace: GRACE,
        };
        let mut last = String::new();
        let ended = run_plain(&program, &self.stop, &mut |stream, line| {
            if let Line::Whole(bytes) = line {
                let line = String::from_utf8_lossy(bytes).into_owned();
                show(stream, &line);
                if !line.trim().is_empty() {
                    last = line;
                }
            }
        })?;
        match ended.how {
            How::Exited(0) => Ok(()),
            How::Stopped => Err(Error::new(ErrorKind::Interrupted, "the demo was interrupted")),
            _ => Err(Error::new(ErrorKind::Failed, format!("`{words}` failed: {last}"))),
        }
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.repository.join(path);
        if let Some(folder) = path.parent() {
            fs::create_folder_as_usual(folder)?;
        }
        fs::replace(&path, text.as_bytes())?;
        Ok(fs::set_mode(&path, 0o644)?)
    }
}

/// The first participant writes a file.
fn writer() -> Value {
    json!([
        {"say": "I write the greeting."},
        {"write": {"path": "greeting.txt", "text": "Hello from the first step.\n"}},
        {"post": "greeting.txt is where the greeting lives"},
        {"claim": "Write a greeting"},
        {"end": true}
    ])
}

/// The second one adds to it.
fn reader() -> Value {
    json!([
        {"say": "I add a test for it."},
        {"append": {"path": "greeting.txt", "text": "And a second line.\n"}},
        {"write": {"path": "test.sh", "text": "grep -q Hello greeting.txt\n"}},
        {"claim": "Add a test for the greeting"},
        {"end": true}
    ])
}
