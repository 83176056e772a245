//! Open files of a run: what its clients need, and what is left for the samplers.
//!
//! In an interleaved schedule the clients of all systems are connected at the same time. The samplers
//! keep files of /proc open to be cheap, and can do without.

use anyhow::{Result, ensure};
use rqps_model::SystemSource;
use rqps_sample::MAX_OPEN_FILES;
use rqps_server::open_files;

use crate::Plan;
use crate::plan::SuiteWork;

/// Descriptors of a client: its socket, and a second one by which a hanging answer is broken off.
const OF_CLIENT: u64 = 2;

/// Those of a system beside its clients and the files that its sampler keeps: connection for questions,
/// files of the host and the device, lock, control groups.
const OF_SYSTEM: u64 = 32;

/// Those of rqps itself: store, terminal, pipes.
const OF_RQPS: u64 = 64;

/// Refuses a plan whose clients need more open files than rqps may have, after the limit was raised as
/// far as it can be.
pub(crate) fn check(plan: &Plan) -> Result<()> {
    let needed = needed(plan);
    let wanted = needed + u64::from(plan.systems_up()) * MAX_OPEN_FILES as u64;
    within(plan, needed, open_files::raise(wanted))
}

fn within(plan: &Plan, needed: u64, limit: u64) -> Result<()> {
    let (clients, systems) = (most_clients(plan), systems_at_once(plan));
    let at_once = if plan.schedule.is_interleaved() && systems > 1 {
        format!(" on each of {systems} interleaved systems")
    } else {
        String::new()
    };
    ensure!(
        needed <= limit,
        "{clients} connections{at_once} need {needed} open files, and rqps may have {limit}: raise \
         the hard limit (ulimit -Hn {needed}), or use fewer clients{}",
        if at_once.is_empty() { "" } else { " or mode = \"sequential\"" }
    );
    Ok(())
}

/// How many files the sampler of one system of the plan may keep open.
pub(crate) fn of_sampler(plan: &Plan) -> usize {
    share(plan, open_files::limit())
}

fn share(plan: &Plan, limit: u64) -> usize {
    let left = limit.saturating_sub(needed(plan)) / u64::from(plan.systems_up().max(1));
    usize::try_from(left).unwrap_or(usize::MAX).min(MAX_OPEN_FILES)
}

/// What a plan needs at once, but for the files that samplers keep.
fn needed(plan: &Plan) -> u64 {
    let of_system = most_clients(plan) * OF_CLIENT + OF_SYSTEM;
    OF_RQPS + systems_at_once(plan) * of_system
}

/// Systems whose clients are connected at the same time. The null client opens nothing.
fn systems_at_once(plan: &Plan) -> u64 {
    let n = plan.systems.iter().filter(|s| s.source != SystemSource::Builtin).count() as u64;
    if plan.schedule.is_interleaved() { n } else { n.min(1) }
}

/// The most connections of any step on a system. Tables are filled by a client each.
pub(crate) fn most_clients(plan: &Plan) -> u64 {
    let tables = |work: &SuiteWork| match work {
        SuiteWork::File { args, .. } => u64::from(args.tables),
        SuiteWork::Insert(_) => 0,
        SuiteWork::Vector(args) => u64::from(args.tables()),
    };
    let most = plan.suites.iter().map(|suite| tables(&suite.work)).max().unwrap_or(0);
    most.max(most_clients_of_steps(plan))
}

/// The same but for the load, which has the other systems idle and without clients.
pub(crate) fn most_clients_of_steps(plan: &Plan) -> u64 {
    let of_suite = |work: &SuiteWork| match work {
        SuiteWork::File { args, .. } => u64::from(args.clients.iter().copied().max().unwrap_or(1)),
        // Clients that query, insert and delete, and one that holds transactions open.
        SuiteWork::Insert(args) => u64::from(args.clients) * 3 + 1,
        SuiteWork::Vector(args) => u64::from(args.clients.iter().copied().max().unwrap_or(1)),
    };
    plan.suites.iter().map(|suite| of_suite(&suite.work)).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;

    fn plan(systems: &[&str], rest: &str) -> Plan {
        let system = |(n, keys): (usize, &&str)| format!("[[system]]\nlabel = 's{n}'\n{keys}\n");
        let systems: String = systems.iter().enumerate().map(system).collect();
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let text = format!("{systems}{rest}");
        PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap()
    }

    const PG: &str = "dbms = 'postgres'\nversion = '17.4'";

    #[test]
    fn all_clients_of_interleaved_systems_count() {
        let suite = "[[suite]]\nclients = [1, 64]\n";
        let is_interleaved = plan(&[PG; 3], suite);
        assert_eq!(needed(&is_interleaved), 64 + 3 * (2 * 64 + 32));
        let one_by_one = plan(&[PG; 3], &format!("{suite}[schedule]\nmode = 'sequential'\n"));
        assert_eq!(needed(&one_by_one), 64 + 2 * 64 + 32);
        let insert = plan(&[PG], "[[suite]]\nkind = 'insert'\nclients = [8]\n");
        assert_eq!(needed(&insert), 64 + 2 * 25 + 32);
        assert_eq!(needed(&plan(&["dbms = 'null'"; 3], suite)), 64);
    }

    #[test]
    fn samplers_share_what_clients_leave() {
        let plan = plan(&[PG; 3], "[[suite]]\nclients = [64]\n");
        // Of the usual limit of 1024: 544 for the rest, and 160 for each of three samplers.
        assert_eq!(share(&plan, 1024), 160);
        assert_eq!(share(&plan, 544), 0);
        assert_eq!(share(&plan, 10), 0);
        assert_eq!(share(&plan, 65_536), MAX_OPEN_FILES);
    }

    #[test]
    fn more_clients_than_files_are_refused_with_the_remedy() {
        let refusal =
            |plan: &Plan, limit| within(plan, needed(plan), limit).unwrap_err().to_string();
        let suite = "[[suite]]\nclients = [512]\n";
        expect_test::expect![[r#"512 connections on each of 2 interleaved systems need 2176 open files, and rqps may have 1024: raise the hard limit (ulimit -Hn 2176), or use fewer clients or mode = "sequential""#]].assert_eq(&refusal(&plan(&[PG; 2], suite), 1024));
        expect_test::expect![[r#"512 connections need 1120 open files, and rqps may have 1024: raise the hard limit (ulimit -Hn 1120), or use fewer clients"#]].assert_eq(&refusal(&plan(&[PG], suite), 1024));
        assert!(within(&plan(&[PG], suite), 1024, 1024).is_ok());
    }
}
