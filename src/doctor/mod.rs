//! Doctor: looks at everything that must agree (ledger, refs, objects, intent, locks, state, identity), says what
//! does not, and which command mends it.
//!
//! Looking changes nothing. Two mendings are its own: a ledger made again from the refs that hold its entries,
//! and a state folder adopted after its project was copied or moved. Neither takes anything away: a damaged
//! file is set aside under another name.

mod look;
mod mend;

pub(crate) use look::examine;
pub(crate) use mend::{adopt, rebuild};
