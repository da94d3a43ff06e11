//! Time: the only room that asks the machine what time it is.
//!
//! Everything that is written down is UTC. A fixed clock serves tests and whoever replays a session.
#![expect(clippy::disallowed_methods, reason = "this is the room that owns the time")]

use chrono::{DateTime, SecondsFormat, SubsecRound as _, Utc};

/// A source of the present time.
#[derive(Debug, Clone, Copy, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// Always the same moment.
    Fixed(DateTime<Utc>),
}

impl Clock {
    /// Returns the present moment, in UTC, to the millisecond.
    pub fn now(self) -> DateTime<Utc> {
        match self {
            Self::System => Utc::now().trunc_subsecs(3),
            Self::Fixed(moment) => moment,
        }
    }
}

/// Writes a moment as it stands in records: RFC 3339, UTC, whole seconds, `Z`.
pub(crate) fn rfc3339(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Writes a moment as it stands in branch names: `YYYYMMDD-HHMMSS`, UTC.
pub(crate) fn compact(moment: DateTime<Utc>) -> String {
    moment.format("%Y%m%d-%H%M%S").to_string()
}

/// Writes how long ago `then` was: `now`, `3m ago`, `5h ago`, `2d ago`; never negative.
pub(crate) fn age(now: DateTime<Utc>, then: DateTime<Utc>) -> String {
    let seconds = (now - then).num_seconds().max(0);
    match seconds {
        0..5 => "now".to_owned(),
        5..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeZone as _;

    #[test]
    fn ages_are_short_and_never_negative() {
        let then = Utc.with_ymd_and_hms(2026, 11, 30, 12, 0, 0).unwrap();
        let at = |seconds| age(then + chrono::TimeDelta::seconds(seconds), then);
        assert_eq!(at(-3600), "now");
        assert_eq!(at(0), "now");
        assert_eq!(at(59), "59s ago");
        assert_eq!(at(200), "3m ago");
        assert_eq!(at(3600), "1h ago");
        assert_eq!(at(86_400 * 40), "40d ago");
    }

    #[test]
    fn records_carry_whole_seconds_in_utc() {
        let moment = Utc.with_ymd_and_hms(2026, 11, 30, 1, 2, 3).unwrap();
        assert_eq!(rfc3339(moment), "2026-11-30T01:02:03Z");
        assert_eq!(compact(moment), "20261130-010203");
    }
}
