//! Warnings of rates that rqps did not measure: one each, without interval and verdict; and what
//! their files lack.

use rqps_model::warning::ImportedSource;
use rqps_model::{Estimate, Imported, Metric, Run, SystemSource, WarningKind};

use super::Analysis;
use super::measurement::Measurement;
use super::missing::missing_in;

/// Whether a system's rates were imported.
pub(super) fn is(run: &Run, system_idx: usize) -> bool {
    run.systems.get(system_idx).is_some_and(|s| s.spec.source == SystemSource::Imported)
}

/// The ratio of a figure of 0, which has no logarithm and so no test: 0 of any other figure.
pub(super) fn ratio_of_zero(own: &Measurement, base: &Measurement) -> Option<Estimate> {
    let (figure, base) = (own.figure?.point, base.figure?.point);
    (figure == 0.0 && base > 0.0).then(|| Estimate::single(0.0))
}

impl Analysis<'_> {
    /// Whether a system's rates were imported.
    #[must_use]
    pub fn is_imported(&self, system_idx: usize) -> bool {
        is(self.run, system_idx)
    }

    /// Whether all systems' rates were imported.
    #[must_use]
    pub fn is_all_imported(&self) -> bool {
        let n = self.run.systems.len();
        n > 0 && (0..n).all(|idx| self.is_imported(idx))
    }

    /// The metrics that reports have columns for: those that rqps measures, unless all systems are
    /// imported, and those that only imported files have, where any has.
    #[must_use]
    pub fn metrics(&self) -> Vec<Metric> {
        let has = |metric: Metric| {
            let mut cells = self.steps.iter().flat_map(|step| &step.cells);
            cells.any(|cell| cell.per_operation(metric).is_some())
        };
        if self.is_all_imported() {
            let all = [Metric::HostCpu].into_iter().chain(Metric::STATED);
            return all.filter(|metric| has(*metric)).collect();
        }
        let stated = [Metric::HostCpuShare, Metric::Rate].into_iter().filter(|m| has(*m));
        Metric::ALL.into_iter().chain(stated).collect()
    }
}

/// Where imported figures were taken from: those of all runs that are compared.
fn sources<'r>(analysis: &Analysis<'r>) -> Vec<&'r Imported> {
    match analysis.joined {
        Some(joined) => joined.sources.iter().filter_map(|s| s.imported.as_ref()).collect(),
        None => analysis.run.imported.as_ref().into_iter().collect(),
    }
}

/// The imported systems; empty where all are.
fn imported_systems(analysis: &Analysis<'_>) -> Vec<usize> {
    let all = 0..analysis.run.systems.len();
    all.filter(|&idx| analysis.is_imported(idx) && !analysis.is_all_imported()).collect()
}

/// How far imported figures can be trusted.
pub(super) fn certainty(analysis: &Analysis<'_>) -> Vec<WarningKind> {
    let systems = imported_systems(analysis);
    if systems.is_empty() && !analysis.is_all_imported() {
        return Vec::new();
    }
    let all = sources(analysis);
    let source = |it: &&Imported| ImportedSource { source: it.source.clone(), tool: it.tool };
    let mut out =
        vec![WarningKind::Imported { systems, sources: all.iter().map(source).collect() }];
    let is_several = all.len() > 1;
    for imported in all {
        let source = is_several.then(|| imported.source.clone());
        let note =
            |text: &String| WarningKind::ImportNote { source: source.clone(), text: text.clone() };
        out.extend(imported.notes.iter().map(note));
    }
    out
}

/// What imported files do not tell.
pub(super) fn not_measured(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let systems = imported_systems(analysis);
    let has_imported = !systems.is_empty() || analysis.is_all_imported();
    let cells = analysis.steps.iter().flat_map(|step| step.cells.iter().enumerate());
    let with_figure = cells.filter(|(idx, c)| analysis.is_imported(*idx) && c.figure().is_some());
    let lacking = missing_in(&with_figure.map(|(_, cell)| cell).collect::<Vec<_>>());
    has_imported.then_some(WarningKind::NotImported { systems, lacking })
}
