//! A project: its root, its repository where there is one, its configuration and its state folder.
//!
//! The root is the top of the git work tree by real path, or without git the nearest folder upwards with
//! `.autodev/`, else the folder itself. `/`, the home folder and what lies above it are refused before
//! anything is read. Opening writes nothing, except that the state of a folder that became a repository
//! moves into it, which is said.

use super::error::{Error, Result};
use super::scope::{OURS, Scope};
use crate::clock::Clock;
use crate::config::{Config, Environment, SecretRules};
use crate::fs::{self, Lock};
use crate::git::{self, Opened, Repository, Signature};
use crate::state::{Counters, StateFolder, StateRecord, journal};
use crate::{ErrorKind, error};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A folder that agents work on.
///
/// ```no_run
/// let project = autodev::Project::open(std::path::Path::new("."))?;
/// for checkpoint in project.list()? {
///     println!("{} {}", checkpoint.id, checkpoint.label);
/// }
/// # Ok::<(), autodev::Error>(())
/// ```
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    repository: Option<Box<Repository>>,
    state: StateFolder,
    config: Config,
    secrets: SecretRules,
    clock: Clock,
    environment: Environment,
    notices: Vec<String>,
}

impl Project {
    /// Opens the project that `folder` lies in.
    ///
    /// # Errors
    /// When git refuses the repository, it has no work tree, the root is `/` or the home folder, or the
    /// configuration is wrong.
    pub fn open(folder: &Path) -> error::Result<Self> {
        Self::open_with(folder, Environment::current())
    }

    pub(crate) fn open_with(folder: &Path, environment: Environment) -> error::Result<Self> {
        let folder = std::fs::canonicalize(folder).map_err(|source| fs::Error::new("find", folder, source))?;
        let repository = match git::open(&folder, environment.for_git())? {
            Opened::Repository(repository) => Some(repository),
            Opened::Nothing => None,
        };
        let root = match &repository {
            Some(repository) => repository.root().to_owned(),
            None => folder.ancestors().find(|above| above.join(OURS).is_dir()).unwrap_or(&folder).to_owned(),
        };
        refuse_root(&root, environment.home.as_deref())?;
        refuse_second_root(&root, &folder)?;
        let config = Config::load(&root)?;
        let secrets = SecretRules::new(&config.secrets);
        let clock = environment.autodev_clock.map_or(Clock::System, Clock::Fixed);
        let (state, notices) = find_state(&root, repository.as_deref(), &environment, clock)?;
        Ok(Self { root, repository, state, config, secrets, clock, environment, notices })
    }

    /// Returns the root of the project, by real path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the configuration that was read when the project was opened.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Tells whether checkpoints can be made here: there is a repository, and they are not switched off.
    pub fn has_checkpoints(&self) -> bool {
        self.repository.is_some() && self.config.checkpoints
    }

    /// Returns what has to be said about opening the project.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    pub(crate) fn repository(&self) -> Result<&Repository> {
        self.repository.as_deref().ok_or_else(|| Error::Git(git::Error::NotARepository(self.root.clone())))
    }

    pub(crate) fn try_repository(&self) -> Option<&Repository> {
        self.repository.as_deref()
    }

    pub(crate) fn state(&self) -> &StateFolder {
        &self.state
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn signature(&self) -> Signature {
        Signature(self.clock.now())
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope::new(&self.root, &self.secrets, self.config.max_file_bytes, self.state.path())
    }

    /// Takes the project for a command that changes something.
    pub(crate) fn lock(&self) -> Result<Lock> {
        Ok(self.state.lock_project()?)
    }

    /// Returns where this work tree keeps its refs, with a `/` at the end.
    pub(crate) fn ref_prefix(&self) -> String {
        self.repository.as_ref().map_or_else(String::new, |repository| format!("refs/autodev/{}/", repository.key()))
    }

    /// Returns where the n-th operation holds what it replaced, without a `/` at the end.
    pub(crate) fn held_at(&self, number: u64) -> String {
        format!("{}u/{number}", self.ref_prefix())
    }

    /// Says in the state that nothing is going on any more.
    pub(crate) fn rest(&self) -> Result<()> {
        let mut record = StateRecord::load(&self.state)?;
        record.rest(None);
        Ok(record.save(&self.state)?)
    }

    /// Appends a numbered event to `events.jsonl`.
    pub(crate) fn event(&self, event: &str, mut fields: Value) -> Result<u64> {
        self.state.create()?;
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("event".into(), event.into());
            fields.insert("time".into(), crate::clock::rfc3339(self.clock.now()).into());
        }
        Ok(journal::append(&self.state.file("events.jsonl"), &fields)?)
    }

    /// Makes `.autodev/` with the file that hides it from git, where it is missing.
    pub(crate) fn create_folder(&self) -> Result<PathBuf> {
        let folder = self.root.join(OURS);
        if !folder.is_dir() {
            fs::create_folder_as_usual(&folder)?;
            write_visible(&folder.join(".gitignore"), crate::config::IGNORE_TEMPLATE.as_bytes())?;
        }
        Ok(folder)
    }
}

/// Replaces a file of `.autodev/`, which everybody may read who may read the project.
pub(super) fn write_visible(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map_or(0o644, |metadata| metadata.permissions().mode() & 0o777);
    Ok(fs::replace_with_mode(path, bytes, mode)?)
}

fn refuse_root(root: &Path, home: Option<&Path>) -> error::Result<()> {
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    let what = if root.parent().is_none() {
        "the root of the file system"
    } else if home.as_deref() == Some(root) {
        "your home folder"
    } else if home.is_some_and(|home| home.starts_with(root)) {
        "a folder above your home folder"
    } else {
        return Ok(());
    };
    let message =
        format!("the project's root would be {}, {what}; autodev neither captures nor restores that", root.display());
    Err(error::Error::new(ErrorKind::Failed, message).with_hint("go to the project's own folder, and there: git init"))
}

fn refuse_second_root(root: &Path, folder: &Path) -> error::Result<()> {
    let own = root.join(OURS);
    if std::fs::symlink_metadata(&own).is_ok_and(|metadata| metadata.is_symlink()) {
        let message = format!("{} is a symbolic link; autodev writes through none", own.display());
        return Err(error::Error::new(ErrorKind::Failed, message).with_hint("put a real folder in its place"));
    }
    let below = folder.ancestors().take_while(|above| *above != root);
    let Some(second) = below.map(|above| above.join(OURS)).find(|path| path.is_dir()) else { return Ok(()) };
    let message = format!("the project's root is {}, but there is a second {}", root.display(), second.display());
    Err(error::Error::new(ErrorKind::Failed, message)
        .with_hint(format!("move it away: mv {0} {0}.old", second.display())))
}

/// Finds the state folder, and moves it where it belongs.
fn find_state(
    root: &Path,
    repository: Option<&Repository>,
    environment: &Environment,
    clock: Clock,
) -> error::Result<(StateFolder, Vec<String>)> {
    let mut notices = Vec::new();
    let own = own_folder_name(root);
    if let Some(parent) = &environment.state_dir_override {
        let parent = std::path::absolute(parent).map_err(|source| fs::Error::new("find", parent, source))?;
        return Ok((StateFolder::at(parent.join(own)), notices));
    }
    let Some(state_home) = environment.state_home.as_ref().map(|home| home.join("autodev").join(own)) else {
        let path = repository.map(|repository| repository.git_dir().join("autodev")).ok_or_else(|| {
            error::Error::new(ErrorKind::Failed, "no folder for the state: neither HOME nor XDG_STATE_HOME is set")
                .with_hint("set AUTODEV_STATE_DIR to a folder")
        })?;
        return Ok((StateFolder::at(path), notices));
    };
    let outside = StateFolder::at(state_home);
    if let Some(repository) = repository {
        let inside = StateFolder::at(repository.git_dir().join("autodev"));
        if outside.path().is_dir() && !inside.path().exists() {
            // A run that is on, and whoever is inside one, goes on with the folder that it began with.
            let inside_turn = environment.state.as_deref() == Some(outside.path());
            let (Some(_run), false) = (outside.try_lock_run()?, inside_turn) else { return Ok((outside, notices)) };
            let _lock = outside.lock_project()?;
            fs::rename(outside.path(), inside.path())?;
            notices.push(format!("the state of this folder was moved into {}", inside.path().display()));
        }
        Ok((inside, notices))
    } else {
        let known = outside.file("project.json").exists();
        if known && !Counters::load(&outside, root)?.belongs_to(root) {
            let aside = outside.path().with_extension(format!("old-{}", crate::clock::compact(clock.now())));
            fs::rename(outside.path(), &aside)?;
            notices.push(format!("another folder was here before; its state was set aside as {}", aside.display()));
        }
        Ok((outside, notices))
    }
}

/// `<folder name>-<first 12 hex digits of SHA-256 of the real path>`.
fn own_folder_name(root: &Path) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(root.as_os_str().as_bytes());
    let name = root.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned());
    digest.iter().take(6).fold(format!("{name}-"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
