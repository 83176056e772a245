//! Every step, compiled for every DBMS: its SQL as golden files, and 1000 events on the null client.

use std::fmt::Write as _;

use expect_test::expect_file;
use rqps_client::{NullConnection, Outcome, Protocol};
use rqps_model::Dbms;
use rqps_workload::{Program, Size, Suite, SuiteArgs, SysbenchWorker, Worker};

/// The SQL of an event of every step; long lists of placeholders shortened to their number.
fn render_sql(dbms: Dbms) -> String {
    let suite = Suite::sysbench().unwrap();
    let mut text = String::new();
    for step in suite.steps.iter().filter(|step| !step.event.is_empty()) {
        let program = Program::compile(step, &Size::Tiny.args(), dbms).unwrap();
        let _ = writeln!(text, "{}", step.name);
        for line in program.event_sql() {
            let n = line.matches("?, ").count() + 1;
            let list = vec!["?"; n].join(", ");
            let line = if n > 5 { line.replace(&list, &format!("<{n} x ?>")) } else { line };
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

#[test]
fn sql_of_every_step() {
    expect_file!["../data/sql.mysql.txt"].assert_eq(&render_sql(Dbms::Mysql));
    expect_file!["../data/sql.mariadb.txt"].assert_eq(&render_sql(Dbms::Mariadb));
    expect_file!["../data/sql.postgres.txt"].assert_eq(&render_sql(Dbms::Postgres));
    assert_eq!(render_sql(Dbms::Null), render_sql(Dbms::Mysql));
}

fn run(args: &SuiteArgs, dbms: Dbms) {
    let suite = Suite::sysbench().unwrap();
    for step in suite.steps.iter().filter(|step| !step.event.is_empty()) {
        let program = Program::compile(step, args, dbms).unwrap();
        let per_event = u64::from(program.statements_per_event());
        let mut connection = NullConnection::default();
        let mut worker = SysbenchWorker::new(program, &mut connection, 1, 5).unwrap();
        let mut n = 0_u64;
        for _ in 0..1000 {
            worker
                .event(&mut connection, &mut |_: Outcome| n += 1)
                .unwrap_or_else(|error| panic!("{} on {dbms}: {error}", step.name));
        }
        assert_eq!(n, 1000 * per_event, "{}", step.name);
    }
}

#[test]
fn every_step_runs_on_the_null_client() {
    for dbms in [Dbms::Mysql, Dbms::Mariadb, Dbms::Postgres, Dbms::Null] {
        run(&Size::Tiny.args(), dbms);
    }
}

#[test]
fn every_step_runs_with_unusual_arguments() {
    let tiny = Size::Tiny.args();
    run(&SuiteArgs { tables: 7, rows: 1, ..tiny.clone() }, Dbms::Postgres);
    run(&SuiteArgs { rows: i32::MAX as u64 - 10_000, ..tiny.clone() }, Dbms::Mysql);
    run(&SuiteArgs { skip_trx: true, secondary: true, ..tiny.clone() }, Dbms::Mysql);
    run(&SuiteArgs { protocol: Protocol::Text, ..tiny }, Dbms::Postgres);
}

#[test]
fn what_cannot_be_compiled_is_refused() {
    let suite = Suite::sysbench().unwrap();
    let tiny = Size::Tiny.args();
    let said = |step: &str, args: &SuiteArgs| {
        Program::compile(suite.step(step).unwrap(), args, Dbms::Mysql).unwrap_err().to_string()
    };
    assert_eq!(said("load", &tiny), "step load has no events: it fills or indexes tables");
    let large = SuiteArgs { rows: i32::MAX as u64, ..tiny };
    assert_eq!(
        said("range-covered-pk", &large),
        "rows = 2147483647: range-covered-pk allows at most 2147483547 rows"
    );
}
