//! Query plans in reports: told where they differ, and where they do not.

use expect_test::expect;
use rqps_model::query_plan::{Access, Asked, Path};
use rqps_model::{Dbms, Group, PlanShape, QueryPlan, Run, StepKind};
use rqps_report::{Analysis, Detail, TextOptions, csv, html, json, markdown, text};
use serde_json::Value;

use crate::fixture::{self, info, step};
use crate::schema;

fn plan(path: Path, index: Option<&str>, is_covering: bool) -> QueryPlan {
    let sql = "SELECT k FROM sbtest1 WHERE k BETWEEN ? AND ?".to_owned();
    let index = index.map(str::to_owned);
    let access = Access { table: "sbtest1".to_owned(), path, index, is_covering };
    QueryPlan {
        asked: Asked::Prepared,
        shape: Some(PlanShape { accesses: vec![access], ..PlanShape::default() }),
        text: "id\tselect_type".to_owned(),
        ..QueryPlan::without(Dbms::Mysql, sql, "")
    }
}

/// Two steps, in one of which the candidate has lost its index.
fn run() -> Run {
    let systems =
        vec![fixture::system(Dbms::Mysql, "5.6.14"), fixture::system(Dbms::Mysql, "8.0.33")];
    let ratios = [(1.0, 1.0), (0.1, 9.0)];
    let of = |name: &str| step(info(name, StepKind::Read, Group::Range), 9_000.0, 80.0, &ratios);
    let mut steps = vec![of("range-covered-si"), of("point-query")];
    let range = || plan(Path::Range, Some("k_1"), true);
    let scan = plan(Path::WholeTable, None, false);
    steps[0].systems[0].plans = vec![range()];
    steps[0].systems[1].plans = vec![scan];
    for system in &mut steps[1].systems {
        system.plans = vec![plan(Path::Lookup, Some("PRIMARY"), false)];
    }
    fixture::run(systems, steps)
}

#[test]
fn text_says_where_plans_differ() {
    let run = run();
    let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
    let said = text::render(&Analysis::of(&run, 0.05), options);
    assert!(said.lines().all(|l| l.chars().count() <= text::WIDTH), "a line is too wide");
    let lines: Vec<&str> = said.lines().collect();
    let from = |word: &str, n: usize| {
        let at = lines.iter().position(|l| l.starts_with(word)).unwrap();
        lines[at..at + n].join("\n")
    };
    expect![[r#"
        Query plans that differ from the base's (base against system)
        range-covered-si, my8033.small: range on k_1, covering against full scan (SELECT k FROM sbtest1
        WHERE k BETWEEN ? AND ?)"#]]
    .assert_eq(&from("Query plans", 3));
    expect![[r#"
        --- query plans differ
        my8033.small: range on k_1, covering on the base, full scan here (SELECT k FROM sbtest1 WHERE k
        BETWEEN ? AND ?)"#]]
    .assert_eq(&from("--- query plans", 3));
    expect!["query plan: lookup on PRIMARY (SELECT k FROM sbtest1 WHERE k BETWEEN ? AND ?)"]
        .assert_eq(&from("query plan:", 1));
}

#[test]
fn the_other_formats_say_it_too() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let said = markdown::render(&analysis);
    assert!(said.contains("### Query plans that differ from the base's\n\n- range"), "{said}");
    let page = html::render(&analysis);
    assert!(page.contains("<section id=\"plans\""), "no section of its own");
    assert!(page.contains("<strong>differs: </strong>"), "not in the step");
    let value: Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    assert_eq!(schema::errors(&value), Vec::<String>::new());
    let result = &value["steps"][0]["systems"][1];
    assert_eq!(result["plans"][0]["words"], "full scan");
    expect![[r#"[{"aspects":["path","covering"],"base":"range on k_1, covering","sql":"SELECT k FROM sbtest1 WHERE k BETWEEN ? AND ?","system":"full scan"}]"#]]
        .assert_eq(&result["plan_difference"].to_string());
    assert_eq!(value["steps"][1]["systems"][1]["plan_difference"], Value::Null);
    let sheet = csv::render(&analysis);
    assert_eq!(sheet.matches("range on k_1, covering against full scan").count(), 1, "{sheet}");
}

#[test]
fn runs_without_plans_say_nothing_of_them() {
    let said = text::render(
        &Analysis::of(&fixture::pair(), 0.05),
        TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH },
    );
    assert!(!said.contains("query plan") && !said.contains("Query plan"), "{said}");
}
