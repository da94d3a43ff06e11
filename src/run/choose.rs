//! Who is to work in a run.
//!
//! The workers of the configuration in their order, or the one that was named. A configuration with a reviewer
//! is refused: nobody takes reviews yet, and work is never credited without the one that was asked for.

use super::error::{Error, Result};
use crate::config::{Config, Participant, Role};

/// Picks who is to work.
pub(super) fn choose(config: &Config, name: Option<&str>) -> Result<Vec<Participant>> {
    if let Some(reviewer) = config.participants.iter().find(|participant| participant.role == Role::Reviewer) {
        return Err(Error::Reviewer(reviewer.name.clone()));
    }
    let workers = || config.participants.iter().filter(|participant| participant.role == Role::Worker);
    let Some(name) = name else {
        let all: Vec<Participant> = workers().cloned().collect();
        return if all.is_empty() { Err(Error::NoParticipant) } else { Ok(all) };
    };
    if let Some(participant) = config.participants.iter().find(|participant| participant.name == name) {
        return Ok(vec![participant.clone()]);
    }
    let near = workers()
        .map(|participant| (strsim::damerau_levenshtein(&participant.name, name), &participant.name))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map(|(_, name)| name.clone());
    Err(Error::UnknownParticipant { given: name.to_owned(), near })
}
