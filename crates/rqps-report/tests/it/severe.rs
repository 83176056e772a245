//! The seed's mistake and its like cannot be overlooked: a severe difference stands in the first line
//! of every format.

use rqps_analysis::gate::Gate;
use rqps_analysis::{Analysis, Joined};
use rqps_model::{Dbms, Run, StepKind, Transport};
use rqps_report::gate;
use rqps_report::warning::InWords;
use rqps_report::{Detail, TextOptions, csv, json, markdown, text};
use serde_json::Value;

use rqps_fixtures::{self as fixture, info, step};

/// Two versions, one of which encrypts its connections.
fn tls_on_one() -> Run {
    let mut systems =
        vec![fixture::system(Dbms::Mysql, "5.6.14"), fixture::system(Dbms::Mysql, "8.0.33")];
    systems[1].spec.transport = Transport::Tls;
    systems[1].session.insert("transport".to_owned(), "tls".to_owned());
    systems[1].session.insert("tls".to_owned(), "TLSv1.3 TLS_AES_256_GCM_SHA384".to_owned());
    let point = info("point-query", StepKind::Read, rqps_model::Group::Point);
    fixture::run(systems, vec![step(point, 20_000.0, 20.0, &[(1.0, 1.0), (0.7, 1.4)])])
}

const SAID: &str =
    "Severe: The benchmark's sessions differ in tls: no TLS on my5614.small, TLSv1.3";

/// The first line of a text that has a word in it, without marks of formats.
fn first(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches(['!', '>', ' ']).replace(['*', '\\'], "").replace("Warning: ", "")
}

#[test]
fn tls_on_one_of_two_systems_is_in_the_first_line_of_every_report() {
    let run = tls_on_one();
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(
        analysis.warnings_by_weight().0.len(),
        1,
        "{:?}",
        InWords::of(&analysis).before_reading()
    );
    for detail in [Detail::Summary, Detail::Full] {
        let options = TextOptions { colour: true, detail, width: text::WIDTH };
        let said = text::render(&analysis, options);
        assert!(first(&said).starts_with(SAID), "{}", first(&said));
    }
    let said = first(&markdown::render(&analysis));
    assert!(said.starts_with(SAID), "{said}");
    let value: Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    assert!(value["severe"][0].as_str().unwrap().starts_with(SAID), "{}", value["severe"]);
    assert_eq!(value["severe"][0], value["warnings"][0]);
    let sheet = csv::render(&analysis);
    assert!(sheet.lines().skip(1).all(|line| line.contains(SAID)), "{sheet}");
}

#[test]
fn gate_and_comparison_say_it_first_too() {
    let run = tls_on_one();
    let analysis = Analysis::of(&run, 0.05);
    let gate = Gate::of(&analysis, false, |_, _| true).unwrap();
    let said = gate::text::render(&gate, false, 100);
    assert!(first(&said).starts_with(SAID), "{said}");
    let said = first(&gate::markdown::render(&gate));
    assert!(said.starts_with(SAID), "{said}");
    let value: Value = serde_json::from_str(&gate::json::render(&gate)).unwrap();
    assert!(value["severe"][0].as_str().unwrap().starts_with(SAID));
    assert!(gate::junit::render(&gate).contains("<property name=\"severe\" value=\"Severe: "));
    // Two runs whose systems are alike within each.
    let mut parts = [run.clone(), run];
    for (at, part) in parts.iter_mut().enumerate() {
        part.id = format!("20261121-20301{at}-part");
        part.systems = vec![part.systems[at].clone()];
        part.steps[0].systems = vec![part.steps[0].systems[at].clone()];
    }
    let joined =
        Joined::of(parts.to_vec(), None, &["rqps".to_owned(), "compare".to_owned()]).unwrap();
    let analysis = Analysis::of_joined(&joined, 0.05);
    let options = TextOptions { colour: false, detail: Detail::Summary, width: text::WIDTH };
    let said = text::render(&analysis, options);
    assert!(first(&said).starts_with(SAID), "{said}");
}

#[test]
fn systems_that_are_alike_say_nothing() {
    let mut run = tls_on_one();
    run.systems[1].session = run.systems[0].session.clone();
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(
        analysis.warnings_by_weight().0.len(),
        0,
        "{:?}",
        InWords::of(&analysis).before_reading()
    );
    let value: Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    assert_eq!(value["severe"], serde_json::json!([]));
}

#[test]
fn tables_of_other_sizes_are_said() {
    let mut run = tls_on_one();
    run.systems[1].session = run.systems[0].session.clone();
    let bytes = &mut run.steps[0].systems[1].sizes.database_bytes;
    *bytes = bytes.map(|n| n * 2);
    let warnings = InWords::of(&Analysis::of(&run, 0.05)).before_reading();
    let is_said = |w: &String| w.contains("Tables with the same rows differ in size");
    assert!(warnings.iter().any(is_said), "{warnings:?}");
    // Another engine keeps its rows in another way.
    run.systems[1].spec.engine = rqps_model::Engine::Rocksdb;
    let warnings = InWords::of(&Analysis::of(&run, 0.05)).before_reading();
    assert!(!warnings.iter().any(is_said), "{warnings:?}");
}
