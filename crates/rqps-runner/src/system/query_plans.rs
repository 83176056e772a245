//! Questions to the sessions of a step about the plans of its statements.

use anyhow::Result;
use rqps_client::Error;
use rqps_model::query_plan::{Asked, PlanCounts};
use rqps_model::{Dbms, QueryPlan, Version};
use rqps_server::explain::{PreparedStatement, Question, explain, numbered, prepared_statements};
use rqps_workload::Probe;

use crate::engine::clients::StepClients;

/// Sessions of each role that are asked what they have executed: a question takes some 0.2 ms.
const SESSIONS_PER_ROLE: u32 = 32;

/// The server that is asked.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) dbms: Dbms,
    pub(super) version: Option<Version>,
}

/// What a session of the step has prepared.
struct Session {
    client_idx: usize,
    statements: Vec<PreparedStatement>,
}

/// What the sessions have executed of a statement.
struct Executed<'s> {
    /// The session that is asked for the plan: the one that has executed it most often.
    client_idx: usize,
    /// Its name there; absent where the server does not list it.
    name: Option<&'s str>,
    counts: Option<PlanCounts>,
}

/// The plans of a step's statements.
pub(super) fn ask(
    server: &Server,
    probes: &[Probe],
    clients: &StepClients,
) -> Result<Vec<QueryPlan>> {
    let sessions = sessions(server, clients)?;
    probes.iter().map(|probe| plan(server, probe, clients, &sessions)).collect()
}

fn sessions(server: &Server, clients: &StepClients) -> Result<Vec<Session>> {
    let mut sessions = Vec::new();
    for client_idx in clients.first_of_roles(SESSIONS_PER_ROLE) {
        let Server { dbms, version } = server.clone();
        let list = clients
            .pool
            .ask(client_idx, move |c| prepared_statements(dbms, version.as_ref(), c))?;
        let statements = match list {
            // What lies before a server may have no such list.
            Err(Error::Server(_)) => Vec::new(),
            other => other?,
        };
        sessions.push(Session { client_idx, statements });
    }
    Ok(sessions)
}

fn plan(
    server: &Server,
    probe: &Probe,
    clients: &StepClients,
    sessions: &[Session],
) -> Result<QueryPlan> {
    let Executed { client_idx, name, counts } = executed(&probe.sql, sessions);
    let (probe, name, Server { dbms, version }) =
        (probe.clone(), name.map(str::to_owned), server.clone());
    let mut plan = clients.pool.ask(client_idx, move |connection| {
        let question = Question {
            sql: &probe.sql,
            shown: &probe.shown(),
            protocol: probe.protocol,
            types: &probe.types,
            values: &probe.values,
            prepared_as: name.as_deref(),
        };
        explain(dbms, version.as_ref(), connection, &question)
    })?;
    plan.counts = counts;
    // The plan of one more execution says less than those of all before.
    if let (Asked::Prepared, Some(counts), Some(shape)) = (plan.asked, counts, &mut plan.shape) {
        shape.kind = counts.kind();
    }
    Ok(plan)
}

fn executed<'s>(sql: &str, sessions: &'s [Session]) -> Executed<'s> {
    let sql = numbered(sql);
    let mut found = Executed { client_idx: 0, name: None, counts: None };
    let mut most = None;
    for session in sessions {
        let Some(statement) = session.statements.iter().find(|s| s.sql == sql) else { continue };
        let n = statement.executions.map_or(0, |executions| {
            let counts = found.counts.get_or_insert_default();
            counts.add_session(executions.n_generic, executions.n_custom);
            executions.n_generic + executions.n_custom
        });
        if most.is_none_or(|most| n > most) {
            most = Some(n);
            (found.client_idx, found.name) = (session.client_idx, Some(statement.name.as_str()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rqps_model::query_plan::PlanKind;
    use rqps_server::explain::Executions;

    use super::*;

    fn session(client_idx: usize, name: &str, both: Option<(u64, u64)>) -> Session {
        let executions = both.map(|(n_generic, n_custom)| Executions { n_generic, n_custom });
        let (name, sql) = (name.to_owned(), "SELECT c FROM t WHERE id=$1".to_owned());
        let other = PreparedStatement {
            name: "s9".to_owned(),
            sql: "BEGIN".to_owned(),
            executions: Some(Executions { n_generic: 1_000_000, n_custom: 0 }),
        };
        Session { client_idx, statements: vec![other, PreparedStatement { name, sql, executions }] }
    }

    #[test]
    fn the_session_that_has_executed_a_statement_most_often_is_asked() {
        let sql = "SELECT c FROM t WHERE id=?";
        let sessions = [
            session(0, "s0", Some((10, 5))),
            session(3, "s7", Some((90, 5))),
            session(4, "s0", Some((0, 2))),
        ];
        let found = executed(sql, &sessions);
        assert_eq!((found.client_idx, found.name), (3, Some("s7")));
        let counts = PlanCounts { n_sessions: 3, n_generic: 100, n_custom: 0, n_trial: 12 };
        assert_eq!(found.counts, Some(counts));
        assert_eq!(counts.kind(), Some(PlanKind::Generic));
        // A server that lists statements and does not count them.
        let uncounted = [session(2, "s1", None)];
        let found = executed(sql, &uncounted);
        assert_eq!((found.client_idx, found.name, found.counts), (2, Some("s1"), None));
        let found = executed("SELECT 1", &sessions);
        assert_eq!((found.client_idx, found.name, found.counts), (0, None, None));
    }
}
