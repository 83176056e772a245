//! Shares and medians in words.

use crate::bench_client::median;

/// So many of so many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) n: usize,
    pub(super) of: usize,
}

impl Share {
    pub(super) fn share(self) -> f64 {
        self.n as f64 / self.of.max(1) as f64
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} ({:.1}%)", self.n, self.of, self.share() * 100.0)
    }
}

/// A share of 1 as percent.
pub(super) fn percents(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// The median in words; `-` where there is none.
pub(super) fn of_median(values: &[f64], words: impl Fn(f64) -> String) -> String {
    if values.is_empty() { "-".to_owned() } else { words(median(values.to_vec())) }
}
