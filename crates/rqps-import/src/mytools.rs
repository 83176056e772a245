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

mod beside;
mod raw;
mod step_met;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rqps_model::{Slice, Stated, Tool};

use crate::folder::{Folder, LeftOut, read_text};
use crate::sheet::{self, OwnName, Sheet, SheetStep};
use crate::steps::{FileStep, Names};
use crate::{Error, Imports, Options, clients};
use met::Met;
use qps::{CsvLabels, Qps};

/// The runs of a folder: one for each group of tables, or one of raw files.
///
/// # Errors
/// A folder without anything that can be taken over, by what is wrong with its files.
pub fn import(dir: &Path, options: &Options) -> Result<Imports, Error> {
    let folder = Folder::read(dir)?;
    let Groups { groups, unused } = groups(&folder);
    if groups.is_empty() {
        let mut imports = Imports { skipped: unused, ..Imports::default() };
        match raw::read(&folder, options).and_then(|sheet| sheet.into_run(Tool::Mytools, options)) {
            Ok(run) => imports.runs.push(run),
            // What is wrong with the tables says more than that nothing else is there.
            Err(Error::Nothing { .. }) if !imports.skipped.is_empty() => {}
            Err(problem) => imports.skipped.push(problem),
        }
        return imports.or_error(dir);
    }
    let mut imports = Imports { skipped: unused, ..Imports::default() };
    let usual = usual_clients(&folder, &groups);
    for (group, files) in &groups {
        let name = run_name(dir, (groups.len() > 1).then_some(group.as_str()), options);
        let own = clients::of_name(group).or(usual).or_else(|| clients::of_dir(dir));
        let sheet = group_sheet(&folder, files, own, options);
        let run = sheet.and_then(|sheet| Sheet { name, ..sheet }.into_run(Tool::Mytools, options));
        match run {
            Ok(run) => imports.runs.push(run),
            Err(problem) => imports.skipped.push(problem),
        }
    }
    imports.or_error(dir)
}

/// The files of one group, by name.
#[derive(Debug, Default)]
struct Files {
    qps_tsv: Option<String>,
    qps_csv: Option<String>,
    rel_tsv: Option<String>,
    /// Files of metrics. One of them is taken.
    mets: Vec<String>,
}

impl Files {
    fn met(&self) -> Option<&String> {
        self.mets.first()
    }
}

/// The groups of a folder, and files that look like tables and belong to none.
#[derive(Debug, Default)]
struct Groups {
    groups: BTreeMap<String, Files>,
    unused: Vec<Error>,
}

/// The groups of a folder: those that have a table of QPS or of metrics.
fn groups(folder: &Folder) -> Groups {
    let mut groups: BTreeMap<String, Files> = BTreeMap::new();
    let mut unused = Vec::new();
    for name in folder.names() {
        let between = |begin: &str, end: &str| {
            let group = name.strip_prefix(begin)?.strip_suffix(end)?;
            (!group.is_empty()).then(|| group.to_owned())
        };
        let own = || Some(name.to_owned());
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
            groups.entry(group).or_default().mets.extend(own());
        } else if name == "o.met" {
            groups.entry(String::new()).or_default().mets.extend(own());
        } else if name.starts_with("qps.abs.") {
            let problem = "it is no table that is known: name it qps.abs.GROUP.tsv";
            unused.push(Error::file(&folder.dir.join(name), problem));
        }
    }
    for LeftOut { name, why } in
        folder.left_out(|name| is_table(name) || name.starts_with("qps.rel."))
    {
        unused.push(Error::file(&folder.dir.join(name), why));
    }
    unused.extend(folder.odd_names());
    join_only_group(&mut groups, folder, &mut unused);
    groups.retain(|_, files| {
        let is_group = files.qps_tsv.is_some() || files.qps_csv.is_some() || !files.mets.is_empty();
        if let Some(rel) = files.rel_tsv.as_ref().filter(|_| !is_group) {
            let wanted = rel.replacen("qps.rel.", "qps.abs.", 1);
            let problem = format!("ratios alone have no QPS: put {wanted} beside it");
            unused.push(Error::file(&folder.dir.join(rel), problem));
        }
        is_group
    });
    Groups { groups, unused }
}

/// Metrics without a group are those of the only group. Of several groups nobody knows whose they are.
fn join_only_group(groups: &mut BTreeMap<String, Files>, folder: &Folder, unused: &mut Vec<Error>) {
    let Some(files) = groups.remove("") else { return };
    let names = groups.keys().cloned().collect::<Vec<_>>().join(", ");
    let mut others = groups.values_mut();
    match (others.next(), others.next()) {
        (None, _) => {
            groups.insert("all".to_owned(), files);
        }
        (Some(only), None) if only.mets.is_empty() => only.mets = files.mets,
        _ => unused.extend(files.mets.iter().map(|name| {
            let problem = format!(
                "whose of {names} it is, is not known: name it o.met.GROUP after its group"
            );
            Error::file(&folder.dir.join(name), problem)
        })),
    }
}

/// The clients that the metrics of all groups agree on, for groups without metrics of their own.
fn usual_clients(folder: &Folder, groups: &BTreeMap<String, Files>) -> Option<u32> {
    let mets = groups.values().filter_map(Files::met);
    let mut found = BTreeSet::new();
    for path in mets.filter_map(|name| folder.path(name)) {
        let met = read_text(&path).and_then(|text| Met::parse(&text, &path));
        found.extend(met.iter().flat_map(|met| &met.steps).filter_map(|step| step.clients));
    }
    let first = found.pop_first()?;
    found.is_empty().then_some(first)
}

/// The metrics of a group. Several files of them must say the same, and are named.
fn read_met(folder: &Folder, files: &Files, skipped: &mut Vec<Error>) -> Result<Met, Error> {
    let Some((name, others)) = files.mets.split_first() else { return Ok(Met::default()) };
    let path = folder.dir.join(name);
    let read = |name: &str| read_text(&folder.path(name).unwrap_or_else(|| folder.dir.join(name)));
    let text = read(name)?;
    for other in others {
        let other_path = folder.dir.join(other);
        if read(other)? != text {
            let problem = format!(
                "it differs from {name} beside it, and both have the metrics of one group: move one away"
            );
            return Err(Error::file(&other_path, problem));
        }
        skipped.push(Error::file(
            &other_path,
            format!("it is the same as {name} beside it, which is taken"),
        ));
    }
    Met::parse(&text, &path)
}

/// Whether a file looks like a table of these scripts.
fn is_table(name: &str) -> bool {
    ["qps.abs.", "o.met.", "met."].iter().any(|begin| name.starts_with(begin))
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

/// The tables of one group, in which `of_names` is what names say of clients.
fn group_sheet(
    folder: &Folder,
    files: &Files,
    of_names: Option<u32>,
    options: &Options,
) -> Result<Sheet, Error> {
    let path = |name: &Option<String>| name.as_ref().and_then(|name| folder.path(name));
    let mut skipped = Vec::new();
    let qps_path = path(&files.qps_tsv).or_else(|| path(&files.qps_csv));
    let met = match read_met(folder, files, &mut skipped) {
        Ok(met) => met,
        // Figures do not depend on metrics.
        Err(problem) if qps_path.is_some() => {
            skipped.push(problem);
            Met::default()
        }
        Err(problem) => return Err(problem),
    };
    let qps = read_qps(folder, files, QpsOptions { met: &met, options }, &mut skipped)?;
    let labels = labels(&qps, &met);
    let rel_path = path(&files.rel_tsv).filter(|_| options.base.is_none());
    let base = rel_path.map(|path| read_base(&path, &labels)).transpose();
    // QPS do not depend on ratios, which are computed again.
    let base = base.unwrap_or_else(|problem| {
        skipped.push(problem);
        None
    });
    let of_met = met.steps.iter().find_map(|step| step.clients);
    let clients = options.clients.or(of_met).or(of_names).filter(|n| *n > 0);
    let met_path = || files.met().and_then(|name| folder.path(name));
    let own_path = qps_path.or_else(met_path).unwrap_or_default();
    let clients = clients.ok_or(Error::UnknownClients { path: own_path })?;
    let mut sheet = Sheet { labels, base, ..Sheet::default() };
    let tables = Tables { qps: &qps, met: &met };
    let clients = Clients { said: options.clients, usual: clients };
    sheet.steps = steps(&sheet.labels, tables, clients)?;
    skipped.extend(qps.skipped.into_iter().chain(met.skipped));
    sheet.notes.extend(skipped.iter().map(sheet::note));
    Ok(sheet)
}

/// What a table of QPS without labels is read with.
#[derive(Debug, Clone, Copy)]
struct QpsOptions<'o> {
    met: &'o Met,
    options: &'o Options,
}

/// The QPS of a group by its table with tabs, with those steps that only the table with commas has. Where one of them
/// cannot be read, the other counts.
fn read_qps(
    folder: &Folder,
    files: &Files,
    with: QpsOptions<'_>,
    skipped: &mut Vec<Error>,
) -> Result<Qps, Error> {
    let QpsOptions { met, options } = with;
    let path = |name: &Option<String>| name.as_ref().and_then(|name| folder.path(name));
    let read_tsv = |path: PathBuf| Qps::parse_tsv(&read_text(&path)?, &path);
    let tsv = path(&files.qps_tsv).map(read_tsv).transpose();
    let given = match &tsv {
        Ok(Some(tsv)) => CsvLabels::Table(&tsv.labels),
        _ if !met.labels.is_empty() => CsvLabels::Metrics(met),
        _ if options.dbms.is_some() => CsvLabels::Numbers,
        _ => CsvLabels::Unknown,
    };
    let read_csv = |path: PathBuf| Ok((Qps::parse_csv(&read_text(&path)?, &path, given)?, path));
    let csv: Result<Option<(Qps, PathBuf)>, Error> = path(&files.qps_csv).map(read_csv).transpose();
    match (tsv, csv) {
        (Ok(Some(mut tsv)), Ok(csv)) => {
            if let Some((csv, path)) = csv {
                tsv.add_steps(csv, &path)?;
            }
            Ok(tsv)
        }
        (Ok(Some(tsv)), Err(problem)) => {
            skipped.push(problem);
            Ok(tsv)
        }
        (Err(problem), Ok(Some((csv, _)))) => {
            skipped.push(problem);
            Ok(csv)
        }
        (Err(problem), _) => Err(problem),
        (Ok(None), csv) => {
            let alone = || Qps { labels: met.labels.clone(), ..Qps::default() };
            Ok(csv?.map_or_else(alone, |(csv, _)| csv))
        }
    }
}

/// The base that a table of ratios names, which must be one of the systems.
fn read_base(path: &Path, labels: &[String]) -> Result<String, Error> {
    let base = qps::parse_base(&read_text(path)?, path)?;
    if labels.contains(&base) {
        return Ok(base);
    }
    let known = labels.join(", ");
    let problem =
        format!("its base {base} is none of the systems ({known}): the first of them is the base");
    Err(Error::file(path, problem))
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

/// The tables of a group.
#[derive(Debug, Clone, Copy)]
struct Tables<'t> {
    qps: &'t Qps,
    met: &'t Met,
}

/// Client threads.
#[derive(Debug, Clone, Copy)]
struct Clients {
    /// What the user says.
    said: Option<u32>,
    /// Those of steps whose names do not say it.
    usual: u32,
}

impl Clients {
    fn of_step(self, own: Option<u32>) -> u32 {
        self.said.or(own).unwrap_or(self.usual)
    }
}

/// The steps of the table of QPS in its order, then those that only have metrics.
fn steps(labels: &[String], tables: Tables<'_>, clients: Clients) -> Result<Vec<SheetStep>, Error> {
    let names = Names::new()?;
    let Tables { qps, met } = tables;
    let mut order: Vec<(FileStep, u32)> = Vec::new();
    for row in &qps.rows {
        let of_met = met.of(&row.step).and_then(|step| step.clients);
        order.push((row.step.clone(), clients.of_step(of_met)));
    }
    for step in &met.steps {
        if qps.of(&step.step).is_none() {
            order.push((step.step.clone(), clients.of_step(step.clients)));
        }
    }
    // Filling the tables comes before all else.
    order.sort_by_key(|(step, _)| !step.is_load);
    let row = |(step, clients): (FileStep, u32)| {
        let of = |label| cell(&step, label, tables).map(Into::into);
        let cells = labels.iter().map(|label| of(label)).collect();
        SheetStep { info: names.info(&step), clients, cells }
    };
    let own_names: Vec<OwnName> = order.iter().map(|(step, _)| step.own_name()).collect();
    let mut rows: Vec<SheetStep> = order.into_iter().map(row).collect();
    sheet::tell_apart(&mut rows, &own_names);
    Ok(rows)
}

/// What the tables say of a step on a system. A step or system without QPS has the rate
/// that its metrics are of.
fn cell(step: &FileStep, label: &str, tables: Tables<'_>) -> Option<Slice> {
    let Tables { qps, met } = tables;
    let metrics = met.of(step).map_or(&[][..], |step| step.metrics_of(label));
    let of_metrics = || metrics.iter().find(|(m, _)| *m == rqps_model::Metric::Rate).map(|m| m.1);
    let has_column = qps.labels.iter().any(|known| known == label);
    let figure = match qps.of(step).filter(|_| has_column) {
        Some(row) => qps.value(row, label),
        None => of_metrics(),
    }?;
    let stated = Stated { figure: Some(figure), metrics: metrics.to_vec(), ..Stated::default() };
    Some(sheet::slice(stated))
}
