//! A run of many systems: every one has its row, and the text keeps to its width.

use rqps_model::{Dbms, Group, Run, StepKind};
use rqps_report::{Detail, Format, TextOptions, render, text};

use crate::fixture::{info, run, step, system};

/// A run of so many systems.
pub(crate) fn of_systems(n: u32) -> Run {
    let systems = (0..n).map(|i| system(Dbms::Mysql, &format!("8.0.{i}"))).collect();
    let ratios: Vec<(f64, f64)> = (0..n).map(|i| (1.0 - f64::from(i) / 100.0, 1.0)).collect();
    let steps = ["point-query", "range-covered-si", "update-index"]
        .map(|name| step(info(name, StepKind::Read, Group::Point), 20_000.0, 20.0, &ratios))
        .to_vec();
    let mut run = run(systems, steps);
    for (i, system) in run.systems.iter_mut().enumerate() {
        let value = if i % 2 == 0 { "1" } else { "2" };
        system.settings.insert("innodb_purge_threads".to_owned(), value.to_owned());
    }
    run
}

#[test]
fn each_of_many_systems_has_a_row() {
    let n = 35;
    let run = of_systems(n);
    let options = TextOptions { colour: false, detail: Detail::Summary, width: text::WIDTH };
    let text = render(&run, 0.05, Format::Text, options);
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
    let html = render(&run, 0.05, Format::Html, options);
    assert_eq!(html.matches("<tr class=\"step\">").count(), 35);
    let markdown = render(&run, 0.05, Format::Markdown, options);
    assert!(markdown.lines().any(|line| line.ends_with("| my8034.small |")), "{markdown}");
}
