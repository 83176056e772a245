//! Folders of the field's scripts: tables of QPS with tables of metrics beside them, or the raw files that
//! these are made from.
//!
//! ```text
//!   DIR/qps.abs.GROUP.tsv, .csv   QPS, a row per step and a column per system
//!   DIR/qps.rel.GROUP.tsv         names the base; its ratios are computed anew
//!   DIR/o.met.GROUP, met.GROUP.txt   metrics per operation of each step
//! or
//!   DIR/LABEL/sb.o.STEP           the client's output, one directory per system, with sb.met.STEP or
//!                                 sb.vm.STEP and sb.io.STEP beside it
//! ```

pub mod met;
pub mod qps;

mod raw;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rqps_model::{Run, Slice, Stated, Tool};

use crate::error::{read_names, read_text};
use crate::sheet::{self, Sheet, SheetStep};
use crate::steps::{FileStep, Names};
use crate::{Error, Options};
use met::Met;
use qps::Qps;

/// The runs of a folder: one for each group of tables, or one of raw files. Their ids are still to be given.
///
/// # Errors
/// Files that cannot be read or understood, that contradict one another, or that leave open what only
/// the user can say.
pub fn import(dir: &Path, options: &Options) -> Result<Vec<Run>, Error> {
    let names = read_names(dir)?;
    let groups = groups(&names);
    if groups.is_empty() {
        let sheet = raw::read(dir, &names, options)?;
        return Ok(vec![sheet.into_run(Tool::Mytools, options)?]);
    }
    let several = groups.len() > 1;
    let run = |(group, files): (&String, &Files)| {
        let name = run_name(dir, several.then_some(group.as_str()), options);
        group_sheet(dir, files, (name, options))?.into_run(Tool::Mytools, options)
    };
    groups.iter().map(run).collect()
}

/// The files of one group, by name.
#[derive(Debug, Default)]
struct Files {
    qps_tsv: Option<String>,
    qps_csv: Option<String>,
    rel_tsv: Option<String>,
    met: Option<String>,
}

/// The groups of a folder: those that have a table of QPS or of metrics.
fn groups(names: &[String]) -> BTreeMap<String, Files> {
    let mut groups: BTreeMap<String, Files> = BTreeMap::new();
    for name in names {
        let between = |begin: &str, end: &str| {
            let group = name.strip_prefix(begin)?.strip_suffix(end)?;
            (!group.is_empty()).then(|| group.to_owned())
        };
        let own = || Some(name.clone());
        if let Some(group) = between("qps.abs.", ".tsv") {
            groups.entry(group).or_default().qps_tsv = own();
        } else if let Some(group) = between("qps.abs.", ".csv") {
            groups.entry(group).or_default().qps_csv = own();
        } else if let Some(group) = between("qps.rel.", ".tsv") {
            groups.entry(group).or_default().rel_tsv = own();
        } else if let Some(group) = between("o.met.", ".txt")
            .or_else(|| between("o.met.", ""))
            .or_else(|| between("met.", ".txt"))
        {
            groups.entry(group).or_default().met = own();
        }
    }
    groups.retain(|_, files| {
        files.qps_tsv.is_some() || files.qps_csv.is_some() || files.met.is_some()
    });
    groups
}

/// The folder's name and, where it has several groups, the group's.
pub(crate) fn run_name(dir: &Path, group: Option<&str>, options: &Options) -> String {
    let folder = || {
        let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        whole.file_name().map_or("imported".to_owned(), |n| n.to_string_lossy().into_owned())
    };
    let name = options.name.clone().unwrap_or_else(folder);
    group.map_or(name.clone(), |group| format!("{name}.{group}"))
}

fn group_sheet(
    dir: &Path,
    files: &Files,
    (name, options): (String, &Options),
) -> Result<Sheet, Error> {
    let read = |name: &Option<String>| -> Result<Option<(PathBuf, String)>, Error> {
        let path = name.as_ref().map(|name| dir.join(name));
        path.map(|path| Ok((path.clone(), read_text(&path)?))).transpose()
    };
    let met = match read(&files.met)? {
        Some((path, text)) => Met::parse(&text, &path)?,
        None => Met::default(),
    };
    let tsv = read(&files.qps_tsv)?.map(|(path, text)| Qps::parse_tsv(&text, &path)).transpose()?;
    let csv = match read(&files.qps_csv)? {
        Some((path, text)) => {
            let qps = Qps::parse_csv(&text, &path, &met.labels)?;
            if let Some(tsv) = &tsv {
                qps.check_against(tsv, &path)?;
            }
            Some(qps)
        }
        None => None,
    };
    let qps = tsv.or(csv).unwrap_or_else(|| Qps { labels: met.labels.clone(), rows: Vec::new() });
    let base = match read(&files.rel_tsv)? {
        Some((path, text)) => Some(qps::parse_base(&text, &path)?),
        None => None,
    };
    let clients = clients(dir, &met, options)?;
    let mut sheet = Sheet { name, labels: labels(&qps, &met), base, ..Sheet::default() };
    sheet.steps = steps(&sheet.labels, (&qps, &met), (options.clients, clients))?;
    Ok(sheet)
}

/// The systems of both kinds of tables, those of QPS first.
fn labels(qps: &Qps, met: &Met) -> Vec<String> {
    let mut labels = qps.labels.clone();
    for label in &met.labels {
        if !labels.contains(label) {
            labels.push(label.clone());
        }
    }
    labels
}

/// Client threads: what the user says, else what the names of the metrics say (`dop4`), else what the
/// folder's name says (`aug25.sb.mem.in.4u`).
fn clients(dir: &Path, met: &Met, options: &Options) -> Result<u32, Error> {
    let of_met = || met.steps.iter().find_map(|step| step.clients);
    let of_dir = || {
        let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        let name = whole.file_name()?.to_string_lossy().into_owned();
        name.split('.').find_map(|part| part.strip_suffix('u')?.parse().ok())
    };
    let found = options.clients.or_else(of_met).or_else(of_dir).filter(|n| *n > 0);
    found.ok_or_else(|| Error::UnknownClients { path: dir.to_path_buf() })
}

/// The steps of the table of QPS in its order, then those that only have metrics.
fn steps(
    labels: &[String],
    (qps, met): (&Qps, &Met),
    (said, usual): (Option<u32>, u32),
) -> Result<Vec<SheetStep>, Error> {
    let names = Names::new()?;
    let clients = |own: Option<u32>| said.or(own).unwrap_or(usual);
    let mut order: Vec<(FileStep, u32)> = Vec::new();
    for row in &qps.rows {
        let of_met = met.of(&row.step).and_then(|step| step.clients);
        order.push((row.step.clone(), clients(of_met)));
    }
    for step in &met.steps {
        if qps.of(&step.step).is_none() {
            order.push((step.step.clone(), clients(step.clients)));
        }
    }
    // Filling the tables comes before all else.
    order.sort_by_key(|(step, _)| !step.is_load);
    let row = |(step, clients): (FileStep, u32)| {
        let of = |label| cell(&step, label, (qps, met)).map(Into::into);
        let cells = labels.iter().map(|label| of(label)).collect();
        SheetStep { info: names.info(&step), clients, cells }
    };
    Ok(order.into_iter().map(row).collect())
}

/// What the tables say of a step on a system. A step without QPS has the rate that its metrics are of.
fn cell(step: &FileStep, label: &str, (qps, met): (&Qps, &Met)) -> Option<Slice> {
    let metrics = met.of(step).map_or(&[][..], |step| step.metrics_of(label));
    let of_metrics = || metrics.iter().find(|(m, _)| *m == rqps_model::Metric::Rate).map(|m| m.1);
    let figure = match qps.of(step) {
        Some(row) => qps.value(row, label),
        None => of_metrics(),
    }?;
    let stated = Stated { figure: Some(figure), metrics: metrics.to_vec(), ..Stated::default() };
    Some(sheet::slice(stated))
}
