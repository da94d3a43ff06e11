//! What can go wrong with a repository: which repository, which object or ref, and what git said.
//!
//! Messages are fragments that fit after `Restore failed: `. No decision is ever made on the text that
//! git printed; it is only passed on.

use crate::{ErrorKind, fs};
use gix::ObjectId;
use std::path::PathBuf;

/// A failure of the room `git`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// There is no repository at or above the folder.
    #[error("{} is not in a git repository", .0.display())]
    NotARepository(PathBuf),
    /// The repository has no work tree.
    #[error("bare repository: {} has no work tree", .0.display())]
    Bare(PathBuf),
    /// `core.bare` is true although files are there.
    #[error("bare repository: `core.bare` is true in {}, although files lie beside it", .0.display())]
    TurnedBare(PathBuf),
    /// There is a `.git` that is no repository.
    #[error("{} is there, but it is no usable git repository", .0.display())]
    Broken(PathBuf),
    /// The command was started inside the git folder.
    #[error("{} is inside a git folder, not in a work tree", .0.display())]
    InsideGitFolder(PathBuf),
    /// git itself refuses to work here, most often because of the owner.
    #[error("git refuses to use {}: {said}", .path.display())]
    Refused { path: PathBuf, said: String },
    /// A kind of repository that cannot be handled.
    #[error("{what} is not supported yet")]
    Unsupported { what: &'static str },
    /// The git program is not there.
    #[error("cannot start the program `git`: {0}")]
    NoProgram(std::io::Error),
    /// The git program failed.
    #[error("`git {command}` failed with {code}: {said}")]
    Program { command: String, code: String, said: String },
    /// The git program did not end in time and was ended.
    #[error("`git {command}` did not end within {seconds} s and was stopped")]
    TimedOut { command: String, seconds: u64 },
    /// The git program printed something that its documentation does not know.
    #[error("`git {command}` printed something unexpected")]
    Unreadable { command: &'static str },
    /// An object that is needed is not there.
    #[error("object {id} ({what}) is missing from the repository")]
    MissingObject { id: ObjectId, what: String },
    /// gix could not do something.
    #[error("cannot {doing}: {said}")]
    Library { doing: String, said: String },
    /// A ref was changed by someone else in the meantime.
    #[error("{name} was changed by someone else meanwhile; nothing was overwritten")]
    RefMoved { name: String },
    /// A branch name that is needed is blocked by a branch of the user.
    #[error("the branch `{blocker}` stands in the way of `{wanted}`")]
    BranchBlocked { blocker: String, wanted: String },
    /// Somebody else holds the lock of the user's index.
    #[error("{} is there (made {age}): another git command is at work, or one was cut off", .path.display())]
    Locked { path: PathBuf, age: String },
    /// Somebody has removed the lock that keeps others off the user's index.
    #[error("{} was removed while it was needed", .0.display())]
    LockGone(PathBuf),
    /// The file system said no.
    #[error(transparent)]
    Fs(#[from] fs::Error),
}

/// The result of this room's functions.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wraps an error of the library with what was being done, its causes in one line.
    pub(crate) fn library(doing: impl Into<String>, source: impl std::error::Error) -> Self {
        let mut said = source.to_string();
        let mut cause = source.source();
        while let Some(error) = cause {
            said = format!("{said}: {error}");
            cause = error.source();
        }
        Self::Library { doing: doing.into(), said }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotARepository(_) => ErrorKind::NoRepository,
            Self::Locked { .. } => ErrorKind::Busy,
            _ => ErrorKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotARepository(_) => "git init".to_owned(),
            Self::TurnedBare(_) => "git config core.bare false".to_owned(),
            Self::Bare(_) | Self::InsideGitFolder(_) => {
                "go to a folder with a work tree, or make one: git worktree add <folder>".to_owned()
            }
            Self::Refused { path, .. } => {
                format!("if you trust this folder: git config --global --add safe.directory {}", path.display())
            }
            Self::Broken(path) => format!("git -C {} status tells why", path.parent().unwrap_or(path).display()),
            Self::NoProgram(_) => "install git 2.39 or newer, and see that it is in PATH".to_owned(),
            Self::BranchBlocked { .. } => "set `branch_prefix` in .autodev/config.toml to another word".to_owned(),
            Self::Locked { path, .. } => format!("when no git command is running any more: rm {}", path.display()),
            Self::MissingObject { .. } => "git fsck tells what else is missing; nothing was changed".to_owned(),
            _ => return None,
        })
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let made = Self::new(error.kind(), error.to_string());
        match error.hint() {
            Some(hint) => made.with_hint(hint),
            None => made,
        }
    }
}
