//! What to write instead of a word that is not known: the nearest right one, or all of them.
//!
//! It only ever proposes; nothing is taken for something else than what was written. Which words are known
//! comes from the types that parse, so a new key needs nothing here.

use std::fmt;

/// What to write instead of an unknown word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Suggestion {
    /// This one is near.
    Nearest(String),
    /// The word is right, in a table further up: TOML gives every key to the last header before it.
    AboveParticipants,
    /// The word is right, in `[[participants]]`.
    InParticipants,
    /// Nothing is near; these are all.
    OneOf(Vec<String>),
}

impl Suggestion {
    /// Finds the known word that is nearest, or proposes all.
    pub(super) fn among(word: &str, known: &[&str]) -> Self {
        match nearest(word, known) {
            Some(near) => Self::Nearest(near.to_owned()),
            None => Self::OneOf(known.iter().map(|&word| word.to_owned()).collect()),
        }
    }

    /// Finds what to say of a key that is unknown where these are known.
    pub(super) fn for_key(key: &str, known: &[&str]) -> Self {
        let schema = super::schema();
        let top = &schema["properties"];
        let participant = &schema["$defs"]["Participant"]["properties"];
        if top.get(key).is_some() {
            Self::AboveParticipants
        } else if participant.get(key).is_some() {
            Self::InParticipants
        } else {
            Self::among(key, known)
        }
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nearest(word) => write!(f, "did you mean \"{word}\"?"),
            Self::AboveParticipants => f.write_str("it belongs above the first [[participants]]"),
            Self::InParticipants => f.write_str("it belongs below a [[participants]]"),
            Self::OneOf(words) => write!(f, "known: {}", words.join(", ")),
        }
    }
}

fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = plain(word);
    let tolerance = (word.chars().count() / 3).max(1);
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(&word, &plain(known)), *known));
    if let Some((_, known)) = near.filter(|(distance, _)| *distance <= tolerance).min_by_key(|(distance, _)| *distance)
    {
        return Some(known);
    }
    // `timeout` for `turn_timeout`: far away by letters, and yet there is only one that can be meant.
    let mut holding = known.iter().filter(|known| word.len() >= 4 && plain(known).contains(&word));
    holding.next().filter(|_| holding.next().is_none()).copied()
}

/// Makes `maxAttempts`, `max-attempts` and `max_attempts` one word.
fn plain(word: &str) -> String {
    word.chars().filter(|character| !"-_ ".contains(*character)).flat_map(char::to_lowercase).collect()
}
