//! The prompt of a turn: the task, what was said since, what earlier runs learned, and how to finish.

use crate::state::{Post, PostKind};
use std::borrow::Cow;
use std::fmt::Write as _;

/// How many posts of earlier times the first turn of a participant gets.
const EARLIER: usize = 20;

/// How much of memory.md goes into a prompt, in bytes.
const MEMORY: usize = 64 << 10;

/// What a prompt is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    /// The task, where one was given.
    pub(super) task: Option<&'a str>,
    /// The whole thread.
    pub(super) thread: &'a [Post],
    /// The number of the last post that the participant has seen; `None` in its first turn.
    pub(super) seen: Option<u64>,
    /// `.autodev/memory.md`.
    pub(super) memory: &'a str,
    /// The commands that a claim must pass.
    pub(super) verify: &'a [Vec<String>],
}

/// Writes the prompt.
pub(super) fn prompt(parts: Parts<'_>) -> String {
    let mut text = String::new();
    if let Some(task) = parts.task {
        let _ = write!(text, "# Task\n\n{task}\n\n");
    }
    let new: Vec<&Post> = match parts.seen {
        Some(seen) => parts.thread.iter().filter(|post| post.n > seen).collect(),
        None => parts.thread.iter().skip(parts.thread.len().saturating_sub(EARLIER)).collect(),
    };
    if !new.is_empty() {
        text.push_str("# What was said since your last turn\n\n");
        for post in new {
            let kind = match post.kind {
                PostKind::Post => "",
                PostKind::Claim => " (work done)",
                PostKind::Verdict => " (verdict)",
            };
            // Nobody's second line is to look like somebody else's first.
            let _ = writeln!(text, "{}{kind}: {}", post.author, post.text.trim_end().replace('\n', "\n  "));
        }
        text.push('\n');
    }
    if !parts.memory.trim().is_empty() {
        let memory = shortened(parts.memory.trim_end());
        let _ = write!(text, "# What earlier runs learned (.autodev/memory.md)\n\n{memory}\n\n");
    }
    text.push_str(FINISH);
    if !parts.verify.is_empty() {
        text.push_str("These commands must succeed before it is credited:\n");
        for command in parts.verify {
            let _ = writeln!(text, "  {}", command.join(" "));
        }
    }
    text
}

/// Leaves out the middle of a long memory: its beginning is what people wrote, its end is what happened last.
fn shortened(memory: &str) -> Cow<'_, str> {
    if memory.len() <= MEMORY {
        return Cow::Borrowed(memory);
    }
    let (mut end, mut start) = (MEMORY / 2, memory.len() - MEMORY / 2);
    while !memory.is_char_boundary(end) {
        end -= 1;
    }
    while !memory.is_char_boundary(start) {
        start += 1;
    }
    let (begin, last) = (&memory[..end], &memory[start..]);
    Cow::Owned(format!("{begin}\n\n({} bytes are left out here; the file has them)\n\n{last}", start - end))
}

const FINISH: &str = "# How to finish

Work in the current folder. When the work is done, say so in one of two ways:
- print the line {\"type\":\"work_done\",\"summary\":\"<one line>\"} and then the line {\"type\":\"end\"}, or
- run: autodev post --work-done \"<one line>\" and exit with code 0.
Only that counts, not prose. What you change is kept as a checkpoint once the claim is checked; a claim
without any change is refused. To tell the others something: autodev post \"<text>\". What later runs should
know belongs into .autodev/memory.md.
";
