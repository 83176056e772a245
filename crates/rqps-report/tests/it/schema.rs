//! The published schema describes what is written, and nothing else passes it.

use rqps_analysis::Analysis;
use rqps_report::json;
use serde_json::Value;

use rqps_fixtures::blocks::{self, around, reads};
use rqps_fixtures::{self as fixture, inserts};

fn validator() -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/report.schema.json"))
            .unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

pub(crate) fn errors(value: &Value) -> Vec<String> {
    validator().iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn reports_follow_the_published_schema() {
    let mut empty = fixture::demo();
    empty.steps.clear();
    // Unclear with a time, the same beyond chance, and several starts of the servers.
    let steps =
        || vec![reads("wide", &around(-0.05, 0.1, 12)), reads("small", &around(-0.02, 0.001, 12))];
    let (once, twice) = (blocks::run(&[steps()]), blocks::run(&[steps(), steps()]));
    let of_fixtures = [fixture::demo(), fixture::pair(), inserts::run()];
    for run in of_fixtures.into_iter().chain([empty, once, twice]) {
        let value: Value = serde_json::from_str(&json::render(&Analysis::of(&run, 0.05))).unwrap();
        assert_eq!(errors(&value), Vec::<String>::new());
    }
}

#[test]
fn the_schema_refuses_what_is_not_a_report() {
    let mut value: Value =
        serde_json::from_str(&json::render(&Analysis::of(&fixture::pair(), 0.05))).unwrap();
    value["steps"][0]["systems"][1]["verdict"] = "worse".into();
    value["surprise"] = 1.into();
    assert_eq!(errors(&value).len(), 2, "{:?}", errors(&value));
}

#[test]
fn where_a_step_alone_begins_on_other_tables_is_said() {
    let value: Value =
        serde_json::from_str(&json::render(&Analysis::of(&fixture::pair(), 0.05))).unwrap();
    let caution = |idx: usize| &value["steps"][idx]["repeat_caution"];
    // `insert` comes after `update-index`, on the same tables.
    assert_eq!(value["steps"][3]["name"], "insert");
    assert!(caution(3).as_str().unwrap().contains("newly filled tables"));
    assert!((0..3).all(|idx| caution(idx).is_null()), "nothing was written before them");
}
