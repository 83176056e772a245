//! The built-in suite against the field's table, short form and selections, and bad files.

use expect_test::expect;
use proptest::{prop_assume, proptest};
use rqps_model::{Group, StepKind};

use super::*;
use crate::Size;
use crate::step::Short;

fn names(suite: &Suite) -> Vec<&str> {
    suite.steps.iter().map(|step| step.name.as_str()).collect()
}

fn select(patterns: &[&str], form: Form) -> Suite {
    Suite::sysbench().unwrap().select(patterns, form).unwrap()
}

#[test]
fn the_suite_runs_in_the_order_of_the_field() {
    let suite = Suite::sysbench().unwrap();
    assert_eq!(suite.name, "sysbench");
    expect_test::expect![[r#"
        load
        create-index
        point-query.warm
        scan.warmpre
        point-query.pre
        random-points.pre_range=10
        random-points.pre_range=100
        random-points.pre_range=1000
        read-only.pre_range=10
        read-only.pre_range=100
        read-only.pre_range=10000
        points-covered-pk.pre
        points-notcovered-pk.pre
        points-covered-si.pre
        points-notcovered-si.pre
        range-covered-pk.pre
        range-notcovered-pk.pre
        range-covered-si.pre
        range-notcovered-si.pre
        update-inlist
        update-index
        update-nonindex
        update-one
        update-zipf
        write-only
        read-write_range=10
        read-write_range=100
        scan.warm
        scan
        read-only_range=10
        read-only_range=100
        read-only_range=10000
        read-only-simple
        read-only-sum
        read-only-order
        read-only-distinct
        read-only-count
        point-query
        random-points_range=10
        random-points_range=100
        random-points_range=1000
        hot-points
        points-covered-pk
        points-notcovered-pk
        range-covered-pk
        range-notcovered-pk
        points-covered-si.warm
        points-covered-si
        points-notcovered-si
        range-covered-si
        range-notcovered-si
        delete
        insert
    "#]]
    .assert_eq(&(names(&suite).join("\n") + "\n"));
}

#[test]
fn the_server_settles_after_the_load_and_after_the_heavy_writes() {
    let suite = Suite::sysbench().unwrap();
    let settled: Vec<&str> =
        suite.steps.iter().filter(|step| step.settle).map(|step| step.name.as_str()).collect();
    assert_eq!(settled, ["point-query.warm", "read-write_range=100"]);
}

#[test]
fn the_short_form_has_the_fields_32_figures() {
    let short = select(&[], Form::Short);
    let count = |group| short.steps.iter().filter(|step| step.group == group).count();
    assert_eq!(count(Group::Point), 9);
    assert_eq!(count(Group::Range), 5);
    assert_eq!(count(Group::RangeAggregate), 8);
    assert_eq!(count(Group::Write), 10);
    let others: Vec<&str> = short
        .steps
        .iter()
        .filter(|step| step.group == Group::Other)
        .map(|step| step.name.as_str())
        .collect();
    assert_eq!(
        others,
        [
            "load",
            "create-index",
            "point-query.warm",
            "scan.warmpre",
            "point-query.pre",
            "range-notcovered-si.pre",
            "scan.warm",
            "points-covered-si.warm",
        ]
    );
    assert!(short.steps.iter().all(|step| step.short != Short::No));
}

#[test]
fn a_selection_keeps_what_it_relies_on() {
    let always = ["load", "create-index", "point-query.warm", "scan.warmpre"];
    let with = |rest: &[&'static str]| [&always[..], rest].concat();
    assert_eq!(names(&select(&["scan"], Form::Full)), with(&["scan.warm", "scan"]));
    assert_eq!(
        names(&select(&["points-covered-si", "hot-points"], Form::Short)),
        with(&["hot-points", "points-covered-si.warm", "points-covered-si"])
    );
    assert_eq!(
        names(&select(&["random-points"], Form::Full)),
        with(&["random-points_range=10", "random-points_range=100", "random-points_range=1000"])
    );
    assert_eq!(names(&select(&["load"], Form::Full)), always);
    assert_eq!(names(&select(&["read-*=10"], Form::Short)).len(), 6);
    let all = Suite::sysbench().unwrap();
    assert_eq!(all.select::<&str>(&[], Form::Full).unwrap(), all);
    assert_eq!(all.select(&["*"], Form::Full).unwrap(), all);
}

#[test]
fn settling_moves_to_the_last_write_that_is_kept() {
    let settled = |patterns: &[&str]| -> Vec<String> {
        let suite = select(patterns, Form::Full);
        suite.steps.iter().filter(|step| step.settle).map(|step| step.name.clone()).collect()
    };
    assert_eq!(settled(&["point-query"]), ["point-query.warm"]);
    assert_eq!(settled(&["update-index", "point-query"]), ["point-query.warm", "update-index"]);
    assert_eq!(settled(&["update-*", "read-write*"]), ["point-query.warm", "read-write_range=100"]);
}

#[test]
fn a_name_that_no_step_has_is_refused_with_those_that_are_near() {
    let suite = Suite::sysbench().unwrap();
    let said = |pattern: &str, form| suite.select(&[pattern], form).unwrap_err().to_string();
    assert_eq!(
        said("point-querry", Form::Full),
        "suite sysbench has no step \"point-querry\"; \
         did you mean point-query, point-query.pre or point-query.warm?"
    );
    assert_eq!(
        said("random-points.pre", Form::Short),
        "suite sysbench has no step \"random-points.pre\"; \
         random-points.pre_range=10 is in the full form alone: write form = \"full\" or --form full"
    );
    assert!(suite.step("scna").unwrap_err().to_string().contains("did you mean scan"));
}

#[test]
fn steps_say_how_long_and_with_how_many_clients_they_run() {
    let suite = Suite::sysbench().unwrap();
    let mut args = Size::Medium.args();
    args.clients = vec![1, 16];
    args.times.write = std::time::Duration::from_secs(90);
    args.times.insert = std::time::Duration::from_secs(30);
    let facts = |name: &str| {
        let step = suite.step(name).unwrap();
        (step.slice_time(&args).as_secs(), step.clients(&args))
    };
    assert_eq!(facts("load"), (0, vec![16]));
    assert_eq!(facts("scan.warm"), (60, vec![4]));
    assert_eq!(facts("point-query"), (10, vec![1, 16]));
    assert_eq!(facts("delete"), (90, vec![1, 16]));
    assert_eq!(facts("insert"), (30, vec![1, 16]));
    assert_eq!(suite.step("scan.warm").unwrap().slice_time(&Size::Tiny.args()).as_secs(), 1);
}

#[test]
fn steps_say_what_they_do() {
    let suite = Suite::sysbench().unwrap();
    let args = Size::Tiny.args();
    let mut text = String::new();
    for name in [
        "load",
        "create-index",
        "read-write_range=100",
        "hot-points",
        "update-one",
        "update-zipf",
        "scan",
    ] {
        let info = suite.step(name).unwrap().info(&args);
        text += &format!("{}: {}\n", info.name, info.what);
    }
    expect![[r#"
        load: Fills 1 table of 100000 rows without index k, 1667 rows per INSERT.
        create-index: Creates index k on 1 table of 100000 rows, all tables at once; the rate counts the rows of the tables.
        read-write_range=100: An event is BEGIN; 10 times SELECT c FROM t WHERE id=?; SELECT c FROM t WHERE id BETWEEN ? AND ?; SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ?; SELECT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c; SELECT DISTINCT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c; UPDATE t SET k=k+1 WHERE id=?; UPDATE t SET c=? WHERE id=?; DELETE FROM t WHERE id=?; INSERT INTO t (id,k,c,pad) VALUES (?,?,?,?); COMMIT with n = 100; values uniform over 1 to 100000; prepared statements; 1 table of 100000 rows.
        hot-points: An event is SELECT c FROM t WHERE id IN (n values) with n = 100; prepared statements; 1 table of 100000 rows.
        update-one: An event is UPDATE t SET c=? WHERE id=?; values uniform over 1 to 1; prepared statements; 1 table of 100000 rows.
        update-zipf: An event is UPDATE t SET c=? WHERE id=?; values zipfian over 1 to 100000; prepared statements; 1 table of 100000 rows.
        scan: An event is SELECT * FROM t WHERE LENGTH(c) < 0; text protocol; 1 table of 100000 rows.
    "#]].assert_eq(&text);
}

#[test]
fn figures_count_rows_where_the_field_does() {
    let suite = Suite::sysbench().unwrap();
    for step in &suite.steps {
        let expected = match step.family.as_str() {
            "load" => "inserts/s",
            "create-index" => "indexed rows/s",
            "scan" | "scan.warm" | "scan.warmpre" => "rows/s",
            _ => "queries/s",
        };
        assert_eq!(step.figure.unit(), expected, "{}", step.name);
        let makes_tables = matches!(step.kind, StepKind::Load | StepKind::Index);
        assert_eq!(makes_tables, step.event.is_empty(), "{}", step.name);
    }
}

/// A small suite with one statement and one step after the load.
fn small(statement: &str, step: &str) -> String {
    format!(
        "name = \"mine\"\n\n[[statement]]\nname = \"one\"\n{statement}\n\n[[step]]\n\
         family = \"load\"\nkind = \"load\"\n\n[[step]]\nfamily = \"create-index\"\nkind = \"index\"\n\n\
         [[step]]\nfamily = \"a\"\n{step}\n"
    )
}

const STATEMENT: &str =
    "sql = \"SELECT c FROM {table} WHERE id=?\"\nparams = [\"id\"]\nexpect = \"1\"";
const STEP: &str = "kind = \"read\"\nevent = [\"one\"]";

#[test]
fn a_users_own_suite_is_read() {
    let suite = Suite::parse(&small(STATEMENT, STEP), "mine.toml").unwrap();
    assert_eq!(names(&suite), ["load", "create-index", "a"]);
    assert_eq!(suite.steps[2].group, Group::Other);
}

#[test]
fn a_short_form_without_figures_is_refused() {
    let said = |suite: &Suite, patterns: &[&str]| {
        suite.select(patterns, Form::Short).map_err(|error| error.to_string())
    };
    let wanted = "the short form of mine reports no step; write form = \"full\" or --form full";
    for short in ["", "\nshort = \"run\""] {
        let text = small(STATEMENT, &format!("{STEP}{short}"));
        let suite = Suite::parse(&text, "mine.toml").unwrap();
        assert_eq!(said(&suite, &[]).unwrap_err(), wanted, "{short}");
        assert_eq!(names(&suite.select::<&str>(&[], Form::Full).unwrap()).len(), 3);
        // A step that the short form lacks is named.
        assert_eq!(said(&suite, &["a"]).is_ok(), short.contains("run"));
    }
    let text = small(STATEMENT, &format!("{STEP}\nshort = \"figure\""));
    let suite = Suite::parse(&text, "mine.toml").unwrap();
    assert_eq!(names(&said(&suite, &[]).unwrap()), ["load", "create-index", "a"]);
    assert!(said(&Suite::sysbench().unwrap(), &[]).is_ok());
}

#[test]
fn bad_files_are_refused_by_line_key_and_remedy() {
    let in_statement = |text: &str| small(text, STEP);
    let in_step = |text: &str| small(STATEMENT, text);
    let sql = |sql: &str, rest: &str| in_statement(&format!("sql = \"{sql}\"\n{rest}"));
    let cases = [
        "name = ".to_owned(),
        "name = \"mine\"\ncolour = 1\n".to_owned(),
        "name = \"mine\"\n".to_owned(),
        in_statement(&STATEMENT.replace("\"id\"]", "\"uuid\"]")),
        in_statement(&STATEMENT.replace("\"1\"", "\"2\"")),
        in_statement(&STATEMENT.replace("\"1\"", "\"range\"")),
        in_statement(&STATEMENT.replace("[\"id\"]", "[\"id\", \"k\"]")),
        sql("SELECT 1", "expect = \"1\""),
        sql("TRUNCATE {table}", "expect = \"any\""),
        sql("SELECT c FROM {table} WHERE {what}", "expect = \"any\""),
        sql("SELECT c FROM {table} WHERE id IN ({list})", "params=[\"id\"]\nexpect = \"any\""),
        in_statement(&format!("{STATEMENT}\nsql_postgres = \"DELETE FROM {{table}}\"")),
        in_step(&format!("{STEP}\nfigure = \"rows-indexed\"")),
        in_step("kind = \"reed\"\nevent = [\"one\"]"),
        in_step("kind = \"read\"\nevent = [\"two\"]"),
        in_step("kind = \"read\"\nevent = [\"one * x\"]"),
        in_step("kind = \"read\""),
        in_step("kind = \"load\""),
        small(STATEMENT, STEP).replace("kind = \"index\"", "kind = \"read\""),
        small(STATEMENT, STEP).replace("kind = \"index\"", "kind = \"index\"\ngroup = \"write\""),
        in_step(&format!("{STEP}\nn = []")),
        in_step(&format!("{STEP}\nn = [100, 0]")),
        in_step(&format!("{STEP}\nrows = 0")),
        in_step(&format!("{STEP}\nseconds = 0")),
        in_step(&format!("{STEP}\nneeds = [\"b\"]")),
        in_step(&format!("{STEP}\nsettles = true")),
        in_step(&format!("{STEP}\n[[step]]\nfamily = \"a\"\n{STEP}")),
        in_step(&format!("{STEP}\n[[step]]\nfamily = \"A b\"\n{STEP}")),
        small(
            "sql = \"UPDATE {table} SET k=? WHERE id=?\"\nparams = [\"k\", \"id\"]\nexpect = \"1\"",
            STEP,
        ),
        small(
            "sql = \"SELECT c FROM {table} WHERE id IN ({list})\"\nparams = [\"ids\"]\nexpect = \"1..n\"",
            STEP,
        ),
        sql("SELECT c FROM {table} WHERE id=?", "params = [\"same-id\"]\nexpect = \"1\""),
    ];
    let mut text = String::new();
    for case in cases {
        text += &format!("{}\n", Suite::parse(&case, "mine.toml").unwrap_err());
    }
    expect![[r#"
        mine.toml:1: string values must be quoted, expected literal string
        mine.toml:2: unknown field `colour`, expected one of `name`, `statement`, `step`
        mine.toml:1: step: the first step does not load the tables; begin with a [[step]] of kind = "load"
        mine.toml:6: unknown variant `uuid`, expected one of `id`, `same-id`, `id+n-1`, `id+n`, `ids`, `hot-ids`, `k`, `k+n`, `ks`, `c`, `pad`
        mine.toml:7: unknown variant `2`, expected one of `0`, `1`, `range`, `1..n`, `any`
        mine.toml:7: expect: the statement has no range and no list of ids to count; use "0", "1" or "any"
        mine.toml:5: sql: placeholders are [?], params need [? ?]; give one parameter per placeholder, in order; ids, hot-ids and ks fill a {list}
        mine.toml:5: sql: {table} must occur exactly once; write {table} in place of the table's name; for a table of your own, write it into a comment: /* {table} */
        mine.toml:5: sql: unknown kind of statement; begin with SELECT, INSERT, UPDATE or DELETE
        mine.toml:5: sql: unknown word in braces; use {table} and {list}, and ? for one parameter
        mine.toml:5: sql: placeholders are [{list}], params need [?]; give one parameter per placeholder, in order; ids, hot-ids and ks fill a {list}
        mine.toml:8: sql_postgres: not the same kind of statement as `sql`; begin with SELECT, INSERT, UPDATE or DELETE
        mine.toml:21: figure: a step of kind read cannot count indexed rows; leave `figure` out: the load and the indexes count rows, other steps count queries
        mine.toml:19: unknown variant `reed`, expected one of `load`, `index`, `read`, `write`, `insert`, `warm-up`; did you mean `read`?
        mine.toml:20: event: statement "two" is not defined; defined statements: one
        mine.toml:20: event: "one * x" has no valid count; write "name * 10", up to 10000
        mine.toml:18: event: the step has no event; list the names of statements in `event`
        mine.toml:19: kind: only the first step is a load, and only the second creates indexes; begin with a step of kind "load" and a step of kind "index"
        mine.toml:15: kind: only the first step is a load, and only the second creates indexes; begin with a step of kind "load" and a step of kind "index"
        mine.toml:14: group: a step that fills or indexes tables has no group; leave `group` out
        mine.toml:21: n: [] is out of range; give numbers from 1 to 30000
        mine.toml:21: n: [100, 0] is out of range; give numbers from 1 to 30000
        mine.toml:21: rows: 0 is out of range; give 1 or more
        mine.toml:21: seconds: 0 is out of range; give 1 or more
        mine.toml:21: needs: no earlier step is named "b"; name an earlier step
        mine.toml:21: unknown field `settles`, expected one of `family`, `n`, `kind`, `group`, `figure`, `event`, `transaction`, `clients`, `seconds`, `distribution`, `rows`, `settle`, `always`, `needs`, `short`; did you mean `settle`?
        mine.toml:22: family: step "a" is defined twice; give it another family or n
        mine.toml:22: family: "A b" is not a valid name; use small letters, digits, `-`, `_` and `.`
        mine.toml:20: event: statement one writes, but a step of this kind only reads; write kind = "write" or "insert"
        mine.toml:20: event: statement one needs n, but the step has none; write n = [100]
        mine.toml:20: event: one: "same-id" comes before any id or k; draw an id or a k before it
    "#]].assert_eq(&text);
}

proptest! {
    #[test]
    fn no_file_makes_the_reader_panic(at in 0_usize..10_300, n in 0_usize..60, put in ".{0,20}") {
        let text = Suite::SYSBENCH_TOML;
        let end = at + n;
        prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(end));
        let changed = format!("{}{put}{}", &text[..at], &text[end..]);
        if let Err(error) = Suite::parse(&changed, "x.toml") {
            assert!(error.to_string().starts_with("x.toml:"), "{error}");
        }
    }
}
