//! The page of an Insert Benchmark.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_fixtures::inserts::{interleaved, run};
use rqps_model::Run;

use crate::readable::readable;

fn at(run: &Run, name: &str) -> usize {
    run.steps.iter().position(|step| step.info.name == name).unwrap()
}

#[test]
fn page_of_an_insert_benchmark() {
    let run = run();
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    let between = |from: &str, to: &str| {
        let start = page.find(from).unwrap();
        let end = page[start..].find(to).unwrap();
        page[start..start + end].replace("<tr", "\n<tr").replace("<figure", "\n<figure")
    };
    let tables = between("<section id=\"insert\"", "</section>");
    let step = between("<details id=\"step-6\"", "</details>");
    expect_file!["../data/insert.html"].assert_eq(&format!("{tables}\n\n{step}\n"));
}

/// The lowest point of a path `x yldx dy dx dy…`, from the top.
fn lowest(path: &str) -> i32 {
    let numbers: Vec<i32> = path.split([' ', 'l']).map(|n| n.parse().unwrap()).collect();
    let mut y = 0;
    let ys = numbers.iter().skip(1).step_by(2).map(|by| {
        y += by;
        y
    });
    ys.max().unwrap()
}

#[test]
fn a_stall_is_seen_in_the_drawing_of_a_long_step() {
    let mut run = run();
    let qr = at(&run, "qr1000");
    for slice in run.steps[qr].systems.iter_mut().flat_map(|s| &mut s.slices) {
        slice.duration_ns = 720_000_000_000;
        slice.series = vec![slice.series[0]; 720];
        slice.series[500].queries = 0;
    }
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    let caption = "Queries per second; means of 9 s, thin: the slowest second of each";
    assert_eq!(page.matches(caption).count(), 1);
    // Of three systems with three slices each, a line at the bottom of the drawing.
    let lines = page.split("<path class=\"track t").skip(1);
    let lows = lines.filter_map(|line| line.split_once(" low\" d=\"M"));
    let slices = lows.flat_map(|(_, after)| after.split('"').next().unwrap().split('M'));
    assert_eq!(slices.filter(|slice| lowest(slice) == 99).count(), 9);
}

#[test]
fn checks_and_debt_are_told() {
    let run = run();
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    assert!(page.contains("check failed on my8033.small: rows in the tables: 199990"));
    assert!(page.contains("history list length"));
}

#[test]
fn steps_that_failed_or_were_not_reached_are_shown_as_such() {
    let mut run = run();
    let qr = at(&run, "qr1000");
    run.steps[qr].systems[1] = rqps_model::run::SystemStep::pending();
    let reason = "gone".to_owned();
    run.steps[qr].systems[2].outcome = rqps_model::StepOutcome::Failed { reason };
    let page = readable(&rqps_html::render(&Analysis::of(&run, 0.05)));
    assert!(!page.contains("NaN"));
}

#[test]
fn interleaved_steps_have_their_totals() {
    let page = rqps_html::render(&Analysis::of(&interleaved(), 0.05));
    assert!(page.contains("<th scope=\"col\">Total</th>"));
}
