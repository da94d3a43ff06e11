//! Why a run did not start, or what stopped it.

use crate::{ErrorKind, agent, checkpoint, fs, state, workspace};
use std::path::PathBuf;

/// A failure of the room `run`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Nobody is configured to work.
    #[error("no participant is configured, so nobody can work on the task")]
    NoParticipant,
    /// The name is not one of the configuration's.
    #[error("unknown participant: {given}{}", .near.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default())]
    UnknownParticipant { given: String, near: Option<String> },
    /// Somebody is to review, and nobody takes reviews yet.
    #[error("{0} is a reviewer, and reviews cannot be taken yet; nothing is credited without one")]
    Reviewer(String),
    /// Another run is on.
    #[error("a run is on already ({0})")]
    RunIsOn(String),
    /// Claims belong to a turn.
    #[error("--work-done belongs inside a participant's turn, and there is none here")]
    NoTurn,
    /// A post says nothing.
    #[error("a post needs a text")]
    EmptyPost,
    /// The run did not end in time after it was asked to.
    #[error("the run was asked to stop and is still ending its participants")]
    StillStopping,
    /// Somebody removed the state folder, most often with the whole repository.
    #[error("{} is gone, so the run cannot go on; the files stay as they are", .0.display())]
    StateGone(PathBuf),
    /// An agent could not be run.
    #[error(transparent)]
    Agent(#[from] agent::Error),
    /// A checkpoint was not made, or nothing went back.
    #[error(transparent)]
    Checkpoint(#[from] checkpoint::Error),
    /// The engine said no.
    #[error(transparent)]
    Workspace(#[from] workspace::Error),
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
        match error {
            Error::Agent(error) => error.into(),
            Error::Checkpoint(error) => error.into(),
            Error::Workspace(error) => error.into(),
            Error::State(error) => error.into(),
            Error::Fs(error) => error.into(),
            Error::NoParticipant => Self::new(ErrorKind::Usage, message)
                .with_hint("autodev init, then add a [[participants]] table to .autodev/config.toml"),
            Error::UnknownParticipant { .. } => {
                Self::new(ErrorKind::Usage, message).with_hint("the names are in .autodev/config.toml")
            }
            Error::Reviewer(_) => Self::new(ErrorKind::Usage, message)
                .with_hint("make it a worker, or take it out of .autodev/config.toml"),
            Error::RunIsOn(_) => Self::new(ErrorKind::Busy, message).with_hint("autodev status, or autodev stop"),
            Error::StateGone(_) => Self::new(ErrorKind::Failed, message)
                .with_hint("git status tells whether the repository is still there"),
            Error::StillStopping => Self::new(ErrorKind::Busy, message).with_hint("autodev status"),
            Error::NoTurn | Error::EmptyPost => Self::new(ErrorKind::Usage, message),
        }
    }
}
