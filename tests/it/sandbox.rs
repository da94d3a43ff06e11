//! The sandbox: a temporary folder with a home of its own, in which git and the program see nothing else.
//!
//! The environment is cleared but for `PATH`; git's system configuration is off, its global one names a person;
//! language, time zone and dates are fixed. The real git judges: `fsck` finds nothing, and the tree of a
//! checkpoint is the one that `git add -A; git write-tree` gives with the same exclusions.

use crate::look::Look;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

/// The moment at which the clock of a sandbox stands, unless a test says otherwise.
pub(crate) const NOW: &str = "2026-11-30T12:00:00Z";

/// A temporary folder with a home; it goes away with the last repository in it.
#[derive(Debug, Clone)]
pub(crate) struct Sandbox {
    folder: Arc<tempfile::TempDir>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("it-").tempdir().unwrap();
        for name in ["home", "tmp", "config", "state", "cache", "data"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let global = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n";
        std::fs::write(folder.path().join("home/.gitconfig"), global).unwrap();
        Self { folder: Arc::new(folder) }
    }

    /// Copies a whole sandbox, with times, modes and links; into memory where that can be, since nothing waits for a
    /// disk there.
    pub(crate) fn copy_of(other: &Path) -> Self {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("it-").tempdir_in(place).unwrap();
        let status = Command::new("cp").arg("-a").arg(other.join(".")).arg(folder.path()).status().unwrap();
        assert!(status.success());
        Self { folder: Arc::new(folder) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a folder that is no repository.
    pub(crate) fn folder(&self, name: &str) -> Repo {
        let root = self.path().join(name);
        std::fs::create_dir_all(&root).unwrap();
        let root = std::fs::canonicalize(root).unwrap();
        Repo { sandbox: self.clone(), root }
    }

    /// Makes an empty repository.
    pub(crate) fn repository(&self, name: &str) -> Repo {
        let repo = self.folder(name);
        repo.git(["init", "-q"]);
        repo
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let place = |name: &str| self.path().join(name).into_os_string();
        vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("HOME".into(), place("home")),
            ("TMPDIR".into(), place("tmp")),
            ("XDG_CONFIG_HOME".into(), place("config")),
            ("XDG_STATE_HOME".into(), place("state")),
            ("XDG_CACHE_HOME".into(), place("cache")),
            ("XDG_DATA_HOME".into(), place("data")),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("LC_ALL".into(), "C".into()),
            ("TZ".into(), "UTC".into()),
            ("COLUMNS".into(), "100".into()),
        ]
    }
}

/// A repository with a first commit: two files on `main`.
pub(crate) fn repository_with_a_commit() -> Repo {
    let repo = Sandbox::new().repository("project");
    repo.write("a.txt", "a\n");
    repo.write("src/b.txt", "b\n");
    repo.commit("first");
    repo
}

/// Makes a checkpoint whose tree must be the one that git itself makes, and which leaves nothing to do.
#[track_caller]
pub(crate) fn checkpoint_as_git_would(repo: &Repo) {
    let tree = repo.expected_tree(&[]);
    repo.checkpoint("one");
    assert_eq!(repo.rev("HEAD^{tree}"), tree);
    assert_eq!(repo.status(), "");
    repo.judge();
}

/// A folder of a sandbox, most often a repository.
#[derive(Debug, Clone)]
pub(crate) struct Repo {
    pub(crate) sandbox: Sandbox,
    pub(crate) root: PathBuf,
}

impl Repo {
    pub(crate) fn path(&self, path: impl AsRef<OsStr>) -> PathBuf {
        self.root.join(path.as_ref())
    }

    /// Writes a file and makes the folders above it.
    pub(crate) fn write(&self, path: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: impl AsRef<OsStr>) -> Vec<u8> {
        let path = self.path(path);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn text(&self, path: impl AsRef<OsStr>) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    pub(crate) fn has(&self, path: impl AsRef<OsStr>) -> bool {
        std::fs::symlink_metadata(self.path(path)).is_ok()
    }

    pub(crate) fn remove(&self, path: impl AsRef<OsStr>) {
        let path = self.path(path);
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
    }

    /// Prepares a program in the root of the repository, with nothing of the outside but `PATH`.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env_clear().envs(self.sandbox.environment()).stdin(Stdio::null());
        // Looking must not refresh anything: `git status` would write the index of a submodule.
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_AUTHOR_DATE", "2026-11-30T10:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-11-30T10:00:00Z");
        command
    }

    /// Runs git, which must succeed; returns what it printed, without the last line feed.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let mut command = self.command("git");
        command.args(arguments);
        succeeded(command)
    }

    /// Runs a shell script, which must succeed; returns what it printed, without the last line feed.
    pub(crate) fn sh(&self, script: &str) -> String {
        let mut command = self.command("sh");
        command.args(["-euc", script]);
        succeeded(command)
    }

    /// Adds everything and commits it as the user would.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "-m", message]);
        self.rev("HEAD")
    }

    /// Returns the full id of a commit, tree or blob.
    pub(crate) fn rev(&self, name: &str) -> String {
        self.git(["rev-parse", "--verify", name])
    }

    /// Returns the first seven digits of a commit.
    pub(crate) fn short(&self, name: &str) -> String {
        self.rev(name)[..7].to_owned()
    }

    /// Runs the program.
    pub(crate) fn autodev<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        self.autodev_at(NOW, arguments)
    }

    /// Runs the program at a moment of its clock.
    pub(crate) fn autodev_at<S: AsRef<OsStr>>(&self, now: &str, arguments: impl IntoIterator<Item = S>) -> Ran {
        self.autodev_with(&[("AUTODEV_TEST_NOW", now)], arguments)
    }

    /// Runs the program with more variables.
    pub(crate) fn autodev_with<S: AsRef<OsStr>>(
        &self,
        variables: &[(&str, &str)],
        arguments: impl IntoIterator<Item = S>,
    ) -> Ran {
        let mut command = self.program();
        command.envs(variables.iter().copied()).args(arguments);
        Ran::of(command)
    }

    /// Prepares the program itself.
    pub(crate) fn program(&self) -> Command {
        self.program_by(env!("CARGO_BIN_EXE_autodev"))
    }

    /// Prepares the program as strace runs it, whose options come first.
    pub(crate) fn strace(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.program_by("strace");
        command.args(options).arg(env!("CARGO_BIN_EXE_autodev")).args(arguments);
        command
    }

    fn program_by(&self, name: &str) -> Command {
        let mut command = self.command(name);
        command
            .env_remove("GIT_OPTIONAL_LOCKS")
            .env_remove("GIT_AUTHOR_DATE")
            .env_remove("GIT_COMMITTER_DATE")
            .env("AUTODEV_TEST_NOW", NOW);
        command
    }

    /// Makes a checkpoint and returns its id.
    pub(crate) fn checkpoint(&self, label: &str) -> String {
        self.autodev(["checkpoint", "-m", label]).ok().stdout.trim_end().to_owned()
    }

    /// Returns the list as JSON.
    pub(crate) fn list(&self) -> Vec<serde_json::Value> {
        let listed = self.autodev(["restore", "--json"]).ok();
        serde_json::from_str::<serde_json::Value>(&listed.stdout).unwrap().as_array().unwrap().clone()
    }

    /// Lets the real git judge: the object store is sound and the index can be read.
    #[track_caller]
    pub(crate) fn judge(&self) {
        let output = self.command("git").args(["fsck", "--strict", "--no-dangling"]).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let complaints: Vec<&str> = said.lines().filter(|line| !line.starts_with("notice: ")).collect();
        assert!(output.status.success() && complaints.is_empty(), "git fsck: {said}");
        self.git(["status", "--porcelain=v2"]);
    }

    /// Returns the tree that git makes of everything here but `.autodev` and `exclusions`, whatever it cached.
    pub(crate) fn expected_tree(&self, exclusions: &[&str]) -> String {
        let index = self.sandbox.path().join("tmp/throw-away-index");
        let script = "git ls-files -s -z | GIT_INDEX_FILE=$INDEX git update-index -z --index-info
            GIT_INDEX_FILE=$INDEX git -c core.safecrlf=false -c advice.addEmbeddedRepo=false add -A -- \"$@\"
            GIT_INDEX_FILE=$INDEX git write-tree
            rm -f $INDEX";
        let excluded = [".autodev"].iter().chain(exclusions).map(|path| format!(":(top,exclude,literal){path}"));
        let mut command = self.command("sh");
        command.env("INDEX", index).args(["-euc", script, "sh", ":/"]).args(excluded);
        succeeded(command)
    }

    /// Looks at everything that must not change when a command refuses.
    pub(crate) fn look(&self) -> Look {
        Look::at(self)
    }

    /// Returns what git says about the work tree.
    pub(crate) fn status(&self) -> String {
        self.git(["status", "--porcelain=v2", "-uall"])
    }
}

fn succeeded(mut command: Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout).trim_end_matches('\n').to_owned()
}

/// How a run of the program ended.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Runs a prepared command to its end.
    pub(crate) fn of(mut command: Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Asserts that it did what it was asked for.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.fails(0)
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that a whole line stands on standard output.
    #[track_caller]
    pub(crate) fn says(self, line: &str) -> Self {
        assert!(self.stdout.lines().any(|said| said == line), "{line:?} is not in {:?}", self.stdout);
        self
    }

    /// Asserts that a whole line stands on standard error.
    #[track_caller]
    pub(crate) fn complains(self, line: &str) -> Self {
        assert!(self.stderr.lines().any(|said| said == line), "{line:?} is not in {:?}", self.stderr);
        self
    }

    /// Asserts that standard error has some words in it.
    #[track_caller]
    pub(crate) fn mentions(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "{words:?} is not in {:?}", self.stderr);
        self
    }
}

/// Tells whether a program is there; without it a check is skipped with a word, and fails where `CI` is set.
pub(crate) fn has_tool(name: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {name} >/dev/null")]).status().unwrap().success();
    if !found {
        skip(&format!("{name} is not installed"));
    }
    found
}

/// Says that a check is skipped; fails where `CI` is set.
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "this check must run in CI: {why}");
    eprintln!("skipped: {why}");
}
