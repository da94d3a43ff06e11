//! Runs: decides what happens next. Events go in, effects come out (`machine`); the driver alone carries
//! them out. Work is credited by checks, never by prose; work that failed goes back as a restore does.
//!
//! A run holds a lock of the kernel for its whole life, so one that was killed is noticed by the next
//! command, and two never go on at once. Everything a participant says is kept raw before it is understood.

mod check;
mod choose;
mod cut_off;
mod driver;
mod error;
mod failed;
mod holder;
mod machine;
mod prompt;
mod session;
mod start;
mod status;
mod thread;
mod turn;

pub(crate) use cut_off::{notice_cut_off, stop, survivors};
pub(crate) use driver::{Outcome, Request, Watcher, run};
pub(crate) use error::Error;
pub(crate) use machine::Finished;
pub(crate) use status::Status;
pub(crate) use thread::post;
