//! How many ratios the verdicts of a run were decided among.

use super::Analysis;

impl Analysis<'_> {
    /// Ratios whose verdicts were decided together: those of compared steps that have an interval.
    #[must_use]
    pub fn n_tests(&self) -> usize {
        let compared = self.steps.iter().filter(|step| step.is_compared());
        let cells = compared.flat_map(|step| &step.cells).filter(|cell| !cell.is_barred());
        cells.filter_map(|cell| cell.rqps()?.interval).count()
    }
}
