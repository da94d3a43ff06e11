//! The machine: what happens next in a run, as a pure function of what has happened.
//!
//! Participants work one after the other, in the order of the configuration, each until a claim of its is
//! credited. A turn without credit costs an attempt and keeps the tree. A crash, a timeout or the last
//! attempt is failed work: the run goes back and ends. It is never decided here how an effect is carried
//! out, and no effect ever credits anything that was not claimed and checked.

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// The run is ready: its lock is held, its baseline is made.
    Ready,
    /// A turn ended.
    TurnEnded(TurnEnd),
    /// A claim passed its checks.
    Passed { verified: bool },
    /// A claim did not pass its checks, or could not be recorded.
    Refused(String),
    /// Work was credited.
    Credited,
    /// The run went back (or there was nothing to go back from).
    WentBack,
    /// The run could not go back, for this reason.
    StayedThere(String),
    /// Somebody wished to stop.
    StopWished,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// Somebody wished to stop.
    Stopped,
    /// It crashed, took too long or did not start.
    Failed(String),
    /// It ended as it should and claimed its work done.
    Claimed(String),
    /// It ended without a claim that counts, for this reason.
    NoClaim(String),
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Give a participant a turn.
    StartTurn { participant: usize, attempt: u32 },
    /// Check a claim.
    Check { claim: String },
    /// Record credited work.
    Credit { participant: usize, claim: String, verified: bool },
    /// Tell a participant on the thread why its work was not credited.
    Tell { participant: usize, reason: String },
    /// Go back, because the work has failed.
    GoBack { reason: String },
    /// End the run.
    Finish(Finished),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finished {
    /// All work was credited.
    Done,
    /// Somebody wished to stop.
    Stopped,
    /// The work failed, for this reason.
    Failed(String),
}

/// The state of a run.
#[derive(Debug)]
pub(super) struct Machine {
    participants: usize,
    max_attempts: u32,
    participant: usize,
    attempt: u32,
    claim: String,
    failure: Option<String>,
}

impl Machine {
    /// A run of `participants`, each with up to `max_attempts` turns without credit.
    pub(super) fn new(participants: usize, max_attempts: u32) -> Self {
        Self { participants, max_attempts, participant: 0, attempt: 0, claim: String::new(), failure: None }
    }

    /// Takes what has happened and returns what is to be done.
    pub(super) fn on(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Ready => self.next_turn(),
            Event::StopWished | Event::TurnEnded(TurnEnd::Stopped) => vec![Effect::Finish(Finished::Stopped)],
            Event::TurnEnded(TurnEnd::Failed(reason)) => self.fail(reason),
            Event::TurnEnded(TurnEnd::Claimed(claim)) => {
                self.claim.clone_from(&claim);
                vec![Effect::Check { claim }]
            }
            Event::Passed { verified } => {
                vec![Effect::Credit { participant: self.participant, claim: self.claim.clone(), verified }]
            }
            Event::TurnEnded(TurnEnd::NoClaim(reason)) | Event::Refused(reason) => self.refuse(&reason),
            Event::Credited => {
                self.participant += 1;
                self.attempt = 0;
                self.next_turn()
            }
            Event::WentBack => vec![Effect::Finish(Finished::Failed(self.reason()))],
            Event::StayedThere(why) => {
                let reason = format!("{}; the files stay as they are, since going back failed: {why}", self.reason());
                vec![Effect::Finish(Finished::Failed(reason))]
            }
        }
    }

    fn next_turn(&mut self) -> Vec<Effect> {
        if self.participant >= self.participants {
            return vec![Effect::Finish(Finished::Done)];
        }
        self.attempt += 1;
        vec![Effect::StartTurn { participant: self.participant, attempt: self.attempt }]
    }

    fn refuse(&mut self, reason: &str) -> Vec<Effect> {
        let mut effects = vec![Effect::Tell { participant: self.participant, reason: reason.to_owned() }];
        if self.attempt >= self.max_attempts {
            let attempts =
                if self.max_attempts == 1 { "1 attempt".to_owned() } else { format!("{} attempts", self.max_attempts) };
            effects.extend(self.fail(format!("no credit after {attempts}; the last time: {reason}")));
        } else {
            effects.extend(self.next_turn());
        }
        effects
    }

    fn reason(&mut self) -> String {
        self.failure.take().unwrap_or_else(|| "the work failed".to_owned())
    }

    fn fail(&mut self, reason: String) -> Vec<Effect> {
        self.failure = Some(reason.clone());
        vec![Effect::GoBack { reason }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed() -> Event {
        Event::TurnEnded(TurnEnd::Claimed("done".to_owned()))
    }

    #[test]
    fn each_participant_works_until_its_work_is_credited() {
        let mut machine = Machine::new(2, 3);
        assert_eq!(machine.on(Event::Ready), [Effect::StartTurn { participant: 0, attempt: 1 }]);
        assert_eq!(machine.on(claimed()), [Effect::Check { claim: "done".to_owned() }]);
        let credit = Effect::Credit { participant: 0, claim: "done".to_owned(), verified: true };
        assert_eq!(machine.on(Event::Passed { verified: true }), [credit]);
        assert_eq!(machine.on(Event::Credited), [Effect::StartTurn { participant: 1, attempt: 1 }]);
        machine.on(claimed());
        machine.on(Event::Passed { verified: false });
        assert_eq!(machine.on(Event::Credited), [Effect::Finish(Finished::Done)]);
    }

    #[test]
    fn a_refused_claim_costs_an_attempt_and_the_last_one_fails_the_work() {
        let mut machine = Machine::new(1, 2);
        machine.on(Event::Ready);
        machine.on(claimed());
        let refused = machine.on(Event::Refused("the tests fail".to_owned()));
        let told = Effect::Tell { participant: 0, reason: "the tests fail".to_owned() };
        assert_eq!(refused, [told, Effect::StartTurn { participant: 0, attempt: 2 }]);
        let ended = machine.on(Event::TurnEnded(TurnEnd::NoClaim("nothing was claimed".to_owned())));
        let reason = "no credit after 2 attempts; the last time: nothing was claimed".to_owned();
        assert_eq!(ended[1..], [Effect::GoBack { reason: reason.clone() }]);
        assert_eq!(machine.on(Event::WentBack), [Effect::Finish(Finished::Failed(reason))]);
    }

    #[test]
    fn a_crash_goes_back_at_once_and_a_stop_leaves_the_tree() {
        let mut machine = Machine::new(1, 3);
        machine.on(Event::Ready);
        let crash = machine.on(Event::TurnEnded(TurnEnd::Failed("exit code 3".to_owned())));
        assert_eq!(crash, [Effect::GoBack { reason: "exit code 3".to_owned() }]);
        let why = "; the files stay as they are, since going back failed: the disk is full";
        let stayed = machine.on(Event::StayedThere("the disk is full".to_owned()));
        assert_eq!(stayed, [Effect::Finish(Finished::Failed(format!("exit code 3{why}")))]);
        let mut machine = Machine::new(1, 3);
        machine.on(Event::Ready);
        assert_eq!(machine.on(Event::TurnEnded(TurnEnd::Stopped)), [Effect::Finish(Finished::Stopped)]);
    }

    #[test]
    fn no_event_credits_what_was_not_claimed() {
        let ends = [TurnEnd::Stopped, TurnEnd::Failed("x".to_owned()), TurnEnd::NoClaim("x".to_owned())];
        for end in ends {
            let mut machine = Machine::new(1, 3);
            machine.on(Event::Ready);
            let effects = machine.on(Event::TurnEnded(end));
            let wrong = |effect: &Effect| matches!(effect, Effect::Check { .. } | Effect::Credit { .. });
            assert!(!effects.iter().any(wrong), "{effects:?}");
        }
    }
}
