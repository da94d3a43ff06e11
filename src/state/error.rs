//! What can go wrong with the state folder: which file, and why.

use crate::{ErrorKind, fs};
use std::path::PathBuf;

/// A failure of the room `state`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file does not hold what it should.
    #[error("{} is damaged ({why}); it was left as it is", .path.display())]
    Damaged { path: PathBuf, why: String },
    /// A file was written by a newer version.
    #[error("{} was written by a newer version of autodev (format {found}, known: {known})", .path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    /// Another command of autodev holds the project.
    #[error("another autodev command is at work in this project")]
    Busy,
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
            Error::Damaged { path, .. } => {
                let what = match path.file_name().and_then(|name| name.to_str()) {
                    Some("checkpoints.json") => {
                        "autodev doctor --rebuild makes the list again from the refs; to begin a new one: "
                    }
                    Some("project.json") => "its counts are found again from the refs: ",
                    _ => "to begin anew without it: ",
                };
                Self::new(ErrorKind::Failed, message).with_hint(format!("{what}mv {0} {0}.damaged", path.display()))
            }
            Error::Newer { .. } => Self::new(ErrorKind::NewerState, message).with_hint("update autodev"),
            Error::Busy => Self::new(ErrorKind::Busy, message).with_hint("wait for it to end, then try again"),
            Error::Fs(error) => error.into(),
        }
    }
}
