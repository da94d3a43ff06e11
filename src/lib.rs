//! autodev runs coding agents on a folder and makes every step they take something one can go back to,
//! and going back something one can go back from.
//!
//! The rooms, from the bottom: `fs`, `config`, `clock` and `error` know the machine; `git`, `state` and
//! `agent` know one outside thing each; `workspace` is the engine; `checkpoint` keeps work; `run` decides
//! what happens next; `cli` turns words into requests. A room uses rooms of lower floors only.

mod agent;
mod checkpoint;
mod cli;
mod clock;
mod config;
mod doctor;
mod error;
mod fs;
mod git;
mod run;
mod state;
mod workspace;

pub use checkpoint::{Made, PlannedStep, RestorePlan, Restored};
pub use cli::program;
pub use clock::Clock;
pub use config::{Adapter, Config, Participant, PromptFormat, Role};
pub use error::{Error, ErrorKind, Result};
pub use state::{Checkpoint, CheckpointId, CheckpointKind, SkipReason, Skipped};
pub use workspace::Project;

/// The program in the README is compiled with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
