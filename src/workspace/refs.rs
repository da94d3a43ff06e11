//! Refs of a change as they stand in its intent, and moving them so that it can be done twice.

use super::error::{Error, Result};
use crate::git::{self, Expect, RefUpdate, Repository, Signature, Target};
use crate::state::{Intent, RefRecord, StateFolder};
use gix::ObjectId;

/// Which of its two ends a change is brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// It is completed.
    Forward,
    /// It is taken back.
    Back,
}

/// Writes updates as they stand in an intent.
pub(crate) fn records(updates: &[RefUpdate]) -> Vec<RefRecord> {
    updates
        .iter()
        .map(|update| RefRecord {
            name: update.name.clone(),
            from: match &update.expect {
                Expect::Absent => None,
                Expect::Value(target) => Some(target.to_string()),
            },
            to: update.to.as_ref().map(ToString::to_string),
            through: update.through,
        })
        .collect()
}

fn target(text: &str) -> Result<Target> {
    if let Some(name) = text.strip_prefix("ref: ") {
        return Ok(Target::Ref(name.to_owned()));
    }
    let id = ObjectId::from_hex(text.as_bytes());
    id.map(Target::Commit).map_err(|_| Error::Git(git::Error::Unreadable { command: "the intent" }))
}

fn update(record: &RefRecord) -> Result<RefUpdate> {
    let value = |text: &Option<String>| text.as_deref().map(target).transpose();
    let expect = value(&record.from)?.map_or(Expect::Absent, Expect::Value);
    Ok(RefUpdate { name: record.name.clone(), to: value(&record.to)?, expect, through: record.through })
}

/// Reads where a ref is now, in the words of an intent.
fn now(repository: &Repository, record: &RefRecord) -> Result<Option<String>> {
    if record.name != "HEAD" {
        return Ok(repository.try_find_ref(&record.name)?.map(|id| id.to_string()));
    }
    Ok(Some(repository.head()?.target().to_string()))
}

/// Returns the updates that are still to be made; a ref that is at neither end was moved by someone else.
fn pending(repository: &Repository, records: &[RefRecord], direction: Direction) -> Result<Vec<RefUpdate>> {
    let mut pending = Vec::new();
    for record in records {
        let update = update(record)?;
        let (update, from, to) = match direction {
            Direction::Forward => (update, &record.from, &record.to),
            Direction::Back => (update.reversed(), &record.to, &record.from),
        };
        let now = now(repository, record)?;
        if now == *to {
            continue;
        }
        if now != *from {
            return Err(Error::Git(git::Error::RefMoved { name: record.name.clone() }));
        }
        pending.push(update);
    }
    Ok(pending)
}

/// Removes the locks of refs that a change left which was cut off; the intent has not been written since.
pub(super) fn release_left_locks(repository: &Repository, state: &StateFolder, intent: &Intent) -> Result<()> {
    let records = intent.holding.iter().chain(intent.change.iter().flat_map(|change| &change.moves));
    let updates = records.map(update).collect::<Result<Vec<_>>>()?;
    match Intent::written(state) {
        Some(since) => Ok(repository.release_ref_locks(&updates, since)?),
        None => Ok(()),
    }
}

/// Fails when a ref is at neither of its two ends.
pub(super) fn require_at_an_end(repository: &Repository, records: &[RefRecord]) -> Result<()> {
    pending(repository, records, Direction::Forward).map(drop)
}

/// Moves what is not where it belongs yet.
pub(super) fn move_all(
    repository: &Repository,
    records: &[RefRecord],
    direction: Direction,
    message: &str,
    signature: Signature,
) -> Result<()> {
    let pending = pending(repository, records, direction)?;
    if pending.is_empty() { Ok(()) } else { Ok(repository.update_refs(&pending, message, signature)?) }
}

/// Deletes those of the refs that were made; one that somebody moved since stays.
pub(super) fn take_back(repository: &Repository, records: &[RefRecord], signature: Signature) -> Result<()> {
    let mut made = Vec::new();
    for record in records {
        if record.to.is_some() && now(repository, record)? == record.to {
            made.push(update(record)?.reversed());
        }
    }
    if made.is_empty() {
        Ok(())
    } else {
        Ok(repository.update_refs(&made, "autodev: not needed after all", signature)?)
    }
}
