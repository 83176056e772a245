//! Settling PostgreSQL: vacuum with statistics, a checkpoint, no autovacuum under way.

use rqps_client::Connection;

use crate::Error;
use crate::settle::{Debt, Settled, Tables, Target, wait_for_rest};
use crate::watch::{Progress, Watch};

/// Workers of autovacuum show their work as their query in every version; the launcher does not.
const WORKERS: &str = "select count(*) from pg_stat_activity where query like 'autovacuum: %'";

pub(super) fn settle(
    target: &Target<'_>,
    Tables { names, limit }: Tables<'_>,
    connection: &mut dyn Connection,
    watch: &mut Watch<'_>,
    settled: &mut Settled,
) -> Result<Vec<Debt>, Error> {
    // From 12 on, vacuum leaves indexes alone when there is little to clean, unless told to.
    let cleanup = if target.version.at_least(&[12]) { ", INDEX_CLEANUP ON" } else { "" };
    for table in names {
        watch.check("settle")?;
        execute(connection, &format!("VACUUM (ANALYZE{cleanup}) {table}"), watch)?;
    }
    let debts = wait_for_rest(limit, watch, || {
        let result = connection.query(WORKERS).map_err(|e| Error::client(WORKERS, e))?;
        let workers = result.scalar().and_then(|text| text.parse().ok());
        let value = workers.ok_or_else(|| Error::Answer {
            doing: "count autovacuum workers".to_owned(),
            answer: format!("{result:?}"),
        })?;
        Ok(vec![Debt { what: "autovacuum workers", value, bound: 0 }])
    })?;
    // Last, so that it writes what they changed. It returns when all is on disk.
    // On somebody else's server it would write out their pages as well.
    if !target.scope.allows_settings() {
        settled.left.push("CHECKPOINT: not done (--allow-settings)".to_owned());
        return Ok(debts);
    }
    match execute(connection, "CHECKPOINT", watch) {
        // Owning a database does not permit it; pg_checkpoint does (15 and later).
        Err(Error::Client { source: rqps_client::Error::Server(refusal), .. })
            if !target.scope.is_own() =>
        {
            settled.left.push(format!("CHECKPOINT: not done ({refusal})"));
        }
        done => done?,
    }
    Ok(debts)
}

fn execute(connection: &mut dyn Connection, sql: &str, watch: &mut Watch<'_>) -> Result<(), Error> {
    (watch.report)(Progress::Waiting { what: sql });
    connection.query(sql).map(|_| ()).map_err(|e| Error::client(sql, e))
}
