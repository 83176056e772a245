//! Reports of several runs: the table of the runs.

use rqps_model::{RunStatus, Schedule};

use crate::grid::{Grid, Side, plain};
use rqps_analysis::Analysis;
use rqps_analysis::join::{Joined, Source};
use rqps_text::number;
use rqps_text::words::{clip, shorten_apart};

/// Columns of a run's id, which begins with its start.
const RUN_COLUMNS: usize = 48;

/// The runs: when, on which host, in which order their systems were measured; which one the base is of.
pub(crate) fn runs(joined: &Joined, base: usize) -> Grid {
    let left = |head| (head, Side::Left);
    let heads = ["run", "started, UTC", "", "host", "kernel", "schedule", ""].map(left);
    let mut grid = Grid::new(&heads);
    let ids: Vec<&str> = joined.sources.iter().map(|source| source.id.as_str()).collect();
    let ids = shorten_apart(&ids, RUN_COLUMNS);
    for (at, source) in joined.sources.iter().enumerate() {
        let is_finished = source.status == RunStatus::Finished;
        let is_base = joined.origins.get(base) == Some(&at);
        grid.row(vec![
            plain(&ids[at]),
            plain(number::utc(source.started_unix_ms).get(..16).unwrap_or_default()),
            plain(if is_finished { String::new() } else { source.status.to_string() }),
            plain(clip(&source.host.hostname, 24)),
            plain(clip(&source.host.kernel, 24)),
            plain(schedule(source)),
            plain(if is_base { "base" } else { "" }),
        ]);
    }
    grid
}

/// The order of a run's systems, where it is known.
#[must_use]
pub fn schedule(source: &Source) -> &'static str {
    if source.imported.is_some() {
        return number::NOTHING;
    }
    match source.schedule {
        Schedule::Interleaved { .. } => "interleaved",
        Schedule::Sequential { .. } => "sequential",
    }
}

/// The run that a system is of.
pub(crate) fn run_id<'a>(analysis: &'a Analysis<'_>, system_idx: usize) -> &'a str {
    let source = analysis.joined.and_then(|joined| joined.source(system_idx));
    source.map_or(&analysis.run.id, |source| &source.id)
}
