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

/// Removes the locks of refs that a change left which was cut off; the intent has not been written since.
pub(super) fn release_left_locks(repository: &Repository, state: &StateFolder, intent: &Intent) -> Result<()> {
    let records = intent.holding.iter().chain(intent.change.iter().flat_map(|change| &change.moves));
    let updates = records.map(update).collect::<Result<Vec<_>>>()?;
    match Intent::written(state) {
        Some(since) => Ok(repository.release_ref_locks(&updates, since)?),
        None => Ok(()),
    }
}

/// What becomes of a ref that is at neither of its ends, because somebody else has moved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Nothing moves.
    Refuse,
    /// It stays where it is.
    Leave,
}

/// Returns the updates that are still to be made, and the refs that are at neither end.
fn pending<'a>(
    repository: &Repository,
    records: &'a [RefRecord],
    direction: Direction,
) -> Result<(Vec<RefUpdate>, Vec<&'a RefRecord>)> {
    let (mut pending, mut elsewhere) = (Vec::new(), Vec::new());
    for record in records {
        let update = update(record)?;
        let (update, from, to) = match direction {
            Direction::Forward => (update, &record.from, &record.to),
            Direction::Back => (update.reversed(), &record.to, &record.from),
        };
        match now(repository, record)? {
            now if now == *to => {}
            now if now == *from => pending.push(update),
            _ => elsewhere.push(record),
        }
    }
    Ok((pending, elsewhere))
}

/// Returns the names of the refs that somebody has moved elsewhere since, and whether all of these contain what the
/// change made of them, as after a commit on top of it.
pub(super) fn elsewhere(repository: &Repository, records: &[RefRecord]) -> Result<(Vec<String>, bool)> {
    let (_, elsewhere) = pending(repository, records, Direction::Forward)?;
    let mut on_top = true;
    for record in &elsewhere {
        let to = record.to.as_ref().and_then(|to| ObjectId::from_hex(to.as_bytes()).ok());
        let now = repository.try_find_ref(&record.name)?;
        on_top &= match (to, now) {
            (Some(to), Some(now)) if repository.has_commit(to) => repository.count_commits(Some(now), to)? == 0,
            _ => false,
        };
    }
    Ok((elsewhere.into_iter().map(|record| record.name.clone()).collect(), on_top))
}

/// Moves what is not where it belongs yet.
pub(super) fn move_all(
    repository: &Repository,
    records: &[RefRecord],
    direction: Direction,
    others: Others,
    message: &str,
    signature: Signature,
) -> Result<()> {
    let (pending, elsewhere) = pending(repository, records, direction)?;
    if let (Others::Refuse, Some(record)) = (others, elsewhere.first()) {
        return Err(Error::Git(git::Error::RefMoved { name: record.name.clone() }));
    }
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
