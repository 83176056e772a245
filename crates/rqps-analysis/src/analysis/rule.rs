//! The number of ratios that the verdicts of a run are adjusted for.

use super::Analysis;

impl Analysis<'_> {
    /// Ratios that verdicts are adjusted for: those of compared steps that have an interval.
    #[must_use]
    pub fn n_tests(&self) -> usize {
        let compared = self.steps.iter().filter(|step| step.is_compared());
        let cells = compared.flat_map(|step| &step.cells).filter(|cell| !cell.is_barred());
        cells.filter_map(|cell| cell.rqps()?.interval).count()
    }
}
