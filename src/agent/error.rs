//! What can go wrong with an agent, before and while it runs.
//!
//! How an agent itself ends (an exit code, a signal, a timeout) is no error but a result; here is what
//! keeps autodev from starting it, from seeing it, or, for the scripted agent, from playing its script.
//! Each sentence is a fragment that fits behind `error: `, and each becomes the public error with a hint.

use std::io;
use std::path::PathBuf;

use crate::ErrorKind;

/// What kept an agent from running.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command is an empty list.
    #[error("the command is empty")]
    EmptyCommand,
    /// The folder that the command is to run in is not there.
    #[error("cannot start \"{program}\": {} is not a folder", .folder.display())]
    NoFolder { program: String, folder: PathBuf },
    /// The system would not start the program.
    #[error("cannot start \"{program}\": {}", reason(source))]
    CannotStart { program: String, source: io::Error },
    /// `/proc` is not readable, so that nothing could be ended for certain.
    #[error("cannot see the running processes in /proc: {}", reason(source))]
    CannotSee { source: io::Error },
    /// The signals that stop a run could not be registered.
    #[error("cannot listen for signals: {}", reason(source))]
    CannotListen { source: io::Error },
    /// A script of the scripted agent cannot be read.
    #[error("cannot read the script {}: {}", .path.display(), reason(source))]
    UnreadableScript { path: PathBuf, source: io::Error },
    /// A script of the scripted agent is not what a script must be.
    #[error("the script {} is broken: {reason}", .path.display())]
    BrokenScript { path: PathBuf, reason: String },
    /// A step of a script could not be played.
    #[error("step {step} of the script failed: {reason}")]
    StepFailed { step: usize, reason: String },
}

/// Says what the system said, without the number behind it.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

impl Error {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::EmptyCommand | Self::CannotStart { .. } => {
                Some("check `command` of this participant in .autodev/config.toml")
            }
            Self::CannotSee { .. } => Some("mount it with `mount -t proc proc /proc`"),
            Self::NoFolder { .. }
            | Self::CannotListen { .. }
            | Self::UnreadableScript { .. }
            | Self::BrokenScript { .. }
            | Self::StepFailed { .. } => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::EmptyCommand | Self::BrokenScript { .. } => ErrorKind::Usage,
            _ => ErrorKind::Failed,
        }
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let public = Self::new(error.kind(), error.to_string());
        match error.hint() {
            Some(hint) => public.with_hint(hint),
            None => public,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_program_and_the_hint_the_key() {
        let source = io::Error::from_raw_os_error(2);
        let public = crate::Error::from(Error::CannotStart { program: "nosuch".to_owned(), source });
        assert_eq!(public.to_string(), "cannot start \"nosuch\": No such file or directory");
        assert!(public.hint().is_some_and(|hint| hint.contains("`command`")));
        assert_eq!(public.kind(), ErrorKind::Failed);
    }
}
