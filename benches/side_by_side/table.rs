//! Medians, ratios and the lines they are printed on.

use std::fmt::Write as _;
use std::time::Duration;

/// The times of one contestant.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Adds the time of a round.
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    fn median(&self) -> Duration {
        let mut times = self.0.clone();
        times.sort_unstable();
        match (times.get(times.len() / 2), times.len() % 2) {
            (Some(upper), 0) => (*upper + times[times.len() / 2 - 1]) / 2,
            (Some(middle), _) => *middle,
            (None, _) => Duration::ZERO,
        }
    }
}

/// Prints the line of one comparison; the first contestant is what the others are compared with.
pub(crate) fn line(what: &str, contestants: &[(&str, Times)]) {
    let Some(((name, base), others)) = contestants.split_first() else { return };
    let base = base.median();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let mut line = format!("  {what:<44} {name} {:>7.1} ms", milliseconds(base));
    for (name, times) in others {
        let median = times.median();
        let ratio = median.as_secs_f64() / base.as_secs_f64();
        let _ = write!(line, "   {name} {:>7.1} ms × {ratio:.2}", milliseconds(median));
    }
    println!("{line}");
}

/// Writes a number with commas between thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
