//! Query plans in reports: told where they differ, and where they do not.

use expect_test::expect;
use rqps_analysis::Analysis;
use rqps_model::query_plan::Path;
use rqps_model::{Dbms, QueryPlan, Run};
use rqps_report::{Detail, TextOptions, csv, json, markdown, text, warning};
use serde_json::Value;

use crate::schema;
use rqps_fixtures::blocks;
use rqps_fixtures::plans::{plan, run};
use rqps_fixtures::{self as fixture};

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

/// The text with one blank between words.
fn words_of(run: &Run, detail: Detail) -> String {
    let options = TextOptions { colour: false, detail, width: text::WIDTH };
    let said = text::render(&Analysis::of(run, 0.05), options);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn text_names_who_did_not_explain_a_statement() {
    let mut run = run();
    let sql = run.steps[1].systems[1].plans[0].sql.clone();
    run.steps[1].systems[1].plans = vec![QueryPlan::without(Dbms::Mysql, sql, "no right to")];
    let said = words_of(&run, Detail::Full);
    let plan = "query plan: lookup on PRIMARY on my5614.small / not explained: no right to on \
                my8033.small (SELECT k";
    assert!(said.contains(plan), "{said}");
    let count = "not compared on all systems: 1 of 1 statements";
    assert_eq!(said.matches(count).count(), 1, "{said}");
}

#[test]
fn text_in_full_leaves_no_difference_of_plans_out() {
    let mut run = run();
    let plans = |at: usize| run.steps[0].systems[at].plans[0].clone();
    let (base, vs) = (vec![plans(0); 14], vec![plans(1); 14]);
    run.steps[0].systems[0].plans = base;
    run.steps[0].systems[1].plans = vs;
    run.steps = vec![run.steps[0].clone(); 14];
    let sentence = "my8033.small: range on k_1, covering on the base, full scan here";
    let said = words_of(&run, Detail::Full);
    assert_eq!(said.matches(sentence).count(), 14 * 14);
    assert!(!said.contains("all of them: rqps report"), "it is this very report");
    let said = words_of(&run, Detail::Summary);
    assert!(said.contains("2 more; all of them: rqps report"), "{said}");
}

#[test]
fn the_other_formats_say_it_too() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let said = markdown::render(&analysis);
    assert!(said.contains("### Query plans that differ from the base's\n\n- range"), "{said}");
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

#[test]
fn plans_that_vary_from_start_to_start_are_told() {
    let on_a_start = || vec![blocks::reads("point-query", &[0.01, -0.01, 0.01, -0.01])];
    let mut run = blocks::run(&[on_a_start(), on_a_start(), on_a_start()]);
    let lookup = plan(Path::Lookup, Some("PRIMARY"), false);
    for system in run.steps.iter_mut().flat_map(|step| &mut step.systems) {
        system.plans = vec![lookup.clone()];
    }
    let notes = |run: &Run| {
        let analysis = Analysis::of(run, 0.05);
        let cells = analysis.steps.iter().flat_map(|step| &step.cells);
        let all = cells.flat_map(|cell| &cell.warnings);
        let varies = all.filter(|own| own.kind.key() == "plan-varies");
        varies.map(warning::detail).collect::<Vec<_>>()
    };
    assert_eq!(notes(&run), Vec::<String>::new());
    run.steps[1].systems[1].plans = vec![plan(Path::WholeTable, None, false)];
    let [told] = notes(&run).try_into().unwrap();
    expect!["lookup on PRIMARY (2 starts) against full scan (1 start), SELECT k FROM sbtest1 WHERE k BETWEEN ? AND ?"].assert_eq(&told);
    // A step that is there twice on one start is no matter of starts.
    for step in &mut run.steps {
        step.start = 0;
    }
    assert_eq!(notes(&run), Vec::<String>::new());
}
