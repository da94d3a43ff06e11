//! What is wrong with a configuration file: which file, which line, which key, and what to write instead.
//!
//! One sentence each, that fits after `Restore failed: `. What stood in the file is quoted, except where it
//! could be a secret. Lines are counted from 1, as editors do.

use std::fmt;
use std::path::PathBuf;

use super::suggestion::Suggestion;

/// A configuration that can not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file is there and can not be read.
    #[error("{} cannot be read", .file.display())]
    Unreadable {
        /// The file, from the project's root.
        file: PathBuf,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A folder or something odder stands in the file's place.
    #[error("{} must be a file, and is something else", .file.display())]
    NotAFile {
        /// The file, from the project's root.
        file: PathBuf,
    },
    /// The file holds bytes that are no text.
    #[error("{place}: the file must be UTF-8 text, and this line is not")]
    NotUtf8 {
        /// The first such line.
        place: Place,
    },
    /// The file is no TOML.
    #[error("{place}: {}{message}", .key.as_ref().map(|key| format!("{key:?}: ")).unwrap_or_default())]
    Syntax {
        /// Where reading ended.
        place: Place,
        /// The key on that line, if there is one.
        key: Option<String>,
        /// What the TOML parser says, in one line.
        message: String,
    },
    /// A key that does not exist.
    #[error("{place}: unknown key {key:?}; {suggestion}")]
    UnknownKey {
        /// Where it stands.
        place: Place,
        /// The key.
        key: String,
        /// What could be meant.
        suggestion: Suggestion,
    },
    /// A word for a key that takes a few fixed words.
    #[error("{place}: unknown value {value:?} for {key:?}; {suggestion}")]
    UnknownValue {
        /// Where it stands.
        place: Place,
        /// The key.
        key: String,
        /// The word.
        value: String,
        /// What could be meant.
        suggestion: Suggestion,
    },
    /// A value of the wrong type, or out of range.
    #[error("{place}: {item}{key:?} must be {expected}, not {found}")]
    WrongValue {
        /// Where it stands.
        place: Place,
        /// The key.
        key: String,
        /// Whether it is the key's value or an item in it.
        item: Item,
        /// What would be right.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A participant without a key that has no default.
    #[error("{place}: a participant needs {key:?}")]
    MissingKey {
        /// The participant.
        place: Place,
        /// The key.
        key: &'static str,
    },
    /// Two participants of the same name.
    #[error("{place}: participant {name:?} appears twice")]
    SameName {
        /// The second one.
        place: Place,
        /// The name.
        name: String,
    },
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file, from the project's root.
    pub(crate) file: PathBuf,
    /// The line, counted from 1.
    pub(crate) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// What of a key's value is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// All of it.
    Whole,
    /// An item of its array.
    Inner,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole => "",
            Self::Inner => "an item in ",
        })
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let hint = match &error {
            Error::Unreadable { file, .. } | Error::NotAFile { file } => format!("ls -ld {}", file.display()),
            _ => "autodev init --schema".to_owned(),
        };
        let public = Self::new(crate::ErrorKind::Usage, error.to_string()).with_hint(hint);
        match error {
            Error::Unreadable { source, .. } => public.with_source(source),
            _ => public,
        }
    }
}
