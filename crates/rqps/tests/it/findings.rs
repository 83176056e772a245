//! The tables and charts of docs/findings.md and of the README are what `rqps report` says of the runs that are
//! kept in examples/findings/results. `UPDATE_EXPECT=1` puts them in.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

use crate::bench::Bench;

/// What is shown begins behind a comment that holds the command, and the titles of sections of its report.
const BEGIN: &str = "<!-- rqps report ";
const END: &str = "<!-- end of report -->";

#[test]
fn pages_show_what_the_kept_runs_say() {
    let bench = Bench::new();
    for page in ["docs/findings.md", "README.md"] {
        let path = root().join(page);
        let text = fs::read_to_string(&path).unwrap();
        expect_file![path].assert_eq(&filled(&bench, &text));
    }
}

/// `docs/findings/RUN.GROUP.svg` is the chart of a group of a kept run.
#[test]
fn charts_are_those_of_the_kept_runs() {
    let bench = Bench::new();
    for path in files("docs/findings", ".svg") {
        let (run, group) = name(&path).split_once('.').unwrap();
        let archive = kept(&format!("examples/findings/results/{run}.tar.zst"));
        bench.output(&["report", &archive, "--charts", run]);
        let drawn = bench.path(run).join(group);
        let svg = fs::read_to_string(&drawn).unwrap_or_else(|e| panic!("{}: {e}", drawn.display()));
        expect_file![path].assert_eq(&svg);
    }
}

/// Every plan has its place in the page, measured or said not to be; so has every run.
#[test]
fn every_plan_has_its_place() {
    let page = fs::read_to_string(root().join("docs/findings.md")).unwrap();
    let plans = files("examples/findings", ".toml");
    assert!(plans.len() > 10, "{plans:?}");
    for plan in &plans {
        assert!(page.contains(name(plan)), "docs/findings.md has no word of {}", name(plan));
    }
    for archive in files("examples/findings/results", ".tar.zst") {
        let shown = format!("{BEGIN}examples/findings/results/{}", name(&archive));
        assert!(page.contains(&shown), "docs/findings.md shows nothing of {}", name(&archive));
        let plan = archive.with_file_name("..").join(name(&archive).replace(".tar.zst", ".toml"));
        assert!(plan.exists(), "{} has no plan", archive.display());
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}

/// Files of a directory of the project whose names end so, in order; none where there is no directory.
fn files(dir: &str, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root().join(dir)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| name(path).ends_with(ending));
    paths.sort();
    paths
}

fn kept(archive: &str) -> String {
    root().join(archive).to_str().unwrap().to_owned()
}

/// The page with what reports say now.
fn filled(bench: &Bench, page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (order, after) = after.split_once(" -->\n").unwrap();
        let (_, behind) = after.split_once(END).unwrap_or_else(|| panic!("{order:?} has no end"));
        out += &format!("{before}{BEGIN}{order} -->\n{}{END}", shown(bench, order));
        rest = behind;
    }
    out + rest
}

/// `ARCHIVE OPTIONS: TITLE, TITLE`: these sections of the report as markdown.
fn shown(bench: &Bench, order: &str) -> String {
    let (command, titles) = order.split_once(": ").unwrap_or_else(|| panic!("no titles: {order}"));
    let mut words = command.split(' ');
    let archive = kept(words.next().unwrap());
    let args: Vec<&str> =
        ["report", &archive, "--format", "markdown"].into_iter().chain(words).collect();
    let report = bench.output(&args);
    titles.split(", ").map(|title| format!("{}\n\n", section(&report, title))).collect()
}

/// What stands below a title; `verdict` is what stands above the first of them.
fn section<'r>(report: &'r str, title: &str) -> &'r str {
    let body = if title == "verdict" {
        report
    } else {
        let below = report.split_once(&format!("\n### {title}"));
        let (_, below) = below.unwrap_or_else(|| panic!("no section {title:?} in\n{report}"));
        below.split_once('\n').map_or("", |(_, body)| body)
    };
    let ends = ["\n### ", "\n<details>"].map(|next| body.find(next).unwrap_or(body.len()));
    body[..ends[0].min(ends[1])].trim()
}
