//! What stories about runs need: participants that are shell scripts or scripts of the scripted agent, runs
//! that go on while a test does something else, and looks at what a run leaves behind.
//!
//! Nobody sleeps to wait: a participant says where it is through a pipe with a name, and waits on another.

use crate::sandbox::{NOW, Ran, Repo};
use serde_json::Value;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Writes a shell script; returns the table of a participant that runs it and gets its prompt as text.
pub(crate) fn shell(repo: &Repo, name: &str, script: &str) -> String {
    let file = format!(".autodev/{name}.sh");
    repo.write(&file, script);
    table(name, &["sh", "-eu", &file], "prompt = \"text\"")
}

/// Writes a script of the scripted agent; returns the table of a participant that plays it.
pub(crate) fn scripted(repo: &Repo, name: &str, script: &Value) -> String {
    let file = format!(".autodev/{name}.json");
    repo.write(&file, script.to_string());
    table(name, &[env!("CARGO_BIN_EXE_autodev"), "fake-agent", &file], "")
}

/// Returns the table of a participant.
pub(crate) fn table(name: &str, command: &[&str], more: &str) -> String {
    format!("[[participants]]\nname = \"{name}\"\ncommand = {command:?}\n{more}\n")
}

/// Writes the configuration: keys of the top, then participants.
pub(crate) fn configure(repo: &Repo, top: &str, participants: &[String]) {
    repo.write(".autodev/.gitignore", "*\n");
    repo.write(".autodev/config.toml", format!("{top}\n{}", participants.join("\n")));
}

/// A script that changes a file and claims that this is done.
pub(crate) fn honest(path: &str, text: &str, claim: &str) -> Value {
    serde_json::json!([{"write": {"path": path, "text": text}}, {"claim": claim}, {"end": true}])
}

/// A run that goes on while the test does something else; it is killed when the test fails.
pub(crate) struct Running {
    child: Option<Child>,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// Starts the program.
    pub(crate) fn start(repo: &Repo, arguments: &[&str]) -> Self {
        Self::spawn(repo, repo.program(), arguments)
    }

    /// Starts the program as a terminal does: in a process group of its own.
    pub(crate) fn start_in_a_group(repo: &Repo, arguments: &[&str]) -> Self {
        let mut command = repo.program();
        command.process_group(0);
        Self::spawn(repo, command, arguments)
    }

    fn spawn(repo: &Repo, mut command: Command, arguments: &[&str]) -> Self {
        let output = || tempfile::NamedTempFile::new_in(repo.sandbox.path()).unwrap().keep().unwrap();
        let ((stdout, stdout_path), (stderr, stderr_path)) = (output(), output());
        command.args(arguments).stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        Self { child: Some(command.spawn().unwrap()), stdout: stdout_path, stderr: stderr_path }
    }

    /// Sends it a signal by name.
    pub(crate) fn signal(&self, repo: &Repo, name: &str) {
        repo.sh(&format!("kill -{name} {}", self.child.as_ref().unwrap().id()));
    }

    /// Sends a signal to its whole process group.
    pub(crate) fn signal_group(&self, repo: &Repo, name: &str) {
        repo.sh(&format!("kill -{name} -{}", self.child.as_ref().unwrap().id()));
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Ran {
        let mut child = self.child.take().unwrap();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("it did not end: {}", std::fs::read_to_string(&self.stderr).unwrap());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let read = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        Ran { code: status.code(), stdout: read(&self.stdout), stderr: read(&self.stderr) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A pipe with a name, outside of the repository.
pub(crate) struct Fifo(PathBuf);

impl Fifo {
    pub(crate) fn new(repo: &Repo, name: &str) -> Self {
        let path = repo.sandbox.path().join("tmp").join(name);
        repo.sh(&format!("mkfifo '{}'", path.display()));
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Waits until somebody has written and closed; returns what.
    pub(crate) fn read(&self) -> String {
        let path = self.0.clone();
        within(move || std::fs::read_to_string(path).unwrap())
    }

    /// Lets whoever waits go on.
    pub(crate) fn write(&self, text: &str) {
        let (path, text) = (self.0.clone(), text.to_owned());
        within(move || std::fs::write(path, text).unwrap());
    }
}

fn within<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, waiting) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    waiting.recv_timeout(PATIENCE).expect("the other side of a pipe never came")
}

/// A participant that tells where it is, and waits.
pub(crate) struct Waiter {
    pub(crate) here: Fifo,
    pub(crate) go_on: Fifo,
}

impl Waiter {
    pub(crate) fn new(repo: &Repo) -> Self {
        Self { here: Fifo::new(repo, "here"), go_on: Fifo::new(repo, "go-on") }
    }

    /// The lines of a shell script in which it waits.
    pub(crate) fn script(&self) -> String {
        format!("echo $$ > '{}'\nread -r word < '{}'\n", self.here.path().display(), self.go_on.path().display())
    }

    /// Starts a run and waits until its participant waits.
    pub(crate) fn start(&self, repo: &Repo, task: &str) -> Running {
        let running = Running::start(repo, &["run", task]);
        self.here.read();
        running
    }
}

/// Returns where the state of a repository is.
pub(crate) fn state_folder(repo: &Repo) -> PathBuf {
    if repo.has(".git") {
        return PathBuf::from(repo.git(["rev-parse", "--absolute-git-dir"])).join("autodev");
    }
    let mut folders = std::fs::read_dir(repo.sandbox.path().join("state/autodev")).unwrap();
    folders.next().unwrap().unwrap().path()
}

/// Reads a file of JSON lines in the state folder.
pub(crate) fn lines(repo: &Repo, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(state_folder(repo).join(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns what `status --json` says.
pub(crate) fn status(repo: &Repo) -> Value {
    serde_json::from_str(&repo.autodev(["status", "--json"]).ok().stdout).unwrap()
}

/// Returns the text of the thread, a line a post: `author kind: text`.
pub(crate) fn thread(repo: &Repo) -> Vec<String> {
    let word = |post: &Value, name: &str| post[name].as_str().unwrap().to_owned();
    let line = |post: &Value| format!("{} {}: {}", word(post, "author"), word(post, "kind"), word(post, "text"));
    lines(repo, "thread.jsonl").iter().map(line).collect()
}

/// Asserts that a run failed, with the state `error` and a reason that has these words in it.
#[track_caller]
pub(crate) fn assert_failed(repo: &Repo, ran: &Ran, words: &str) {
    assert_eq!(ran.code, Some(1), "stdout: {}\nstderr: {}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(words), "{words:?} is not in {:?}", ran.stderr);
    let status = status(repo);
    assert_eq!(status["state"], "error", "{status}");
    assert!(status["problem"].as_str().unwrap().contains(words), "{words:?} is not in {status}");
    assert!(status["turn"].is_null() && status["participant"].is_null(), "{status}");
}

/// Returns the live processes that were started by runs of this repository.
pub(crate) fn alive(repo: &Repo) -> Vec<String> {
    let mark = format!("AUTODEV_STATE={}", state_folder(repo).display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let ended = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']));
        if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) && !ended {
            found.push(stat);
        }
    }
    found
}

/// Asserts that nothing of a run is left running, and that git finds nothing to complain about.
#[track_caller]
pub(crate) fn assert_quiet(repo: &Repo) {
    assert_eq!(alive(repo), Vec::<String>::new(), "somebody is still alive");
    if repo.has(".git") {
        repo.judge();
    }
}

/// Asserts that going back works, and that the files are then as in that checkpoint.
#[track_caller]
pub(crate) fn assert_restores(repo: &Repo, id: &str) {
    assert_quiet(repo);
    repo.autodev_at(NOW, ["restore", id]).ok();
    let entry = repo.list().into_iter().find(|entry| entry["id"] == id).unwrap();
    let commit = entry["commit"].as_str().unwrap();
    assert_eq!(repo.rev("HEAD"), commit);
    assert_eq!(repo.expected_tree(&[]), repo.rev(&format!("{commit}^{{tree}}")));
    assert_eq!(status(repo)["state"], "idle");
    repo.judge();
}
