//! The engine: capture a workspace state, plan the way to another, apply it.
//!
//! Everything that looks like a feature is a name over these three. Order of a change: what is there is
//! held by refs and read back; then the work tree, the index, the refs and the ledger follow; then the
//! result is compared with the target. Only paths of a plan are ever written or removed.

mod align;
mod apply;
mod capture;
mod doubt;
mod error;
mod hold;
mod ignored_then;
mod plan;
mod project;
mod scope;
mod scratch;
mod special;

pub(crate) use apply::{bring_over, compare, give_back_because};
pub(crate) use capture::{Captured, capture};
pub(crate) use error::{Error, show};
pub(crate) use hold::{Hold, hold, index_tree, read_back, require_no_conflict};
pub(crate) use plan::{Plan, plan};
pub use project::Project;
pub(crate) use scope::OURS;
pub(crate) use scratch::ScratchIndex;
