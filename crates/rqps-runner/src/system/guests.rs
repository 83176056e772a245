//! Before anything is made: which DBMS a server given by its address says it is, and whether the plan's statements
//! stay where rqps works.

use anyhow::{Context as _, Result};
use rqps_model::{Dbms, SystemSource, SystemSpec};
use rqps_server::guest::{Told, told_dbms};
use rqps_server::statement::{check_guest, check_own};
use rqps_server::{Error, Refusal};

use crate::Plan;
use crate::environment::Environment;
use crate::event::{Event, Listener};
use crate::plan::launches;
use crate::plan::steps::{Job, PlannedStep};
use crate::system::builds;
use crate::system::installation::{external, places};

/// The plan with each external server's DBMS as the server reports it at login, and the commit that each system is
/// built from. A note names a DBMS that differs from the address or the plan. A server that cannot be asked keeps the
/// named DBMS.
///
/// # Errors
/// When a server speaks another protocol than its address says, a repository has no such commit, or what a build needs
/// is not installed.
pub fn identify_systems(
    mut plan: Plan,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<Plan> {
    if plan.systems.iter().any(|spec| matches!(spec.source, SystemSource::Built(_))) {
        builds::set_commits(&mut plan, &places(environment)?.cache)?;
    }
    for idx in 0..plan.systems.len() {
        let spec = &plan.systems[idx];
        // What is wrong with a password is said later, with everything else of the system.
        let Ok(Some(dsn)) = external(&plan, spec, environment) else { continue };
        let (named, label) = (spec.dbms, spec.label.clone());
        let told = match told_dbms(named, &dsn.endpoint) {
            Ok(told) => told,
            Err(error @ Error::Refused(Refusal::OtherProtocol { .. })) => {
                return Err(error).with_context(|| format!("inspect {label}"));
            }
            Err(_) => continue,
        };
        let said = [dsn.dbms, named].into_iter().find(|said| *said != told.dbms);
        if let Some(said) = said {
            let is_of_address = dsn.dbms != told.dbms;
            listen(Event::Note(&note(said, &told, is_of_address, &dsn.to_string())));
        }
        plan.set_dbms(idx, told.dbms);
    }
    Ok(plan)
}

/// What is said of a server that is another than it is named. The scheme to write is given where the address
/// names it wrongly.
fn note(said: Dbms, told: &Told, is_of_address: bool, address: &str) -> String {
    let (said, dbms) = (said.name(), told.dbms.name());
    let version = format!(" {}", told.version);
    let remedy = match is_of_address {
        true => format!("; write {}://", told.dbms),
        false => String::new(),
    };
    format!(
        "{address} names {said}, but the server says that it is {dbms}{}; it is measured as {dbms}{remedy}",
        version.trim_end()
    )
}

/// Refuses statements for one system's server that other schemas of that server stand in, once it has told them.
///
/// # Errors
/// [`Refusal::NotForGuests`] with the statement.
pub(crate) fn check_entered(plan: &Plan, idx: usize, others: &[String]) -> Result<()> {
    let steps = launches::of_plan(plan, &[], false)?;
    check_each(plan.systems.get(idx).into_iter(), &steps, &|spec, sql| {
        check_guest(spec.dbms, sql, others)
    })
}

/// Refuses statements of the plan and its suites that reach too far. In somebody else's server that is beyond rqps's
/// schema; from a server of rqps it is beyond the run's directory and host.
///
/// # Errors
/// [`Refusal::NotForGuests`] or [`Error::RefusedOption`] with the statement.
pub(crate) fn check_statements(plan: &Plan, steps: &[PlannedStep]) -> Result<()> {
    check_each(plan.systems.iter(), steps, &|spec, sql| match spec.source {
        SystemSource::External { .. } => check_guest(spec.dbms, sql, &[]),
        _ => check_own(spec.dbms, sql),
    })
}

fn check_each<'a>(
    systems: impl Iterator<Item = &'a SystemSpec>,
    steps: &[PlannedStep],
    check: &dyn Fn(&SystemSpec, &str) -> Result<(), Error>,
) -> Result<()> {
    for spec in systems.filter(|spec| spec.dbms.is_server()) {
        for sql in &spec.variant.sql_after_load {
            check(spec, sql).with_context(|| format!("sql_after_load of {}", spec.label))?;
        }
        for planned in steps {
            let Job::File { step, .. } = &planned.job else { continue };
            for part in &step.event {
                check(spec, part.statement.sql_for(spec.dbms)).with_context(|| {
                    format!("statement {} of step {}", part.statement.name, planned.info.name)
                })?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rqps_server::Catalogue;

    use super::*;
    use crate::PlanFile;

    fn plan(system: &str, suite: &str) -> Plan {
        let text = format!(
            "[[system]]\ndsn = 'mysql://u@127.0.0.1:1/d'\n{system}\n[[suite]]\nform = 'full'\n{suite}\n"
        );
        let catalogue = Catalogue::builtin().unwrap();
        PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap()
    }

    fn checked(plan: &Plan) -> Result<(), String> {
        let steps = launches::of_plan(plan, &[0, 1], false).unwrap();
        check_statements(plan, &steps).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn the_scheme_to_write_is_told_where_the_address_is_wrong() {
        let told = Told { dbms: Dbms::Mariadb, version: "10.11.19".to_owned() };
        let words = |is_of_address| note(Dbms::Mysql, &told, is_of_address, "mysql://u@h/d");
        assert_eq!(
            words(true),
            "mysql://u@h/d names MySQL, but the server says that it is MariaDB 10.11.19; it is measured as \
             MariaDB; write mariadb://"
        );
        assert!(words(false).ends_with("measured as MariaDB"));
    }

    #[test]
    fn every_statement_of_the_built_in_suites_stays_in_the_schema() {
        for dbms in [Dbms::Mysql, Dbms::Mariadb] {
            let mut plan = plan("", "");
            plan.set_dbms(0, dbms);
            assert_eq!(checked(&plan), Ok(()));
        }
        let mut plan = plan("", "");
        plan.systems[0].dbms = Dbms::Postgres;
        assert_eq!(checked(&plan), Ok(()));
        let other = self::plan("sql_after_load = ['DROP DATABASE shop']", "");
        assert!(checked(&other).unwrap_err().starts_with("sql_after_load of my-external: \"DROP"));
    }

    #[test]
    fn the_label_follows_the_server_unless_the_user_gave_it() {
        let mut plan = plan("", "");
        plan.set_dbms(0, Dbms::Mariadb);
        assert_eq!(plan.systems[0].label.as_str(), "ma-external");
        assert_eq!(
            plan.dsns.keys().map(|label| label.as_str()).collect::<Vec<_>>(),
            ["ma-external"]
        );
        let mut plan = self::plan("label = 'shop'", "");
        plan.set_dbms(0, Dbms::Mariadb);
        assert_eq!((plan.systems[0].label.as_str(), plan.systems[0].dbms), ("shop", Dbms::Mariadb));
    }
}
