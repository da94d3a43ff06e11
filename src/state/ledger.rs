//! The ledger: `checkpoints.json`, the list of all checkpoints of a project.

use super::{Checkpoint, Error, StateFolder, VERSION, error::Result};
use crate::fs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// All checkpoints, oldest first, and the next number.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ledger {
    version: u32,
    /// The number that the next checkpoint gets.
    pub(crate) next: u64,
    /// The entries, oldest first.
    pub(crate) checkpoints: Vec<Checkpoint>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { version: VERSION, next: 1, checkpoints: Vec::new(), extra: Map::new() }
    }
}

impl Ledger {
    /// Reads the ledger; a missing one is empty, a damaged one is an error.
    pub(crate) fn load(state: &StateFolder) -> Result<Self> {
        let path = path(state);
        let Some(bytes) = fs::try_read(&path)? else {
            return Ok(Self::default());
        };
        match serde_json::from_slice(&bytes) {
            Ok(ledger) => Ok(ledger),
            Err(error) => Err(unreadable(path, &bytes, &error)),
        }
    }

    /// Replaces the ledger on disk.
    pub(crate) fn save(&self, state: &StateFolder) -> Result<()> {
        self.require_writable(state)?;
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::Damaged { path: path(state), why: error.to_string() })?;
        bytes.push(b'\n');
        Ok(fs::replace(&path(state), &bytes)?)
    }

    /// Adds entries at the end.
    pub(crate) fn add(&mut self, checkpoints: &[Checkpoint]) {
        self.checkpoints.extend_from_slice(checkpoints);
        let highest = checkpoints.iter().map(|checkpoint| checkpoint.id.0 + 1).max();
        self.next = self.next.max(highest.unwrap_or(0));
    }

    /// Fails when the ledger was written by a newer version, before anything is done on its strength.
    pub(crate) fn require_writable(&self, state: &StateFolder) -> Result<()> {
        if self.version > VERSION {
            return Err(Error::Newer { path: path(state), found: self.version, known: VERSION });
        }
        Ok(())
    }
}

fn path(state: &StateFolder) -> PathBuf {
    state.file("checkpoints.json")
}

/// Tells a newer format that cannot be read from damage.
fn unreadable(path: PathBuf, bytes: &[u8], error: &serde_json::Error) -> Error {
    let version = serde_json::from_slice::<Value>(bytes).ok().and_then(|value| value.get("version")?.as_u64());
    match version.and_then(|version| u32::try_from(version).ok()) {
        Some(found) if found > VERSION => Error::Newer { path, found, known: VERSION },
        _ => Error::Damaged { path, why: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (tempfile::TempDir, StateFolder) {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(folder.path().to_owned());
        fs::replace(&path(&state), text.as_bytes()).unwrap();
        (folder, state)
    }

    #[test]
    fn a_damaged_ledger_is_an_error_and_a_missing_one_is_empty() {
        for damaged in ["", "{", "{\"version\":1,\"next\":2,\"checkpoints\":[{\"id\":\"c1\"", "[]", "{\"version\":1}"] {
            let (_folder, state) = written(damaged);
            assert!(matches!(Ledger::load(&state), Err(Error::Damaged { .. })), "{damaged:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(Ledger::load(&StateFolder::at(folder.path().to_owned())).unwrap().checkpoints.is_empty());
    }

    #[test]
    fn a_newer_ledger_is_read_but_not_written() {
        let (_folder, state) = written("{\"version\":9,\"next\":5,\"checkpoints\":[],\"colour\":\"blue\"}");
        let ledger = Ledger::load(&state).unwrap();
        assert_eq!(ledger.next, 5);
        assert!(matches!(ledger.save(&state), Err(Error::Newer { found: 9, .. })));
        let (_folder, state) = written("{\"version\":9,\"entries\":{}}");
        assert!(matches!(Ledger::load(&state), Err(Error::Newer { found: 9, .. })));
    }

    #[test]
    fn unknown_fields_are_kept() {
        let entry = format!(
            r#"{{"id":"c1","commit":"{}","label":"l","kind":"task","time":"2026-01-01T00:00:00Z","mood":"good"}}"#,
            "a".repeat(40)
        );
        let (_folder, state) = written(&format!(r#"{{"version":1,"next":2,"checkpoints":[{entry}],"colour":"blue"}}"#));
        Ledger::load(&state).unwrap().save(&state).unwrap();
        let text = String::from_utf8(fs::read(&path(&state)).unwrap()).unwrap();
        assert!(text.contains("\"mood\": \"good\"") && text.contains("\"colour\": \"blue\""), "{text}");
    }
}
