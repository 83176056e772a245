//! Results of the Insert Benchmark as its scripts merge them: a directory with a table per step, `mrg.STEP`, a
//! line per system.
//!
//! ```text
//! ips   qps  rps  rmbps  wps  wmbps  rpq  rkbpq  wpi  wkbpi  csps  cpups  cspq  cpupq  dbgb1  dbgb2  rss  maxop  p50  p99  tag
//! 5041  0    3    0.0    120  1.2    0    0      0.02 0.24   18387 71.1   0.365 1409   6.4    8.1    23.3 0.477  5100 3050 my8043.cz11a
//! -
//! ```
//!
//! Columns are found by their headings and separated by tabs or commas; a lone `-` separates groups of systems.

use std::path::Path;

use rqps_model::{Figure, Group, Metric, Run, Sizes, Stated, StepInfo, StepKind, Tool};

use crate::error::{read_names, read_text};
use crate::mytools::run_name;
use crate::number::{parse_quantity, whole};
use crate::sheet::{self, Cell, Sheet, SheetStep};
use crate::{Error, Options};

/// How the tables begin.
const TABLE: &str = "mrg.";

/// The columns that are taken over, by their headings; reports have them under the same names.
const COLUMNS: [&str; 20] = [
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups",
    "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99",
];

/// What older tables call `dbgb1`.
const OLD_SIZE: &str = "dbgb";

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

/// The run of a directory, whose id is still to be given.
///
/// # Errors
/// Tables that cannot be read or understood, and what only the user can say.
pub fn import(dir: &Path, options: &Options) -> Result<Run, Error> {
    let mut tables: Vec<(String, Vec<Row>)> = Vec::new();
    for name in read_names(dir)? {
        let Some(step) = name.strip_prefix(TABLE).filter(|step| is_step(step)) else { continue };
        let path = dir.join(&name);
        let rows = parse(&read_text(&path)?, figure_heading(step), &path)?;
        tables.push((step.to_owned(), rows));
    }
    if tables.is_empty() {
        let wanted = "no table of a step such as mrg.l.i0 or mrg.qr100.L1";
        return Err(Error::Nothing { dir: dir.to_path_buf(), wanted });
    }
    tables.sort_by_key(|(step, _)| place(step));
    let clients = options.clients.or_else(|| of_name(dir)).filter(|n| *n > 0);
    let clients = clients.ok_or_else(|| Error::UnknownClients { path: dir.to_path_buf() })?;
    let mut sheet = Sheet { name: run_name(dir, None, options), ..Sheet::default() };
    for row in tables.iter().flat_map(|(_, rows)| rows) {
        if !sheet.labels.contains(&row.tag) {
            sheet.labels.push(row.tag.clone());
        }
    }
    for (step, rows) in &tables {
        let of = |label: &String| {
            let row = rows.iter().find(|row| row.tag == *label)?;
            cell(step, row, clients)
        };
        let cells = sheet.labels.iter().map(of).collect();
        sheet.steps.push(SheetStep { info: info(step), clients, cells });
    }
    sheet.into_run(Tool::Iibench, options)
}

/// Clients from the folder's name: `20m.4u.1tno`.
fn of_name(dir: &Path) -> Option<u32> {
    let whole = std::path::absolute(dir).ok()?;
    let name = whole.file_name()?.to_string_lossy().into_owned();
    name.split('.').find_map(|part| part.strip_suffix('u')?.parse().ok())
}

/// Whether a name is that of a step: loads, the creation of indexes, queries at a rate of inserts. There are
/// tables of response times beside them.
fn is_step(name: &str) -> bool {
    matches!(name, "l.i0" | "l.x" | "l.i1" | "l.i2") || rate(name).is_some()
}

/// Inserts per second and client of a step of queries: 100 of `qr100.L1`.
fn rate(name: &str) -> Option<u32> {
    let rest = name.strip_prefix("qr").or_else(|| name.strip_prefix("qp"))?;
    let (digits, level) = rest.split_once('.').unwrap_or((rest, "L"));
    if !level.starts_with('L') { None } else { digits.parse().ok().filter(|n| *n > 0) }
}

/// The order in which steps run: that of rates, range queries before point queries.
fn place(step: &str) -> (u32, u32, String) {
    let of_load = ["l.i0", "l.x", "l.i1", "l.i2"].iter().position(|load| *load == step);
    match (of_load.and_then(|at| u32::try_from(at).ok()), rate(step)) {
        (Some(at), _) => (0, at, String::new()),
        (None, rate) => {
            let kind = u32::from(step.starts_with("qp"));
            (rate.unwrap_or(u32::MAX), kind, step.to_owned())
        }
    }
}

/// The column of a step's figure.
fn figure_heading(step: &str) -> &'static str {
    if rate(step).is_some() { "qps" } else { "ips" }
}

/// The lines of a table whose figures stand in the column `figure`.
fn parse(text: &str, figure: &str, path: &Path) -> Result<Vec<Row>, Error> {
    let mut heads: Vec<&str> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let wrong = |problem: String| Error::line(path, idx, problem);
        let fields: Vec<&str> =
            line.split(['\t', ',']).map(str::trim).filter(|field| !field.is_empty()).collect();
        match fields.as_slice() {
            [] | ["-"] => continue,
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
            values.extend(value.map(|value| ((*head).to_owned(), value)));
        }
        rows.push(Row { tag: (*tag).to_owned(), values });
    }
    if rows.is_empty() {
        let problem = "it has no line of a system: merge its step again, or move it away";
        return Err(Error::file(path, problem));
    }
    Ok(rows)
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

/// What reports need to know of a step: kind, group and figure are those of the step that rqps measures
/// itself.
fn info(step: &str) -> StepInfo {
    let (kind, group, figure) = match step {
        "l.x" => (StepKind::Index, Group::Write, Figure::RowsIndexed),
        step if step.starts_with("l.") => (StepKind::Insert, Group::Write, Figure::RowsInserted),
        step if step.starts_with("qp") => (StepKind::Mixed, Group::Point, Figure::Queries),
        _ => (StepKind::Mixed, Group::Range, Figure::Queries),
    };
    // l.i0, l.i1 and l.i2 are of one family.
    let family = step.strip_suffix(|c: char| c.is_ascii_digit() && step.starts_with("l."));
    StepInfo {
        name: step.to_owned(),
        family: family.unwrap_or(step).to_owned(),
        n: None,
        kind,
        group,
        figure,
        what: format!("{step} in the imported files."),
    }
}

/// One line as a cell; `None` without a figure.
fn cell(step: &str, row: &Row, clients: u32) -> Option<Cell> {
    let is_query = rate(step).is_some();
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
        target_inserts_per_s: rate(step).map(|rate| f64::from(rate) * f64::from(clients)),
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
