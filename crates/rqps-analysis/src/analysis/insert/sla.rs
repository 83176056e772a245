//! Whether a step's inserts held their rate: on average, second by second, and start by start.

use super::Flow;
use rqps_text::number;

/// The share of the target that must be reached for the rate to count as held: the field's rule.
pub const HELD: f64 = 0.95;

/// How a rate was held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sla {
    /// Target, rows per second.
    pub target_per_s: f64,
    /// Rows per second over all slices.
    pub average_per_s: f64,
    /// Whether the average is at least [`HELD`] of the target: the field's rule.
    pub is_held: bool,
    /// Whole seconds of counted time.
    pub n_seconds: usize,
    /// Those of them in which the target was held.
    pub n_held: usize,
    /// The longest run of seconds in which it was not, seconds.
    pub longest_gap_s: usize,
}

impl Sla {
    /// How a flow held its rate; `None` where none was set.
    #[must_use]
    pub fn of(flow: &Flow) -> Option<Self> {
        let target_per_s = flow.target_per_s.filter(|target| *target > 0.0)?;
        let least = least_per_second(target_per_s, flow.per_statement);
        let is_second_held = |rows: &f64| *rows >= least - 1e-6;
        let seconds = || flow.seconds.iter().flatten();
        let gaps = flow.seconds.iter().map(|run| longest(run, is_second_held));
        Some(Self {
            target_per_s,
            average_per_s: flow.rate_per_s,
            is_held: is_held(flow.rate_per_s, target_per_s),
            n_seconds: seconds().count(),
            n_held: seconds().filter(|rows| is_second_held(rows)).count(),
            longest_gap_s: gaps.max().unwrap_or(0),
        })
    }

    /// [`Self::longest_gap_s`]; `None` without a whole second, as in imported files.
    #[must_use]
    pub fn longest_gap(&self) -> Option<usize> {
        (self.n_seconds > 0).then_some(self.longest_gap_s)
    }

    /// Share of the seconds in which the target was held, 0 to 1; `None` without a whole second.
    #[must_use]
    pub fn share_held(&self) -> Option<f64> {
        (self.n_seconds > 0).then(|| self.n_held as f64 / self.n_seconds as f64)
    }

    /// Average / target.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.average_per_s / self.target_per_s
    }

    /// The average for display: an average that just fails is not rounded to one that holds.
    #[must_use]
    pub fn shown_average(&self) -> f64 {
        let unit = 10_f64.powi(i32::try_from(number::decimals(self.average_per_s)).unwrap_or(0));
        let scaled = self.average_per_s * unit;
        let is_rounded_up = !self.is_held && is_held(scaled.round() / unit, self.target_per_s);
        if is_rounded_up { scaled.floor() / unit } else { self.average_per_s }
    }

    /// `94%` of the target, likewise.
    #[must_use]
    pub fn shown_percent(&self) -> String {
        let hundredths = self.ratio() * 100.0;
        let nearest = hundredths.round();
        let is_rounded_up = !self.is_held && nearest >= HELD * 100.0;
        number::percent(if is_rounded_up { hundredths.floor() } else { nearest } / 100.0)
    }
}

/// Whether a rate counts as held by its average, rows per second each.
pub(crate) fn is_held(average_per_s: f64, target_per_s: f64) -> bool {
    average_per_s >= HELD * target_per_s - 1e-9 * target_per_s
}

/// Rows that a second must have. Statements are whole: at 10 in a second, 9 are as good as 9.5, as
/// the tenth may just have ended in the next second; of 2 none may be missing. One there must be.
fn least_per_second(target_per_s: f64, per_statement: f64) -> f64 {
    if per_statement <= 0.0 {
        return HELD * target_per_s;
    }
    let least = (HELD * target_per_s / per_statement - 0.5 - 1e-9).ceil();
    // Where no whole number of statements is due in a second, some seconds have one fewer.
    least.clamp(1.0, (target_per_s / per_statement + 1e-9).floor().max(1.0)) * per_statement
}

/// The longest run of seconds that are not held.
fn longest(seconds: &[f64], is_held: impl Fn(&f64) -> bool) -> usize {
    let (mut most, mut now) = (0, 0);
    for rows in seconds {
        now = if is_held(rows) { 0 } else { now + 1 };
        most = most.max(now);
    }
    most
}

#[cfg(test)]
mod tests {
    use rqps_model::Role;

    use super::*;

    fn flow(target: f64, per_statement: f64, seconds: &[&[f64]]) -> Flow {
        let seconds: Vec<Vec<f64>> = seconds.iter().map(|run| run.to_vec()).collect();
        let n = seconds.iter().flatten().count();
        let starts = vec![0; seconds.len()];
        Flow {
            role: Role::Insert,
            clients: 1,
            is_own: false,
            is_stated: false,
            target_per_s: Some(target),
            rate_per_s: seconds.iter().flatten().sum::<f64>() / n as f64,
            n_operations: 1,
            per_statement,
            response: None,
            lateness: None,
            late_p99_ns: None,
            own_late_p99_ns: None,
            seconds,
            starts,
            points: Vec::new(),
            is_by_block: false,
        }
    }

    #[test]
    fn the_average_decides_and_seconds_are_counted_beside_it() {
        let sla = Sla::of(&flow(1000.0, 10.0, &[&[1000.0, 940.0, 950.0, 960.0]])).unwrap();
        assert!(sla.is_held);
        assert_eq!((sla.n_seconds, sla.n_held, sla.longest_gap_s), (4, 3, 1));
        assert!((sla.share_held().unwrap() - 0.75).abs() < 1e-12);
        assert!((sla.ratio() - 0.9625).abs() < 1e-12);
        assert!(Sla::of(&flow(1000.0, 10.0, &[&[950.0, 950.0]])).unwrap().is_held);
        assert!(!Sla::of(&flow(1000.0, 10.0, &[&[950.0, 940.0]])).unwrap().is_held);
    }

    #[test]
    fn an_average_that_just_fails_is_not_rounded_to_one_that_is_held() {
        let shown = |target: f64, average: f64| {
            let sla = Sla::of(&flow(target, 10.0, &[&[average]])).unwrap();
            (number::plain_figure(sla.shown_average()), sla.shown_percent())
        };
        let told = |average: &str, percent: &str| (average.to_owned(), percent.to_owned());
        assert_eq!(shown(1000.0, 949.6), told("949", "94%"));
        assert_eq!(shown(1000.0, 950.4), told("950", "95%"));
        assert_eq!(shown(1000.0, 812.6), told("813", "81%"));
        assert_eq!(shown(100.0, 94.8), told("94.8", "94%"));
        assert_eq!(shown(100.0, 94.96), told("94.9", "94%"));
        assert_eq!(shown(10.0, 9.498), told("9.49", "94%"));
        // 58 / 100 is a little below 58 hundredths.
        assert_eq!(shown(100.0, 58.0), told("58.0", "58%"));
    }

    #[test]
    fn a_gap_ends_with_its_slice() {
        let sla = Sla::of(&flow(100.0, 10.0, &[&[100.0, 0.0, 0.0], &[0.0, 100.0, 0.0]])).unwrap();
        assert_eq!((sla.n_held, sla.longest_gap_s), (2, 2));
        // Blocks are one run already.
        let sla = Sla::of(&flow(100.0, 10.0, &[&[100.0, 0.0, 0.0, 0.0, 100.0, 0.0]])).unwrap();
        assert_eq!(sla.longest_gap_s, 3);
    }

    #[test]
    fn one_statement_at_a_seconds_end_is_no_gap() {
        let sla = Sla::of(&flow(100.0, 10.0, &[&[90.0, 110.0, 100.0, 80.0]])).unwrap();
        assert_eq!((sla.n_held, sla.longest_gap_s), (3, 1));
        let sla = Sla::of(&flow(10.0, 10.0, &[&[10.0, 0.0, 10.0]])).unwrap();
        assert_eq!(sla.n_held, 2);
        // Of two that are due in a second both must come; where two and a half are due, some have two.
        let half = Sla::of(&flow(100.0, 50.0, &[&[50.0, 50.0, 50.0, 100.0]])).unwrap();
        assert_eq!((half.n_held, half.longest_gap_s), (1, 3));
        let uneven = Sla::of(&flow(125.0, 50.0, &[&[100.0, 150.0, 50.0]])).unwrap();
        assert_eq!((uneven.n_held, uneven.longest_gap_s), (2, 1));
        // Nothing at all came.
        let none = Sla::of(&flow(10.0, 0.0, &[&[0.0, 0.0]])).unwrap();
        assert_eq!((none.is_held, none.n_held, none.longest_gap_s), (false, 0, 2));
    }

    #[test]
    fn without_a_rate_there_is_none() {
        let mut free = flow(1.0, 1.0, &[&[1.0]]);
        free.target_per_s = None;
        assert_eq!(Sla::of(&free), None);
        let empty = Sla::of(&flow(5.0, 1.0, &[&[]])).unwrap();
        assert_eq!((empty.share_held(), empty.longest_gap()), (None, None));
    }
}
