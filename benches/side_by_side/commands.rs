//! Starting git and the program, with an environment of their own.
//!
//! No variable of the caller's reaches them but `PATH`; the home folder is made here and its git configuration
//! switches garbage collection off. A command that fails where it should not ends the bench.

use super::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The program under test, as cargo built it for this bench.
const PROGRAM: &str = env!("CARGO_BIN_EXE_autodev");

const CONFIGURATION: &str = "\
[user]
\tname = Bench
\temail = bench@example.org
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\tdetachedHead = false
";

/// Starts programs for the bench.
pub(crate) struct Commands {
    home: PathBuf,
}

impl Commands {
    /// Makes the home folder.
    pub(crate) fn new(home: &Path) -> Result<Self> {
        std::fs::create_dir_all(home)?;
        std::fs::write(home.join(".gitconfig"), CONFIGURATION)?;
        Ok(Self { home: home.to_owned() })
    }

    /// Returns what `git --version` says.
    pub(crate) fn git_version(&self) -> Result<String> {
        let output = self.git(&self.home, &["--version"])?;
        Ok(output
            .trim()
            .trim_start_matches("git version ")
            .split(' ')
            .next()
            .map_or_else(String::new, |version| format!("git {version}")))
    }

    /// Runs git in `root` and returns what it prints.
    pub(crate) fn git(&self, root: &Path, arguments: &[&str]) -> Result<String> {
        checked("git", arguments, &self.command("git", root).args(arguments).output()?)
    }

    /// Runs git in `root`; exit code 1 is fine too, since `git commit` has it where nothing changed.
    pub(crate) fn git_maybe(&self, root: &Path, arguments: &[&str]) -> Result<()> {
        let output = self.command("git", root).args(arguments).output()?;
        if output.status.code() == Some(1) { Ok(()) } else { checked("git", arguments, &output).map(drop) }
    }

    /// Runs the program in `root` and returns what it prints.
    pub(crate) fn autodev(&self, root: &Path, arguments: &[&str]) -> Result<String> {
        checked("autodev", arguments, &self.command(PROGRAM, root).args(arguments).output()?)
    }

    /// Runs the program under `strace`, which writes each opening of a file to `log`; `false` without strace.
    pub(crate) fn autodev_traced(&self, root: &Path, arguments: &[&str], log: &Path) -> Result<bool> {
        let mut command = self.command("strace", root);
        command.args(["-f", "-qq", "-s", "4096", "-e", "trace=open,openat,openat2", "-o"]).arg(log);
        match command.arg(PROGRAM).args(arguments).output() {
            Ok(output) => checked("strace", arguments, &output).map(|_| true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Copies a folder with all times and modes.
    pub(crate) fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let output = self.command("cp", &self.home).arg("-a").arg(from).arg(to).output()?;
        checked("cp", &["-a"], &output).map(drop)
    }

    /// Lets the file system of `place` finish what it has to write.
    pub(crate) fn settle(&self, place: &Path) -> Result<()> {
        checked("sync", &["-f"], &self.command("sync", place).args(["-f", "."]).output()?).map(drop)
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().env("HOME", &self.home).env("GIT_CONFIG_NOSYSTEM", "1");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }
}

/// Returns how long `work` takes.
pub(crate) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn checked(program: &str, arguments: &[&str], output: &Output) -> Result<String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {} failed with {}: {}", arguments.join(" "), output.status, said.trim()).into())
}
