//! A run of many systems: every one has its row, and the text keeps to its width.

use rqps_analysis::Analysis;
use rqps_model::{Dbms, Group, Run, StepKind};
use rqps_report::{Detail, Format, TextOptions, charts, html, render, text};

use crate::fixture::{info, run, step, system};
use crate::readable::readable;

/// A run of so many systems.
pub(crate) fn of_systems(n: u32) -> Run {
    of_steps(n, &["point-query", "range-covered-si", "update-index"].map(str::to_owned))
}

/// The same with other steps.
pub(crate) fn of_steps(n: u32, names: &[String]) -> Run {
    let systems = (0..n).map(|i| system(Dbms::Mysql, &format!("8.0.{i}"))).collect();
    let ratios: Vec<(f64, f64)> = (0..n).map(|i| (1.0 - f64::from(i) / 100.0, 1.0)).collect();
    let of = |(name, nth): (&String, u32)| {
        let qps = 20_000.0 + 100.0 * f64::from(nth);
        step(info(name, StepKind::Read, Group::Point), qps, 20.0, &ratios)
    };
    let steps = names.iter().zip(0..).map(of).collect();
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

/// What stands in the section of the charts, figure by figure.
fn figures(page: &str) -> Vec<&str> {
    let (_, after) = page.split_once("<section id=\"charts\"").unwrap();
    let (charts, _) = after.split_once("</section>").unwrap();
    charts.split("<figure class=\"chart lanes\">").skip(1).collect()
}

/// Each lane has its system's name beside it, for those who see and for those who hear.
#[test]
fn charts_of_many_systems_are_by_group() {
    for n in [12, 20] {
        let mut run = of_systems(n);
        run.steps[2].info.group = Group::Write;
        let page = readable(&html::render(&Analysis::of(&run, 0.05)));
        let figures = figures(&page);
        let title = |figure: &&str| {
            let (_, after) = figure.split_once("<figcaption>").unwrap();
            after.split_once('<').unwrap().0.to_owned()
        };
        let titles: Vec<String> = figures.iter().map(title).collect();
        assert_eq!(titles, ["Point queries", "Writes"]);
        // Of the first group its mean and two steps, of the second one step.
        for (figure, (n_means, n_rows)) in figures.iter().zip([(1, 3), (0, 1)]) {
            assert_eq!(figure.matches("Geometric mean of the group").count(), n_means);
            assert_eq!(figure.matches("<use href=\"#band\"").count(), n_rows);
            for system in &run.systems[1..] {
                let name = format!("<bdi>{}</bdi>", system.spec.label.0);
                assert_eq!(figure.matches(&name).count(), 2 * n_rows, "{name}");
            }
        }
    }
}

#[test]
fn exported_charts_name_each_of_many_systems() {
    let run = of_systems(12);
    let all = charts::render(&Analysis::of(&run, 0.05));
    assert_eq!(all.len(), 1);
    for system in &run.systems[1..] {
        let name = format!(">{}</text>", system.spec.label.0);
        assert_eq!(all[0].svg.matches(&name).count(), run.steps.len(), "{name}");
    }
}
