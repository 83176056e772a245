//! Stack profiles in reports: what is shown, and that nothing else changes by it.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_model::Run;
use rqps_report::{Detail, TextOptions, csv, html, json, markdown, stacks_page, text};
use rqps_stacks::{StackProfile, Stacks};

use crate::readable::readable;
use crate::schema::errors;
use crate::{fixture, stacks_fixture};

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
    let profiles = stacks_fixture::pair(0);
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
        let profiles = stacks_fixture::pair(at);
        let analysis = Analysis::of(run, 0.05).with_profiles(&profiles);
        text::render(&analysis, options(Detail::Full)).contains("recorded after delete had taken")
    };
    assert!(!said(&run, at));
    let mut delete = run.steps[at].clone();
    "delete".clone_into(&mut delete.info.name);
    "delete".clone_into(&mut delete.info.family);
    run.steps.push(delete);
    assert!(said(&run, at) && !said(&run, 0));
}

#[test]
fn pages_hold_the_graphs_and_ask_for_nothing() {
    let run = fixture::pair();
    let profiles = stacks_fixture::with_counters(0);
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let page = html::render(&analysis);
    // Two systems and their difference, by functions of both and by whole stacks.
    assert_eq!(page.matches("<svg class=\"flame\"").count(), 4);
    assert_eq!(page.matches("<script>").count(), 3);
    assert!(page.contains("row_search_mvcc") && page.contains("class=\"m4"), "no frame");
    let own = stacks_page::render(&analysis, 0).unwrap();
    assert_eq!(stacks_page::render(&analysis, 1), None);
    for page in [readable(&page), readable(&own)] {
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("IPC") && page.contains("1.25"), "no counters");
    }
    expect_file!["../data/stacks.html"].assert_eq(&own);
    // A report without stacks has neither their style nor their script.
    let plain = html::render(&Analysis::of(&run, 0.05));
    assert!(!readable(&plain).contains("flame") && plain.matches("<script>").count() == 2);
}

#[test]
fn hostile_names_of_functions_stay_text() {
    let run = fixture::pair();
    let mut profiles = stacks_fixture::pair(0);
    let hostile = "</title><script>alert(1)</script>\u{202e}\u{1b}[31m|`*";
    for profile in &mut profiles {
        profile.stacks.add([hostile, "x"], 500);
        profile.waits.add([hostile, hostile, hostile], 500);
    }
    profiles[1].stacks.add([hostile, hostile], 5000);
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    for page in [html::render(&analysis), stacks_page::render(&analysis, 0).unwrap()] {
        assert!(!page.contains("<script>alert") && !page.contains("</title><script"));
    }
    let out = text::render(&analysis, options(Detail::Full)) + &markdown::render(&analysis);
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'));
    assert!(!markdown::render(&analysis).contains("<script>"));
}

/// A profile that says only why there is none, and one of a single system.
#[test]
fn what_was_not_recorded_is_told() {
    let run = fixture::pair();
    let mut profiles = stacks_fixture::pair(0);
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
        line.starts_with("- not had of ") && out.contains("do: apt-get install linux-perf"),
        "{line}"
    );
    // The other system's functions are told alone, as there is nothing to compare them with.
    assert!(out.contains("functions with most CPU of their own per query"), "{out}");
    let html = html::render(&analysis);
    assert_eq!(html.matches("<svg class=\"flame\"").count(), 1);
}

/// Of many functions that both have and that take little time, some are seen on one side alone.
#[test]
fn functions_that_may_be_on_one_side_by_chance_are_not_counted() {
    let run = fixture::pair();
    let mut profiles = stacks_fixture::pair(0);
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
    let mut profiles = stacks_fixture::pair(0);
    for (profile, period_ns) in profiles.iter_mut().zip([2_004_008, 1_600_000]) {
        let cpu = profile.facts.cpu.as_mut().unwrap();
        cpu.event = "cpu-clock:u".to_owned();
        cpu.period_ns = cpu.n_samples * period_ns;
    }
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let out = text::render(&analysis, options(Detail::Full));
    let words = "my5614.small and my8033.small are not compared by function: the samples stand for 95.4% of";
    assert!(out.contains(words), "{out}");
    assert!(!out.contains("grew most") && out.contains("functions with most CPU of their own"));
    assert_eq!(html::render(&analysis).matches("<svg class=\"flame\"").count(), 2);
}

/// What a run with real stacks weighs: 500 different stacks of 40 frames, 6 steps.
#[test]
fn a_page_with_many_graphs_stays_loadable() {
    let mut run = fixture::suite();
    run.steps.truncate(6);
    let mut draw = fixture::Draw(3);
    let mut stacks = || {
        let mut stacks = Stacks::default();
        for _ in 0..500 {
            let frames: Vec<String> = (0..40)
                .map(|depth| {
                    let choice = if depth < 8 { 0 } else { fixture::whole(draw.unit() * 1.4) };
                    format!("a_function_of_some_length_{depth}_{choice}")
                })
                .collect();
            stacks.add(frames.iter().map(String::as_str), 1 + fixture::whole(draw.unit() * 4.0));
        }
        stacks
    };
    let template = stacks_fixture::pair(0);
    let profiles: Vec<StackProfile> = (0..6)
        .flat_map(|step_idx| [(step_idx, 0), (step_idx, 1)])
        .map(|(step_idx, system_idx)| StackProfile {
            step_idx,
            system_idx,
            stacks: stacks(),
            ..template[system_idx].clone()
        })
        .collect();
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let plain = html::render(&Analysis::of(&run, 0.05)).len();
    let page = html::render(&analysis).len();
    assert!(plain <= 1_500_000, "{plain} bytes without graphs");
    assert!(page <= plain + 3_000_000, "{page} bytes, {plain} without graphs");
}
