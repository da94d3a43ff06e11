//! Beginning a change: the project's lock, whatever was cut off before brought to an end, and the intent.
//!
//! The intent names the lock of the user's index before that lock exists. As long as nothing but refs that
//! hold was made, giving up removes it again, and so does the next command after a crash.

use super::error::Result;
use super::project::Project;
use super::recover::recover;
use super::refs::Direction;
use crate::fs::Lock;
use crate::git::IndexLock;
use crate::state::Intent;

/// Whether a change replaces the user's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserIndex {
    /// It does, so the index is locked from the first look on.
    Replaced,
    /// It does not.
    Kept,
}

/// A change that has begun; giving it up takes the intent away again.
#[derive(Debug)]
pub(crate) struct Begun<'a> {
    pub(super) project: &'a Project,
    pub(super) intent: Intent,
    pub(super) index_lock: Option<IndexLock>,
    pub(super) open: bool,
    /// What was brought to an end first.
    pub(crate) notes: Vec<String>,
    _lock: Lock,
}

impl Project {
    /// Takes the project for a command that changes something, and completes what was cut off before.
    pub(crate) fn lock_and_recover(&self) -> Result<Lock> {
        let lock = self.lock()?;
        recover(self, None)?;
        Ok(lock)
    }

    /// Begins a change, with the project's lock in hand; `what` says for people what it is.
    pub(crate) fn begin(&self, lock: Lock, what: &str, user_index: UserIndex) -> Result<Begun<'_>> {
        let notes = recover(self, None)?.into_iter().collect();
        let intent = Intent::begin(what, self.clock().now());
        let mut begun = Begun { project: self, intent, index_lock: None, open: true, notes, _lock: lock };
        if user_index == UserIndex::Replaced {
            let waiting = self.repository()?.prepare_index_lock()?;
            begun.intent.lock = Some(waiting.identity);
            begun.intent.save(self.state())?;
            begun.index_lock = Some(waiting.take()?);
        }
        Ok(begun)
    }

    /// Brings a change that was cut off to an end as the user wishes; tells what was done, or `None` where
    /// nothing was cut off.
    pub(crate) fn settle(&self, direction: Direction) -> Result<Option<String>> {
        let _lock = self.lock()?;
        recover(self, Some(direction))
    }

    /// Says what was cut off and is not at an end yet; changes nothing.
    pub(crate) fn unfinished(&self) -> Result<Option<String>> {
        let Some(intent) = Intent::load(self.state())? else { return Ok(None) };
        // While somebody holds the project, the change is simply going on.
        let path = self.state().file("project.lock");
        if Lock::try_acquire(&path)?.is_none() {
            return Ok(None);
        }
        Ok(Some(format!(
            "{} was cut off ({}); the next command that changes something completes it (or: autodev restore --continue, autodev restore --abort)",
            intent.what,
            crate::clock::age(self.clock().now(), intent.time)
        )))
    }
}

impl Begun<'_> {
    /// Takes back the refs that hold, and ends the intent: nothing else was touched.
    pub(super) fn give_up(&mut self) -> Result<()> {
        if std::mem::take(&mut self.open) {
            if !self.intent.holding.is_empty() {
                super::refs::take_back(self.project.repository()?, &self.intent.holding, self.project.signature())?;
            }
            self.index_lock.take().map_or(Ok(()), IndexLock::release)?;
            Intent::remove(self.project.state())?;
        }
        Ok(())
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        // What cannot be taken away now is taken away by the next command.
        let _ = self.give_up();
    }
}
