//! The wish to stop, from the keyboard, from `autodev stop` or from a test.
//!
//! A [`Stop`] is a flag that many hold and anyone may raise; whoever waits for an agent looks at it many
//! times a second. Raised once it asks the agent to end, raised to haste it does not wait for the agent to
//! agree. It is never lowered. [`Stop::on_signals`] ties it to Ctrl-C and its like for the whole program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Error;

/// A flag that says that a run should stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    requested: AtomicBool,
    hurried: AtomicBool,
}

impl Stop {
    /// Makes a flag that is not raised.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes a flag that SIGINT, SIGTERM and SIGHUP raise; a SIGINT after that hurries.
    ///
    /// From then on these signals do not end the program any more, for as long as it lives.
    pub(crate) fn on_signals() -> Result<Self, Error> {
        Self::on(&[SIGINT, SIGTERM, SIGHUP], SIGINT)
    }

    fn on(signals: &[i32], hurrying: i32) -> Result<Self, Error> {
        let cannot_listen = |source| Error::CannotListen { source };
        let mut signals = Signals::new(signals).map_err(cannot_listen)?;
        let stop = Self::new();
        let raised = stop.clone();
        let listen = move || {
            for signal in signals.forever() {
                if signal == hurrying && raised.requested() {
                    raised.hurry();
                }
                raised.request();
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(cannot_listen)?;
        Ok(stop)
    }

    /// Asks whoever holds the flag to stop.
    pub(crate) fn request(&self) {
        self.0.requested.store(true, Ordering::SeqCst);
    }

    /// Asks to stop without any patience: what runs is killed at once.
    pub(crate) fn hurry(&self) {
        self.0.hurried.store(true, Ordering::SeqCst);
        self.request();
    }

    /// Tells whether someone asked to stop.
    pub(crate) fn requested(&self) -> bool {
        self.0.requested.load(Ordering::SeqCst)
    }

    /// Tells whether someone asked to stop without any patience.
    pub(crate) fn hurried(&self) -> bool {
        self.0.hurried.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn becomes_true(condition: impl Fn() -> bool) -> bool {
        let start = Instant::now();
        while !condition() {
            if start.elapsed() > Duration::from_secs(10) {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    #[test]
    fn a_signal_raises_the_flag_and_a_second_one_hurries() {
        // A signal that means nothing to the test program, so that Ctrl-C still ends it.
        let signal = signal_hook::consts::SIGUSR1;
        let stop = Stop::on(&[signal], signal).unwrap();
        assert!(!stop.requested());
        signal_hook::low_level::raise(signal).unwrap();
        assert!(becomes_true(|| stop.requested()));
        assert!(!stop.hurried());
        signal_hook::low_level::raise(signal).unwrap();
        assert!(becomes_true(|| stop.hurried()));
    }

    #[test]
    fn all_copies_are_one_flag() {
        let stop = Stop::new();
        let copy = stop.clone();
        copy.hurry();
        assert!(stop.requested() && stop.hurried());
    }
}
