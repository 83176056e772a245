//! Query plans in reports: told where they differ, and where they do not.

use expect_test::expect;
use rqps_analysis::gate::Gate;
use rqps_analysis::{Analysis, Bar};
use rqps_model::query_plan::{Path, PlanKind};
use rqps_model::{Dbms, QueryPlan, Run};
use rqps_report::{Detail, TextOptions, csv, gate, json, markdown, text, warning};
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
    let count = "not compared: 1 of 1 statements";
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

/// A read on four starts of two servers, of which the candidate is 20% faster on the third.
fn on_starts() -> Run {
    let on_a_start = |log: f64| {
        vec![blocks::reads("point-query", &[log + 0.01, log - 0.01, log + 0.01, log - 0.01])]
    };
    let logs = [0.0, 0.0, 0.18, 0.0];
    let mut run = blocks::run(&logs.map(on_a_start));
    let lookup = plan(Path::Lookup, Some("PRIMARY"), false);
    for system in run.steps.iter_mut().flat_map(|step| &mut step.systems) {
        system.plans = vec![lookup.clone()];
    }
    run
}

/// The same, with another plan on the third start of a system.
fn with_another_plan(system: usize, other: QueryPlan) -> Run {
    let mut run = on_starts();
    run.steps[2].systems[system].plans = vec![other];
    run
}

fn with_kind(kind: PlanKind) -> QueryPlan {
    let mut plan = plan(Path::Lookup, Some("PRIMARY"), false);
    plan.shape.as_mut().unwrap().kind = Some(kind);
    plan
}

#[test]
fn a_step_whose_starts_ran_one_plan_has_a_verdict() {
    let run = on_starts();
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    assert!(cell.verdict().is_some() && cell.bar().is_none());
    assert!(cell.plan_ratios().is_empty() && cell.warnings.is_empty(), "{:?}", cell.warnings);
    // On the third start the server said nothing: that is no other plan.
    let unknown = QueryPlan::without(Dbms::Mariadb, "SELECT 1".to_owned(), "it is busy");
    let run = with_another_plan(1, unknown);
    assert!(Analysis::of(&run, 0.05).steps[0].cells[1].verdict().is_some());
}

#[test]
fn a_start_on_another_plan_takes_the_verdict_away() {
    for system in [0, 1] {
        let run = with_another_plan(system, plan(Path::WholeTable, None, false));
        let analysis = Analysis::of(&run, 0.05);
        let cell = &analysis.steps[0].cells[1];
        assert_eq!((cell.bar(), cell.verdict()), (Some(Bar::Plans), None));
        assert!(
            cell.comparable_rqps().is_none()
                && cell.comparison().unwrap().rqps.adjusted_p.is_none()
        );
        assert_eq!(analysis.headlines[0].counts.plans_vary, 1);
        let [usual, other] = cell.plan_ratios() else { panic!("{:?}", cell.plan_ratios()) };
        assert_eq!((usual.starts.as_slice(), usual.is_same), (&[0, 1, 3][..], true));
        assert_eq!((other.starts.as_slice(), other.is_same), (&[2][..], false));
        assert!((usual.rqps.point.ln() - 0.0).abs() < 1e-3, "{usual:?}");
        assert!((other.rqps.point.ln() - 0.18).abs() < 1e-3, "{other:?}");
        let of_warning = analysis.steps[0].cells[system].warnings.iter();
        let told: Vec<String> = of_warning.map(warning::detail).collect();
        let sql = "SELECT k FROM sbtest1 WHERE k BETWEEN ? AND ?";
        assert_eq!(
            told,
            [format!("lookup on PRIMARY (starts 1, 2 and 4) against full scan (start 3), {sql}")]
        );
    }
}

#[test]
fn a_start_on_another_kind_of_plan_does_so_too() {
    let mut run = with_another_plan(1, with_kind(PlanKind::Custom));
    for at in [0, 1, 3] {
        run.steps[at].systems[1].plans = vec![with_kind(PlanKind::Generic)];
    }
    assert_eq!(Analysis::of(&run, 0.05).steps[0].cells[1].bar(), Some(Bar::Plans));
    run.steps[2].systems[1].plans = vec![with_kind(PlanKind::Generic)];
    for at in 0..4 {
        run.steps[at].systems[0].plans = vec![with_kind(PlanKind::Custom)];
    }
    // One system generic, the other custom, each on all of its starts: a difference, and no mixture.
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(analysis.steps[0].cells[1].bar(), None);
    let said = words_of(&run, Detail::Full);
    let difference =
        "lookup on PRIMARY; custom plan on the base, lookup on PRIMARY; generic plan here";
    assert!(said.contains(difference), "{said}");
}

#[test]
fn all_formats_name_the_start_and_the_ratio_per_plan() {
    let run = with_another_plan(1, plan(Path::WholeTable, None, false));
    let said = words_of(&run, Detail::Summary);
    let start = "full scan on start 3 instead of lookup on PRIMARY on starts 1, 2 and 4 (SELECT k";
    let usual = "on starts 1, 2 and 4 (lookup on PRIMARY on both); 1.20";
    let other = "on start 3 (lookup on PRIMARY on the base, full scan here)";
    let analysis = Analysis::of(&run, 0.05);
    for text in [said, words_of(&run, Detail::Full), markdown::render(&analysis)] {
        for words in [start, usual, other] {
            assert!(text.contains(words), "no {words:?} in {text}");
        }
        assert!(text.contains("no verdict, because a server ran different query plans"), "{text}");
    }
    let value: Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    assert_eq!(schema::errors(&value), Vec::<String>::new());
    let result = &value["steps"][0]["systems"][1];
    assert_eq!((&result["verdict"], &result["no_verdict"]), (&Value::Null, &"plans vary".into()));
    assert_eq!(value["candidates"][0]["n_plans_vary"], 1);
    let plans = result["plan_variations"][0]["plans"].as_array().unwrap();
    let of = |at: usize| (plans[at]["words"].as_str().unwrap(), plans[at]["starts"].to_string());
    assert_eq!(of(0), ("lookup on PRIMARY", "[0,1,3]".to_owned()));
    assert_eq!(of(1), ("full scan", "[2]".to_owned()));
    let ratios = &result["plan_ratios"];
    assert_eq!((&ratios[0]["is_same"], &ratios[1]["is_same"]), (&true.into(), &false.into()));
    assert_eq!(
        (&ratios[1]["base"], &ratios[1]["system"]),
        (&"lookup on PRIMARY".into(), &"full scan".into())
    );
    assert!((ratios[1]["rqps"]["point"].as_f64().unwrap() - 1.197).abs() < 0.01, "{ratios}");
}

#[test]
fn sessions_that_ran_generic_and_custom_plans_take_the_verdict_away() {
    let mut run = on_starts();
    for step in &mut run.steps {
        step.systems[1].plans = vec![with_kind(PlanKind::Mixed)];
    }
    let of_one_start = Run { steps: vec![run.steps[0].clone()], ..run.clone() };
    for run in [run, of_one_start] {
        let analysis = Analysis::of(&run, 0.05);
        let cell = &analysis.steps[0].cells[1];
        assert_eq!((cell.bar(), cell.verdict()), (Some(Bar::Plans), None));
        assert!(cell.plan_ratios().is_empty());
        let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
        let said = text::render(&analysis, options);
        let words = "lookup on PRIMARY; generic and custom plans";
        assert!(said.contains(words) && !said.contains("instead of"), "{said}");
    }
}

#[test]
fn a_gate_calls_a_mixture_of_plans_unclear() {
    let run = with_another_plan(1, plan(Path::WholeTable, None, false));
    let analysis = Analysis::of(&run, 0.05);
    let gate = Gate::of(&analysis, false, |_, _| true).unwrap();
    let told = gate::reason(&gate, &gate.judged[0].outcome).unwrap();
    assert!(told.starts_with("a server ran different query plans"), "{told}");
}

#[test]
fn steps_that_one_start_has_twice_are_no_matter_of_starts() {
    let mut run = with_another_plan(1, plan(Path::WholeTable, None, false));
    for step in &mut run.steps {
        step.start = 0;
    }
    let analysis = Analysis::of(&run, 0.05);
    let cells = analysis.steps.iter().flat_map(|step| &step.cells);
    assert!(cells.map(|cell| cell.bar()).all(|bar| bar.is_none()));
}
