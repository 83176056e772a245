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
mod log;
mod raw;
mod step;
mod step_dir;
mod summary;
mod totals;

use std::path::{Path, PathBuf};

use rqps_model::{Metric, Run, Sizes, Stated, Tool};

use crate::folder::{Folder, LeftOut, read_text};
use crate::mytools::run_name;
use crate::number::{MAX_GB, parse_quantity, whole};
use crate::sheet::{self, Cell, Sheet, SheetStep};
use crate::{Error, Imports, Options, clients};
use groups::Group as Systems;
use step::{StepName, figure_heading};

/// How the tables begin.
const TABLE: &str = "mrg.";

/// The columns that are taken over, by their headings; reports have them under the same names.
const COLUMNS: [&str; 20] = [
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups",
    "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99",
];

/// What older tables call `dbgb1`.
const OLD_SIZE: &str = "dbgb";

/// The columns of gigabytes.
const GB_COLUMNS: [&str; 4] = ["dbgb", "dbgb1", "dbgb2", "rss"];

/// A gigabyte of the tables, which come from `du`: 2^30 bytes.
const GB: f64 = (1_u64 << 30) as f64;

/// One line.
#[derive(Debug)]
struct Row {
    tag: String,
    values: Vec<(String, f64)>,
}

impl Row {
    fn get(&self, head: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == head).map(|(_, value)| *value)
    }

    /// The value of one of [`COLUMNS`], whatever the table calls it.
    fn column(&self, head: &str) -> Option<f64> {
        let old = if head == "dbgb1" { self.get(OLD_SIZE) } else { None };
        self.get(head).or(old)
    }
}

/// A table.
#[derive(Debug)]
struct Table {
    step: StepName,
    path: PathBuf,
    /// The lines between separators.
    groups: Vec<Vec<Row>>,
}

impl Table {
    /// Its name, in messages on other tables.
    fn file_name(&self) -> String {
        format!("{TABLE}{}", self.step.as_str())
    }
}

/// The runs of a directory: one for each group of systems, whose first system is its base. Where every group is
/// of one system, or the user names a base, all are one run.
///
/// # Errors
/// A folder without anything that can be taken over, by what is wrong with its files.
pub fn import(dir: &Path, options: &Options) -> Result<Imports, Error> {
    let folder = Folder::read(dir)?;
    let mut imports = Imports::default();
    let mut tables: Vec<Table> = Vec::new();
    let is_table = |name: &str| name.strip_prefix(TABLE).is_some_and(|rest| !is_beside(rest));
    for LeftOut { name, why } in folder.left_out(is_table) {
        imports.skipped.push(Error::file(&folder.dir.join(name), why));
    }
    for name in folder.names() {
        let Some(rest) = name.strip_prefix(TABLE).filter(|rest| !is_beside(rest)) else {
            continue;
        };
        let Some(path) = folder.path(name) else { continue };
        let Some(step) = StepName::parse(rest) else {
            let problem =
                "its name is that of no step: l.i0, l.x, l.i1, q100.1, qr100.L1, qp100.L2";
            imports.skipped.push(Error::file(&path, problem));
            continue;
        };
        match read_text(&path).and_then(|text| parse(&text, figure_heading(&step), &path)) {
            Ok(groups) => tables.push(Table { step, path, groups }),
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
    imports.or_error(dir)
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
        wanted: "no table of a step such as mrg.l.i0, and no folder of a step such as l.i0 with o.ib.dop1.1,",
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

/// The lines of a table whose figures stand in the column `figure`, by group.
fn parse(text: &str, figure: &str, path: &Path) -> Result<Vec<Vec<Row>>, Error> {
    let mut heads: Vec<&str> = Vec::new();
    let mut groups: Vec<Vec<Row>> = vec![Vec::new()];
    for (idx, line) in text.lines().enumerate() {
        let wrong = |problem: String| Error::line(path, idx, problem);
        let fields: Vec<&str> =
            line.split(['\t', ',']).map(str::trim).filter(|field| !field.is_empty()).collect();
        match fields.as_slice() {
            [] => continue,
            ["-"] => {
                groups.push(Vec::new());
                continue;
            }
            [.., "tag"] => {
                check_heads(&fields, figure).map_err(wrong)?;
                heads = fields;
                continue;
            }
            _ => {}
        }
        let (tag, fields) = fields.split_last().unwrap_or((&"", &[]));
        let n = fields.len() + 1;
        if heads.is_empty() {
            let problem = "no headings above: begin with a line of them that ends in tag";
            return Err(wrong(format!("{n} fields and {problem}")));
        }
        if n != heads.len() {
            let problem = "an empty field is none, so write NA where there is no value";
            return Err(wrong(format!("{n} fields below {} headings: {problem}", heads.len())));
        }
        let rows = groups.last_mut().ok_or_else(|| wrong("no group".to_owned()))?;
        if rows.iter().any(|row| row.tag == *tag) {
            return Err(wrong(format!(
                "system {tag} comes twice: give each line a tag of its own"
            )));
        }
        let mut values = Vec::new();
        for (head, field) in heads.iter().zip(fields) {
            let value = parse_quantity(field).map_err(|problem| {
                wrong(format!("{head} of {tag}: {problem}; write NA where there is none"))
            })?;
            let is_huge = value.is_some_and(|value| value > MAX_GB);
            if is_huge && GB_COLUMNS.contains(head) {
                return Err(wrong(format!(
                    "{head} of {tag}: {field} are too many gigabytes; write NA where there is none"
                )));
            }
            values.extend(value.map(|value| ((*head).to_owned(), value)));
        }
        rows.push(Row { tag: (*tag).to_owned(), values });
    }
    groups.retain(|rows| !rows.is_empty());
    if groups.is_empty() {
        let problem = "it has no line of a system: merge its step again, or move it away";
        return Err(Error::file(path, problem));
    }
    Ok(groups)
}

/// Headings of which each is there once, that of the figure among them.
fn check_heads(heads: &[&str], figure: &str) -> Result<(), String> {
    let repeated = heads.iter().enumerate().find(|(at, head)| heads[..*at].contains(head));
    if let Some((_, head)) = repeated {
        return Err(format!("heading {head} comes twice: take one of the columns out"));
    }
    if heads.contains(&figure) {
        return Ok(());
    }
    Err(format!("no heading {figure}, whose column has the step's figures: merge its step again"))
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
