//! The answer on one screen: goldens, and that it fits whatever a run holds.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_fixtures as fixture;
use rqps_model::Run;
use rqps_report::{Detail, TextOptions, text};

/// Columns and lines of the usual terminal; a command adds a few lines below.
const COLUMNS: usize = 80;
const LINES: usize = 20;

fn screen(run: &Run) -> String {
    let options = TextOptions { colour: false, detail: Detail::Screen, width: COLUMNS };
    text::render(&Analysis::of(run, 0.05), options)
}

fn assert_fits(out: &str) {
    assert!(out.lines().all(|line| line.chars().count() <= COLUMNS), "{out}");
    assert!(out.lines().count() <= LINES, "{} lines:\n{out}", out.lines().count());
}

#[test]
fn one_candidate_and_several() {
    let pair = screen(&fixture::pair());
    expect_file!["../data/screen.pair.txt"].assert_eq(&pair);
    let demo = screen(&fixture::demo());
    expect_file!["../data/screen.demo.txt"].assert_eq(&demo);
    let large = screen(&fixture::large());
    expect_file!["../data/screen.large.txt"].assert_eq(&large);
    [pair, demo, large].iter().for_each(|out| assert_fits(out));
}

#[test]
fn it_fits_whatever_the_run_holds() {
    let mut runs = vec![fixture::inserts::run(), fixture::suite(), fixture::causes::run()];
    runs.push(fixture::hostile::run("a\u{1b}[2J\nb; \u{202e}c"));
    runs.extend([2, 30].map(fixture::many::of_systems));
    for run in &runs {
        assert_fits(&screen(run));
    }
    let mut alone = fixture::pair();
    alone.systems.truncate(1);
    alone.steps.iter_mut().for_each(|step| step.systems.truncate(1));
    assert_fits(&screen(&alone));
}
