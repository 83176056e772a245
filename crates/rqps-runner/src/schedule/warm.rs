//! Fills the caches of a server that was started on data that were there.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rqps_model::{Dbms, StepIdx, SystemIdx};
use rqps_workload::IndexRead;

use crate::journal::Journal;
use crate::plan::steps::Job;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// How long tables are read through at most: a server with less memory than tables has its caches full by then.
const AT_MOST: Duration = Duration::from_secs(60);

/// Reads the tables that a load has filled, and their indexes, through. Gives whether it came to their end.
pub(crate) fn warm_caches(
    run: &RunContext<'_>,
    member: &mut Member<'_>,
    load: StepIdx,
) -> Result<bool> {
    if run.spec(member.idx()).dbms == Dbms::Null {
        return Ok(true);
    }
    let reads = match &run.step(load).job {
        Job::File { args, .. } => IndexRead::of_suite(args),
        Job::Insert { args, .. } => IndexRead::of_insert(args, member.state.tables.are_indexed),
    };
    let until = Instant::now() + AT_MOST;
    member.up.breakable(&run.environment.interrupt, |admin| {
        for read in reads {
            let sql = read.bounds_sql();
            let bounds = admin.query(&sql).with_context(|| sql.clone())?;
            let bound = |column: usize| -> Option<f64> {
                bounds.rows.first()?.get(column)?.as_deref()?.parse().ok()
            };
            // An empty table has none.
            let (Some(min), Some(max)) = (bound(0), bound(1)) else { continue };
            for sql in read.queries(min, max) {
                if Instant::now() > until {
                    return Ok(false);
                }
                admin.query(&sql).with_context(|| sql.clone())?;
            }
        }
        Ok(true)
    })
}

/// Says that tables were not read through.
pub(crate) fn tell_cold(run: &RunContext<'_>, journal: &mut Journal<'_>, system: SystemIdx) {
    journal.note(&format!(
        "{}: {} s were not enough to read all tables and indexes; the rest is not cached",
        run.label(system),
        AT_MOST.as_secs()
    ));
}
