//! Whole outputs of every format, kept as files: `UPDATE_EXPECT=1 cargo test` rewrites them.

use expect_test::expect_file;
use rqps_analysis::Analysis;
use rqps_model::Run;
use rqps_report::{Detail, TextOptions, csv, json, markdown, post, text};

use rqps_fixtures as fixture;

#[test]
fn text_in_full() {
    let run = fixture::demo();
    let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
    let out = text::render(&Analysis::of(&run, 0.05), options);
    assert!(out.lines().all(|l| l.chars().count() <= text::WIDTH), "a line is too wide");
    expect_file!["../data/demo.txt"].assert_eq(&out);
}

/// Groups of systems are split by `-`, and a step that failed has no number.
#[test]
fn the_tables_of_the_field() {
    let mut run = fixture::demo();
    run.systems[2].spec.config = "large".to_owned();
    run.steps[2].systems[1].outcome = rqps_model::StepOutcome::Pending;
    run.steps[2].systems[1].slices.clear();
    let out = post::render(&[Analysis::of(&run, 0.05)]);
    expect_file!["../data/demo.tables.txt"].assert_eq(&out);
}

/// Two hosts are pairs of columns, each with its own base; what one host has alone is `-` on the other.
#[test]
fn the_tables_of_two_hosts() {
    let (mut one, mut other) = (fixture::demo(), fixture::demo());
    one.host.hostname = "i3 NUC".to_owned();
    other.host.hostname = "i5 NUC with a long name".to_owned();
    other.systems.truncate(2);
    other.steps.truncate(3);
    for step in &mut other.steps {
        step.systems.truncate(2);
    }
    let out = post::render(&[Analysis::of(&one, 0.05), Analysis::of(&other, 0.05)]);
    expect_file!["../data/two-hosts.tables.txt"].assert_eq(&out);
}

/// Systems are matched by label: one that has other options in one of the runs has its figures once.
#[test]
fn a_label_of_two_runs_is_one_line() {
    let (one, mut other) = (fixture::pair(), fixture::pair());
    other.host.hostname = "i5 NUC".to_owned();
    other.systems[1].spec.config = "large".to_owned();
    let out = post::render(&[Analysis::of(&one, 0.05), Analysis::of(&other, 0.05)]);
    let table = out.split("\n\n").next().unwrap();
    let of_label = table.lines().filter(|line| line.contains("my8033.small"));
    assert_eq!(of_label.count(), 1, "{table}");
    assert!(!table.lines().any(|line| line == "-"), "{table}");
}

/// Differences between the columns stand below the tables, a line each.
#[test]
fn conditions_of_two_hosts_stand_below_their_tables() {
    let said = |runs: &[&Run]| -> Vec<String> {
        let all: Vec<Analysis<'_>> = runs.iter().map(|run| Analysis::of(run, 0.05)).collect();
        let out = post::render(&all);
        out.lines().filter(|line| line.starts_with("differences in")).map(str::to_owned).collect()
    };
    let plan = "[[suite]]\nrows = 1000\n[schedule]\nmode = 'interleaved'\nseed = 7\n";
    let (mut one, mut other) = (fixture::pair(), fixture::pair());
    (one.host.hostname, other.host.hostname) = ("i3 NUC".to_owned(), "i5 NUC".to_owned());
    (one.plan, other.plan) = (plan.to_owned(), plan.replace("= 7", "= 8"));
    assert_eq!(said(&[&one, &other]), Vec::<String>::new());
    assert_eq!(said(&[&one]), Vec::<String>::new());
    other.steps[1].info.what.push_str(" in another way");
    assert_eq!(said(&[&one, &other]), ["differences in what the step does: scan"]);
    other.host.kernel = "6.9.1\u{1b}[31m".to_owned();
    other.plan = other.plan.replace("1000", "2000").replace("interleaved", "sequential");
    for at in [0, 2] {
        other.steps[at].placement = rqps_model::Placement::Free;
    }
    assert_eq!(
        said(&[&one, &other]),
        [
            "differences in kernel: 6.8.0-31-generic in i3 NUC, 6.9.1\u{fffd}[31m in i5 NUC",
            "differences in schedule mode: interleaved in i3 NUC, sequential in i5 NUC",
            "differences in suite rows: 1000 in i3 NUC, 2000 in i5 NUC",
            "differences in placement: paired in i3 NUC, free in i5 NUC: point-query.pre and update-index",
        ]
    );
    // Columns that are headed by runs do not tell their hosts. A host that nobody described is unknown.
    let mut third = one.clone();
    third.id = "20261125-070000-demo".to_owned();
    third.host.kernel.clear();
    third.steps.truncate(1);
    (one.id, other.id) = ("A".to_owned(), "B".to_owned());
    let lines = said(&[&one, &other, &third]);
    assert_eq!(lines[0], "differences in host: i3 NUC in A and 20261125-070000-demo, i5 NUC in B");
    assert!(lines[1].ends_with(" in B, unknown in 20261125-070000-demo"), "{lines:?}");
    let (all, two) = ("A and 20261125-070000-demo", "A");
    for (paired, step) in [(all, "point-query.pre"), (two, "update-index")] {
        let line = format!("differences in placement: paired in {paired}, free in B: {step}");
        assert!(lines.contains(&line), "{lines:?}");
    }
}

#[test]
fn text_in_short_and_colour() {
    let run = fixture::pair();
    let options = TextOptions { colour: true, detail: Detail::Summary, width: text::WIDTH };
    let out = text::render(&Analysis::of(&run, 0.05), options);
    expect_file!["../data/pair.ansi"].assert_eq(&out);
}

#[test]
fn markdown_with_a_table_per_candidate() {
    let run = fixture::demo();
    expect_file!["../data/demo.md"].assert_eq(&markdown::render(&Analysis::of(&run, 0.05)));
}

#[test]
fn csv_with_a_row_per_step_and_system() {
    let run = fixture::demo();
    let out = csv::render(&Analysis::of(&run, 0.05));
    expect_file!["../data/demo.csv"].assert_eq(&out.replace("\r\n", "\n"));
}

#[test]
fn json_in_full() {
    let run = fixture::pair();
    expect_file!["../data/pair.json"].assert_eq(&json::render(&Analysis::of(&run, 0.05)));
}

#[test]
fn the_documented_columns_are_those_of_the_csv() {
    let head = "# Columns of the CSV report\n\n\
        `rqps report --format csv` writes one row per step, number of clients and system, in full\n\
        precision. This page lists the columns.\n\n\
        - The format is RFC 4180 with a header line. A text that a spreadsheet takes for a formula begins\n  \
        with an apostrophe.\n\
        - A field is empty where nothing was measured.\n\
        - In ratios of metrics to the base, 0/0 is 1 and x/0 is `inf`.\n\
        - [Causes](../explanation/causes.md) defines the parts of the time per operation (`time_*`).\n\n";
    let insert = "\n## Insert Benchmark\n\n\
        Runs with steps of the Insert Benchmark have these columns after the others. Where a rate was\n\
        set, response times count from the intended start.\n\n";
    let imported =
        "\n## Imported systems\n\nReports with imported systems have these columns last.\n\n";
    let text = format!(
        "{head}{}{insert}{}{imported}{}",
        csv::describe(),
        csv::describe_insert(),
        csv::describe_imported()
    );
    expect_file!["../../../../docs/reference/report-csv.md"].assert_eq(&text);
}

#[test]
fn the_documented_rules_are_those_of_the_audit() {
    let text = include_str!("../../../../docs/reference/audit-rules.md");
    let (head, _) = text.split_once("<!-- rules -->\n").unwrap();
    let rules = rqps_audit::manual::describe();
    let text = format!("{head}<!-- rules -->\n\n{rules}");
    expect_file!["../../../../docs/reference/audit-rules.md"].assert_eq(&text);
}
