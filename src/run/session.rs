//! The session file: everything a participant printed, raw, before anything is understood of it.
//!
//! One JSON line a line of output (`line`, or `line_b64` where its bytes are no text), up to a cap for each session; what is over the cap is counted and said in
//! the file, not kept. A failing disk is reported once and never stops a turn.

use super::error::Result;
use crate::agent::{Line, Stream};
use crate::fs::{self, Appender};
use crate::state::VERSION;
use crate::workspace::Project;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How much of a session is kept, in bytes: 8 MiB.
const MOST: u64 = 8 << 20;

/// The raw output of one participant in one run.
#[derive(Debug)]
pub(super) struct Session {
    file: Appender,
    turn: String,
    left: u64,
    failed: Option<String>,
}

impl Session {
    /// Opens the session of a participant for one turn.
    pub(super) fn open(project: &Project, run: &str, turn: &str, participant: &str) -> Result<Self> {
        let folder = project.state().file("sessions");
        fs::create_folder(&folder)?;
        let file = Appender::open(&folder.join(format!("{run}-{participant}.jsonl")))?;
        let left = MOST.saturating_sub(file.length()?);
        Ok(Self { file, turn: turn.to_owned(), left, failed: None })
    }

    /// Keeps a line of output.
    pub(super) fn keep(&mut self, stream: Stream, line: &Line) {
        let stream = match stream {
            Stream::Stdout => "out",
            Stream::Stderr => "err",
        };
        let (bytes, cut) = match line {
            Line::Whole(bytes) => (bytes, Value::Null),
            Line::TooLong { start, bytes } => (start, json!(bytes)),
        };
        let mut record = match std::str::from_utf8(bytes) {
            Ok(text) => json!({"version": VERSION, "turn": self.turn, "stream": stream, "line": text}),
            Err(_) => {
                json!({"version": VERSION, "turn": self.turn, "stream": stream, "line_b64": STANDARD.encode(bytes)})
            }
        };
        if !cut.is_null() {
            record["bytes"] = cut;
        }
        self.write(&record);
    }

    fn write(&mut self, record: &Value) {
        let mut line = record.to_string().into_bytes();
        line.push(b'\n');
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.left == 0 {
            return;
        }
        if length > self.left {
            self.left = 0;
            line = format!(
                "{}\n",
                json!({"version": VERSION, "turn": self.turn, "note": "the session is full; later output is not kept"})
            )
            .into_bytes();
        }
        self.left = self.left.saturating_sub(length);
        if let Err(error) = self.file.append(&line) {
            self.failed.get_or_insert_with(|| error.to_string());
        }
    }

    /// Makes the session durable; returns what could not be kept.
    pub(super) fn close(self) -> Option<String> {
        self.failed.or_else(|| self.file.sync().err().map(|error| error.to_string()))
    }
}
