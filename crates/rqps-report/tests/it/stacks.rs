//! Stack profiles in reports: what is shown, and that nothing else changes by it.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_model::Run;
use rqps_report::{Detail, TextOptions, csv, json, markdown, text};
use rqps_stacks::Stacks;

use crate::schema::errors;
use rqps_fixtures::{self as fixture, stacks};

fn options(detail: Detail) -> TextOptions {
    TextOptions { colour: false, detail, width: text::WIDTH }
}

/// The part of a report that `with` has and `without` does not: one run of lines.
fn added(with: &str, without: &str) -> String {
    let (with, without): (Vec<&str>, Vec<&str>) =
        (with.lines().collect(), without.lines().collect());
    let same = |a: &[&str], b: &[&str]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let head = same(&with, &without);
    let (rev_with, rev_without): (Vec<&str>, Vec<&str>) =
        (with.iter().rev().copied().collect(), without.iter().rev().copied().collect());
    let tail = same(&rev_with, &rev_without).min(without.len() - head);
    assert_eq!(head + tail, without.len(), "something else changed");
    with[head..with.len() - tail].join("\n") + "\n"
}

#[test]
fn reports_show_stacks_and_change_nothing_else() {
    let run = fixture::pair();
    let profiles = stacks::pair(0);
    let plain = Analysis::of(&run, 0.05);
    let with = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let full = |analysis: &Analysis<'_>| text::render(analysis, options(Detail::Full));
    let short = |analysis: &Analysis<'_>| text::render(analysis, options(Detail::Summary));
    expect_file!["../data/stacks.txt"].assert_eq(&added(&full(&with), &full(&plain)));
    expect_file!["../data/stacks.short.txt"].assert_eq(&added(&short(&with), &short(&plain)));
    let of_markdown = (markdown::render(&with), markdown::render(&plain));
    expect_file!["../data/stacks.md"].assert_eq(&added(&of_markdown.0, &of_markdown.1));
    // No figure, ratio, interval or mark has a part in them.
    assert_eq!(csv::render(&with), csv::render(&plain));
    let mut value: serde_json::Value = serde_json::from_str(&json::render(&with)).unwrap();
    assert_eq!(errors(&value), Vec::<String>::new());
    let stacks = value.as_object_mut().unwrap().remove("stacks").unwrap();
    let of_plain: serde_json::Value = serde_json::from_str(&json::render(&plain)).unwrap();
    assert_eq!(value, of_plain);
    let stacks = serde_json::to_string_pretty(&stacks).unwrap();
    expect_file!["../data/stacks.json"].assert_eq(&(stacks + "\n"));
}

/// What deletes for a set time takes more rows off the faster system's tables, and steps that write are
/// recorded after it.
#[test]
fn stacks_of_writes_on_tables_that_lack_rows_say_so() {
    let mut run = fixture::pair();
    let at = run.steps.iter().position(|step| step.info.name == "update-index").unwrap();
    let said = |run: &Run, at: usize| {
        let profiles = stacks::pair(at);
        let analysis = Analysis::of(run, 0.05).with_profiles(&profiles);
        text::render(&analysis, options(Detail::Full)).contains("recorded after the step delete")
    };
    assert!(!said(&run, at));
    let mut delete = run.steps[at].clone();
    "delete".clone_into(&mut delete.info.name);
    "delete".clone_into(&mut delete.info.family);
    run.steps.push(delete);
    assert!(said(&run, at) && !said(&run, 0));
}

#[test]
fn hostile_names_of_functions_stay_text() {
    let run = fixture::pair();
    let mut profiles = stacks::pair(0);
    let hostile = "</title><script>alert(1)</script>\u{202e}\u{1b}[31m|`*";
    for profile in &mut profiles {
        profile.stacks.add([hostile, "x"], 500);
        profile.waits.add([hostile, hostile, hostile], 500);
    }
    profiles[1].stacks.add([hostile, hostile], 5000);
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let out = text::render(&analysis, options(Detail::Full)) + &markdown::render(&analysis);
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'));
    assert!(!markdown::render(&analysis).contains("<script>"));
}

/// A profile that says only why there is none, and one of a single system.
#[test]
fn what_was_not_recorded_is_told() {
    let run = fixture::pair();
    let mut profiles = stacks::pair(0);
    profiles[0].facts.cpu = None;
    profiles[0].facts.waits = None;
    (profiles[0].stacks, profiles[0].waits) = (Stacks::default(), Stacks::default());
    profiles[0].facts.missing[0] = rqps_stacks::profile::NotHad {
        what: "stacks".to_owned(),
        reason: "perf is not found".to_owned(),
        remedy: "apt-get install linux-perf".to_owned(),
    };
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let out = text::render(&analysis, options(Detail::Full));
    let line = out.lines().find(|line| line.contains("perf is not found")).unwrap();
    assert!(
        line.starts_with("- not recorded of ")
            && out.contains("remedy: apt-get install linux-perf"),
        "{line}"
    );
    // The other system's functions are told alone, as there is nothing to compare them with.
    assert!(out.contains("functions with most CPU of their own per query"), "{out}");
}

/// Of many functions that both have and that take little time, some are seen on one side alone.
#[test]
fn functions_that_may_be_on_one_side_by_chance_are_not_counted() {
    let run = fixture::pair();
    let mut profiles = stacks::pair(0);
    for n in 0..40 {
        profiles[n % 2].stacks.add(["start_thread", &format!("rare_{n}")], 7);
    }
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let out = text::render(&analysis, options(Detail::Full));
    let words: Vec<&str> = out.split_whitespace().collect();
    assert!(words.join(" ").contains("; 2 functions new, 2 vanished"), "{out}");
}

/// Samples of user code alone, of which the one system lost a fifth: that is no difference of functions.
#[test]
fn systems_of_which_other_shares_were_sampled_are_not_compared() {
    let run = fixture::pair();
    let mut profiles = stacks::pair(0);
    for (profile, period_ns) in profiles.iter_mut().zip([2_004_008, 1_600_000]) {
        let cpu = profile.facts.cpu.as_mut().unwrap();
        cpu.event = "cpu-clock:u".to_owned();
        cpu.period_ns = cpu.n_samples * period_ns;
    }
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let out = text::render(&analysis, options(Detail::Full));
    let words =
        "my5614.small and my8033.small are not compared by function: their samples cover 95.4% and";
    assert!(out.contains(words), "{out}");
    assert!(!out.contains("grew most") && out.contains("functions with most CPU of their own"));
}
