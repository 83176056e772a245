//! Fills the caches of a server that was started on data that were there.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rqps_model::{Dbms, StepIdx, SystemIdx};
use rqps_workload::vector::VectorSchema;
use rqps_workload::{IndexRead, VectorArgs};

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
        Job::Vector { args, .. } => return warm_vectors(run, member, args),
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

/// Queries of a warm-up of each index.
const WARM_QUERIES: usize = 1000;

/// Reads the tables of vectors through, and much of their indexes: by searches with the largest efforts.
fn warm_vectors(run: &RunContext<'_>, member: &mut Member<'_>, args: &VectorArgs) -> Result<bool> {
    let vectors = run.vectors.get(args)?;
    let schema = vectors.schema(run.spec(member.idx()).dbms, args);
    let until = Instant::now() + AT_MOST;
    member.up.breakable(&run.environment.interrupt, |admin| {
        for (table, index) in (1..).zip(&args.indexes) {
            // The session is that of the administrator, who searches nothing else.
            let largest = index.efforts().into_iter().map(|(effort, _)| effort).max();
            let searched = largest.map(|effort| (index, effort));
            for sql in schema.session_sql(searched) {
                admin.query(&sql).with_context(|| sql.clone())?;
            }
            for query in vectors.set.queries.iter().take(WARM_QUERIES) {
                if Instant::now() > until {
                    return Ok(false);
                }
                let sql = schema.search_sql_of(table, false, query);
                admin.query(&sql).with_context(|| VectorSchema::table(table))?;
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
