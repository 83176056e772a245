//! The rule of the verdicts in words, as every format shows it below its table.

use rqps_analysis::Analysis;
use rqps_stats::fdr::DEFAULT_Q;
use rqps_text::number::{exact_percent, percent};

/// What makes a verdict.
#[must_use]
pub fn verdict_rule(analysis: &Analysis<'_>) -> String {
    let bound = exact_percent(analysis.judging.bound);
    let among = match analysis.n_tests() {
        0 | 1 => String::new(),
        n => format!(
            " and stands among the {n} that were tried (Benjamini-Hochberg: of the differences \
             called at most {} are false on average)",
            percent(DEFAULT_Q)
        ),
    };
    format!(
        "slower/faster: the interval lies on one side of 1, and the difference is {bound} or \
         more{among}; same: the interval lies within 1 ± {bound}; unclear: neither, with what \
         more would settle it, where that can be told. < or > behind a word: slower or faster beyond \
         chance, but not by this rule."
    )
}
