//! The state folder: which files a project has there, the records in them, and which versions may be written.
//!
//! Records are plain values; what they mean is decided above. A damaged file is an error and is never
//! overwritten; a missing one is empty; one from a newer version is read where that is possible and never
//! written. Unknown fields are kept. Appended files lose a torn last line to the next writer, and readers
//! pass over it.

mod counters;
mod error;
mod folder;
mod intent;
pub(crate) mod journal;
mod ledger;
mod records;
mod status;

pub(crate) use counters::Counters;
pub(crate) use error::Error;
pub(crate) use folder::StateFolder;
pub(crate) use intent::{BEFORE, ChangeRecord, IndexGoal, Intent, RawRecord, RefRecord};
pub(crate) use ledger::Ledger;
pub use records::{Checkpoint, CheckpointId, CheckpointKind, SkipReason, Skipped};
pub(crate) use records::{HeadRecord, Held, OperationKind, OperationRecord, PathRecord, Post, PostKind};
pub(crate) use status::{RunState, StateRecord};

/// The version of every file written here.
pub(crate) const VERSION: u32 = 1;
