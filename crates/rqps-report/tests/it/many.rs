//! A run of many systems: every one has its row, and the text keeps to its width.

use rqps_analysis::Analysis;
use rqps_fixtures::many::of_systems;
use rqps_report::{Detail, TextOptions, markdown, text};

#[test]
fn each_of_many_systems_has_a_row() {
    let n = 35;
    let run = of_systems(n);
    let options = TextOptions { colour: false, detail: Detail::Summary, width: text::WIDTH };
    let analysis = Analysis::of(&run, 0.05);
    let text = text::render(&analysis, options);
    // Below the warning of tables that are ever larger.
    assert!(text.contains("\n34 systems against MySQL 8.0.0, 3 steps: "), "{text}");
    assert!(text.contains("innodb_purge_threads: 1 (18), 2 (17) ("), "{text}");
    let table = text.split("\n\n").find(|part| part.contains("update-index")).unwrap();
    assert_eq!(table.lines().count(), 1 + 35, "{table}");
    for i in 0..n {
        let label = &run.systems[usize::try_from(i).unwrap()].spec.label.0;
        let found = table.lines().filter(|line| line.split_whitespace().any(|word| word == label));
        assert_eq!(found.count(), 1, "{label}");
    }
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}");
    let markdown = markdown::render(&analysis);
    assert!(markdown.lines().any(|line| line.ends_with("| my8034.small |")), "{markdown}");
}
