//! The thread: what participants, the user and autodev tell each other.

use super::error::{Error, Result};
use crate::clock::Clock;
use crate::config::Environment;
use crate::state::{Post, PostKind, StateFolder, VERSION, journal};

/// Reads all posts, oldest first.
pub(crate) fn read(state: &StateFolder) -> Result<Vec<Post>> {
    Ok(journal::read(&state.file("thread.jsonl"))?)
}

/// Appends a post; its number is counted by the thread.
pub(super) fn append(state: &StateFolder, post: &Post) -> Result<u64> {
    state.create()?;
    Ok(journal::append(&state.file("thread.jsonl"), post)?)
}

/// Appends what somebody typed: inside a turn its participant, elsewhere the user. A claim belongs to a turn.
pub(crate) fn post(
    state: &StateFolder,
    environment: &Environment,
    clock: Clock,
    text: &str,
    claim: bool,
) -> Result<Post> {
    if text.trim().is_empty() {
        return Err(Error::EmptyPost);
    }
    let turn = environment.turn.clone().filter(|_| environment.state.as_deref() == Some(state.path()));
    if claim && turn.is_none() {
        return Err(Error::NoTurn);
    }
    let inside = turn.is_some();
    let mut post = Post {
        version: VERSION,
        n: 0,
        time: clock.now(),
        run: environment.run.clone().filter(|_| inside),
        turn,
        author: environment.participant.clone().filter(|_| inside).unwrap_or_else(|| "user".to_owned()),
        kind: if claim { PostKind::Claim } else { PostKind::Post },
        text: text.to_owned(),
    };
    post.n = append(state, &post)?;
    Ok(post)
}
