//! The rule of the verdicts in words, below the table of every format.

use rqps_analysis::Analysis;
use rqps_stats::fdr::DEFAULT_Q;
use rqps_text::number::{exact_percent, percent};

/// What stands behind the word of a verdict that is unclear, and slower or faster beyond chance.
#[derive(Debug, Clone, Copy)]
pub struct Signs {
    /// Behind a step that is slower.
    pub less: char,
    /// Behind a step that is faster.
    pub more: char,
}

/// Those of texts.
pub const TEXT_SIGNS: Signs = Signs { less: '<', more: '>' };

/// The rule of the verdicts.
#[must_use]
pub fn verdict_rule(analysis: &Analysis<'_>, signs: Signs) -> String {
    let Signs { less, more } = signs;
    let bound = exact_percent(analysis.judging.bound);
    let among = match analysis.n_tests() {
        0 | 1 => String::new(),
        n => format!(
            " and significant after adjustment for all {n} ratios of the run (Benjamini-Hochberg: at \
             most {} of these verdicts are false on average)",
            percent(DEFAULT_Q)
        ),
    };
    format!(
        "slower/faster: the interval excludes 1, and the difference is {bound} or more{among}; same: \
         the interval lies within 1 ± {bound}; unclear: neither, followed by the measuring that \
         would settle it, where known. {less} or {more} behind a word: slower or faster beyond chance, but not \
         by this rule."
    )
}
