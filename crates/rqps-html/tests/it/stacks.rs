//! Stack profiles on pages: what is shown, and what it weighs.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_fixtures::stacks;
use rqps_stacks::{StackProfile, Stacks};

use crate::markup::markup;
use crate::readable::readable;

#[test]
fn pages_hold_the_graphs_and_ask_for_nothing() {
    let run = rqps_fixtures::pair();
    let profiles = stacks::with_counters(0);
    let analysis = Analysis::of(&run, 0.05).with_profiles(&profiles);
    let page = rqps_html::render(&analysis);
    // Two systems and their difference, by functions of both and by whole stacks.
    assert_eq!(page.matches("<svg class=\"flame\"").count(), 4);
    assert_eq!(page.matches("<script>").count(), 3);
    assert!(page.contains("row_search_mvcc") && page.contains("class=\"m4"), "no frame");
    let own = rqps_html::stacks_page::render(&analysis, 0).unwrap();
    assert_eq!(rqps_html::stacks_page::render(&analysis, 1), None);
    for page in [readable(&page), readable(&own)] {
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("IPC") && page.contains("1.25"), "no counters");
    }
    expect_file!["../data/stacks.html"].assert_eq(&markup(&own));
    // A report without stacks has neither their style nor their script.
    let plain = rqps_html::render(&Analysis::of(&run, 0.05));
    assert!(!readable(&plain).contains("flame") && plain.matches("<script>").count() == 2);
}

/// What a run with real stacks weighs: 500 different stacks of 40 frames, 6 steps.
#[test]
fn a_page_with_many_graphs_stays_loadable() {
    let mut run = rqps_fixtures::suite();
    run.steps.truncate(6);
    let mut draw = rqps_fixtures::Draw(3);
    let mut stacks = || {
        let mut stacks = Stacks::default();
        for _ in 0..500 {
            let frames: Vec<String> = (0..40)
                .map(|depth| {
                    let choice =
                        if depth < 8 { 0 } else { rqps_fixtures::whole(draw.unit() * 1.4) };
                    format!("a_function_of_some_length_{depth}_{choice}")
                })
                .collect();
            stacks.add(
                frames.iter().map(String::as_str),
                1 + rqps_fixtures::whole(draw.unit() * 4.0),
            );
        }
        stacks
    };
    let template = stacks::pair(0);
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
    let plain = rqps_html::render(&Analysis::of(&run, 0.05)).len();
    let page = rqps_html::render(&analysis).len();
    assert!(plain <= 1_500_000, "{plain} bytes without graphs");
    assert!(page <= plain + 3_000_000, "{page} bytes, {plain} without graphs");
}

/// A profile that says only why there is none, and one of a single system.
#[test]
fn a_system_without_stacks_has_no_graph() {
    let run = rqps_fixtures::pair();
    let mut profiles = stacks::pair(0);
    (profiles[0].facts.cpu, profiles[0].facts.waits) = (None, None);
    (profiles[0].stacks, profiles[0].waits) = (Stacks::default(), Stacks::default());
    let page = rqps_html::render(&Analysis::of(&run, 0.05).with_profiles(&profiles));
    assert_eq!(page.matches("<svg class=\"flame\"").count(), 1);
}

/// Samples of user code alone, of which the one system lost a fifth.
#[test]
fn systems_of_which_other_shares_were_sampled_have_no_difference() {
    let run = rqps_fixtures::pair();
    let mut profiles = stacks::pair(0);
    for (profile, period_ns) in profiles.iter_mut().zip([2_004_008, 1_600_000]) {
        let cpu = profile.facts.cpu.as_mut().unwrap();
        cpu.event = "cpu-clock:u".to_owned();
        cpu.period_ns = cpu.n_samples * period_ns;
    }
    let page = rqps_html::render(&Analysis::of(&run, 0.05).with_profiles(&profiles));
    assert_eq!(page.matches("<svg class=\"flame\"").count(), 2);
}
