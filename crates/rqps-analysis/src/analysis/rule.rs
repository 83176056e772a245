//! The rule of the verdicts in words, as every format shows it below its table.

use rqps_stats::fdr::DEFAULT_Q;

use super::Analysis;
use rqps_text::number::{exact_percent, percent};

impl Analysis<'_> {
    /// Ratios whose verdicts were decided together: those of compared steps that have an interval.
    #[must_use]
    pub fn n_tests(&self) -> usize {
        let compared = self.steps.iter().filter(|step| step.is_compared());
        let cells = compared.flat_map(|step| &step.cells).filter(|cell| !cell.is_barred());
        cells.filter_map(|cell| cell.rqps?.interval).count()
    }

    /// What makes a verdict.
    #[must_use]
    pub fn verdict_rule(&self) -> String {
        let bound = exact_percent(self.bound);
        let among = match self.n_tests() {
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
}
