//! Charts: as files, and those of many systems.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_fixtures::many::of_systems;
use rqps_model::Group;

use crate::readable::readable;

#[test]
fn charts_as_files() {
    let run = rqps_fixtures::demo();
    let all = rqps_html::charts::render(&Analysis::of(&run, 0.05));
    let names: Vec<&str> = all.iter().map(|chart| chart.name.as_str()).collect();
    assert_eq!(names[0], "point-queries");
    assert!(names.iter().all(|name| !name.contains([' ', '/'])), "{names:?}");
    expect_file!["../data/demo.chart.svg"].assert_eq(&all[0].svg);
}

/// No text of a run becomes markup, and what has no ratio has no chart.
#[test]
fn charts_of_hostile_labels_and_of_nothing() {
    let mut run = rqps_fixtures::pair();
    run.systems[1].spec.label.0 = "<script>alert(1)</script>".to_owned();
    let all = rqps_html::charts::render(&Analysis::of(&run, 0.05));
    assert!(all.iter().all(|chart| !chart.svg.contains("<script")));
    run.steps.clear();
    assert_eq!(rqps_html::charts::render(&Analysis::of(&run, 0.05)), []);
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
        let page = readable(&rqps_html::render(&Analysis::of(&run, 0.05)));
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
    let all = rqps_html::charts::render(&Analysis::of(&run, 0.05));
    assert_eq!(all.len(), 1);
    for system in &run.systems[1..] {
        let name = format!(">{}</text>", system.spec.label.0);
        assert_eq!(all[0].svg.matches(&name).count(), run.steps.len(), "{name}");
    }
}
