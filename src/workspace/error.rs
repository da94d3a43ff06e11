//! What can go wrong in the engine. Messages fit after `Restore failed: `.

use crate::{CheckpointId, ErrorKind, fs, git, state};
use gix::bstr::BString;

/// A failure of the room `workspace`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The repository said no.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The state folder said no.
    #[error(transparent)]
    State(#[from] state::Error),
    /// The file system said no.
    #[error(transparent)]
    Fs(#[from] fs::Error),
    /// Something that is never overwritten stands where the target has another thing.
    #[error("{} stands in the way of the target and is not held by anything: {what}", show(.path))]
    InTheWay { path: BString, what: String },
    /// git is told not to look at a file that the target changes.
    #[error("{} is marked {mark} and has content of its own that the target would overwrite", show(.path))]
    Hidden { path: BString, mark: &'static str },
    /// What was to be held could not be read back.
    #[error("what holds {} could not be read back; nothing was changed", show(.path))]
    NotReadBack { path: BString },
    /// The index has conflicts.
    #[error("the index has conflicts ({} is one)", show(.path))]
    Conflicts { path: BString },
    /// The intent on disk does not say what it must say.
    #[error("the record of the change in progress is not usable")]
    NoIntent,
    /// An entry cannot be written down.
    #[error("the entry of {id} cannot be written as a record")]
    Unwritable { id: CheckpointId },
    /// What was cut off cannot be completed without the user.
    #[error("{what} was cut off, and since then {} changed", paths.iter().map(show).collect::<Vec<_>>().join(", "))]
    Undecided { what: String, paths: Vec<BString> },
    /// A path of the plan was edited since it was captured.
    #[error("{} was edited meanwhile", show(.path))]
    Edited { path: BString },
    /// Files that were moved aside could not all be moved back.
    #[error("{reason}, and {} could not be moved back", show(.path))]
    NotPutBack { reason: String, path: BString },
    /// A file of the target could not be written.
    #[error("{} could not be written", show(.path))]
    NotWritten { path: BString },
    /// It failed midway and everything was given back.
    #[error("{reason}; everything was given back")]
    GivenBack { reason: String },
    /// It failed midway and could not be given back whole.
    #[error("{reason}; not everything could be given back ({second}); what was there is held by {held}")]
    NotGivenBack { reason: String, second: String, held: String },
}

/// The result of this room's functions.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Git(error) => error.into(),
            Error::State(error) => error.into(),
            Error::Fs(error) => error.into(),
            Error::InTheWay { path, .. } => {
                Self::new(ErrorKind::Failed, message).with_hint(format!("move it away: mv {0} {0}.mine", show(&path)))
            }
            Error::Hidden { path, mark } => {
                Self::new(ErrorKind::Failed, message).with_hint(format!("git update-index --no-{mark} {}", show(&path)))
            }
            Error::Conflicts { .. } => {
                Self::new(ErrorKind::Failed, message).with_hint("resolve them and `git add` the files, then try again")
            }
            Error::Undecided { .. } => Self::new(ErrorKind::Failed, message).with_hint(
                "autodev restore --continue completes it, autodev restore --abort takes it back; both leave these files as they are",
            ),
            Error::Unwritable { .. } | Error::NoIntent
            | Error::Edited { .. }
            | Error::NotWritten { .. }
            | Error::NotPutBack { .. }
            | Error::NotReadBack { .. }
            | Error::GivenBack { .. }
            | Error::NotGivenBack { .. } => Self::new(ErrorKind::Failed, message),
        }
    }
}

/// Shows a path in one line: control characters and bytes that are no text are escaped.
pub(crate) fn show(path: &BString) -> String {
    use gix::bstr::ByteSlice as _;
    let mut shown = String::with_capacity(path.len());
    for (start, end, character) in path.char_indices() {
        if character == char::REPLACEMENT_CHARACTER && &path[start..end] != "\u{fffd}".as_bytes() {
            shown.extend(path[start..end].iter().map(|byte| format!("\\x{byte:02x}")));
        } else if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_in_one_line() {
        assert_eq!(show(&"a b/ü".into()), "a b/ü");
        assert_eq!(show(&"new\nline\u{1b}[31m".into()), "new\\nline\\u{1b}[31m");
        assert_eq!(show(&BString::from(b"caf\xe9".as_slice())), "caf\\xe9");
    }
}
