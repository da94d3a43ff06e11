//! The checked values that keys of the configuration hold, and the patterns that say the same in the schema.
//!
//! Each function reads one kind of value through serde and refuses what does not fit, in words that go on
//! after `"key" must be `: what is found instead, and where, is known to whoever reads the file. A schema
//! pattern may let through what is refused here (a language of patterns can not say all of it), never the
//! other way round.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Serializer};

/// The schema's pattern of a duration.
pub(super) const DURATION_SCHEMA: &str = concat!(
    r"^\s*([0-9]+(\.[0-9]+)?\s*(nanos|nsec|ns|usec|us|µs|millis|msec|ms|seconds|second|secs|sec|s|minutes|minute|mins|",
    r"min|m|hours|hour|hrs|hr|h|days|day|d|weeks|week|wks|wk|w|months|month|M|years|year|yrs|yr|y)\s*)+$"
);
/// The schema's pattern of a participant's name.
pub(super) const NAME_SCHEMA: &str = "^[A-Za-z0-9_-]{1,64}$";
/// The schema's pattern of the name of an environment variable.
pub(super) const VARIABLE_SCHEMA: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
/// The schema's pattern of a pattern for secrets.
pub(super) const PATTERN_SCHEMA: &str = r"^!?[^!/\[\]\\\x00-\x1f\x7f][^/\[\]\\\x00-\x1f\x7f]*$";
/// The schema's pattern of a branch prefix.
pub(super) const BRANCH_SCHEMA: &str =
    r"^[^-./\x00-\x20\x7f~^:?*\[\\]([^\x00-\x20\x7f~^:?*\[\\]*[^./\x00-\x20\x7f~^:?*\[\\])?$";

/// The words for a number; also what serde's own name for such a number becomes.
pub(super) const COUNT: &str = "a whole number of at least 1";
const COMMAND: &str = r#"an array of strings such as ["sh", "agent.sh"]"#;
const DURATION: &str = r#"a duration such as "30m""#;
const LONGEST: Duration = Duration::from_hours(10 * 365 * 24);

/// Reads a number that is not zero.
pub(super) fn count<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<T, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if number == 0 {
        return Err(D::Error::invalid_value(Unexpected::Unsigned(number), &COUNT));
    }
    T::try_from(number).map_err(|_| D::Error::invalid_value(Unexpected::Unsigned(number), &"a smaller whole number"))
}

/// Reads a duration that is neither zero nor longer than ten years.
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let length = Text { expected: DURATION, parse: parse_duration }.deserialize(deserializer)?;
    let refused = |expected: &str| Err(D::Error::invalid_value(Unexpected::Unit, &expected));
    match length {
        Duration::ZERO => refused(r#"a duration above zero such as "30m""#),
        length if length > LONGEST => refused(r#"a duration of at most ten years such as "30m""#),
        length => Ok(length),
    }
}

fn parse_duration(text: &str) -> Result<Duration, Unexpected<'_>> {
    // A few durations of absurd length overflow inside the parser.
    if text.len() > 24 {
        return Err(Unexpected::Str(text));
    }
    humantime::parse_duration(text).map_err(|_| Unexpected::Str(text))
}

/// Writes a duration of whole seconds in its largest unit up to hours, as people write them: `24h`, `30m`.
pub(super) fn write_duration<S: Serializer>(length: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    match length.as_secs() {
        seconds if seconds % 3600 == 0 => serializer.collect_str(&format_args!("{}h", seconds / 3600)),
        seconds if seconds % 60 == 0 => serializer.collect_str(&format_args!("{}m", seconds / 60)),
        seconds => serializer.collect_str(&format_args!("{seconds}s")),
    }
}

/// Reads a participant's name.
pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let expected = "1 to 64 letters, digits, _ and -";
    Text { expected, parse: |text| owned_if(is_name(text), text) }.deserialize(deserializer)
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Reads what the names of branches begin with.
pub(super) fn branch_prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let expected = r#"the beginning of a branch name such as "autodev""#;
    Text { expected, parse: |text| owned_if(is_branch_prefix(text), text) }.deserialize(deserializer)
}

fn is_branch_prefix(text: &str) -> bool {
    let branch = format!("refs/heads/{text}/x");
    let edges = ['.', '/'];
    !text.starts_with(edges)
        && !text.ends_with(edges)
        && !text.starts_with('-')
        && gix::validate::reference::name(branch.as_str().into()).is_ok()
}

/// Reads patterns for the base names of secrets.
pub(super) fn patterns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let expected = r#"a pattern for base names such as "*.p12", with * and ? as wildcards"#;
    let item = Text { expected, parse: |text| owned_if(is_pattern(text), text) };
    List { item, expected: r#"an array of patterns such as ["*.p12"]"# }.deserialize(deserializer)
}

/// Tells whether a pattern can match a base name at all: one that never does would leave a secret unguarded.
fn is_pattern(text: &str) -> bool {
    let pattern = text.strip_prefix('!').unwrap_or(text);
    !pattern.is_empty()
        && !pattern.starts_with('!')
        && !pattern.chars().any(|character| matches!(character, '/' | '[' | ']' | '\\') || character.is_ascii_control())
}

/// Reads names of environment variables; one with a value is refused without repeating the value.
pub(super) fn variables<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let item = Text { expected: r#"the name of a variable such as "API_KEY""#, parse: parse_variable };
    List { item, expected: r#"an array of names such as ["API_KEY"]"# }.deserialize(deserializer)
}

fn parse_variable(text: &str) -> Result<String, Unexpected<'_>> {
    let mut bytes = text.bytes();
    let begins = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    if text.contains('=') {
        return Err(Unexpected::Other("a name with its value"));
    }
    owned_if(begins && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), text)
}

/// Reads a program and its arguments.
pub(super) fn command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Command.deserialize(deserializer)
}

fn parse_word(text: &str) -> Result<String, Unexpected<'_>> {
    // The system takes no such argument.
    if text.contains('\0') { Err(Unexpected::Other("one with a NUL byte")) } else { Ok(text.to_owned()) }
}

/// Reads commands.
pub(super) fn commands<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<String>>, D::Error> {
    List { item: Command, expected: r#"an array of commands such as [["cargo", "test"]]"# }.deserialize(deserializer)
}

/// Reads an array of anything that can be read.
pub(super) fn list<'de, D, T>(deserializer: D, expected: &'static str) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    List { item: PhantomData::<T>, expected }.deserialize(deserializer)
}

fn owned_if(fits: bool, text: &str) -> Result<String, Unexpected<'_>> {
    if fits { Ok(text.to_owned()) } else { Err(Unexpected::Str(text)) }
}

/// A string that becomes a value, or is refused.
struct Text<T> {
    expected: &'static str,
    parse: fn(&str) -> Result<T, Unexpected<'_>>,
}

// Derived, they would ask the same of `T`.
impl<T> Copy for Text<T> {}
impl<T> Clone for Text<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'de, T> DeserializeSeed<'de> for Text<T> {
    type Value = T;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(|found| E::invalid_value(found, &self.expected))
    }
}

/// An array whose items are all read in the same way.
#[derive(Debug, Clone, Copy)]
struct List<S> {
    item: S,
    expected: &'static str,
}

impl<'de, S: DeserializeSeed<'de> + Copy> DeserializeSeed<'de> for List<S> {
    type Value = Vec<S::Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for List<S> {
    type Value = Vec<S::Value>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(self.item)? {
            items.push(item);
        }
        Ok(items)
    }
}

/// A program and its arguments.
#[derive(Debug, Clone, Copy)]
struct Command;

impl<'de> DeserializeSeed<'de> for Command {
    type Value = Vec<String>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<String>, D::Error> {
        let item = Text { expected: "a string", parse: parse_word };
        let words = List { item, expected: COMMAND }.deserialize(deserializer)?;
        if words.first().is_none_or(String::is_empty) {
            return Err(D::Error::invalid_value(Unexpected::Seq, &COMMAND));
        }
        Ok(words)
    }
}
