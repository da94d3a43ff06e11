//! The engine: capture a workspace state, plan the way to another, apply it.
//!
//! Everything that looks like a feature is a name over these three. Order of a change: what is there is
//! held by refs and read back; then the work tree, the index, the refs and the ledger follow; then the
//! result is compared with the target. Only paths of a plan are ever written or removed.

mod align;
mod apply;
mod begin;
mod capture;
mod change;
mod doubt;
mod error;
mod give_back;
mod hold;
mod ignored_then;
mod marks;
mod memory;
mod plan;
mod project;
mod raw;
mod records;
mod recover;
mod refs;
mod scope;
mod scratch;
mod since;
mod special;
mod swap;

pub(crate) use begin::{Begun, UserIndex};
pub(crate) use capture::{Captured, capture};
pub(crate) use change::Change;
pub(crate) use error::{Error, show};
pub(crate) use hold::{Hold, has_marks, hold, index_tree, require_no_conflict};
pub(crate) use plan::{Keep, Plan, plan};
pub use project::Project;
pub(crate) use raw::held_raw;
pub(crate) use records::{operations, write_record};
pub(crate) use refs::{Direction, records as ref_records};
pub(crate) use scope::OURS;
