//! What the systems' data took: after the first step, at the end, and relative to the base.

use rqps_model::{Run, Sizes};

/// The sizes of one system over a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SystemSizes {
    /// Index of the step after which tables are filled and indexed, else of the first with a size; and its sizes.
    pub first: Option<(usize, Sizes)>,
    /// The same of the last step that all systems have a size of; where there is none, of the
    /// system's own last.
    pub last: Option<(usize, Sizes)>,
    /// Database at the end / after the first step.
    pub growth: Option<f64>,
    /// Database after the first step / the base's, where that is the same step; absent for the base.
    pub filled_ratio: Option<f64>,
    /// Database at the end / the base's, where both are of one step; absent for the base.
    pub database_ratio: Option<f64>,
    /// Data directory at the end / the base's.
    pub data_dir_ratio: Option<f64>,
}

/// One per system of the run.
pub(super) fn sizes(run: &Run, base: usize) -> Vec<SystemSizes> {
    let at_end = common_end(run);
    let mut all: Vec<SystemSizes> =
        (0..run.systems.len()).map(|idx| of_system(run, idx, at_end)).collect();
    let base_first = all.get(base).and_then(|s| s.first);
    let base_last = all.get(base).and_then(|s| s.last).filter(|_| at_end.is_some());
    for (_, system) in all.iter_mut().enumerate().filter(|(idx, _)| *idx != base) {
        if let (Some((at, own)), Some((base_at, of_base))) = (system.first, base_first)
            && at == base_at
        {
            system.filled_ratio = ratio(own.database_bytes, of_base.database_bytes);
        }
        let (Some((_, own)), Some((_, of_base))) = (system.last, base_last) else { continue };
        system.database_ratio = ratio(own.database_bytes, of_base.database_bytes);
        system.data_dir_ratio = ratio(own.data_dir_bytes, of_base.data_dir_bytes);
    }
    all
}

fn sizes_of(run: &Run, at: usize, idx: usize) -> Option<Sizes> {
    let sizes = run.steps.get(at)?.systems.get(idx)?.sizes;
    (sizes != Sizes::default()).then_some(sizes)
}

/// The last step that every system with any size has one of.
fn common_end(run: &Run) -> Option<usize> {
    let steps = 0..run.steps.len();
    let sized: Vec<usize> = (0..run.systems.len())
        .filter(|&idx| steps.clone().any(|at| sizes_of(run, at, idx).is_some()))
        .collect();
    steps
        .rev()
        .find(|&at| !sized.is_empty() && sized.iter().all(|&idx| sizes_of(run, at, idx).is_some()))
}

fn of_system(run: &Run, idx: usize, at_end: Option<usize>) -> SystemSizes {
    let sized = (0..run.steps.len()).filter_map(|at| Some((at, sizes_of(run, at, idx)?)));
    let sized: Vec<(usize, Sizes)> = sized.collect();
    // Filled tables have their indexes.
    let prepares = |at: usize| run.steps[at].info.prepares_tables();
    let n_prepared = sized.iter().take_while(|(at, _)| prepares(*at)).count();
    let first = sized.get(n_prepared.saturating_sub(1)).copied();
    let own_last = sized.last().copied();
    let common = at_end.and_then(|at| Some((at, sizes_of(run, at, idx)?)));
    let last = common.or(own_last);
    let of = |end: Option<(usize, Sizes)>| end.and_then(|(_, sizes)| sizes.database_bytes);
    let growth = ratio(of(last), of(first));
    SystemSizes { first, last, growth, ..SystemSizes::default() }
}

/// `a / b`; none where one of them is not known or there is nothing to divide by.
fn ratio(a: Option<u64>, b: Option<u64>) -> Option<f64> {
    a.zip(b.filter(|b| *b > 0)).map(|(a, b)| a as f64 / b as f64)
}
