//! The current rates of interleaved systems, for whoever watches.

use std::time::{Duration, Instant};

use crate::event::Rate;

/// How often it is shown.
const SHOW_EVERY: Duration = Duration::from_millis(500);

/// What was shown of a block last.
#[derive(Debug)]
pub(crate) struct Shown {
    at: Instant,
    /// Per system what had been counted then, and in what measured time, nanoseconds.
    counted: Vec<(u64, u64)>,
}

impl Shown {
    /// Nothing is shown yet of a block of `n` systems.
    pub(crate) fn nothing(n: usize) -> Self {
        Self { at: Instant::now(), counted: vec![(0, 0); n] }
    }

    pub(crate) fn is_due(&self) -> bool {
        self.at.elapsed() > SHOW_EVERY
    }

    /// The rates since the last time; `parts` are the systems, each with what is counted so far of the
    /// block and the time that it took, nanoseconds. A system without a slice since then has its mean.
    pub(crate) fn rates(&mut self, parts: impl Iterator<Item = (usize, u64, u64)>) -> Vec<Rate> {
        self.at = Instant::now();
        let rate = |((system, n, ns), before): ((usize, u64, u64), &mut (u64, u64))| {
            let (n_before, ns_before) = std::mem::replace(before, (n, ns));
            let (n_new, ns_new) = match ns.saturating_sub(ns_before) {
                0 => (n, ns),
                ns_new => (n.saturating_sub(n_before), ns_new),
            };
            let per_s = n_new as f64 * 1e9 / ns_new.max(1) as f64;
            Rate { system, elapsed: Duration::from_nanos(ns), per_s }
        };
        parts.zip(&mut self.counted).map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_the_time_since_they_were_shown() {
        let mut shown = Shown::nothing(2);
        let per_s = |rates: Vec<Rate>| rates.iter().map(|rate| rate.per_s).collect::<Vec<_>>();
        let s = 1_000_000_000;
        assert_eq!(per_s(shown.rates([(3, 100, s), (5, 10, s)].into_iter())), [100.0, 10.0]);
        // The second had no slice.
        let rates = shown.rates([(3, 400, 2 * s), (5, 10, s)].into_iter());
        assert_eq!(rates[0].elapsed, Duration::from_secs(2));
        assert_eq!((rates[0].system, rates[1].system), (3, 5));
        assert_eq!(per_s(rates), [300.0, 10.0]);
        assert_eq!(per_s(Shown::nothing(1).rates([(0, 0, 0)].into_iter())), [0.0]);
    }
}
