//! The git program as a component: the one place that starts it.
//!
//! Every call runs in the root of the work tree with a scrubbed environment, an explicit git folder, the C
//! locale, closed standard input unless it is fed, no hooks, no signing, no editor, no pager, no prompt, no
//! network, no gc and no file system monitor. Names go in and out separated by NUL. A call that does not
//! end in time is ended with its whole process group. What git prints for people is passed on in errors
//! and never decides anything.
#![expect(clippy::disallowed_methods, reason = "this is the one function of the room that starts git")]

use super::{Error, Incoming, error::Result};
use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The time after which a call is ended: long enough for a filter driver with gigabytes to move.
const LIMIT: Duration = Duration::from_mins(30);

/// Settings that keep git from starting anything of the user's and from writing in ways that are not asked for.
///
/// `trustctime` and `checkStat` make the private index see edits of equal size and time; `safecrlf` would turn a
/// warning about line endings into a failed capture; the index settings keep private indexes plain. An index is
/// synced once, by whoever keeps it, and not by each call that writes it.
const SETTINGS: [&str; 24] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "index.sparse=false",
    "index.skipHash=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "credential.helper=",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "core.fsync=loose-object,pack,pack-metadata,-index",
    "core.fsyncMethod=batch",
    "color.ui=false",
    "advice.addEmbeddedRepo=false",
];

/// Whether a call may take optional locks, that is, refresh the index that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// It may write back what it learned; only ever for an index of our own.
    Optional,
    /// It leaves the index alone.
    None,
}

/// How to start git for one work tree.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    root: PathBuf,
    git_dir: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

/// How a call of git ended.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Standard output.
    pub(crate) output: Vec<u8>,
    /// Standard error, for people.
    pub(crate) said: String,
    /// The exit status.
    pub(crate) status: ExitStatus,
}

impl Program {
    /// Knows how to start git in `root` with `git_dir`, on top of an environment without `GIT_*` variables
    /// other than those that carry the user's configuration.
    pub(crate) fn new(root: &Path, git_dir: &Path, environment: Vec<(OsString, OsString)>) -> Self {
        Self { root: root.to_owned(), git_dir: git_dir.to_owned(), environment }
    }

    /// Knows how to start git in `folder` before the repository is known; git finds it by itself.
    pub(crate) fn discovering(folder: &Path, environment: Vec<(OsString, OsString)>) -> Self {
        Self { root: folder.to_owned(), git_dir: PathBuf::new(), environment }
    }

    /// Begins a call of the subcommand `name`.
    pub(crate) fn call(&self, name: &'static str) -> Call<'_> {
        Call {
            program: self,
            name,
            arguments: Vec::new(),
            index: None,
            work_tree: None,
            input: None,
            locks: Locks::None,
            literal: false,
            settings: Vec::new(),
            variables: Vec::new(),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.root).env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        if !self.git_dir.as_os_str().is_empty() {
            command.env("GIT_DIR", &self.git_dir).env("GIT_WORK_TREE", &self.root);
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1");
        command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_PAGER", "cat");
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        command
    }
}

/// One call of git, not yet started.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    program: &'a Program,
    name: &'static str,
    arguments: Vec<OsString>,
    index: Option<PathBuf>,
    work_tree: Option<PathBuf>,
    input: Option<Vec<u8>>,
    locks: Locks,
    literal: bool,
    settings: Vec<&'static str>,
    variables: Vec<(&'static str, OsString)>,
}

impl Call<'_> {
    /// Adds arguments.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Makes the call use the index at `path` instead of the user's.
    pub(crate) fn index(mut self, path: &Path) -> Self {
        self.index = Some(path.to_owned());
        self
    }

    /// Makes the call take the folder at `path` for the work tree.
    pub(crate) fn work_tree(mut self, path: &Path) -> Self {
        self.work_tree = Some(path.to_owned());
        self
    }

    /// Makes the call take paths as they are, without patterns or magic.
    pub(crate) fn literal_paths(mut self) -> Self {
        self.literal = true;
        self
    }

    /// Feeds `bytes` to standard input.
    pub(crate) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// Adds a setting to those that every call has.
    pub(crate) fn setting(mut self, setting: &'static str) -> Self {
        self.settings.push(setting);
        self
    }

    /// Makes the call write objects aside, without a sync of each.
    pub(crate) fn incoming(mut self, incoming: &Incoming) -> Self {
        self.variables.extend(incoming.environment());
        self.setting("core.fsync=-loose-object,pack,pack-metadata,-index")
    }

    /// Lets the call write back what it learned about its (private) index.
    pub(crate) fn refreshing(mut self) -> Self {
        self.locks = Locks::Optional;
        self
    }

    /// Runs the call and returns its output; any exit code but 0 is an error.
    pub(crate) fn run(self) -> Result<Vec<u8>> {
        let name = self.name;
        let answer = self.answer()?;
        if answer.status.success() { Ok(answer.output) } else { Err(answer.failure(name)) }
    }

    /// Runs the call and returns how it ended, whatever the exit code.
    pub(crate) fn answer(self) -> Result<Answer> {
        if !["check-ignore", "rev-parse", "rev-list", "check-attr", "config", "hash-object"].contains(&self.name) {
            step(self.name)?;
        }
        let mut command = self.program.command();
        command.args(self.settings.iter().flat_map(|setting| ["-c", setting]));
        command.arg(self.name).args(&self.arguments);
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.envs(self.variables);
        if let Some(folder) = &self.work_tree {
            command.current_dir(folder).env("GIT_WORK_TREE", folder);
        }
        if self.literal {
            command.env("GIT_LITERAL_PATHSPECS", "1");
        }
        if self.locks == Locks::None {
            command.env("GIT_OPTIONAL_LOCKS", "0");
        }
        command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        finish(command, self.input, self.name)
    }
}

impl Answer {
    /// Turns an exit code that is not 0 into an error with what git said first.
    pub(crate) fn failure(&self, name: &str) -> Error {
        let code = self.status.code().map_or_else(|| self.status.to_string(), |code| format!("exit code {code}"));
        let said = self.said.lines().filter(|line| !line.starts_with("hint:")).take(3).collect::<Vec<_>>().join("; ");
        Error::Program { command: name.to_owned(), code, said }
    }
}

/// Counts a change that is about to be made, for tests that cut it.
pub(super) fn step(name: &str) -> Result<()> {
    match crate::fs::step() {
        Ok(crate::fs::Go::On) => Ok(()),
        Ok(crate::fs::Go::Half) => crate::fs::end(),
        Err(error) => Err(Error::Library { doing: format!("start {name}"), said: error.to_string() }),
    }
}

/// Starts the command, feeds it, reads both outputs, and ends its process group when the time is up.
fn finish(mut command: Command, input: Option<Vec<u8>>, name: &str) -> Result<Answer> {
    let mut child = command.spawn().map_err(Error::NoProgram)?;
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let (done, waiting) = mpsc::channel::<()>();
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let broken = |source| Error::library(format!("read what `git {name}` prints"), source);
    std::thread::scope(|scope| {
        let watchdog = scope.spawn(move || {
            let timed_out = waiting.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout);
            if let (true, Some(group)) = (timed_out, group) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            timed_out
        });
        if let (Some(mut pipe), Some(bytes)) = (stdin, input) {
            // A child that ends early closes the pipe; its exit code says why.
            scope.spawn(move || drop(pipe.write_all(&bytes)));
        }
        let errors = scope.spawn(move || {
            let mut bytes = Vec::new();
            stderr.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes)).map(|_| bytes)
        });
        let mut output = Vec::new();
        let read = stdout.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut output));
        let status = child.wait();
        drop(done);
        let timed_out = watchdog.join().unwrap_or(false);
        let said = errors.join().unwrap_or_else(|_| Ok(Vec::new())).map_err(broken)?;
        if timed_out {
            return Err(Error::TimedOut { command: name.to_owned(), seconds: LIMIT.as_secs() });
        }
        read.map_err(broken)?;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(Answer { output, said, status: status.map_err(broken)? })
    })
}
