//! Results of the Insert Benchmark as its scripts merge them: a directory with a table per step, `mrg.STEP`, a
//! line per system.
//!
//! ```text
//! ips   qps  rps  rmbps  wps  wmbps  rpq  rkbpq  wpi  wkbpi  csps  cpups  cspq  cpupq  dbgb1  dbgb2  rss  maxop  p50  p99  tag
//! 5041  0    3    0.0    120  1.2    0    0      0.02 0.24   18387 71.1   0.365 1409   6.4    8.1    23.3 0.477  5100 3050 my8043.cz11a
//! -
//! ```
//!
//! A folder with raw files in place of tables is read by [`raw`].
//!
//! Columns are found by their headings and separated by tabs or commas; a lone `-` separates groups of systems,
//! which are compared with their own first one.

mod digits;
mod figures;
mod groups;
mod line;
mod log;
mod raw;
mod same_client;
mod step;
mod step_dir;
mod summary;
mod summary_check;
mod table;
mod totals;

use std::path::Path;

use rqps_model::{Metric, Run, Sizes, Stated, Tool};

use crate::copies::{self, FileText};
use crate::folder::{ExcludedFile, Folder, read_text};
use crate::mytools::run_name;
use crate::number::whole;
use crate::sheet::{self, Cell, Sheet, SheetStep};
use crate::{Error, Imports, Options, clients};
use groups::Group as Systems;
use step::{StepName, figure_heading};
use table::{Row, SkippedLine, TABLE, Table};

/// The columns that are taken over, by their headings; reports have them under the same names.
const COLUMNS: [&str; 20] = [
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups",
    "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99",
];

/// A gigabyte of the tables, which come from `du`: 2^30 bytes.
const GB: f64 = (1_u64 << 30) as f64;

/// The runs of a directory: one for each group of systems, whose first system is its base. Where every group is
/// of one system, or the user names a base, all are one run.
///
/// # Errors
/// A folder in which nothing can be imported, with the problems of its files.
pub fn import(dir: &Path, options: &Options) -> Result<Imports, Error> {
    let folder = Folder::read(dir)?;
    let mut imports = Imports::default();
    let mut tables: Vec<Table> = Vec::new();
    let mut texts: Vec<FileText> = Vec::new();
    let is_table = |name: &str| name.strip_prefix(TABLE).is_some_and(|rest| !is_beside(rest));
    for ExcludedFile { name, why } in folder.excluded(is_table) {
        imports.skipped.push(Error::file(&folder.dir.join(name), why));
    }
    for name in folder.names() {
        let Some(rest) = name.strip_prefix(TABLE).filter(|rest| !is_beside(rest)) else {
            continue;
        };
        let Some(path) = folder.path(name) else { continue };
        let Some(step) = StepName::parse(rest) else {
            let problem =
                "its name is not that of a step: l.i0, l.x, l.i1, q100.1, qr100.L1, qp100.L2";
            imports.skipped.push(Error::file(&path, problem));
            continue;
        };
        let text = read_text(&path);
        texts.extend(text.as_ref().ok().map(|text| FileText::new(name.into(), text)));
        match text.and_then(|text| Table::parse(&text, step, &path)) {
            Ok(table) => tables.push(table),
            Err(problem) => imports.skipped.push(problem),
        }
    }
    if tables.is_empty() && imports.skipped.is_empty() {
        return if raw::is_raw(&folder) {
            raw::import(&folder, options)
        } else {
            Err(nothing(&folder))
        };
    }
    imports.skipped.extend(folder.odd_names());
    let mut tables = table::without_cuts(tables, &mut imports.skipped);
    let mut copies = copies::notes(&texts);
    copies.extend(tables.iter().flat_map(Table::copied_lines));
    let lines: Vec<SkippedLine> =
        tables.iter_mut().flat_map(|table| table.skipped.drain(..)).collect();
    tables.sort_by(|a, b| a.step.order().cmp(&b.step.order()));
    let clients = options.clients.or_else(|| clients::of_dir(dir)).filter(|n| *n > 0);
    let is_one = options.base.is_some();
    let groups = groups::split_groups(tables, is_one, &mut imports.skipped);
    let several = groups.len() > 1;
    for group in groups {
        let Some(clients) = clients else {
            return Err(Error::UnknownClients { path: dir.to_path_buf() });
        };
        let base = group.labels.first().map(String::as_str).filter(|_| several);
        let name = run_name(dir, base, options);
        match run(group, name, clients, options) {
            Ok(run) => imports.runs.push(run),
            Err(problem) => imports.skipped.push(problem),
        }
    }
    lines.into_iter().for_each(|line| tell(line, &mut imports));
    for imported in imports.runs.iter_mut().filter_map(|run| run.imported.as_mut()) {
        imported.notes.extend(copies.iter().cloned());
    }
    imports.or_error(dir)
}

/// Notes a line that was not taken over in the runs of its system; else it is of none.
fn tell(line: SkippedLine, imports: &mut Imports) {
    let SkippedLine { tag, problem } = line;
    let is_of = |run: &Run| run.systems.iter().any(|system| system.spec.label.as_str() == tag);
    let mut is_told = false;
    for run in imports.runs.iter_mut().filter(|run| is_of(run)) {
        if let Some(imported) = &mut run.imported {
            imported.notes.push(sheet::note(&problem));
            is_told = true;
        }
    }
    imports.skipped.extend((!is_told).then_some(problem));
}

/// Why there is nothing, and which directories have tables.
fn nothing(folder: &Folder) -> Error {
    let has_tables = |name: &&str| {
        let within = Folder::read(&folder.dir.join(name));
        within.is_ok_and(|within| {
            within.names().any(|name| name.starts_with(TABLE)) || raw::is_raw(&within)
        })
    };
    Error::Nothing {
        dir: folder.dir.clone(),
        wanted: "no table of a step such as mrg.l.i0, and no folder of a step such as l.i0 with o.ib.dop1.1",
        within: folder.dirs().filter(has_tables).map(str::to_owned).collect(),
    }
}

/// Whether a file beside the tables is one of response times (`l.i0.rt.insert`), of rates by tenths of the step
/// (`qr100.L1.rate.query`) or a script.
fn is_beside(name: &str) -> bool {
    let has = |part: &str| name.ends_with(part) || name.contains(&format!("{part}."));
    has(".rt") || has(".rate") || name.ends_with(".sh")
}

/// The run of some systems.
fn run(group: Systems, name: String, clients: u32, options: &Options) -> Result<Run, Error> {
    let mut sheet = Sheet { name, labels: group.labels, ..Sheet::default() };
    for step in &group.steps {
        let of = |label: &String| {
            let row = step.rows.iter().find(|row| row.tag == *label)?;
            cell(&step.name, row, clients)
        };
        let cells = sheet.labels.iter().map(of).collect();
        sheet.steps.push(SheetStep { info: step.name.info(), clients, cells });
    }
    sheet.into_run(Tool::Iibench, options)
}

/// One line as a cell; `None` without a figure.
fn cell(step: &StepName, row: &Row, clients: u32) -> Option<Cell> {
    let rate = step.inserts_per_s();
    let is_query = rate.is_some();
    let figure = row.get(figure_heading(step))?;
    let heads = [
        ("cpupq", Metric::HostCpu),
        ("cspq", Metric::ContextSwitches),
        ("rpq", Metric::Reads),
        ("rkbpq", Metric::ReadKb),
        ("wkbpi", Metric::WrittenKb),
    ];
    // Beside queries what is written is told per insert, which is not what the step counts.
    let is_told = |metric: Metric| !(is_query && metric == Metric::WrittenKb);
    let heads = heads.into_iter().filter(|(_, metric)| is_told(*metric));
    let metrics = heads.filter_map(|(head, metric)| Some((metric, row.get(head)?))).collect();
    let bytes = |head: &str| row.column(head).map(|gb| whole(gb * GB));
    let columns = COLUMNS.iter().filter_map(|head| Some(((*head).to_owned(), row.column(head)?)));
    let stated = Stated {
        figure: Some(figure),
        metrics,
        columns: columns.collect(),
        target_inserts_per_s: rate.map(|rate| f64::from(rate) * f64::from(clients)),
        server_rss_bytes: bytes("rss"),
        ..Stated::default()
    };
    let sizes = Sizes {
        database_bytes: bytes("dbgb1"),
        data_dir_bytes: bytes("dbgb2"),
        ..Sizes::default()
    };
    Some(Cell { sizes, ..sheet::slice(stated).into() })
}
