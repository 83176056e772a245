//! What the systems' data took: after the first step, at the end, and relative to the base.

use rqps_model::{Run, Sizes};

/// The sizes of one system over a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SystemSizes {
    /// Index of the first step with a size, and its sizes: the filled tables.
    pub first: Option<(usize, Sizes)>,
    /// The same of the last.
    pub last: Option<(usize, Sizes)>,
    /// Database at the end / after the first step.
    pub growth: Option<f64>,
    /// Database at the end / the base's, where both are of one step; absent for the base.
    pub database_ratio: Option<f64>,
    /// Data directory at the end / the base's.
    pub data_dir_ratio: Option<f64>,
}

/// One per system of the run.
pub(super) fn sizes(run: &Run, base: usize) -> Vec<SystemSizes> {
    let mut all: Vec<SystemSizes> = (0..run.systems.len()).map(|idx| of_system(run, idx)).collect();
    let base_last = all.get(base).and_then(|s| s.last);
    for (_, system) in all.iter_mut().enumerate().filter(|(idx, _)| *idx != base) {
        let (Some((at, own)), Some((base_at, of_base))) = (system.last, base_last) else {
            continue;
        };
        if at == base_at {
            system.database_ratio = ratio(own.database_bytes, of_base.database_bytes);
            system.data_dir_ratio = ratio(own.data_dir_bytes, of_base.data_dir_bytes);
        }
    }
    all
}

fn of_system(run: &Run, idx: usize) -> SystemSizes {
    let steps = run.steps.iter().enumerate();
    let mut sized = steps.filter_map(|(at, step)| {
        let sizes = step.systems.get(idx)?.sizes;
        (sizes != Sizes::default()).then_some((at, sizes))
    });
    let first = sized.next();
    let last = sized.last().or(first);
    let of = |end: Option<(usize, Sizes)>| end.and_then(|(_, sizes)| sizes.database_bytes);
    let growth = ratio(of(last), of(first));
    SystemSizes { first, last, growth, ..SystemSizes::default() }
}

/// `a / b`; none where one of them is not known or there is nothing to divide by.
fn ratio(a: Option<u64>, b: Option<u64>) -> Option<f64> {
    a.zip(b.filter(|b| *b > 0)).map(|(a, b)| a as f64 / b as f64)
}
