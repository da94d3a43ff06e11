//! The counter that every change passes: writes, renames, removals, syncs, refs, and each start of git that
//! writes. Built only where debug assertions are on.
//!
//! A test sets `AUTODEV_TEST_CUT` to `<n>:fail`, `<n>:exit` or `<n>:torn`: the n-th step then fails, ends the
//! process as `kill -9` would, or writes half of its bytes and ends it. Reaching the step is reported by the
//! file that `AUTODEV_TEST_CUT_REACHED` names, so that a loop knows when it is through.
#![expect(clippy::disallowed_methods, reason = "a fault is given by the environment and reported by a file")]

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What happens at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Fail,
    Exit,
    Torn,
}

/// How a step may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Go {
    /// As usual.
    On,
    /// A write stops in the middle, and [`end`] follows.
    Half,
}

static COUNT: AtomicU64 = AtomicU64::new(0);
static CHOSEN: OnceLock<Option<(u64, Fault)>> = OnceLock::new();

fn chosen() -> Option<(u64, Fault)> {
    *CHOSEN.get_or_init(|| {
        let text = std::env::var("AUTODEV_TEST_CUT").ok()?;
        let (number, fault) = text.split_once(':')?;
        let fault = match fault {
            "fail" => Fault::Fail,
            "exit" => Fault::Exit,
            "torn" => Fault::Torn,
            _ => return None,
        };
        Some((number.parse().ok()?, fault))
    })
}

/// Counts a step; the chosen one does not go on.
pub(crate) fn step() -> io::Result<Go> {
    if !cfg!(debug_assertions) {
        return Ok(Go::On);
    }
    let Some((number, fault)) = chosen() else { return Ok(Go::On) };
    if COUNT.fetch_add(1, Ordering::SeqCst) + 1 != number {
        return Ok(Go::On);
    }
    if let Some(path) = std::env::var_os("AUTODEV_TEST_CUT_REACHED") {
        let _ = std::fs::write(path, b"reached");
    }
    match fault {
        Fault::Fail => Err(io::Error::other("cut by a test")),
        Fault::Exit => end(),
        Fault::Torn => Ok(Go::Half),
    }
}

/// Ends the process at once, as a kill would: nothing is cleaned up.
pub(crate) fn end() -> ! {
    std::process::abort()
}
