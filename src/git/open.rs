//! Opening a repository: where its work tree is, whether git trusts it, and what cannot be handled.
//!
//! The folder decides: no inherited variable, no text that git prints. A foreign owner is git's question,
//! so git is asked (by exit code) whether it accepts the folder; nothing is ever added to
//! `safe.directory`. Opening writes nothing.

use super::durable::Unsynced;
use super::program::Program;
use super::{Error, Repository, error::Result};
use gix::sec::Permission::{Allow, Deny};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What stands at a folder.
#[derive(Debug)]
pub(crate) enum Opened {
    /// A repository with a work tree.
    Repository(Box<Repository>),
    /// No repository here or above.
    Nothing,
}

/// Opens the repository that `folder` lies in, with `environment` for every call of git.
pub(crate) fn open(folder: &Path, environment: Vec<(OsString, OsString)>) -> Result<Opened> {
    let found = gix::discover::upwards(folder).ok().map(|(found, _)| found.into_repository_and_work_tree_directories());
    let top = found.as_ref().and_then(|(_, work_tree)| work_tree.clone());
    refuse_broken(folder, found.is_some(), top.as_deref())?;
    let Some((git_dir, work_tree)) = found else { return Ok(Opened::Nothing) };
    let git_dir = real(&git_dir)?;
    let place = work_tree.as_deref().map_or_else(|| Ok(git_dir.clone()), real)?;
    let trusted = gix::sec::Trust::from_path_ownership(&git_dir).is_ok_and(|trust| trust == gix::sec::Trust::Full)
        && gix::sec::Trust::from_path_ownership(&place).is_ok_and(|trust| trust == gix::sec::Trust::Full);
    if !trusted {
        ask_git(folder, &place, &environment)?;
    }
    let trust = gix::discover::upwards::TrustPolicy::Assume(gix::sec::Trust::Full);
    let search = gix::discover::upwards::Options { trust, ..Default::default() };
    let options = gix::sec::trust::Mapping { full: options(), reduced: options() };
    let gix = gix::ThreadSafeRepository::discover_opts(folder, search, options)
        .map_err(|source| Error::library(format!("open {}", git_dir.display()), source))?
        .to_thread_local();
    refuse_unsupported(&gix)?;
    let Some(root) = gix.workdir().map(Path::to_owned) else {
        let beside = git_dir.file_name().is_some_and(|name| name == ".git");
        return Err(if beside { Error::TurnedBare(git_dir) } else { Error::Bare(git_dir) });
    };
    let root = real(&root)?;
    if real(folder)?.starts_with(&git_dir) && !root.starts_with(&git_dir) {
        return Err(Error::InsideGitFolder(folder.to_owned()));
    }
    let program = Program::new(&root, &git_dir, environment);
    let (key, unsynced) = (key_of(&gix), Unsynced::default());
    Ok(Opened::Repository(Box::new(Repository { gix, program, root, git_dir, key, unsynced })))
}

/// Refuses a `.git` that is no repository: looking on above it would take another project for this one.
fn refuse_broken(folder: &Path, found: bool, top: Option<&Path>) -> Result<()> {
    if found && top.is_none() {
        return Ok(());
    }
    let passed = folder.ancestors().take_while(|above| Some(*above) != top).map(|above| above.join(".git"));
    match passed.into_iter().find(|path| std::fs::symlink_metadata(path).is_ok()) {
        Some(path) => Err(Error::Broken(path)),
        None => Ok(()),
    }
}

fn real(path: &Path) -> Result<PathBuf> {
    Ok(std::fs::canonicalize(path).map_err(|source| crate::fs::Error::new("find", path, source))?)
}

/// User and system configuration are read as git reads them; the environment redirects nothing.
fn options() -> gix::open::Options {
    let environment = gix::open::permissions::Environment {
        xdg_config_home: Allow,
        home: Allow,
        http_transport: Deny,
        identity: Deny,
        objects: Deny,
        git_prefix: Deny,
        ssh_prefix: Deny,
        ..gix::open::permissions::Environment::isolated()
    };
    let config = gix::open::permissions::Config { env: false, ..gix::open::permissions::Config::all() };
    let permissions =
        gix::open::Permissions { env: environment, config, attributes: gix::open::permissions::Attributes::all() };
    gix::open::Options::default().permissions(permissions)
}

/// Asks git whether it accepts a folder that belongs to someone else.
fn ask_git(folder: &Path, place: &Path, environment: &[(OsString, OsString)]) -> Result<()> {
    let answer = Program::discovering(folder, environment.to_vec()).call("rev-parse").args(["--git-dir"]).answer()?;
    if answer.status.success() {
        return Ok(());
    }
    let said = answer.said.lines().next().unwrap_or("no reason given").trim_start_matches("fatal: ").to_owned();
    Err(Error::Refused { path: place.to_owned(), said })
}

fn refuse_unsupported(gix: &gix::Repository) -> Result<()> {
    let reftable = gix
        .config_snapshot()
        .string("extensions.refStorage")
        .is_some_and(|value| !value.eq_ignore_ascii_case(b"files"));
    if reftable { Err(Error::Unsupported { what: "a repository that keeps its refs in a reftable" }) } else { Ok(()) }
}

/// A linked worktree called `main` must not share the refs of the main work tree.
fn key_of(gix: &gix::Repository) -> String {
    let linked = (gix.kind() == gix::repository::Kind::LinkedWorkTree)
        .then(|| gix.git_dir().file_name().map(|name| name.to_string_lossy().into_owned()))
        .flatten();
    match linked {
        Some(name) if name == "main" => "main/linked".to_owned(),
        Some(name) => name,
        None => "main".to_owned(),
    }
}
