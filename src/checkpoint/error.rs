//! Why a checkpoint was not made, or why nothing went back. Messages fit after `Restore failed: `.

use crate::{ErrorKind, agent, fs, git, state, workspace};
use std::path::PathBuf;

/// A failure of the room `checkpoint`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No entry has this id or commit.
    #[error("unknown checkpoint: {0}")]
    Unknown(String),
    /// More than one commit of the list begins with these digits.
    #[error("ambiguous checkpoint: {given} could be {}", .candidates.join(" or "))]
    Ambiguous { given: String, candidates: Vec<String> },
    /// The commit of an entry is not in the repository any more.
    #[error("the commit {commit} of {id} is gone from the repository")]
    Gone { id: String, commit: String },
    /// A run is on.
    #[error("Stop the run before restoring — restore resets the project tree")]
    RunIsOn,
    /// A process of a run is still alive.
    #[error("{name} (process {pid}) of an earlier run is still at work in this folder")]
    Survivor { pid: i32, name: String },
    /// The command was given inside a participant's own turn.
    #[error("this cannot be done from inside a participant's turn ({0})")]
    InsideTurn(String),
    /// An operation of the user's is under way.
    #[error("{name} is in progress; end it first: {ended_by}")]
    Operation { name: &'static str, ended_by: &'static str },
    /// The branch of the checkpoint is checked out somewhere else.
    #[error("the branch {branch} of this checkpoint is checked out in {}", .place.display())]
    CheckedOutElsewhere { branch: String, place: PathBuf },
    /// A path is in neither tree.
    #[error("no file matches {0:?}, neither in the checkpoint nor here")]
    NoSuchPath(String),
    /// A path leads out of the project.
    #[error("{0:?} is outside of the project")]
    OutsidePath(String),
    /// The tree changed between plan and apply.
    #[error("the tree has changed since the plan was made")]
    PlanIsOld,
    /// `checkpoints = false`.
    #[error("Checkpoints are off")]
    Off,
    /// The stack of operations is empty in this direction.
    #[error("there is nothing to {0}")]
    NothingToStep(&'static str),
    /// The record of an operation has something else in place of an id.
    #[error("the record of operation {0} in operations.jsonl is damaged")]
    Unreadable(u64),
    /// There is nothing to hold.
    #[error("there is nothing to hold yet: no commit and no file")]
    Nothing,
    /// The running processes could not be seen.
    #[error(transparent)]
    Agent(#[from] agent::Error),
    /// The engine said no.
    #[error(transparent)]
    Workspace(#[from] workspace::Error),
    /// The repository said no.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The state folder said no.
    #[error(transparent)]
    State(#[from] state::Error),
    /// The file system said no.
    #[error(transparent)]
    Fs(#[from] fs::Error),
}

/// The result of this room's functions.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let failed = |message| Self::new(ErrorKind::Failed, message);
        match error {
            Error::Agent(error) => error.into(),
            Error::Workspace(error) => error.into(),
            Error::Git(error) => error.into(),
            Error::State(error) => error.into(),
            Error::Fs(error) => error.into(),
            Error::RunIsOn => Self::new(ErrorKind::Busy, message).with_hint("autodev stop"),
            Error::Survivor { pid, .. } => Self::new(ErrorKind::Busy, message).with_hint(format!("kill {pid}")),
            Error::InsideTurn(_) => failed(message).with_hint("ask the person who started the run"),
            Error::Unknown(_) | Error::Ambiguous { .. } => failed(message).with_hint("autodev restore lists them"),
            Error::Operation { ended_by, .. } => {
                failed(message).with_hint(ended_by.split(" (").next().unwrap_or(ended_by))
            }
            Error::CheckedOutElsewhere { place, .. } => {
                failed(message).with_hint(format!("go there and restore: cd {}", place.display()))
            }
            Error::Off => failed(message).with_hint("set `checkpoints = true` in .autodev/config.toml"),
            Error::Gone { .. } => failed(message).with_hint("git fsck --lost-found may still find it"),
            Error::NoSuchPath(_)
            | Error::OutsidePath(_)
            | Error::Unreadable(_)
            | Error::NothingToStep(_)
            | Error::PlanIsOld
            | Error::Nothing => failed(message),
        }
    }
}
