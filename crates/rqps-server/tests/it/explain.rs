//! Query plans of real servers: the shapes of the benchmark's statements, and that nothing is done.

use rqps_client::{Connection, ParamType, Protocol};
use rqps_model::query_plan::Asked;
use rqps_model::{Dbms, QueryPlan, Transport};
use rqps_server::explain::{Question, explain};

use crate::bench::{for_each_server, watched};

const ROWS: u32 = 20_000;

fn fill(dbms: Dbms, connection: &mut dyn Connection) {
    let engine = if dbms.is_mysql_family() { " engine=innodb" } else { "" };
    let sql = format!(
        "create table sbtest1 (id int primary key, k int not null, c varchar(120) not null){engine}"
    );
    connection.query(&sql).unwrap();
    for start in (0..ROWS).step_by(5000) {
        let row = |i: u32| format!("({i},{},'{i:0>100}')", i * 7919 % ROWS);
        let rows: Vec<String> = (start..start + 5000).map(row).collect();
        connection.query(&format!("insert into sbtest1 values {}", rows.join(","))).unwrap();
    }
    connection.query("create index k_1 on sbtest1 (k)").unwrap();
    let statistics =
        if dbms.is_mysql_family() { "analyze table sbtest1" } else { "vacuum analyze sbtest1" };
    connection.query(statistics).unwrap();
}

#[test]
fn statements_of_the_benchmark_have_their_plans() {
    for_each_server(|bench, dbms, version| {
        let instance = bench.instance(dbms, version, Transport::Socket);
        let server = watched(|w| instance.start(None, w)).unwrap();
        let mut connection = server.connect().unwrap();
        fill(dbms, connection.as_mut());
        let is_postgres = dbms == Dbms::Postgres;
        let ask = |connection: &mut dyn Connection, sql: &str, protocol| -> QueryPlan {
            let n = sql.matches('?').count();
            let types = vec![ParamType::Int; n];
            let draw = |i: usize| (0..n).map(|at| (5000 + i * 10 + at * 90).to_string()).collect();
            let values: Vec<Vec<String>> = (0..6).map(draw).collect();
            let (types, values) = (&types, &values);
            let question = Question { sql, shown: sql, protocol, types, values, prepared_as: None };
            let plan = explain(dbms, Some(server.version()), connection, &question);
            eprintln!("{sql}: {}\n{}", plan.words(), plan.text);
            plan
        };
        let mut begins = |connection: &mut dyn Connection, sql: &str, words: &str| {
            let plan = ask(connection, sql, Protocol::Prepared);
            assert!(plan.words().starts_with(words), "{sql}: {} {}", plan.words(), plan.text);
            if sql.contains('?') && plan.shape.is_some() {
                assert_eq!(plan.asked, Asked::Prepared, "{sql}: {}", plan.text);
            }
            plan
        };
        let admin = connection.as_mut();
        begins(admin, "SELECT c FROM sbtest1 WHERE id=?", "lookup on PRIMARY");
        begins(admin, "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", "range on PRIMARY");
        let list = ["?"; 10].join(", ");
        begins(admin, &format!("SELECT c FROM sbtest1 WHERE id IN ({list})"), "range on PRIMARY");
        let covered = "SELECT k FROM sbtest1 WHERE k BETWEEN ? AND ?";
        // PostgreSQL may find the way over the table cheaper.
        let is_covering = if is_postgres { "" } else { ", covering" };
        begins(admin, covered, &format!("range on k_1{is_covering}"));
        begins(admin, "SELECT k, c FROM sbtest1 WHERE k BETWEEN ? AND ?", "range on k_1");
        let sorted = "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c";
        let plan = begins(admin, sorted, "range on PRIMARY");
        assert!(plan.words().contains("sort"), "{}", plan.words());
        begins(admin, "SELECT * FROM sbtest1 WHERE LENGTH(c) < 0", "full scan");
        let is_old = dbms == Dbms::Mysql && !server.version().at_least(&[5, 6, 3]);
        for sql in ["UPDATE sbtest1 SET k=k+1 WHERE id=?", "DELETE FROM sbtest1 WHERE id=?"] {
            let plan = ask_write(&mut begins, admin, sql, is_old);
            assert!(plan.shape.is_none_or(|shape| shape.is_write), "{sql}");
        }
        if is_postgres {
            let plan = begins(admin, "SELECT c FROM sbtest1 WHERE id=?", "lookup on PRIMARY");
            assert!(plan.words().contains("generic plan"), "{}", plan.words());
        }
        // Nothing was done by asking, and nothing is left behind.
        let count = admin.query("select count(*) from sbtest1").unwrap();
        assert_eq!(count.scalar(), Some(ROWS.to_string().as_str()));
        let drop = if is_postgres { "drop index k_1" } else { "drop index k_1 on sbtest1" };
        admin.query(drop).unwrap();
        begins(admin, covered, "full scan");
        drop_server(server, instance);
    });
}

fn ask_write(
    begins: &mut dyn FnMut(&mut dyn Connection, &str, &str) -> QueryPlan,
    admin: &mut dyn Connection,
    sql: &str,
    is_old: bool,
) -> QueryPlan {
    let plan = begins(admin, sql, if is_old { "not explained: MySQL explains" } else { "" });
    let words = plan.words();
    let is_by_key = words.starts_with("range on PRIMARY") || words.starts_with("lookup on PRIMARY");
    assert!(is_old || is_by_key, "{sql}: {words} {}", plan.text);
    plan
}

fn drop_server(server: rqps_server::RunningServer, instance: rqps_server::Instance) {
    drop(server);
    instance.remove().unwrap();
}
