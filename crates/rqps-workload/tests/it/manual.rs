//! The tables in docs/reference/workloads.md are the suite's own. `UPDATE_EXPECT=1` rewrites them.

use expect_test::expect_file;
use rqps_workload::{Suite, manual};

/// The text with everything between the markers of a table replaced.
fn replace_table(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} begin -->\n"), format!("<!-- {name} end -->"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    format!("{before}{begin}{table}{end}{after}")
}

#[test]
fn the_manual_shows_the_suite_as_it_is() {
    let suite = Suite::sysbench().unwrap();
    let text = include_str!("../../../../docs/reference/workloads.md");
    let text = replace_table(text, "statements", &manual::render_statements(&suite));
    let text = replace_table(&text, "parameters", &manual::render_sources());
    let text = replace_table(&text, "steps", &manual::render_steps(&suite));
    expect_file!["../../../../docs/reference/workloads.md"].assert_eq(&text);
}
