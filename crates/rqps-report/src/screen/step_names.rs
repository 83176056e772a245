//! Names of steps in a narrow table. A name that is cut still names one step of the run.

use rqps_analysis::Analysis;
use rqps_text::words::shorten_apart;

use crate::grid::{Grid, GridCell, plain};

/// Columns that a step's name gets at most.
const MOST: usize = 30;

/// Columns that a name keeps beside a column that could give way, and in any case.
const ENOUGH: usize = 18;
const FEWEST: usize = 14;

/// Headings whose cells hold names of steps: such a cell is never cut by its table.
const HEADINGS: [&str; 2] = ["step", "worst"];

/// The names of all steps of a run, cut alike, and their numbers of clients where the run has several.
pub(super) struct StepNames {
    names: Vec<String>,
    clients: Vec<String>,
}

impl StepNames {
    /// The names in at most `columns` columns, or in as many more as keep different ones different.
    fn of(analysis: &Analysis<'_>, columns: usize) -> Self {
        let names: Vec<&str> =
            analysis.steps.iter().map(|step| step.step.info.name.as_str()).collect();
        let has_several =
            |step: &rqps_analysis::StepAnalysis<'_>| step.title != step.step.info.name;
        let clients = analysis.steps.iter().map(|step| match has_several(step) {
            true => step.step.clients.to_string(),
            false => String::new(),
        });
        Self { names: shorten_apart(&names, columns), clients: clients.collect() }
    }

    /// The name of a step, by index.
    pub(super) fn name(&self, step_idx: usize) -> &str {
        self.names.get(step_idx).map_or("", String::as_str)
    }

    /// The cell of its number of clients.
    pub(super) fn clients(&self, step_idx: usize) -> GridCell {
        plain(self.clients.get(step_idx).map_or("", String::as_str))
    }
}

/// The first of some layouts of a table in which the names of steps fit into `width` columns: the layouts are in order,
/// each with less beside the names.
pub(super) fn fitted<L>(
    analysis: &Analysis<'_>,
    width: usize,
    layouts: &[L],
    table: impl Fn(&L, &StepNames) -> Grid,
) -> Grid {
    let fits = |grid: &Grid| grid.width() <= width;
    for (nth, layout) in layouts.iter().enumerate() {
        let fewest = if nth + 1 < layouts.len() { ENOUGH } else { FEWEST };
        let names = (fewest..=MOST).rev().map(|columns| StepNames::of(analysis, columns));
        let mut grids = names.map(|names| table(layout, &names));
        if let Some(grid) = grids.find(fits) {
            return grid;
        }
    }
    let Some(last) = layouts.last() else { return Grid::default() };
    // Labels give way next. Names that differ in places far apart may be too long for any table.
    let grid = table(last, &StepNames::of(analysis, FEWEST));
    let kept = grid.clone().fitted_beside(width, &HEADINGS);
    if fits(&kept) { kept } else { grid.fitted(width) }
}
