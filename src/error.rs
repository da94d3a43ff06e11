//! The public error: what, on what, why, what next.
//!
//! Each room has an error of its own that says what happened to what; at the library's face they all
//! become one opaque [`Error`] with a kind (which the program turns into an exit code), a sentence that
//! fits after `Restore failed: `, an optional hint (a command the user can type) and its cause.

use std::error::Error as StdError;
use std::fmt;

/// The class of an error, from which the program derives its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command could not do what it was asked for; exit code 1.
    Failed,
    /// The arguments or the configuration are wrong; exit code 2.
    Usage,
    /// The command needs a git repository and there is none; exit code 10.
    NoRepository,
    /// A run is on or a lock is held by someone else; exit code 11.
    Busy,
    /// The state was written by a newer version of autodev; exit code 12.
    NewerState,
    /// An invariant of autodev itself is broken; exit code 70.
    Bug,
    /// The user interrupted the command; exit code 130.
    Interrupted,
}

/// What went wrong, in one sentence, with what helps.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The result of the library's public functions.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes an error of `kind` whose sentence is `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    /// Adds what the user can do about it, ideally a command to type.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Tells the class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| -> &(dyn StdError + 'static) { source })
    }
}
