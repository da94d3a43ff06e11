//! The language spoken with a participant: JSON lines over its stdin and stdout.
//!
//! One line of output becomes one event; whatever is not a line of the protocol is text that was said, so
//! that a shell script with `echo` is a participant. A line that looks like JSON but does not fit is said
//! text as well, with a warning that says why, since a claim that was lost to a typing error should be
//! noticed. Unknown fields are ignored. Bytes that are not UTF-8 are replaced here and nowhere else.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Something that a participant said, asked or claimed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event {
    /// Text for whoever watches.
    Say { text: String },
    /// Text for the thread.
    Post { text: String },
    /// A question that must be decided before an action.
    Ask(Ask),
    /// The claim that the work is done.
    WorkDone { summary: String },
    /// What the turn has cost so far.
    Spent(Spent),
    /// The turn ended as the protocol wants it.
    End,
}

/// A question that must be decided before the participant acts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ask {
    /// The participant's own name for the question; the decision repeats it.
    pub(crate) call: String,
    /// The tool it wants to use.
    pub(crate) tool: String,
    /// What it wants to give to the tool.
    #[serde(default)]
    pub(crate) input: Value,
    /// Why it wants to.
    #[serde(default)]
    pub(crate) reason: String,
    /// Whether it says that the action cannot be undone.
    #[serde(default)]
    pub(crate) irreversible: bool,
}

/// What a turn has cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spent {
    /// Tokens read.
    #[serde(default)]
    pub(crate) input: u64,
    /// Tokens written.
    #[serde(default)]
    pub(crate) output: u64,
    /// United States dollars, where the participant knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
}

/// The answer to an [`Ask`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The name that the participant gave to its question.
    pub(crate) call: String,
    /// Whether it may act.
    pub(crate) allow: bool,
}

/// One line of output, understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parsed {
    /// A line of the protocol.
    Protocol(Event),
    /// Any other line, and what is odd about it.
    Text { text: String, warning: Option<String> },
}

/// Understands one line of output, given without its line feed.
pub(crate) fn parse(line: &[u8]) -> Parsed {
    let text = String::from_utf8_lossy(line);
    let text = text.strip_suffix('\r').unwrap_or(&text);
    let warning = if text.trim_start().starts_with('{') {
        match serde_json::from_str::<Value>(text) {
            Err(error) => Some(format!("looks like JSON but is not: {error}")),
            Ok(value) => match serde_json::from_value(value) {
                Ok(event) => return Parsed::Protocol(event),
                Err(error) => Some(format!("looks like a line of the protocol but is not: {error}")),
            },
        }
    } else {
        None
    };
    Parsed::Text { text: text.to_owned(), warning }
}

/// What a participant is told at the start of its turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prompt<'a> {
    /// The run's id.
    pub(crate) run: &'a str,
    /// The turn's id.
    pub(crate) turn: &'a str,
    /// How often this work was tried, from 1.
    pub(crate) attempt: u32,
    /// The task, the thread and what else it must know.
    pub(crate) text: &'a str,
    /// The folder it works in.
    pub(crate) cwd: &'a Path,
}

impl Prompt<'_> {
    /// Writes the line that starts a turn, with its line feed.
    pub(crate) fn to_line(self) -> Vec<u8> {
        let Self { run, turn, attempt, text, cwd } = self;
        let cwd = cwd.to_string_lossy();
        line(&json!({"type": "turn", "run": run, "turn": turn, "attempt": attempt, "prompt": text, "cwd": cwd}))
    }
}

impl Decision {
    /// Writes the line that answers a question, with its line feed.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        line(&json!({"type": "decision", "call": self.call, "allow": self.allow}))
    }
}

fn line(value: &Value) -> Vec<u8> {
    let mut text = value.to_string();
    text.push('\n');
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &[u8]) -> (String, Option<String>) {
        match parse(line) {
            Parsed::Text { text, warning } => (text, warning),
            Parsed::Protocol(event) => panic!("{event:?} is no text"),
        }
    }

    #[test]
    fn every_kind_of_line_is_understood() {
        let event = |line: &str| match parse(line.as_bytes()) {
            Parsed::Protocol(event) => event,
            Parsed::Text { text, warning } => panic!("{text}: {warning:?}"),
        };
        assert_eq!(event(r#"{"type":"say","text":"hi"}"#), Event::Say { text: "hi".to_owned() });
        assert_eq!(event(r#"{"type":"post","text":"a\nb"}"#), Event::Post { text: "a\nb".to_owned() });
        assert_eq!(event("{\"summary\":\"x\",\"type\":\"work_done\"}\r"), Event::WorkDone { summary: "x".to_owned() });
        assert_eq!(event(r#" {"type":"end","why":"done"}"#), Event::End);
        let spent = Spent { input: 10, output: 5, usd: Some(0.01) };
        assert_eq!(event(r#"{"type":"spent","input":10,"output":5,"usd":0.01}"#), Event::Spent(spent));
        let ask = Ask {
            call: "k1".to_owned(),
            tool: "shell".to_owned(),
            input: json!({"command": "git push"}),
            reason: "to publish".to_owned(),
            irreversible: true,
        };
        let line = r#"{"type":"ask","call":"k1","tool":"shell","input":{"command":"git push"},"reason":"to publish","irreversible":true}"#;
        assert_eq!(event(line), Event::Ask(ask));
    }

    #[test]
    fn any_other_line_is_said() {
        assert_eq!(said(b"all done!"), ("all done!".to_owned(), None));
        assert_eq!(said(b"[1]\r"), ("[1]".to_owned(), None));
        assert_eq!(said(b"\xff\xfe"), ("\u{fffd}\u{fffd}".to_owned(), None));
    }

    #[test]
    fn what_only_looks_like_the_protocol_is_said_with_a_warning() {
        let (text, warning) = said(br#"{"type":"work_done","summary":"half"#);
        assert_eq!(text, r#"{"type":"work_done","summary":"half"#);
        assert!(warning.unwrap().starts_with("looks like JSON but is not: EOF while parsing a string"));
        let (_, warning) = said(br#"{"type":"workdone","summary":"x"}"#);
        let warning = warning.unwrap();
        assert!(warning.contains("`workdone`") && warning.contains("`work_done`"), "{warning}");
        let (_, warning) = said(br#"{"type":"work_done"}"#);
        assert!(warning.unwrap().ends_with("missing field `summary`"));
    }

    #[test]
    fn what_is_written_is_one_line_to_the_letter() {
        let prompt = Prompt { run: "r1", turn: "t3", attempt: 1, text: "do\nit", cwd: Path::new("/p") };
        assert_eq!(
            String::from_utf8(prompt.to_line()).unwrap(),
            "{\"type\":\"turn\",\"run\":\"r1\",\"turn\":\"t3\",\"attempt\":1,\"prompt\":\"do\\nit\",\"cwd\":\"/p\"}\n"
        );
        let decision = Decision { call: "k1".to_owned(), allow: true };
        assert_eq!(decision.to_line(), b"{\"type\":\"decision\",\"call\":\"k1\",\"allow\":true}\n");
    }
}
