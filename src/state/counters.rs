//! `project.json`: which folder the state belongs to, and the highest numbers ever given out.
//!
//! Numbers are written here before they are used, so that none is given out twice, whatever happens to the
//! files that count on them.

use super::{Error, StateFolder, VERSION, error::Result};
use crate::fs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The record of a project.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Counters {
    version: u32,
    /// The root, for people (a path that is not UTF-8 is shown as well as it can be).
    root: String,
    device: u64,
    inode: u64,
    /// The highest number of a checkpoint.
    #[serde(default)]
    pub(crate) checkpoint: u64,
    /// The highest number of an operation.
    #[serde(default)]
    pub(crate) operation: u64,
    /// The highest number of a run.
    #[serde(default)]
    pub(crate) run: u64,
    /// The highest number of a turn.
    #[serde(default)]
    pub(crate) turn: u64,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl Counters {
    /// Reads the record, or begins one for `root`.
    pub(crate) fn load(state: &StateFolder, root: &Path) -> Result<Self> {
        let path = state.file("project.json");
        let Some(bytes) = fs::try_read(&path)? else {
            return Ok(Self::begin(root));
        };
        let counters: Self = serde_json::from_slice(&bytes)
            .map_err(|error| Error::Damaged { path: path.clone(), why: error.to_string() })?;
        if counters.version > VERSION {
            return Err(Error::Newer { path, found: counters.version, known: VERSION });
        }
        Ok(counters)
    }

    fn begin(root: &Path) -> Self {
        let (device, inode) = identity(root);
        let root = root.display().to_string();
        Self { version: VERSION, root, device, inode, checkpoint: 0, operation: 0, run: 0, turn: 0, extra: Map::new() }
    }

    /// Tells whether nothing was counted yet, or the counts were lost.
    pub(crate) fn is_new(&self) -> bool {
        self.checkpoint == 0 || self.operation == 0
    }

    /// Tells whether the record was made for the folder that stands at `root` now.
    pub(crate) fn belongs_to(&self, root: &Path) -> bool {
        (self.device, self.inode) == identity(root)
    }

    /// Says that the record belongs to the folder that stands at `root` now.
    pub(crate) fn move_to(&mut self, root: &Path) {
        (self.device, self.inode) = identity(root);
        self.root = root.display().to_string();
    }

    /// Replaces the record on disk.
    pub(crate) fn save(&self, state: &StateFolder) -> Result<()> {
        let path = state.file("project.json");
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::Damaged { path: path.clone(), why: error.to_string() })?;
        bytes.push(b'\n');
        Ok(fs::replace(&path, &bytes)?)
    }
}

fn identity(root: &Path) -> (u64, u64) {
    std::fs::metadata(root).map_or((0, 0), |metadata| (metadata.dev(), metadata.ino()))
}
