//! The gate: goldens of every format, and what passes, what fails and what is no judgement.

use expect_test::expect_file;
use rqps_model::{Run, RunStatus, StepOutcome};
use rqps_report::Analysis;
use rqps_report::gate::{Gate, GateError, Passage, json, junit, markdown, text};

use crate::fixture;

/// Two candidates with every outcome that there is.
fn demo() -> Run {
    let mut run = fixture::demo();
    run.id = "20261121-203015-demo".to_owned();
    run
}

/// What a run that finished on every step says when all ratios are as they are.
fn judged(run: &Run, bound: f64, allow_unfinished: bool) -> (Passage, Vec<String>, String) {
    let analysis = Analysis::of(run, bound);
    let gate = Gate::of(&analysis, allow_unfinished, |_| true).unwrap();
    (gate.passage(), gate.errors(), gate.sentence())
}

/// The pair without the step that failed.
fn sound() -> Run {
    let mut run = fixture::pair();
    run.steps.retain(|step| step.info.name != "insert");
    run
}

#[test]
fn every_format_of_every_outcome() {
    let run = demo();
    let analysis = Analysis::of(&run, 0.05);
    let gate = Gate::of(&analysis, false, |_| true).unwrap();
    let out = text::render(&gate, false, 100);
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    expect_file!["../data/gate.txt"].assert_eq(&out);
    expect_file!["../data/gate.md"].assert_eq(&markdown::render(&gate));
    expect_file!["../data/gate.json"].assert_eq(&json::render(&gate));
    expect_file!["../data/gate.xml"].assert_eq(&junit::render(&gate));
}

#[test]
fn slower_fails_by_the_bound_that_was_given() {
    let (passage, errors, sentence) = judged(&sound(), 0.05, false);
    assert_eq!(passage, Passage::Slower, "{sentence}");
    assert!(errors.is_empty(), "{errors:?}");
    assert!(
        sentence.starts_with("my8033.small was found slower than my5614.small by 5% or more on ")
    );
    // 0.68 is slower by 32%: within what half allows.
    let (passage, _, sentence) = judged(&sound(), 0.5, false);
    assert_eq!(passage, Passage::Passed, "{sentence}");
}

#[test]
fn unclear_never_fails() {
    let mut run = sound();
    run.steps.retain(|step| step.info.name == "point-query.pre");
    // One slice has no interval, however slow it was.
    for system in &mut run.steps[0].systems {
        system.slices.truncate(1);
    }
    let (passage, errors, sentence) = judged(&run, 0.05, false);
    assert_eq!((passage, errors), (Passage::Passed, vec![]), "{sentence}");
    assert!(sentence.contains("(1 unclear)"), "{sentence}");
}

#[test]
fn what_has_no_figure_is_an_error_before_anything_slower() {
    let (passage, errors, sentence) = judged(&fixture::pair(), 0.05, false);
    assert_eq!(passage, Passage::Error, "{sentence}");
    assert_eq!(errors, ["insert: failed on my8033.small: the server ended while it was measured"]);
    assert!(sentence.contains("1 of 4 steps without a figure; "), "{sentence}");
    let mut run = sound();
    run.steps[0].systems[0].outcome = StepOutcome::Pending;
    run.steps[0].systems[0].slices.clear();
    let (passage, errors, _) = judged(&run, 0.05, false);
    assert_eq!(passage, Passage::Error);
    assert_eq!(errors, ["point-query.pre: not reached on the base my5614.small"]);
}

#[test]
fn an_unfinished_run_is_judged_only_when_that_is_allowed() {
    let mut run = sound();
    run.status = RunStatus::Interrupted;
    let (passage, errors, _) = judged(&run, 0.5, false);
    assert_eq!(passage, Passage::Error);
    assert!(
        errors[0].contains("not finished (interrupted)")
            && errors[0].contains("--allow-unfinished")
    );
    assert_eq!(judged(&run, 0.5, true).0, Passage::Passed);
    // What was not reached is then passed over, unless that is all.
    run.steps[0].systems[1] = rqps_model::SystemStep::pending();
    let (passage, errors, sentence) = judged(&run, 0.5, true);
    assert_eq!((passage, errors), (Passage::Passed, vec![]), "{sentence}");
    assert!(sentence.contains("1 not reached"), "{sentence}");
    for step in &mut run.steps {
        step.systems[1] = rqps_model::SystemStep::pending();
    }
    let (passage, errors, _) = judged(&run, 0.5, true);
    assert_eq!(passage, Passage::Error);
    assert!(errors[0].ends_with("was reached"), "{errors:?}");
    // A step that failed is an error whatever is allowed.
    run.steps[0].systems[1].outcome = StepOutcome::Failed { reason: "it broke".to_owned() };
    assert!(judged(&run, 0.5, true).1.iter().any(|e| e.contains("it broke")));
}

#[test]
fn only_chosen_steps_are_judged_and_loads_never() {
    let run = fixture::pair();
    let analysis = Analysis::of(&run, 0.05);
    let gate = Gate::of(&analysis, false, |step| step.name.starts_with("scan")).unwrap();
    assert_eq!(gate.judged.len(), 1);
    let error = Gate::of(&analysis, false, |step| step.name == "load").unwrap_err();
    assert!(matches!(&error, GateError::NoStep { .. }));
    assert!(
        error.to_string().contains("point-query.pre, scan, update-index and insert"),
        "{error}"
    );
}

#[test]
fn one_system_alone_is_refused_with_the_remedy() {
    let mut run = fixture::pair();
    run.systems.truncate(1);
    run.steps.iter_mut().for_each(|step| step.systems.truncate(1));
    let analysis = Analysis::of(&run, 0.05);
    let error = Gate::of(&analysis, false, |_| true).unwrap_err().to_string();
    assert!(error.contains("has no candidate") && error.contains("--base SYSTEM --vs SYSTEM"));
}

#[test]
fn hostile_text_stays_text() {
    for hostile in ["<a>&\"'\u{1b}[31m\u{202e}", "|`*]](x)<!-- -->\n]]>"] {
        let mut run = demo();
        run.id = hostile.to_owned();
        run.host.hostname = hostile.to_owned();
        for system in &mut run.systems {
            system.spec.label.0 += hostile;
        }
        for step in &mut run.steps {
            step.info.name += hostile;
            for system in &mut step.systems {
                if let StepOutcome::Failed { reason } = &mut system.outcome {
                    *reason = hostile.to_owned();
                }
            }
        }
        let analysis = Analysis::of(&run, 0.05);
        let gate = Gate::of(&analysis, false, |_| true).unwrap();
        let xml = junit::render(&gate);
        assert!(!xml.contains("<a>") && !xml.contains("<!--") && !xml.contains("]]>"), "{xml}");
        assert_eq!(xml.matches("<testcase ").count(), gate.judged.len());
        assert_eq!(xml.matches('"').count() % 2, 0);
        for out in [xml, markdown::render(&gate), text::render(&gate, false, 100)] {
            assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
        }
        assert!(!markdown::render(&gate).contains("<a>"));
    }
}

#[test]
fn the_answer_follows_its_schema() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/gate.schema.json")).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for run in [demo(), sound()] {
        let analysis = Analysis::of(&run, 0.05);
        let gate = Gate::of(&analysis, true, |_| true).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json::render(&gate)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}
