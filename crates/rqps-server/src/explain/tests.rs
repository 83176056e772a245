//! What servers of several versions say, read into shapes; and how they are asked.

use std::collections::VecDeque;
use std::time::Duration;

use expect_test::expect;
use rqps_client::{
    Breaker, Outcome, ParamType, Params, ResultSet, ServerError, Session, StatementId,
    StatementSpec,
};

use super::*;
use crate::dbms::mysql::explain as mysql;
use crate::dbms::postgres::explain as postgres;

/// A table of EXPLAIN, columns separated by bars.
fn table(lines: &[&str]) -> ResultSet {
    let cells = |line: &str| -> Vec<String> {
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let columns = cells(lines[0]);
    let null = |cell: String| (cell != "NULL").then_some(cell);
    let row = |line: &&str| cells(line).into_iter().map(null).collect();
    ResultSet { columns, rows: lines[1..].iter().map(row).collect(), affected: 0 }
}

const OF_55: &str = "id|select_type|table|type|possible_keys|key|key_len|ref|rows|Extra";
const OF_57: &str =
    "id|select_type|table|partitions|type|possible_keys|key|key_len|ref|rows|filtered|Extra";

fn mysql(lines: &[&str]) -> String {
    mysql::parse(&table(lines)).map_or_else(|reason| reason, |shape| shape.words())
}

#[test]
fn tables_of_mysql() {
    for (lines, words) in [
        (
            &[OF_55, "1|SIMPLE|sbtest1|const|PRIMARY|PRIMARY|4|const|1|NULL"][..],
            "lookup on PRIMARY",
        ),
        (
            &[OF_55, "1|SIMPLE|sbtest1|range|k_1|k_1|4|NULL|100|Using where; Using index"],
            "range on k_1, covering",
        ),
        // The primary key is the table itself, whether a version says that it covers a query or not.
        (
            &[OF_55, "1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|9|Using where; Using index"],
            "range on PRIMARY",
        ),
        // The same range that 5.6 reads with a condition in the index, 5.5 without.
        (&[OF_55, "1|SIMPLE|sbtest1|range|k_1|k_1|4|NULL|100|Using where"], "range on k_1"),
        (
            &[OF_57, "1|SIMPLE|sbtest1|NULL|range|k_1|k_1|4|NULL|100|100.00|Using index condition"],
            "range on k_1; index condition",
        ),
        (
            &[
                OF_57,
                "1|SIMPLE|sbtest1|NULL|range|k_1|k_1|4|NULL|100|100.00|Using index condition; Using MRR",
            ],
            "range on k_1; multi-range read; index condition",
        ),
        (
            &[
                OF_57,
                "1|SIMPLE|sbtest1|NULL|range|PRIMARY|PRIMARY|4|NULL|99|100.00|Using where; Using temporary; Using filesort",
            ],
            "range on PRIMARY; sort; temporary table",
        ),
        (
            &[OF_57, "1|SIMPLE|sbtest1|NULL|ALL|NULL|NULL|NULL|NULL|986|100.00|Using where"],
            "full scan",
        ),
        (
            &[OF_57, "1|SIMPLE|sbtest1|NULL|index|NULL|k_1|4|NULL|986|100.00|Using index"],
            "full scan of index k_1, covering",
        ),
        // The same rows as those of ALL, in the order of the key.
        (
            &[OF_57, "1|SIMPLE|sbtest1|NULL|index|NULL|PRIMARY|4|NULL|986|100.00|Using index"],
            "full scan",
        ),
        (
            &[
                OF_57,
                "1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|no matching row in const table",
            ],
            "nothing is read",
        ),
        (
            &[OF_57, "1|UPDATE|sbtest1|NULL|range|PRIMARY|PRIMARY|4|const|1|100.00|Using where"],
            "range on PRIMARY",
        ),
        (
            &[
                OF_57,
                "1|SIMPLE|t|NULL|index_merge|k_1,PRIMARY|k_1,PRIMARY|8,4|NULL|2|100.00|Using intersect(k_1,PRIMARY); Using where",
            ],
            "range on k_1+PRIMARY; index merge",
        ),
        (
            &[
                OF_57,
                "1|SIMPLE|a|NULL|ALL|NULL|NULL|NULL|NULL|10|100.00|NULL",
                "1|SIMPLE|b|NULL|ALL|NULL|NULL|NULL|NULL|10|10.00|Using where; Using join buffer (hash join)",
            ],
            "a: full scan; b: full scan; hash join; join buffer",
        ),
        (
            &[
                OF_57,
                "1|SIMPLE|t|NULL|range|k_2|k_2|8|NULL|10|100.00|Using where; Using index for skip scan",
            ],
            "range on k_2, covering; skip scan",
        ),
    ] {
        assert_eq!(mysql(lines), words, "{lines:?}");
    }
}

#[test]
fn tables_of_mariadb() {
    for (lines, words) in [
        (
            &[OF_55, "1|SIMPLE|sbtest1|range|k_1|k_1|4|NULL|100|Using where; Using index"][..],
            "range on k_1, covering",
        ),
        (
            &[
                OF_55,
                "1|SIMPLE|sbtest1|range|k_1|k_1|4|NULL|9|Using index condition; Rowid-ordered scan",
            ],
            "range on k_1; multi-range read; index condition",
        ),
        // An in-list that became a join with a table of its values.
        (
            &[
                OF_55,
                "1|PRIMARY|<subquery2>|ALL|distinct_key|NULL|NULL|NULL|1000|NULL",
                "1|PRIMARY|sbtest1|eq_ref|PRIMARY|PRIMARY|4|tvc_0._col_1|1|NULL",
                "2|MATERIALIZED|<derived3>|ALL|NULL|NULL|NULL|NULL|1000|NULL",
                "3|DERIVED|NULL|NULL|NULL|NULL|NULL|NULL|NULL|No tables used",
            ],
            "<subquery2>: full scan; sbtest1: lookup on PRIMARY; <derived3>: full scan; nested loop; materialise",
        ),
    ] {
        assert_eq!(mysql(lines), words, "{lines:?}");
    }
    // MariaDB writes a bar of its own, which is no border of columns.
    let filtered = "1|SIMPLE|t|x|a|x|4|NULL|9|Using where; Using rowid filter";
    let mut result = table(&[OF_55, filtered]);
    result.rows[0][3] = Some("range|filter".to_owned());
    result.rows[0][5] = Some("a|b".to_owned());
    assert_eq!(mysql::parse(&result).unwrap().words(), "range on a; rowid filter");
}

#[test]
fn tables_that_are_none_are_reasons() {
    let tree = table(&["EXPLAIN", "-> Rows fetched before execution"]);
    assert_eq!(mysql::parse(&tree), Err("EXPLAIN gave no column \"select_type\"".to_owned()));
    assert_eq!(mysql(&[OF_55]), "EXPLAIN gave no row");
    let odd = [OF_55, "1|SIMPLE|t|telepathy|NULL|NULL|NULL|NULL|1|NULL"];
    assert_eq!(mysql(&odd), "EXPLAIN has an access of type \"telepathy\", which is not known");
}

fn postgres(plan: &str) -> String {
    let text = format!("[{{\"Plan\": {plan}}}]");
    postgres::parse(&text).map_or_else(|reason| reason, |shape| shape.words())
}

const OLDEST: &str = "range on PRIMARY, covering; lookup on PRIMARY; nested loop; hash aggregate";

const OLDEST_BEFORE_14: &str = r#"{"Node Type": "ModifyTable", "Operation": "Delete",
    "Relation Name": "pi1", "Plans": [
      {"Node Type": "Nested Loop", "Parent Relationship": "Member", "Plans": [
        {"Node Type": "Aggregate", "Strategy": "Hashed", "Plans": [
          {"Node Type": "Append", "Plans": [
            {"Node Type": "Index Only Scan", "Index Name": "pi1_p0_pkey", "Relation Name": "pi1_p0",
             "Index Cond": "(transactionid >= 5)"},
            {"Node Type": "Index Only Scan", "Index Name": "pi1_p1_pkey", "Relation Name": "pi1_p1",
             "Index Cond": "(transactionid >= 5)"}]}]},
        {"Node Type": "Index Scan", "Index Name": "pi1_p0_pkey", "Relation Name": "pi1_p0",
         "Index Cond": "(transactionid = x.transactionid)"}]},
      {"Node Type": "Nested Loop", "Parent Relationship": "Member", "Plans": [
        {"Node Type": "Aggregate", "Strategy": "Hashed", "Plans": [
          {"Node Type": "Append", "Plans": [
            {"Node Type": "Index Only Scan", "Index Name": "pi1_p0_pkey", "Relation Name": "pi1_p0",
             "Index Cond": "(transactionid >= 5)"},
            {"Node Type": "Index Only Scan", "Index Name": "pi1_p1_pkey", "Relation Name": "pi1_p1",
             "Index Cond": "(transactionid >= 5)"}]}]},
        {"Node Type": "Index Scan", "Index Name": "pi1_p1_pkey", "Relation Name": "pi1_p1",
         "Index Cond": "(transactionid = x.transactionid)"}]}]}"#;

const OLDEST_SINCE_14: &str = r#"{"Node Type": "ModifyTable", "Operation": "Delete",
    "Relation Name": "pi1", "Plans": [
      {"Node Type": "Nested Loop", "Parent Relationship": "Outer", "Plans": [
        {"Node Type": "Aggregate", "Strategy": "Hashed", "Plans": [
          {"Node Type": "Append", "Plans": [
            {"Node Type": "Index Only Scan", "Index Name": "pi1_p0_pkey", "Relation Name": "pi1_p0",
             "Index Cond": "(transactionid >= 5)"},
            {"Node Type": "Index Only Scan", "Index Name": "pi1_p1_pkey", "Relation Name": "pi1_p1",
             "Index Cond": "(transactionid >= 5)"}]}]},
        {"Node Type": "Append", "Plans": [
          {"Node Type": "Index Scan", "Index Name": "pi1_p0_pkey", "Relation Name": "pi1_p0",
           "Index Cond": "(transactionid = x.transactionid)"},
          {"Node Type": "Index Scan", "Index Name": "pi1_p1_pkey", "Relation Name": "pi1_p1",
           "Index Cond": "(transactionid = x.transactionid)"}]}]}]}"#;

#[test]
fn plans_of_postgres() {
    for (plan, words) in [
        (
            r#"{"Node Type": "Index Scan", "Parallel Aware": false, "Scan Direction": "Forward",
                "Index Name": "sbtest1_pkey", "Relation Name": "sbtest1", "Alias": "sbtest1",
                "Index Cond": "(id = $1)"}"#,
            "lookup on PRIMARY",
        ),
        (
            r#"{"Node Type": "Index Only Scan", "Index Name": "k_1", "Relation Name": "sbtest1",
                "Index Cond": "((k >= 5) AND (k <= 105))"}"#,
            "range on k_1, covering",
        ),
        (
            r#"{"Node Type": "Bitmap Heap Scan", "Relation Name": "sbtest1",
                "Recheck Cond": "(id = ANY ('{1,2}'::integer[]))",
                "Plans": [{"Node Type": "Bitmap Index Scan", "Parent Relationship": "Outer",
                  "Index Name": "sbtest1_pkey", "Index Cond": "(id = ANY ('{1,2}'::integer[]))"}]}"#,
            "range on PRIMARY; bitmap",
        ),
        (
            r#"{"Node Type": "Gather", "Workers Planned": 2, "Single Copy": false,
                "Plans": [{"Node Type": "Seq Scan", "Parallel Aware": true,
                  "Relation Name": "sbtest1", "Filter": "(length(c) < 0)"}]}"#,
            "full scan; parallel",
        ),
        (
            r#"{"Node Type": "Unique", "Plans": [{"Node Type": "Sort", "Sort Key": ["c"],
                "Plans": [{"Node Type": "Index Scan", "Index Name": "sbtest1_pkey",
                  "Relation Name": "sbtest1", "Index Cond": "((id >= 5) AND (id <= 9))"}]}]}"#,
            "range on PRIMARY; sort",
        ),
        (
            r#"{"Node Type": "Aggregate", "Strategy": "Hashed", "Group Key": ["c"], "Plans": [
                {"Node Type": "Seq Scan", "Relation Name": "sbtest1"}]}"#,
            "full scan; hash aggregate",
        ),
        (
            r#"{"Node Type": "ModifyTable", "Operation": "Update", "Relation Name": "sbtest1",
                "Plans": [{"Node Type": "Index Scan", "Parent Relationship": "Outer",
                  "Index Name": "sbtest1_pkey", "Relation Name": "sbtest1", "Index Cond": "(id = 7)"}]}"#,
            "lookup on PRIMARY",
        ),
        (
            r#"{"Node Type": "ModifyTable", "Operation": "Delete", "Relation Name": "pi1", "Plans": [
                {"Node Type": "Nested Loop", "Join Type": "Inner", "Plans": [
                  {"Node Type": "Aggregate", "Strategy": "Hashed", "Plans": [
                    {"Node Type": "Subquery Scan", "Alias": "x", "Plans": [
                      {"Node Type": "Limit", "Plans": [{"Node Type": "Index Only Scan",
                        "Index Name": "pi1_pkey", "Relation Name": "pi1",
                        "Index Cond": "(transactionid >= 5)"}]}]}]},
                  {"Node Type": "Index Scan", "Index Name": "pi1_pkey", "Relation Name": "pi1",
                    "Index Cond": "(transactionid = x.transactionid)"}]}]}"#,
            "range on PRIMARY, covering; lookup on PRIMARY; nested loop; hash aggregate",
        ),
        (r#"{"Node Type": "Result", "One-Time Filter": "false"}"#, "nothing is read"),
    ] {
        assert_eq!(postgres(plan), words, "{plan}");
    }
    assert!(postgres::parse("gibberish").unwrap_err().starts_with("EXPLAIN gave no JSON"));
    assert_eq!(postgres::parse("[]").unwrap_err(), "EXPLAIN gave no plan");
}

/// Partitions are one table: what is done to each of them alike is told once.
#[test]
fn plans_of_partitions_in_postgres() {
    for (plan, words) in [
        (
            r#"{"Node Type": "Append", "Plans": [
                {"Node Type": "Index Scan", "Index Name": "pi1_p0_price_idx", "Relation Name": "pi1_p0",
                 "Index Cond": "(price >= 5)"},
                {"Node Type": "Index Scan", "Index Name": "pi1_p1_price_idx", "Relation Name": "pi1_p1",
                 "Index Cond": "(price >= 5)"}]}"#,
            "range on price_idx",
        ),
        // Rows to be changed in partitions: a plan for each before 14, one that appends them since.
        (
            r#"{"Node Type": "ModifyTable", "Operation": "Update", "Relation Name": "t", "Plans": [
                {"Node Type": "Index Scan", "Parent Relationship": "Member",
                 "Index Name": "t_p0_pkey", "Relation Name": "t_p0", "Index Cond": "(id = $1)"},
                {"Node Type": "Index Scan", "Parent Relationship": "Member",
                 "Index Name": "t_p1_pkey", "Relation Name": "t_p1", "Index Cond": "(id = $1)"}]}"#,
            "lookup on PRIMARY",
        ),
        (
            r#"{"Node Type": "ModifyTable", "Operation": "Update", "Relation Name": "t", "Plans": [
                {"Node Type": "Append", "Parent Relationship": "Outer", "Plans": [
                  {"Node Type": "Index Scan", "Parent Relationship": "Member",
                   "Index Name": "t_p0_pkey", "Relation Name": "t_p0", "Index Cond": "(id = $1)"},
                  {"Node Type": "Index Scan", "Parent Relationship": "Member",
                   "Index Name": "t_p1_pkey", "Relation Name": "t_p1", "Index Cond": "(id = $1)"}]}]}"#,
            "lookup on PRIMARY",
        ),
        // The oldest rows, found in all partitions, then each partition's own.
        (OLDEST_BEFORE_14, OLDEST),
        (OLDEST_SINCE_14, OLDEST),
    ] {
        assert_eq!(postgres(plan), words, "{plan}");
    }
}

/// Answers in turn, and writes down what it was asked.
struct Scripted {
    answers: VecDeque<Result<ResultSet, Error>>,
    asked: Vec<String>,
    session: Session,
}

impl Scripted {
    fn new(answers: Vec<Result<ResultSet, Error>>) -> Self {
        Self { answers: answers.into(), asked: Vec::new(), session: Session::default() }
    }
}

impl Connection for Scripted {
    fn prepare(&mut self, _: &StatementSpec<'_>) -> Result<StatementId, Error> {
        unreachable!("EXPLAIN is asked as text")
    }
    fn execute(&mut self, _: StatementId, _: &Params) -> Result<Outcome, Error> {
        unreachable!("nothing is executed")
    }
    fn execute_text(&mut self, _: &[u8]) -> Result<Outcome, Error> {
        unreachable!("nothing is executed")
    }
    fn query(&mut self, sql: &str) -> Result<ResultSet, Error> {
        self.asked.push(sql.to_owned());
        self.answers.pop_front().unwrap_or_else(|| Ok(ResultSet::default()))
    }
    fn session(&self) -> &Session {
        &self.session
    }
    fn set_timeout(&mut self, _: Option<Duration>) -> Result<(), Error> {
        Ok(())
    }
    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(Breaker::Null)
    }
}

fn question<'a>(sql: &'a str, values: &'a [Vec<String>]) -> Question<'a> {
    let types = if values.is_empty() { &[][..] } else { &[ParamType::Int][..] };
    Question { sql, shown: sql, protocol: Protocol::Prepared, types, values, prepared_as: None }
}

fn draws(n: i32) -> Vec<Vec<String>> {
    (0..n).map(|i| vec![(i + 7).to_string()]).collect()
}

fn one_cell(text: &str) -> ResultSet {
    ResultSet {
        columns: vec!["QUERY PLAN".to_owned()],
        rows: vec![vec![Some(text.to_owned())]],
        affected: 0,
    }
}

#[test]
fn mysql_is_asked_for_the_plan_of_a_prepared_statement() {
    let answer = table(&[OF_55, "1|SIMPLE|t|const|PRIMARY|PRIMARY|4|const|1|NULL"]);
    let done = || Ok(ResultSet::default());
    let mut server = Scripted::new(vec![done(), done(), Ok(answer.clone()), done()]);
    let (values, version) = (draws(2), "8.0.33".parse().unwrap());
    let question = question("SELECT c FROM t WHERE id=?", &values);
    let plan = explain(Dbms::Mysql, Some(&version), &mut server, &question);
    expect![[r#"
        SET @rqps_explain_0 = 7
        PREPARE rqps_explain FROM 'EXPLAIN FORMAT=TRADITIONAL SELECT c FROM t WHERE id=?'
        EXECUTE rqps_explain USING @rqps_explain_0
        DEALLOCATE PREPARE rqps_explain"#]]
    .assert_eq(&server.asked.join("\n"));
    assert_eq!((plan.asked, plan.words()), (Asked::Prepared, "lookup on PRIMARY".to_owned()));
    assert!(plan.text.contains("\n1\tSIMPLE\tt\tconst\t"), "{}", plan.text);
    // A server that does not prepare EXPLAIN is asked with the values in the text.
    let refusal = ServerError {
        errno: 1295,
        sqlstate: "HY000".to_owned(),
        message: "This command is not supported in the prepared statement protocol yet".to_owned(),
        notes: None,
    };
    let mut server = Scripted::new(vec![done(), Err(Error::Server(refusal)), Ok(answer)]);
    let version = "5.5.34".parse().unwrap();
    let plan = explain(Dbms::Mysql, Some(&version), &mut server, &question);
    assert_eq!(server.asked.last().unwrap(), "EXPLAIN SELECT c FROM t WHERE id=7");
    assert_eq!((plan.asked, plan.words()), (Asked::Text, "lookup on PRIMARY".to_owned()));
}

#[test]
fn postgres_is_asked_until_it_has_decided_for_all_values() {
    let plan = |condition: &str| {
        format!(
            r#"[{{"Plan": {{"Node Type": "Index Scan", "Index Name": "t_pkey",
                "Relation Name": "t", "Index Cond": "(id = {condition})"}}}}]"#
        )
    };
    let mut answers = vec![Ok(ResultSet::default())];
    answers.extend((0..5).map(|i| Ok(one_cell(&plan(&i.to_string())))));
    answers.push(Ok(one_cell(&plan("$1"))));
    let mut server = Scripted::new(answers);
    let (values, version) = (draws(6), "17.4".parse().unwrap());
    let question = question("SELECT c FROM t WHERE id=?", &values);
    let found = explain(Dbms::Postgres, Some(&version), &mut server, &question);
    assert_eq!(server.asked[0], "PREPARE rqps_explain (int4) AS SELECT c FROM t WHERE id=$1");
    assert_eq!(server.asked[6], "EXPLAIN (COSTS OFF, FORMAT JSON) EXECUTE rqps_explain (12)");
    assert_eq!(server.asked[7], "DEALLOCATE rqps_explain");
    assert_eq!(found.words(), "lookup on PRIMARY; generic plan");
}

#[test]
fn postgres_is_asked_about_the_statement_that_a_session_has_executed() {
    let plan = r#"[{"Plan": {"Node Type": "Index Scan", "Index Name": "t_pkey",
        "Relation Name": "t", "Index Cond": "(id = 7)"}}]"#;
    let mut server = Scripted::new(vec![Ok(one_cell(plan))]);
    let (values, version) = (draws(6), "17.4".parse().unwrap());
    let question =
        Question { prepared_as: Some("s3"), ..question("SELECT c FROM t WHERE id=?", &values) };
    let found = explain(Dbms::Postgres, Some(&version), &mut server, &question);
    assert_eq!(server.asked, ["EXPLAIN (COSTS OFF, FORMAT JSON) EXECUTE s3 (7)"]);
    assert_eq!(found.words(), "lookup on PRIMARY; custom plan");
}

#[test]
fn postgres_lists_what_a_session_has_prepared() {
    let row = |cells: [&str; 4]| -> Vec<Option<String>> {
        cells.iter().map(|c| (*c != "NULL").then(|| (*c).to_owned())).collect()
    };
    let listed = |version: &str, cells| {
        let rows = vec![row(cells)];
        let result = ResultSet { columns: Vec::new(), rows, affected: 0 };
        let mut server = Scripted::new(vec![Ok(result)]);
        let version = version.parse().unwrap();
        let all = prepared_statements(Dbms::Postgres, Some(&version), &mut server).unwrap();
        (all, server.asked)
    };
    let sql = "SELECT c FROM t WHERE id=$1";
    let (all, asked) = listed("17.4", ["s0", sql, "90", "5"]);
    assert_eq!(
        asked,
        ["select name, statement, generic_plans, custom_plans from pg_prepared_statements"]
    );
    assert_eq!(all[0].sql, numbered("SELECT c FROM t WHERE id=?"));
    assert_eq!(all[0].executions, Some(Executions { n_generic: 90, n_custom: 5 }));
    let (all, asked) = listed("13.9", ["s0", sql, "NULL", "NULL"]);
    assert_eq!(asked, ["select name, statement, null, null from pg_prepared_statements"]);
    assert_eq!((all[0].name.as_str(), all[0].executions), ("s0", None));
    let mut mysql = Scripted::new(Vec::new());
    assert_eq!(prepared_statements(Dbms::Mysql, None, &mut mysql).unwrap(), []);
    assert!(mysql.asked.is_empty());
}

#[test]
fn what_cannot_be_explained_says_why() {
    let why = |dbms, version: &str, sql: &str| {
        let (version, values) = (version.parse().unwrap(), draws(1));
        let mut server = Scripted::new(Vec::new());
        let plan = explain(dbms, Some(&version), &mut server, &question(sql, &values));
        assert!(server.asked.is_empty() && plan.shape.is_none() && plan.asked == Asked::Never);
        plan.reason
    };
    assert_eq!(
        why(Dbms::Mysql, "5.5.9", "UPDATE t SET k=k+1 WHERE id=?"),
        "MySQL explains UPDATE and DELETE from 5.6.3 on"
    );
    assert_eq!(
        why(Dbms::Postgres, "17.4", "INSERT INTO t VALUES (?)"),
        "an INSERT of values reads nothing"
    );
    let version = "17.4".parse().unwrap();
    let error = Error::Server(ServerError {
        errno: 0,
        sqlstate: "42501".to_owned(),
        message: "permission denied".to_owned(),
        notes: None,
    });
    let mut server = Scripted::new(vec![Err(error)]);
    let plan = explain(Dbms::Postgres, Some(&version), &mut server, &question("SELECT 1", &[]));
    assert!(plan.shape.is_none() && plan.reason.contains("permission denied"), "{}", plan.reason);
}
