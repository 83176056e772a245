//! The tables and charts of docs/findings and of the README are what `rqps report` says of the runs that are
//! kept in examples/findings/results. `UPDATE_EXPECT=1` puts them in.

use std::collections::BTreeSet;
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
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        expect_file![path].assert_eq(&filled(&bench, &text));
    }
}

/// `docs/findings/RUN.GROUP.svg` is the chart of a group of a kept run.
#[test]
fn charts_are_those_of_the_kept_runs() {
    let bench = Bench::new();
    let text = text_of_pages().replace("](docs/findings/", "](");
    let named = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named: BTreeSet<&str> = named.filter(|name| name.ends_with(".svg")).collect();
    let charts = files("docs/findings", ".svg");
    assert_eq!(charts.iter().map(|path| name(path)).collect::<BTreeSet<_>>(), named);
    for path in charts {
        let (run, group) = name(&path).split_once('.').unwrap();
        let archive = kept(&format!("examples/findings/results/{run}.tar.zst"));
        bench.output(&["report", &archive, "--charts", run]);
        let drawn = bench.path(run).join(group);
        let svg = fs::read_to_string(&drawn).unwrap_or_else(|e| panic!("{}: {e}", drawn.display()));
        expect_file![path].assert_eq(&svg);
    }
}

/// Every plan is on a page, measured or said not to be; so is every run.
#[test]
fn every_plan_is_on_a_page() {
    let text = text_of_pages();
    let plans = files("examples/findings", ".toml");
    assert!(plans.len() > 10, "{plans:?}");
    for plan in &plans {
        assert!(text.contains(name(plan)), "no page of docs/findings names {}", name(plan));
    }
    for archive in files("examples/findings/results", ".tar.zst") {
        let shown = format!("{BEGIN}examples/findings/results/{}", name(&archive));
        assert!(text.contains(&shown), "no page of docs/findings shows {}", name(&archive));
        let plan = archive.with_file_name("..").join(name(&archive).replace(".tar.zst", ".toml"));
        assert!(plan.exists(), "{} has no plan", archive.display());
    }
}

/// The README and the pages of docs/findings.
fn pages() -> Vec<PathBuf> {
    let mut pages = files("docs/findings", ".md");
    assert!(pages.len() > 10, "{pages:?}");
    pages.push(root().join("README.md"));
    pages
}

fn text_of_pages() -> String {
    pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect()
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
        let (order, after) = after.split_once("-->\n").unwrap();
        let (_, behind) = after.split_once(END).unwrap_or_else(|| panic!("{order:?} has no end"));
        out += &format!("{before}{BEGIN}{order}-->\n{}{END}", shown(bench, order));
        rest = behind;
    }
    out + rest
}

/// `ARCHIVE OPTIONS: TITLE, TITLE of SYSTEM`: these sections of the report as markdown, or their table of a system.
fn shown(bench: &Bench, order: &str) -> String {
    let order = order.split_whitespace().collect::<Vec<_>>().join(" ");
    let (command, titles) = order.split_once(": ").unwrap_or_else(|| panic!("no titles: {order}"));
    let mut words = command.split(' ');
    let archive = kept(words.next().unwrap());
    let args: Vec<&str> =
        ["report", &archive, "--format", "markdown"].into_iter().chain(words).collect();
    let report = bench.output(&args);
    let of = |title: &str| match title.split_once(" of ") {
        Some((title, system)) => table(section(&report, title), system),
        None if title == "verdict" => section(&report, title),
        None => format!("**{title}**\n\n{}", section(&report, title)),
    };
    titles.split(", ").map(|title| format!("{}\n\n", wrapped(&of(title)))).collect()
}

/// The text with the columns of the other pages; tables stay.
fn wrapped(text: &str) -> String {
    let line = |line: &str| {
        let indent = if line.starts_with("> ") {
            "> "
        } else if line.starts_with("- ") {
            "  "
        } else {
            ""
        };
        let options = textwrap::Options::new(100).subsequent_indent(indent).break_words(false);
        let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
        let is_table = line.starts_with('|');
        if is_table { line.to_owned() } else { textwrap::fill(line, options) }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Of the tables of a section the one that is of this system.
fn table(section: String, system: &str) -> String {
    let is_it = |table: &&str| {
        let head = table.lines().next().unwrap_or_default();
        head.split('|').any(|cell| cell.split_whitespace().next() == Some(system))
    };
    let found = section.split("\n\n").filter(is_it).last();
    let table = found.unwrap_or_else(|| panic!("no table of {system} in\n{section}"));
    // What the letters mean stands in the whole report.
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(" | ").collect()).collect();
    let is_kept = |at: usize| rows[0].get(at).is_some_and(|head| !head.trim().is_empty());
    let row = |row: &Vec<&str>| {
        let cells = row.iter().enumerate().filter(|(at, _)| is_kept(*at));
        cells.map(|(_, cell)| *cell).collect::<Vec<_>>().join(" | ")
    };
    rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// What stands below a title that begins so, be it folded away; `verdict` is what stands above the first of them,
/// without the run's name.
fn section(report: &str, title: &str) -> String {
    let is_verdict = title == "verdict";
    let heads = [format!("\n### {title}"), format!("\n<details><summary>{title}")];
    let body = if is_verdict {
        report
    } else {
        let found = heads.iter().filter_map(|head| report.find(head.as_str())).min();
        let at = found.unwrap_or_else(|| panic!("no section {title:?} in\n{report}"));
        report[at + 1..].split_once('\n').map_or("", |(_, body)| body)
    };
    let ends = ["\n### ", "\n<details>", "\n</details>"];
    let end = ends.iter().filter_map(|end| body.find(*end)).min().unwrap_or(body.len());
    let body = body[..end].trim();
    match body.split_once("## rqps: ").filter(|_| is_verdict) {
        Some((above, named)) => {
            let (_, below) = named.split_once("\n\n").unwrap_or_default();
            format!("{above}{below}")
        }
        None => body.to_owned(),
    }
}

#[test]
fn sections_end_at_the_next_one_and_may_be_folded_away() {
    let report = "> severe\n\n## rqps: run\n\n**slower**\n\ndate\n\n### Systems\n\ntable\n\n\
                  <details><summary>Settings: 1</summary>\n\n- one\n\n</details>\n\n\
                  ### Sizes\n\nbytes\n\n\
                  <details><summary>Ageing: a / b</summary>\n\nolder\n\nlegend\n\n</details>\n\n\
                  **failed**\n\n### Not measured\n\n- x\n";
    let of = |title| section(report, title);
    assert_eq!(of("verdict"), "> severe\n\n**slower**\n\ndate");
    assert_eq!(of("Systems"), "table");
    assert_eq!(of("Settings"), "- one");
    assert_eq!(of("Sizes"), "bytes");
    assert_eq!(of("Ageing"), "older\n\nlegend");
    assert_eq!(of("Not measured"), "- x");
}
