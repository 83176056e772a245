//! What holds for every run: swapped sides, hostile text, nothing measured, page size.

use proptest::prelude::*;
use rqps_analysis::Analysis;
use rqps_model::run::SystemStep;
use rqps_model::{Group, Run, StepKind, StepOutcome};
use rqps_report::warning::InWords;
use rqps_report::{Detail, TextOptions, csv, json, markdown, post, text};

use rqps_fixtures as fixture;
use rqps_fixtures::hostile;

const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "a|b`c*d_e[f](g)<!--",
    "\u{202e}evil\u{1b}[31m\n\r\t=1+1",
    "مرحبا بالعالم </style></title></summary>",
];

fn full() -> TextOptions {
    TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH }
}

#[test]
fn hostile_text_stays_text_in_every_format() {
    for text in HOSTILE {
        let run = hostile::run(text);
        let analysis = Analysis::of(&run, 0.05);
        let post = post::render(std::slice::from_ref(&analysis));
        for out in [text::render(&analysis, full()), markdown::render(&analysis), post] {
            assert!(!out.contains(['\u{1b}', '\u{202e}', '\r']), "{text:?}");
        }
        let plain = markdown::render(&analysis).replace("\\`", "");
        let outside_code: String = plain.split('`').step_by(2).collect();
        assert!(!outside_code.contains("<script") && !outside_code.contains("<img"), "{text:?}");
        let rows = csv::render(&analysis);
        assert!(!rows.contains('\u{1b}') && !rows.contains(",=1"), "{text:?}");
        let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
        assert_eq!(value["run"]["name"], run.name.as_str());
    }
}

#[test]
fn long_names_stay_within_the_text_width() {
    let run = hostile::run(&"x".repeat(300));
    let analysis = Analysis::of(&run, 0.05);
    let out = text::render(&analysis, full());
    // Of a post the tables, whose titles are the whole names.
    let post = post::render(std::slice::from_ref(&analysis));
    let is_table = |part: &&str| part.lines().nth(1).is_some_and(|l| l.ends_with(" system"));
    let tables: Vec<&str> = post.split("\n\n").filter(is_table).collect();
    assert_eq!(tables.len(), analysis.steps.len());
    for line in out.lines().chain(tables.iter().flat_map(|table| table.lines().skip(1))) {
        assert!(line.chars().count() <= text::WIDTH, "{} columns: {line}", line.chars().count());
    }
}

fn render_all(run: &Run) -> [String; 5] {
    let analysis = Analysis::of(run, 0.05);
    [
        text::render(&analysis, full()),
        post::render(std::slice::from_ref(&analysis)),
        markdown::render(&analysis),
        csv::render(&analysis),
        json::render(&analysis),
    ]
}

#[test]
fn runs_without_a_finished_step_are_reported() {
    let mut none_done = fixture::demo();
    for system in none_done.steps.iter_mut().flat_map(|s| &mut s.systems) {
        *system = SystemStep::pending();
    }
    let mut failed = none_done.clone();
    for system in failed.steps.iter_mut().flat_map(|s| &mut s.systems) {
        system.outcome = StepOutcome::Failed { reason: String::new() };
    }
    let mut no_steps = fixture::demo();
    no_steps.steps.clear();
    let mut one_system = fixture::demo();
    one_system.systems.truncate(1);
    one_system.steps.iter_mut().for_each(|s| s.systems.truncate(1));
    let mut nothing = no_steps.clone();
    nothing.systems.clear();
    let mut short = fixture::demo();
    short.steps.iter_mut().for_each(|s| s.systems.truncate(1));
    short.base = 9;
    for (run, line) in [(&none_done, "not run -       my5614"), (&failed, "failed  -       my5614")]
    {
        let tables = post::render(&[Analysis::of(run, 0.05)]);
        assert!(tables.contains(line), "{tables}");
    }
    for run in [none_done, failed, no_steps, one_system, nothing, short] {
        for out in render_all(&run) {
            assert!(!out.contains("NaN"), "{out}");
        }
    }
}

#[test]
fn a_slice_without_operations_gives_no_ratio() {
    let mut run = fixture::pair();
    for slice in &mut run.steps[0].systems[1].slices {
        (slice.n_operations, slice.n_events, slice.n_queries) = (0, 0, 0);
        slice.response_times.clear();
    }
    let analysis = Analysis::of(&run, 0.05);
    assert!(analysis.steps[0].cells[1].rqps().is_none());
    assert!(
        InWords::of(&analysis)
            .not_measured
            .iter()
            .any(|s| s.starts_with("No ratio where a slice finished"))
    );
    for out in render_all(&run) {
        assert!(!out.contains("NaN"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn swapping_base_and_candidate_inverts_every_ratio(ratio in 0.2_f64..5.0, qps in 50.0_f64..1e5) {
        let info = fixture::info("point-query", StepKind::Read, Group::Point);
        let step = fixture::step(info, qps, 20.0, &[(1.0, 1.0), (ratio, 1.0 / ratio)]);
        let systems = vec![
            fixture::system(rqps_model::Dbms::Mysql, "5.6.14"),
            fixture::system(rqps_model::Dbms::Mysql, "8.0.33"),
        ];
        let mut run = fixture::run(systems, vec![step]);
        let there = Analysis::of(&run, 0.05).steps[0].cells[1].clone();
        run.base = 1;
        let back = Analysis::of(&run, 0.05).steps[0].cells[0].clone();
        for (a, b) in [(there.rqps(), back.rqps()), (there.server_cpu_ratio(), back.server_cpu_ratio())] {
            let (a, b) = (a.unwrap(), b.unwrap());
            prop_assert!((a.point * b.point - 1.0).abs() < 1e-9);
            prop_assert!((a.interval.unwrap().0 * b.interval.unwrap().1 - 1.0).abs() < 1e-6);
        }
        for ((_, a), (_, b)) in
            there.relative().unwrap().values.iter().zip(&back.relative().unwrap().values)
        {
            prop_assert!((a.unwrap() * b.unwrap() - 1.0).abs() < 1e-9);
        }
    }
}
#[test]
fn steps_with_several_clients_are_told_apart() {
    let mut run = fixture::demo();
    let mut more = run.steps.clone();
    more.iter_mut().for_each(|s| s.clients = 16);
    run.steps.extend(more);
    for step in &mut run.steps {
        step.info.name =
            step.info.name.replace("update-index", "points-notcovered-si.pre_range=100");
    }
    let analysis = Analysis::of(&run, 0.05);
    assert!(analysis.steps.iter().any(|s| s.title == "scan, 16 clients"));
    let out = text::render(&analysis, full());
    assert!(out.contains("16  points-notcovered-si.pre_range=100\n"), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= text::WIDTH));
}

/// Five candidates do not fit into one table of 100 columns.
#[test]
fn many_candidates_take_several_tables() {
    let mut run = fixture::demo();
    for version in ["8.4.6", "9.4.0", "9.5.0"] {
        run.systems.push(fixture::system(rqps_model::Dbms::Mysql, version));
    }
    for step in &mut run.steps {
        let like = step.systems[2].clone();
        step.systems.extend([like.clone(), like.clone(), like]);
    }
    let out = text::render(&Analysis::of(&run, 0.05), full());
    assert!(out.lines().all(|l| l.chars().count() <= text::WIDTH));
    assert!(out.contains(" my950 "));
}

#[test]
fn a_summary_fits_a_terminal_of_80_columns() {
    let demo = fixture::demo();
    for width in [80, text::WIDTH] {
        let options = TextOptions { colour: false, detail: Detail::Summary, width };
        let out = text::render(&Analysis::of(&demo, 0.05), options);
        let widest = out.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} columns where there are {width}:\n{out}");
        assert!(widest > width - 10, "the room is not used: {widest} of {width}");
    }
}
