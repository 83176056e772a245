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

/// The step that a cut name stands for: of names that begin and end so there is one.
fn steps_of<'r>(run: &'r Run, cut: &str) -> Vec<&'r str> {
    let (front, back) = cut.split_once('…').unwrap_or((cut, ""));
    let is_cut = cut.contains('…');
    let names = run.steps.iter().map(|step| step.info.name.as_str());
    let mut found: Vec<&str> = names
        .filter(|name| match is_cut {
            true => name.starts_with(front) && name.ends_with(back) && *name != cut,
            false => *name == cut,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// A run whose steps differ in their middles and at their ends, with two numbers of clients.
fn with_like_names() -> Run {
    let mut run = fixture::large();
    run.steps.truncate(8);
    for (idx, step) in run.steps.iter_mut().enumerate() {
        let range = ["10", "100", "1000", "10000"][idx / 2];
        step.info.name = match idx % 2 {
            0 => format!("read-only_range={range}"),
            _ => format!("read-only.pre_range={range}"),
        };
        step.clients = 1;
    }
    let mut more = run.steps.clone();
    more.iter_mut().for_each(|step| step.clients = 16);
    run.steps.extend(more);
    run
}

#[test]
fn a_cut_name_is_that_of_one_step() {
    let run = with_like_names();
    let out = screen(&run);
    assert_fits(&out);
    expect_file!["../data/screen.like-names.txt"].assert_eq(&out);
    let mut n_names = 0;
    for line in out.lines().filter(|line| line.contains("read-o")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| word.starts_with("read-o")).unwrap();
        assert_eq!(steps_of(&run, words[at]).len(), 1, "{line}");
        assert!(["1", "16"].contains(&words[at + 1]), "{line}");
        n_names += 1;
    }
    assert!(n_names > run.systems.len(), "{out}");
}

#[test]
fn causes_give_way_to_names_of_steps() {
    let run = with_like_names();
    let of = |width| {
        let options = TextOptions { colour: false, detail: Detail::Screen, width };
        text::render(&Analysis::of(&run, 0.05), options)
    };
    assert!(of(100).contains("new CPU overhead"), "{}", of(100));
    assert!(of(100).contains("read-only.pre_range=10000"), "{}", of(100));
    assert!(!of(80).contains("new CPU"), "{}", of(80));
}
