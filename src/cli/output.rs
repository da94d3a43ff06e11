//! Lines out: data to standard output, everything else to standard error.
//!
//! Output to a closed pipe ends quietly. Readable without colour; colours only where they are wanted.

use super::args::Color;
use crate::Error;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::error::Error as _;
use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a result could not be written to standard output.
static LOST: AtomicBool = AtomicBool::new(false);

/// Remembers a result that got lost; nobody to read it is no loss.
fn noted(written: std::io::Result<()>) {
    if written.and_then(|()| std::io::stdout().flush()).is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Tells whether a result could not be written, so that success would be a lie.
pub(super) fn has_lost_a_result() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Where and how results are printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    json: bool,
}

#[expect(
    clippy::unused_self,
    reason = "where things are printed is a property of the output, also where it is not asked"
)]
impl Output {
    /// Prints as JSON or as text, with colours as asked for.
    pub(super) fn new(json: bool, color: Color) -> Self {
        let choice = match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        Self { json }
    }

    /// Tells whether results are printed as JSON.
    pub(super) fn is_json(self) -> bool {
        self.json
    }

    /// Prints a result: text without a line feed at its end.
    pub(super) fn line(self, text: impl Display) {
        noted(writeln!(anstream::stdout(), "{text}"));
    }

    /// Prints a result that brings its own line feeds.
    pub(super) fn text(self, text: impl Display) {
        noted(write!(anstream::stdout(), "{text}"));
    }

    /// Prints a result as JSON, in one line.
    pub(super) fn json(self, value: &impl Serialize) {
        if let Ok(text) = serde_json::to_string(value) {
            self.line(text);
        }
    }

    /// Says something beside the result.
    pub(super) fn note(self, text: impl Display) {
        let _ = writeln!(anstream::stderr(), "{text}");
    }

    /// Says what went wrong, why, and what helps.
    pub(super) fn error(self, error: &Error) {
        self.failure("error: ", error);
    }

    /// Says what went wrong behind a prefix that belongs to the sentence.
    pub(super) fn failure(self, prefix: &str, error: &Error) {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        self.note(format_args!("{red}{prefix}{red:#}{error}"));
        let mut cause = error.source();
        while let Some(source) = cause {
            self.note(format_args!("caused by: {source}"));
            cause = source.source();
        }
        if let Some(hint) = error.hint() {
            self.note(format_args!("hint: {hint}"));
        }
    }
}
