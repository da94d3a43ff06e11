//! Opening a repository: where its work tree is, whether git trusts it, and what cannot be handled.
//!
//! The folder decides: no inherited variable, no text that git prints. A foreign owner is git's question,
//! so git is asked (by exit code) whether it accepts the folder; nothing is ever added to
//! `safe.directory`. Opening writes nothing.

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
    let Ok((found, _)) = gix::discover::upwards(folder) else {
        return Ok(Opened::Nothing);
    };
    let (git_dir, work_tree) = found.into_repository_and_work_tree_directories();
    let git_dir = real(&git_dir)?;
    let place = work_tree.as_deref().map_or_else(|| Ok(git_dir.clone()), real)?;
    let trusted = gix::sec::Trust::from_path_ownership(&git_dir).is_ok_and(|trust| trust == gix::sec::Trust::Full)
        && gix::sec::Trust::from_path_ownership(&place).is_ok_and(|trust| trust == gix::sec::Trust::Full);
    if !trusted {
        ask_git(folder, &place, &environment)?;
    }
    let gix =
        options().open(&git_dir).map_err(|source| Error::library(format!("open {}", git_dir.display()), source))?;
    let gix = gix.to_thread_local();
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
    let key = key_of(&gix);
    Ok(Opened::Repository(Box::new(Repository { gix, program, root, git_dir, key })))
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
    gix::open::Options::default().permissions(permissions).with(gix::sec::Trust::Full).open_path_as_is(true)
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
