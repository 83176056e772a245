//! The gate: goldens of every format, and what passes, what fails and what is no judgement.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_analysis::gate::{Gate, GateError, Outcome, Passage};
use rqps_model::run::Check;
use rqps_model::slice::Lateness;
use rqps_model::{Run, RunStatus, StepKind, StepOutcome, SystemSource, WarningKind};
use rqps_report::gate::{errors, json, junit, markdown, reason, sentence, text};

use rqps_fixtures::blocks::{self, Wanted, around, reads};
use rqps_fixtures::{self as fixture, inserts};

/// Two candidates with every outcome that there is.
fn demo() -> Run {
    let mut run = fixture::demo();
    run.id = "20261121-203015-demo".to_owned();
    run
}

/// What a run that finished on every step says when all ratios are as they are.
fn judged(run: &Run, bound: f64, allow_unfinished: bool) -> (Passage, Vec<String>, String) {
    let analysis = Analysis::of(run, bound);
    let gate = Gate::of(&analysis, allow_unfinished, |_, _| true).unwrap();
    (gate.passage(), errors(&gate), sentence(&gate))
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
    let gate = Gate::of(&analysis, false, |_, _| true).unwrap();
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
    assert!(sentence.starts_with("my8033.small is slower than my5614.small by 5% or more on "));
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
    assert!(sentence.contains("1 of 4 steps without a valid result; "), "{sentence}");
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
    // So it is where the base comes last and was not reached there.
    let mut run = sound();
    run.status = RunStatus::Interrupted;
    run.steps[0].systems[0] = rqps_model::SystemStep::pending();
    run.steps[0].systems[1].outcome = StepOutcome::Failed { reason: "it broke".to_owned() };
    let (passage, errors, _) = judged(&run, 0.5, true);
    assert_eq!(passage, Passage::Error);
    assert_eq!(errors, ["point-query.pre: failed on my8033.small: it broke"]);
}

#[test]
fn only_chosen_steps_are_judged_and_loads_never() {
    let run = fixture::pair();
    let analysis = Analysis::of(&run, 0.05);
    let gate = Gate::of(&analysis, false, |step, _| step.name.starts_with("scan")).unwrap();
    assert_eq!(gate.judged.len(), 1);
    let error = Gate::of(&analysis, false, |step, _| step.name == "load").unwrap_err();
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
    let error = Gate::of(&analysis, false, |_, _| true).unwrap_err().to_string();
    assert!(error.contains("has no candidate") && error.contains("--base SYSTEM --vs SYSTEM"));
}

#[test]
fn hostile_text_stays_text() {
    for hostile in
        ["<a>&\"'\u{1b}[31m\u{202e}", "|`*]](x)<!-- -->\n]]>", "@all https://x.org www.x.org"]
    {
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
        let gate = Gate::of(&analysis, false, |_, _| true).unwrap();
        let xml = junit::render(&gate);
        assert!(!xml.contains("<a>") && !xml.contains("<!--") && !xml.contains("]]>"), "{xml}");
        assert_eq!(xml.matches("<testcase ").count(), gate.judged.len());
        assert_eq!(xml.matches('"').count() % 2, 0);
        for out in [xml, markdown::render(&gate), text::render(&gate, false, 100)] {
            assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
        }
        assert!(!markdown::render(&gate).contains("<a>"));
        let comment = markdown::render(&gate);
        let links = ["@all", "https://", "www.x"];
        assert!(links.iter().all(|link| !comment.contains(link)), "{comment}");
    }
}

#[test]
fn the_answer_follows_its_schema() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/reference/gate.schema.json")).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let many = doubtful_among(19);
    for run in [demo(), sound(), many, inserts::run(), at_a_rate()] {
        let analysis = Analysis::of(&run, 0.05);
        let gate = Gate::of(&analysis, true, |_, _| true).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json::render(&gate)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

/// Everything on one line, so that a sentence is found wherever lines break.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What every format says of a run.
fn formats(run: &Run) -> Vec<String> {
    let analysis = Analysis::of(run, 0.05);
    let gate = Gate::of(&analysis, false, |_, _| true).unwrap();
    let all = [
        text::render(&gate, false, 100),
        markdown::render(&gate),
        json::render(&gate),
        junit::render(&gate),
    ];
    all.iter().map(|text| flat(text)).collect()
}

fn outcomes(run: &Run, allow_unfinished: bool) -> (Passage, Vec<Outcome>) {
    let analysis = Analysis::of(run, 0.05);
    let gate = Gate::of(&analysis, allow_unfinished, |_, _| true).unwrap();
    (gate.passage(), gate.judged.iter().map(|judged| judged.outcome.clone()).collect())
}

/// A base that swapped is slower than it is, and the ratio looks better than it is.
#[test]
fn warnings_with_the_base_are_those_of_the_ratio() {
    let mut run = sound();
    run.steps.truncate(1);
    run.steps[0].systems[0].slices[1].warnings.push(WarningKind::Swapped { pages: 70 });
    let analysis = Analysis::of(&run, 0.05);
    assert!(analysis.steps[0].cells[1].warnings.is_empty());
    let [text, comment, json, xml] = formats(&run).try_into().unwrap();
    for out in [&text, &comment] {
        assert!(out.contains("slower (a)") || out.contains("**slower** | (a)"), "{out}");
        assert!(out.contains("the host swapped"), "{out}");
        assert!(out.contains("letters in brackets: warnings of the base my5614.small."), "{out}");
    }
    assert!(json.contains("\"a swapped: on the base, 70 pages\""), "{json}");
    assert!(xml.contains("<system-out>a swapped: on the base, 70 pages</system-out>"), "{xml}");
}

#[test]
fn every_format_says_how_far_it_can_be_trusted() {
    let mut run = sound();
    run.n_resumed = 2;
    for out in formats(&run) {
        for caveat in [
            "The systems were measured one after the other",
            "Each server was started once",
            "The run was interrupted and resumed 2 times.",
        ] {
            assert!(out.contains(caveat), "{caveat} is not in {out}");
        }
    }
}

/// Eight percent slower with p of about 0.03, beside `n` calm steps.
fn doubtful_among(n: usize) -> Run {
    let mut steps = vec![reads("doubtful", &around(-0.08, 0.1, 12))];
    steps.extend((0..n).map(|i| reads(&format!("calm-{i}"), &around(0.0, 0.01, 12))));
    blocks::without_servers(blocks::run(&[steps]))
}

fn unclear(run: &Run) -> String {
    let analysis = Analysis::of(run, 0.05);
    let gate = Gate::of(&analysis, false, |_, _| true).unwrap();
    assert_eq!(gate.passage(), Passage::Passed);
    let outcome = &gate.judged[0].outcome;
    assert!(matches!(outcome, Outcome::Unclear(_)), "{outcome:?}");
    reason(&gate, outcome).unwrap()
}

#[test]
fn what_fell_among_many_says_so_and_when_it_would_be_settled() {
    let run = doubtful_among(19);
    let reason = unclear(&run);
    assert!(reason.starts_with("slower on its own (p 0.0"), "{reason}");
    assert!(
        reason.ends_with(", but not after adjustment for all 20 ratios of the run"),
        "{reason}"
    );
    let [text, comment, json, xml] = formats(&run).try_into().unwrap();
    let settle = "more would settle it with a chance of 80%";
    assert!(xml.contains(settle) && json.contains(settle), "{xml}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["results"][0]["to_settle"]["seconds"].as_f64().unwrap() > 0.0, "{json}");
    for out in [text, comment] {
        assert!(out.contains("unclear +") && out.contains("+ after unclear: how much"), "{out}");
    }
}

#[test]
fn where_starts_decide_no_time_is_asked_for() {
    let of = |middle: f64| vec![reads("point-query", &around(middle, 0.001, 8))];
    let run = blocks::run(&[of(-0.14), of(-0.02)]);
    assert_eq!(unclear(&run), "the interval is too wide to decide on a slowdown of 5%");
    for out in formats(&run) {
        assert!(!out.contains("measure longer"), "{out}");
        assert!(out.contains("starts") && !out.contains(" min more"), "{out}");
    }
}

#[test]
fn where_the_work_is_fixed_no_time_is_asked_for() {
    let index = |logs: &[f64]| {
        let logs = logs.to_vec();
        Wanted { name: "create-index".to_owned(), kind: StepKind::Index, logs }
    };
    let run = blocks::run(&[vec![index(&[-0.1])]]);
    let fixed = "the work is fixed, so only more loads (`loads`) measure more of it";
    assert_eq!(unclear(&run), format!("one slice or block has no interval; {fixed}"));
    let run = blocks::run(&[vec![index(&[-0.2, 0.1, -0.1])]]);
    assert!(unclear(&run).ends_with(fixed), "{}", unclear(&run));
}

/// The pair's queries came at a rate.
fn at_a_rate() -> Run {
    let mut run = sound();
    for slice in run.steps[0].systems.iter_mut().flat_map(|system| &mut system.slices) {
        slice.lateness = Some(Lateness { n_due: 1000, ..Lateness::default() });
    }
    run
}

#[test]
fn what_ran_at_a_set_rate_is_not_judged_and_never_passed() {
    let mut run = at_a_rate();
    let (_, all) = outcomes(&run, false);
    let n_judged = all.iter().filter(|o| !matches!(o, Outcome::NotJudged(_))).count();
    assert_eq!((all.len(), n_judged), (3, 2), "{all:?}");
    let [text, comment, json, xml] = formats(&run).try_into().unwrap();
    for out in [text, comment] {
        assert!(out.contains("not judged: point-query.pre: a rate was set"), "{out}");
    }
    assert!(json.contains("\"n_not_judged\": 1") && xml.contains("skipped=\"1\""), "{xml}");
    // Where that is all, there is no judgement.
    run.steps.truncate(1);
    let (passage, errors, sentence) = judged(&run, 0.05, false);
    assert_eq!(passage, Passage::Error, "{sentence}");
    assert!(errors[0].contains("can be judged: a rate was set, so QPS are that"), "{errors:?}");
}

#[test]
fn of_imported_figures_it_is_said_that_they_are() {
    let mut run = sound();
    for system in &mut run.systems {
        system.spec.source = SystemSource::Imported;
    }
    let (passage, errors, sentence) = judged(&run, 0.05, false);
    assert_eq!(passage, Passage::Error, "{sentence}");
    let wanted =
        "can be judged: its results were imported, one of each (n=1), so there is no verdict";
    assert!(errors.len() == 1 && errors[0].ends_with(wanted), "{errors:?}");
}

#[test]
fn why_there_is_no_ratio_is_told_as_it_is() {
    let run = blocks::run(&[vec![reads("point-query", &around(0.0, 0.001, 8))]]);
    let errors = |change: &dyn Fn(usize, &mut rqps_model::Slice)| {
        let mut run = run.clone();
        run.steps[0].systems[1].slices.iter_mut().enumerate().for_each(|(at, s)| change(at, s));
        judged(&run, 0.05, false).1
    };
    // Its server could not be started at first, and it was measured alone an hour later.
    let alone = errors(&|_, slice| slice.start_unix_ms += 3_600_000);
    let wanted = "point-query: it was not measured beside the base, so there is no ratio";
    assert_eq!(alone, [wanted]);
    let nothing = errors(&|at, slice| slice.n_operations *= u64::from(at != 3));
    let wanted = "point-query: a slice finished no operation, so there is no ratio";
    assert_eq!(nothing, [wanted]);
}

#[test]
fn a_rate_that_one_side_did_not_hold_is_judged_by_what_came() {
    let (_, free) = outcomes(&sound(), false);
    let mut run = at_a_rate();
    for slice in &mut run.steps[0].systems[1].slices {
        slice.lateness = Some(Lateness { n_due: 1000, n_missed: 200, ..Lateness::default() });
    }
    let (_, all) = outcomes(&run, false);
    assert_eq!(format!("{all:?}"), format!("{free:?}"));
}

#[test]
fn a_step_that_did_other_work_is_an_error_on_either_side() {
    for (idx, who) in [(0, "the base my5614.small"), (1, "my8033.small")] {
        let mut run = sound();
        let check = |passed, found: &str| Check {
            name: "rows per query".to_owned(),
            passed,
            found: found.to_owned(),
        };
        run.steps[0].systems[idx].checks = vec![check(true, "1 of 1"), check(false, "3 of 100")];
        let (passage, errors, _) = judged(&run, 0.05, false);
        assert_eq!(passage, Passage::Error);
        let wanted = format!(
            "point-query.pre: on {who} a check of its work failed (rows per query, 3 of 100)"
        );
        assert_eq!(errors, [wanted]);
    }
}

/// An insert rate that was not held is no slowdown of 5%, and is told as what it is.
#[test]
fn an_insert_rate_that_was_not_held_is_no_slowdown_of_so_much() {
    let mut run = inserts::run();
    run.steps.retain(|step| step.info.name == "qp1000");
    let (passage, errors, sentence) = judged(&run, 0.05, false);
    assert_eq!((passage, errors), (Passage::Slower, vec![]), "{sentence}");
    let wanted = "a candidate is slower than my5614.small by 5% or more on 1 of 2 comparisons, \
                  and did not hold an insert rate that my5614.small held on 1 of 2 comparisons.";
    assert_eq!(sentence, wanted);
    run.systems.remove(1);
    run.steps[0].systems.remove(1);
    let (passage, _, sentence) = judged(&run, 0.05, false);
    assert_eq!(passage, Passage::Slower);
    let wanted =
        "ma110405.small did not hold an insert rate that my5614.small held on 1 of 1 step.";
    assert_eq!(sentence, wanted);
    let xml = formats(&run).remove(3);
    assert!(xml.contains("<failure type=\"sla-failed\""), "{xml}");
    // Where the base fails, nobody is judged.
    run.base = 1;
    let (passage, errors, _) = judged(&run, 0.05, false);
    assert_eq!(passage, Passage::Error);
    assert_eq!(errors, ["qp1000: the base ma110405.small did not hold its insert rate"]);
}

/// Whoever reads the file alone sees that there was no judgement.
#[test]
fn the_file_is_red_wherever_the_exit_code_is_2() {
    let mut run = sound();
    run.status = RunStatus::Interrupted;
    for step in &mut run.steps {
        step.systems[1] = rqps_model::SystemStep::pending();
    }
    for (run, allow_unfinished, n_errors) in
        [(&run, true, 1), (&run, false, 4), (&fixture::pair(), false, 1)]
    {
        let analysis = Analysis::of(run, 0.05);
        let gate = Gate::of(&analysis, allow_unfinished, |_, _| true).unwrap();
        assert_eq!(gate.passage(), Passage::Error);
        let xml = junit::render(&gate);
        assert_eq!(xml.matches("<error ").count(), n_errors, "{xml}");
        assert!(xml.contains(&format!("errors=\"{n_errors}\"")), "{xml}");
        let n_tests = xml.matches("<testcase ").count();
        assert!(xml.contains(&format!("tests=\"{n_tests}\"")), "{xml}");
    }
    let xml = junit::of_error("no run matches \"<x>\"");
    assert!(xml.contains("errors=\"1\"") && xml.contains("&quot;&lt;x&gt;&quot;"), "{xml}");
}
