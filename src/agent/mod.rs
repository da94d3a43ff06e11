//! Agents: starts one, passes it a turn, reports what it said and how it ended, and ends all its children.
//!
//! `exec` runs a turn or a plain command, `protocol` is the language spoken with it, `lines` keeps its output
//! within bounds, `processes` sees what runs on the machine, `ending` ends what a turn has started, `stop`
//! carries the wish to stop, and `fake` plays an agent from a script. Nothing here decides what an event
//! means for a run, and nothing here writes to a project: the caller listens and does that.

mod ending;
mod error;
mod exec;
mod fake;
mod lines;
mod pipes;
mod processes;
mod protocol;
mod stop;

pub(crate) use error::Error;
pub(crate) use exec::{Ended, GRACE, How, Listener, Program, PromptForm, TurnSpec, run_plain, run_turn};
pub(crate) use fake::play;
pub(crate) use lines::Line;
pub(crate) use pipes::Stream;
pub(crate) use processes::{find_by_state_folder, is_alive, terminate, this_process};
pub(crate) use protocol::{Decision, Event};
pub(crate) use stop::Stop;
