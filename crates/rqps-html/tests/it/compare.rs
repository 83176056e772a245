//! The page of several runs.

use expect_test::expect_file;
use rqps_analysis::{Analysis, Joined};
use rqps_fixtures::{several, words};
use rqps_model::{Run, Scope, Warning, WarningKind};

use crate::markup::markup;

/// Two runs that have systems and steps in common.
pub(crate) fn joined(base: Option<&str>) -> Joined {
    let command = "rqps compare 20261121-203015-demo 20261123-080000-demo";
    Joined::of(several::two(), base, &words(command)).unwrap()
}

#[test]
fn page_of_two_runs() {
    let joined = joined(None);
    let page = rqps_html::render(&Analysis::of_joined(&joined, 0.05));
    expect_file!["../data/compare.html"].assert_eq(&markup(&page));
}

#[test]
fn a_step_is_repeated_by_the_commands_of_all_runs_that_have_it() {
    let mut runs = several::two();
    (runs[0].seed, runs[1].seed) = (7, 8);
    runs[0].command_line = words("rqps run a.toml");
    runs[1].command_line = words("rqps profile scan --systems mysql@8.0.33");
    let joined = Joined::of(runs, None, &[]).unwrap();
    let page = rqps_html::render(&Analysis::of_joined(&joined, 0.05));
    let first = |name: &str| format!("rqps run a.toml --steps {name} --seed 7");
    let second = |name: &str| format!("rqps profile {name} --systems mysql@8.0.33 --seed 8");
    let said = [first("scan"), second("scan"), second("insert")];
    assert!(said.iter().all(|command| page.contains(command.as_str())));
    assert!(!page.contains(&first("insert")));
}

#[test]
fn what_happened_to_a_run_is_told_with_its_own_systems() {
    let mut runs = several::two();
    let kind = WarningKind::NewTables;
    runs[1].warnings = vec![Warning { at_unix_ms: Some(5000), scope: Scope::System(0), kind }];
    let joined = Joined::of(runs, None, &[]).unwrap();
    let analysis = Analysis::of_joined(&joined, 0.05);
    let told = format!("1970-01-01 00:00:05 UTC, {}: the system has new tables", analysis.label(2));
    let page = rqps_html::render(&analysis);
    assert!(page.contains("What happened during the run") && page.contains(&told), "{page}");
    let quiet = Run { warnings: Vec::new(), ..analysis.run.clone() };
    let page = rqps_html::render(&Analysis::of(&quiet, 0.05));
    assert!(!page.contains("What happened during the run"));
}
