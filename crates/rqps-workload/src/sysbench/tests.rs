//! Events against a recording connection: what is sent, what is checked, what repeats.

use rqps_client::ServerError;
use rqps_model::Dbms;

use super::*;
use crate::fake::Recorder;
use crate::{Size, Suite, SuiteArgs};

fn worker(step: &str, args: &SuiteArgs, dbms: Dbms, client_idx: u32) -> (SysbenchWorker, Recorder) {
    let suite = Suite::sysbench().unwrap();
    let program = Program::compile(suite.step(step).unwrap(), args, dbms).unwrap();
    let mut connection = Recorder::server();
    let worker = SysbenchWorker::new(program, &mut connection, client_idx, 42).unwrap();
    (worker, connection)
}

fn run(worker: &mut SysbenchWorker, connection: &mut Recorder, n: u32) -> u64 {
    let mut n_answered = 0;
    for _ in 0..n {
        worker.event(connection, &mut |_| n_answered += 1).unwrap();
    }
    n_answered
}

/// The numbers in brackets of a recorded line.
fn numbers(line: &str) -> Vec<u64> {
    line.split('[').skip(1).filter_map(|part| part.split(']').next()?.parse().ok()).collect()
}

fn args(tables: u32, rows: u64) -> SuiteArgs {
    SuiteArgs { tables, rows, ..Size::Tiny.args() }
}

#[test]
fn a_seed_gives_the_same_events_again_and_clients_differ() {
    let args = args(3, 1000);
    let (mut one, mut log) = worker("read-write_range=10", &args, Dbms::Mysql, 0);
    run(&mut one, &mut log, 20);
    let first = std::mem::take(&mut log.log);
    Worker::<Recorder>::reseed(&mut one, 42);
    run(&mut one, &mut log, 20);
    assert_eq!(first, log.log);
    Worker::<Recorder>::reseed(&mut one, 43);
    log.log.clear();
    run(&mut one, &mut log, 20);
    assert_ne!(first, log.log);
    let (mut other, mut log) = worker("read-write_range=10", &args, Dbms::Mysql, 1);
    run(&mut other, &mut log, 20);
    assert_ne!(first, log.log);
}

#[test]
fn steps_with_one_seed_never_write_the_same_string() {
    let args = args(1, 1000);
    let mut seen = std::collections::HashSet::new();
    let suite = Suite::sysbench().unwrap();
    let writes_strings =
        |step: &&crate::Step| step.event.iter().any(|part| part.statement.sql.contains("SET c=?"));
    let steps: Vec<&str> =
        suite.steps.iter().filter(writes_strings).map(|step| step.name.as_str()).collect();
    assert!(steps.contains(&"update-inlist") && steps.contains(&"write-only"), "{steps:?}");
    for step in &steps {
        let (mut one, mut log) = worker(step, &args, Dbms::Mysql, 0);
        run(&mut one, &mut log, 5);
        for line in log.log.iter().filter(|line| line.contains("SET c=?")) {
            let c = line.split(['[', ']']).nth(1).unwrap();
            assert!(seen.insert(c.to_owned()), "{step}: {line}");
        }
    }
    assert_eq!(seen.len(), 5 * steps.len());
}

#[test]
fn queries_per_event_are_those_of_the_field() {
    let mut args = args(1, 100_000);
    for (step, with, without) in [
        ("read-only_range=100", 16, 14),
        ("read-write_range=100", 20, 18),
        ("write-only", 6, 4),
        ("read-only-sum", 3, 1),
        ("read-only-count", 1, 1),
        ("point-query", 1, 1),
    ] {
        for (skip_trx, expected) in [(false, with), (true, without)] {
            args.skip_trx = skip_trx;
            let (mut one, mut log) = worker(step, &args, Dbms::Postgres, 0);
            assert_eq!(run(&mut one, &mut log, 1), expected, "{step}");
            assert_eq!(log.log.len() as u64, expected, "{step}");
            assert_eq!(u64::from(one.program.statements_per_event()), expected, "{step}");
        }
    }
}

#[test]
fn what_is_deleted_comes_back_in_the_same_table() {
    let (mut one, mut log) = worker("write-only", &args(4, 50), Dbms::Mysql, 0);
    run(&mut one, &mut log, 200);
    let mut tables = std::collections::BTreeSet::new();
    for pair in log.log.windows(2).filter(|pair| pair[0].starts_with("DELETE")) {
        let table = pair[0].split(' ').nth(2).unwrap();
        assert!(pair[1].starts_with(&format!("INSERT INTO {table} ")), "{pair:?}");
        assert_eq!(numbers(&pair[0])[0], numbers(&pair[1])[0]);
        tables.insert(table.to_owned());
    }
    assert_eq!(tables.len(), 4);
}

#[test]
fn ranges_and_lists_are_as_long_as_the_step_says() {
    let args = args(1, 1000);
    for (step, span) in
        [("read-only-simple", 999), ("range-covered-pk", 100), ("range-notcovered-si", 100)]
    {
        let (mut one, mut log) = worker(step, &args, Dbms::Mysql, 0);
        run(&mut one, &mut log, 50);
        for line in log.log.iter().filter(|line| line.contains("BETWEEN")) {
            let ends = numbers(line);
            assert_eq!(ends[1] - ends[0], span, "{line}");
        }
    }
    let (mut one, mut log) = worker("hot-points", &args, Dbms::Mysql, 0);
    run(&mut one, &mut log, 2);
    assert_eq!(numbers(&log.log[0]), (501..=600).collect::<Vec<u64>>());
    assert_eq!(log.log[0], log.log[1]);
    let (mut one, mut log) = worker("random-points_range=1000", &args, Dbms::Mysql, 0);
    run(&mut one, &mut log, 1);
    assert_eq!(numbers(&log.log[0]).len(), 1000);
}

#[test]
fn every_client_updates_the_same_row_in_update_one() {
    for client_idx in 0..3 {
        let (mut one, mut log) = worker("update-one", &args(1, 1000), Dbms::Mysql, client_idx);
        run(&mut one, &mut log, 10);
        assert!(log.log.iter().all(|line| line.ends_with(" [1]")), "{:?}", log.log);
    }
}

#[test]
fn a_client_scans_its_own_table_and_counts_its_rows() {
    let args = args(3, 1000);
    for (client_idx, table) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
        let (mut one, mut log) = worker("scan", &args, Dbms::Mysql, client_idx);
        run(&mut one, &mut log, 2);
        let expected = format!("SELECT * FROM sbtest{table} WHERE LENGTH(c) < 0");
        assert!(log.log.iter().all(|line| *line == expected), "{:?}", log.log);
        assert!(log.prepared.iter().all(|(_, protocol, _)| *protocol == Protocol::Text));
        assert_eq!(Worker::<Recorder>::operations_per_statement(&one), 1000);
    }
}

#[test]
fn text_mode_prepares_nothing_on_the_server() {
    let args = SuiteArgs { protocol: Protocol::Text, ..args(1, 1000) };
    for dbms in [Dbms::Mysql, Dbms::Postgres] {
        let (mut one, mut log) = worker("read-write_range=10", &args, dbms, 0);
        run(&mut one, &mut log, 1);
        assert!(log.prepared.iter().all(|(_, protocol, _)| *protocol == Protocol::Text));
        assert_eq!(log.log.first().map(String::as_str), Some("BEGIN"));
        assert_eq!(log.log.last().map(String::as_str), Some("COMMIT"));
    }
}

/// What the first event of a step says when the connection misbehaves as told.
fn complaint(step: &str, args: &SuiteArgs, affected: u64, missing_rows: u64) -> Option<String> {
    let (mut one, mut connection) = worker(step, args, Dbms::Postgres, 0);
    connection.affected = affected;
    connection.missing_rows = missing_rows;
    one.event(&mut connection, &mut |_| ()).err().map(|error| error.to_string())
}

#[test]
fn a_broken_run_is_said_to_be_one() {
    let args = args(1, 100_000);
    let broken = |statement: &str, got: u64, expected: &str| {
        Some(format!("statement {statement:?} returned {got} rows, expected {expected}"))
    };
    let point = "SELECT c FROM sbtest1 WHERE id=?";
    assert_eq!(complaint("point-query", &args, 1, 0), None);
    assert_eq!(complaint("point-query", &args, 1, 1), broken(point, 0, "1"));
    assert_eq!(complaint("read-write_range=100", &args, 1, 1), broken(point, 0, "1"));
    let range = "SELECT id FROM sbtest1 WHERE id BETWEEN ? AND ?";
    assert_eq!(complaint("range-covered-pk", &args, 1, 1), broken(range, 100, "101"));
    let update = "UPDATE sbtest1 SET k=k+1 WHERE id=?";
    assert_eq!(complaint("update-index", &args, 0, 0), broken(update, 0, "1"));
    assert!(complaint("hot-points", &args, 1, 1).unwrap().contains("99 rows, expected 100"));
    assert!(complaint("random-points_range=10", &args, 1, 10).unwrap().contains("1 to 10"));
    assert_eq!(complaint("random-points_range=10", &args, 1, 9), None);
    assert!(complaint("update-inlist", &args, 101, 0).unwrap().contains("1 to 100"));
}

#[test]
fn rows_are_not_checked_where_others_may_have_taken_them() {
    let mut args = args(1, 100_000);
    // Another client may hold the row deleted when this one updates or deletes it.
    assert_eq!(complaint("write-only", &args, 0, 0), None);
    assert_eq!(complaint("delete", &args, 0, 0), None);
    assert_eq!(complaint("insert", &args, 0, 0), None);
    // Without transactions, or without a unique id, rows can be lost or doubled.
    args.skip_trx = true;
    assert!(complaint("point-query.pre", &args, 1, 1).is_some());
    assert_eq!(complaint("point-query", &args, 1, 1), None);
    args.skip_trx = false;
    args.secondary = true;
    assert_eq!(complaint("point-query", &args, 1, 1), None);
}

#[test]
fn a_range_beyond_the_last_row_gives_what_is_there() {
    let args = args(1, 50);
    // n=100 on 50 rows: always clipped; between what is there and what was asked for will do.
    for (missing, fine) in [(0, true), (51, true), (100, false)] {
        let said = complaint("range-covered-pk", &args, 1, missing);
        assert_eq!(said.is_none(), fine, "{missing}: {said:?}");
    }
}

#[test]
fn only_transactions_are_rolled_back() {
    let args = args(1, 1000);
    for (step, expected) in [("write-only", vec!["ROLLBACK"]), ("update-index", vec![])] {
        let (mut one, mut connection) = worker(step, &args, Dbms::Mysql, 0);
        connection.failures = vec![ServerError {
            errno: 1213,
            sqlstate: "40001".to_owned(),
            message: "Deadlock found".to_owned(),
            notes: None,
        }];
        assert!(one.event(&mut connection, &mut |_| ()).is_err());
        connection.log.clear();
        one.roll_back(&mut connection).unwrap();
        assert_eq!(connection.log, expected);
    }
}
