//! What is said of figures that rqps did not measure: one each, without interval and verdict, and what
//! their files do not tell.

use rqps_model::{Estimate, Imported, Metric, Run, SystemSource};

use super::{Analysis, Cell};
use crate::words::{list, list_in_short, one_line};

/// Whether a system's figures were taken from another tool's files.
pub(super) fn is(run: &Run, system_idx: usize) -> bool {
    run.systems.get(system_idx).is_some_and(|s| s.spec.source == SystemSource::Imported)
}

/// The ratio of a figure of 0, which has no logarithm and so no test: 0 of any other figure.
pub(super) fn ratio_of_zero(cell: &Cell, base: &Cell) -> Option<Estimate> {
    let (figure, base) = (cell.figure?.point, base.figure?.point);
    (figure == 0.0 && base > 0.0).then(|| Estimate::single(0.0))
}

impl Analysis<'_> {
    /// Whether a system's figures were taken from another tool's files.
    #[must_use]
    pub fn is_imported(&self, system_idx: usize) -> bool {
        is(self.run, system_idx)
    }

    /// Whether all systems' figures were.
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
            cells.any(|cell| cell.per_operation.get(metric).is_some())
        };
        if self.is_all_imported() {
            let all = [Metric::HostCpu].into_iter().chain(Metric::STATED);
            return all.filter(|metric| has(*metric)).collect();
        }
        let stated = [Metric::HostCpuShare, Metric::Rate].into_iter().filter(|m| has(*m));
        Metric::ALL.into_iter().chain(stated).collect()
    }

    /// The labels of the imported systems.
    fn imported_labels(&self) -> Vec<String> {
        let imported = (0..self.run.systems.len()).filter(|&idx| self.is_imported(idx));
        imported.map(|idx| one_line(self.label(idx))).collect()
    }
}

/// Where imported figures were taken from: those of all runs that are compared.
fn sources<'r>(analysis: &Analysis<'r>) -> Vec<&'r Imported> {
    match analysis.joined {
        Some(joined) => joined.sources.iter().filter_map(|s| s.imported.as_ref()).collect(),
        None => analysis.run.imported.as_ref().into_iter().collect(),
    }
}

/// How far imported figures can be trusted, in sentences.
pub(super) fn caveats(analysis: &Analysis<'_>) -> Vec<String> {
    let labels = analysis.imported_labels();
    if labels.is_empty() {
        return Vec::new();
    }
    let sources = sources(analysis);
    let from: Vec<String> = sources
        .iter()
        .map(|imported| format!("{} ({})", one_line(&imported.source), imported.tool))
        .collect();
    let from = if from.is_empty() { String::new() } else { format!(" from {}", list(&from)) };
    let whose = if analysis.is_all_imported() {
        "The figures".to_owned()
    } else {
        format!("The figures of {}", list_in_short(&labels))
    };
    let mut out = vec![format!(
        "{whose} were imported{from} and not measured by rqps: one of each (n=1), so that no ratio has an \
         interval or a verdict. How noisy the host was, and how systems differ in settings, sessions and \
         builds, is not known."
    )];
    let is_several = sources.len() > 1;
    for imported in sources {
        let of =
            if is_several { format!("{}: ", one_line(&imported.source)) } else { String::new() };
        out.extend(imported.notes.iter().map(|note| format!("{of}{}", one_line(note))));
    }
    out
}

/// What imported files do not tell, in a sentence.
pub(super) fn not_measured(analysis: &Analysis<'_>) -> Option<String> {
    let labels = analysis.imported_labels();
    if labels.is_empty() {
        return None;
    }
    let of = if analysis.is_all_imported() {
        "these systems".to_owned()
    } else {
        list_in_short(&labels)
    };
    let cells = || -> Vec<&Cell> {
        let all = analysis.steps.iter().flat_map(|step| step.cells.iter().enumerate());
        all.filter(|(idx, c)| analysis.is_imported(*idx) && c.figure.is_some())
            .map(|(_, cell)| cell)
            .collect()
    };
    let has = |wanted: fn(&Cell) -> bool| cells().into_iter().any(wanted);
    let mut lacks = vec!["CPU of server and client apart".to_owned()];
    let parts: [(bool, &str); 4] = [
        (has(|c| c.server_rss_bytes.is_some()), "memory"),
        (has(|c| !c.per_operation.values.is_empty()), "metrics per operation"),
        (has(|c| c.response.is_some()), "response times"),
        (has(|c| c.sizes.database_bytes.is_some()), "sizes"),
    ];
    lacks.extend(parts.into_iter().filter(|(has, _)| !has).map(|(_, what)| what.to_owned()));
    Some(format!("The imported files do not tell of {of}: {}.", list(&lacks)))
}
