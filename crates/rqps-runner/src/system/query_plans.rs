//! Questions to a server about how it goes about statements.

use std::time::Duration;

use rqps_model::QueryPlan;
use rqps_server::explain::Question;
use rqps_workload::Probe;

/// Longest wait for a plan. An in-list of thousands of values takes a look into the index for each.
pub(super) const EXPLAIN_WITHIN: Duration = Duration::from_secs(60);

/// Asks about each probe.
pub(super) fn ask(
    probes: &[Probe],
    explain: &mut dyn FnMut(&Question<'_>) -> QueryPlan,
) -> Vec<QueryPlan> {
    probes
        .iter()
        .map(|probe| {
            explain(&Question {
                sql: &probe.sql,
                shown: &probe.shown(),
                protocol: probe.protocol,
                types: &probe.types,
                values: &probe.values,
            })
        })
        .collect()
}
