//! Whether imported folders of the field's tables come out of reports as their author has them: relative
//! QPS and metrics per operation, cell by cell, on a terminal and in CSV; relative QPS in the tables for a
//! post (`--format text`), too.
//!
//! The author's tables are read here again, by columns and lines alone, so that a mistake of the importer is
//! not made twice.

mod author;
mod ours;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use rqps_analysis::Analysis;
use rqps_import::Options;
use rqps_model::{Label, Run};
use rqps_report::{Detail, TextOptions};

use author::Tables;
use ours::Csv;

/// Cells of one kind that were compared.
#[derive(Debug, Default)]
struct Count {
    what: &'static str,
    equal: usize,
    /// What differs, in words.
    different: Vec<String>,
}

impl Count {
    fn of(what: &'static str) -> Self {
        Self { what, ..Self::default() }
    }

    /// Counts a cell: `ours` is what a report has, `None` where it has none.
    fn cell(&mut self, place: &str, author: &str, ours: Option<&str>) {
        if ours == Some(author) {
            self.equal += 1;
        } else {
            self.different
                .push(format!("{place}: {author} and here {}", ours.unwrap_or("nothing")));
        }
    }
}

/// Differences of one kind that are printed.
const SHOWN: usize = 10;

/// Folders within folders that are looked through.
const DEPTH: usize = 4;

/// Imports every folder with tables in `dir`, itself included, and compares. An error where any cell differs or
/// none was found; folders that cannot be imported are named.
pub(crate) fn run(dir: &Path) -> Result<()> {
    let mut folders = Vec::new();
    find_folders(dir, DEPTH, &mut folders)?;
    let (mut equal, mut different, mut n_imported) = (0, 0, 0);
    for folder in &folders {
        // No cell depends on the number of clients.
        let options = Options {
            source: folder.display().to_string(),
            clients: Some(1),
            ..Options::default()
        };
        let imports = match rqps_import::mytools::import(folder, &options) {
            Ok(imports) => imports,
            Err(problem) => {
                println!("not imported: {}", problem.sentence());
                continue;
            }
        };
        n_imported += 1;
        for problem in &imports.skipped {
            println!("not imported: {}", problem.sentence());
        }
        for run in &imports.runs {
            println!("{}: {} systems, {} steps", run.name, run.systems.len(), run.steps.len());
            for note in run.imported.iter().flat_map(|imported| &imported.notes) {
                println!("  {note}");
            }
            let mut tables = Tables::read(folder, &run.name)?;
            let run = with_short_labels(run.clone(), &mut tables);
            for count in compare(&run, &tables)? {
                let n = count.different.len();
                println!("  {:<44} {:>6} equal {:>4} different", count.what, count.equal, n);
                for line in count.different.iter().take(SHOWN) {
                    println!("    {line}");
                }
                equal += count.equal;
                different += n;
            }
        }
    }
    println!("{n_imported} of {} folders imported", folders.len());
    println!("{equal} cells equal, {different} different");
    if different > 0 || equal == 0 {
        bail!("{different} cells differ from their author's, {equal} are equal");
    }
    Ok(())
}

/// The folders with tables, in order.
fn find_folders(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir)
        .with_context(|| format!("list {}", dir.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?;
    entries.sort();
    let is_table = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let begins = |begin: &str| name.as_ref().is_some_and(|name| name.starts_with(begin));
        path.is_file() && (begins("qps.abs.") || begins("o.met") || begins("met."))
    };
    if entries.iter().any(is_table) {
        found.push(dir.to_path_buf());
    }
    for entry in entries.iter().filter(|entry| depth > 0 && entry.is_dir()) {
        find_folders(entry, depth - 1, found)?;
    }
    Ok(())
}

/// The same with a short label for each system: reports cut long ones, so that their rows would not be found.
fn with_short_labels(mut run: Run, tables: &mut Tables) -> Run {
    for (idx, system) in run.systems.iter_mut().enumerate() {
        let short = format!("system-{idx}");
        tables.rename(&system.spec.label.0, &short);
        system.spec.label = Label(short);
    }
    run
}

fn compare(run: &Run, tables: &Tables) -> Result<Vec<Count>> {
    let analysis = Analysis::of(run, 0.05);
    let text = TextOptions { colour: false, detail: Detail::Full, width: 100 };
    let text = ours::of_text(&rqps_report::text::render(&analysis, text))?;
    let csv = Csv::parse(&rqps_report::csv::render(&analysis))?;
    let post = ours::of_post(&rqps_report::post::render(std::slice::from_ref(&analysis)));
    let mut qps = Count::of("QPS, CSV");
    let mut relative = [
        Count::of("relative QPS, terminal"),
        Count::of("relative QPS, --format text"),
        Count::of("relative QPS, CSV"),
    ];
    for (step, label, author) in &tables.qps {
        // What is no number was not run.
        let Ok(value) = author.parse() else { continue };
        let place = format!("{step} of {label}");
        let own = csv.value(step, label, "figure").map(ours::plain);
        qps.cell(&place, &ours::plain(value), own.as_deref());
    }
    let is_number = |text: &str| text.parse().is_ok_and(|value: f64| value.is_finite());
    for (step, label, author) in tables.relative.iter().filter(|(.., author)| is_number(author)) {
        let place = format!("{step} of {label}");
        relative[0].cell(&place, author, text.get(step, label, "ratio"));
        let own = title(&analysis, step).and_then(|title| post.get(title, label, "ratio"));
        relative[1].cell(&place, author, own);
        let own = csv.value(step, label, "rqps").map(|ratio| format!("{ratio:.2}"));
        relative[2].cell(&place, author, own.as_deref());
    }
    let mut absolute =
        [Count::of("metrics per operation, terminal"), Count::of("metrics per operation, CSV")];
    for (step, label, head, author) in &tables.met {
        let place = format!("{head} of {step} of {label}");
        let wanted = ours::plain(author.parse().context("a metric")?);
        let own = text.get(step, label, &format!("absolute {head}")).map(str::to_owned);
        let own = own.and_then(|own| own.parse().ok()).map(ours::plain);
        absolute[0].cell(&place, &wanted, own.as_deref());
        let own = csv.value(step, label, ours::column(head)).map(ours::plain);
        absolute[1].cell(&place, &wanted, own.as_deref());
    }
    let mut ratios = [Count::of("relative metrics, terminal"), Count::of("relative metrics, CSV")];
    for (step, label, head, author) in &tables.met_relative {
        let place = format!("relative {head} of {step} of {label}");
        ratios[0].cell(&place, author, text.get(step, label, &format!("relative {head}")));
        // CSV has numbers: a bare 1 for 0/0 is 1.
        let own = csv.value(step, label, &format!("{} ratio", ours::column(head)));
        let own = own.map(|ratio| format!("{ratio:.2}"));
        let wanted = if author == "1" { "1.00" } else { author };
        ratios[1].cell(&place, wanted, own.as_deref());
    }
    Ok([qps].into_iter().chain(relative).chain(absolute).chain(ratios).collect())
}

/// The title under which reports have a step of the files.
fn title<'a>(analysis: &'a Analysis<'_>, step: &str) -> Option<&'a str> {
    let what = format!("{step} in the imported files.");
    analysis.steps.iter().find(|own| own.step.info.what == what).map(|own| own.title.as_str())
}
