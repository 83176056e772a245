//! What is wrong with a line of a log's statistics, and whether its counts fit the measured time.

use super::line::PrintedTime;

/// How far the time of a count and its rate may be from the measured time, as a share of it and in seconds:
/// sysbench 1.0 and 1.1 end the two one after the other.
pub(super) const SLACK_SHARE: f64 = 0.01;
pub(super) const SLACK_S: f64 = 0.05;

/// Half of the last digit of a rate, and a little.
const ROUNDING_PER_S: f64 = 0.006;

/// What to do about it.
pub(super) const REMEDY: &str = "copy the log again, or run the test again";

/// A line `name: value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'t> {
    /// From 0.
    pub(super) line_idx: usize,
    pub(super) name: &'t str,
    pub(super) value: &'t str,
}

impl Pair<'_> {
    /// Seconds: `10.0004s`.
    pub(super) fn seconds(self) -> Option<f64> {
        PrintedTime::in_s(self.value).map(|time| time.value)
    }

    /// Whether the value is a quotient by nothing.
    pub(super) fn is_nan(self) -> bool {
        let number = self.value.trim_end_matches('s').trim_end_matches(['m', 'u']);
        matches!(number, "nan" | "-nan")
    }

    /// The line with its value and what it is not.
    pub(super) fn problem(self, wanted: &str) -> String {
        let Self { line_idx, name, value } = self;
        format!("line {}: {name}: {value:?} is {wanted}; {REMEDY}", line_idx + 1)
    }
}

/// Whether a value looks like a number of threads and is none: `0`, `-4`, one of 26 digits.
pub(super) fn is_no_thread_count(value: &str) -> bool {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_number && !value.is_empty() && !value.parse::<u32>().is_ok_and(|n| n > 0)
}

/// A count and its rate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CountedLine {
    /// From 0.
    line_idx: usize,
    name: String,
    n: u64,
    per_s: f64,
}

impl CountedLine {
    pub(super) fn new(pair: Pair<'_>, n: u64, per_s: f64) -> Self {
        Self { line_idx: pair.line_idx, name: pair.name.to_owned(), n, per_s }
    }

    /// Why count and rate are not those of `total_s` seconds.
    pub(super) fn contradiction(&self, total_s: f64) -> Option<String> {
        let Self { line_idx, name, n, per_s } = self;
        let seconds_at = |per_s: f64| if per_s > 0.0 { *n as f64 / per_s } else { f64::INFINITY };
        let shortest_s = seconds_at(per_s + ROUNDING_PER_S);
        let longest_s = seconds_at(per_s - ROUNDING_PER_S);
        let slack_s = SLACK_S + SLACK_SHARE * total_s;
        if total_s >= shortest_s - slack_s && total_s <= longest_s + slack_s {
            return None;
        }
        let true_per_s = *n as f64 / total_s;
        Some(format!(
            "line {}: {name}: {n} in {total_s} seconds are {true_per_s:.2} per second, not {per_s:.2}; {REMEDY}",
            line_idx + 1
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads() {
        for wrong in ["0", "-4", "10000000000000000000000000"] {
            assert!(is_no_thread_count(wrong), "{wrong}");
        }
        // Scripts around a log may print lines of that name.
        for other in ["8", "", "8 of 16", "many"] {
            assert!(!is_no_thread_count(other), "{other}");
        }
    }

    #[test]
    fn counts_that_fit_the_time() {
        let line = |n: u64, per_s: f64| {
            let pair = Pair { line_idx: 4, name: "queries", value: "" };
            CountedLine::new(pair, n, per_s)
        };
        // The time of the rate is some milliseconds longer; small rates are rounded.
        assert_eq!(line(162_511, 16_250.33).contradiction(10.0004), None);
        assert_eq!(line(16_220, 4052.15).contradiction(4.0027), None);
        assert_eq!(line(3, 0.0).contradiction(1000.0), None);
        assert_eq!(line(3, 0.01).contradiction(300.0), None);
        assert_eq!(line(0, 0.0).contradiction(10.0), None);
        for wrong in [line(0, 5.0), line(20_000, 1950.0), line(20_000, 2050.0), line(200, 2000.0)] {
            assert!(wrong.contradiction(10.0).is_some(), "{wrong:?}");
        }
        assert_eq!(line(u64::MAX, 1.0).contradiction(10.0).map(|told| told.len() > 40), Some(true));
    }
}
