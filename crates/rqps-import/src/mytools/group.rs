//! The tables of one group as systems and steps.

use std::path::{Path, PathBuf};

use rqps_model::{Slice, Stated};

use super::agree;
use super::legend;
use super::met::Met;
use super::qps::{CsvLabels, Qps};
use super::rel::Rel;
use crate::folder::{Folder, read_text};
use crate::sheet::{self, OwnName, Sheet, SheetStep};
use crate::steps::{FileStep, Names};
use crate::{Error, Options};

/// The files of one group, by name.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) qps_tsv: Option<String>,
    pub(super) qps_csv: Option<String>,
    pub(super) rel_tsv: Option<String>,
    /// Files of metrics. One of them is taken.
    pub(super) mets: Vec<String>,
}

impl Files {
    pub(super) fn met(&self) -> Option<&String> {
        self.mets.first()
    }
}

/// The tables of one group, in which `of_names` is what names say of clients.
pub(super) fn sheet(
    folder: &Folder,
    files: &Files,
    of_names: Option<u32>,
    options: &Options,
) -> Result<Sheet, Error> {
    let path = |name: &Option<String>| name.as_ref().and_then(|name| folder.path(name));
    let mut skipped = Vec::new();
    let qps_path = path(&files.qps_tsv).or_else(|| path(&files.qps_csv));
    let met_path = files.met().and_then(|name| folder.path(name)).unwrap_or_default();
    let mut met = match read_met(folder, files, &mut skipped) {
        Ok(met) => met,
        // Figures do not depend on metrics.
        Err(problem) if qps_path.is_some() => {
            skipped.push(problem);
            Met::default()
        }
        Err(problem) => return Err(problem),
    };
    met.exclude_cut(&legend_labels(folder, files), &met_path);
    let rel = path(&files.rel_tsv).map(|path| Ok((Rel::parse(&read_text(&path)?, &path)?, path)));
    // QPS do not depend on ratios, which are computed again, nor on a base that the user names.
    let rel = rel.transpose().unwrap_or_else(|problem: Error| {
        skipped.extend(options.base.is_none().then_some(problem));
        None
    });
    let mut steps_beside: Vec<String> = met.steps.iter().map(|s| s.step.row_name()).collect();
    steps_beside.extend(rel.iter().flat_map(|(rel, _)| rel.step_names()));
    let with = QpsOptions { met: &met, options, steps_beside: &steps_beside };
    let qps = read_qps(folder, files, with, &mut skipped)?;
    agree::exclude_others(&mut met, &qps, &met_path, &mut skipped);
    let labels = labels(&qps, &met);
    let mut base = None;
    if let Some((mut rel, path)) = rel {
        skipped.extend(rel.take_problems());
        match known_base(&rel, &path, &labels) {
            Ok(known) => {
                skipped.extend(rel.check(&qps, &path).err());
                base = Some(known);
            }
            Err(problem) => skipped.extend(options.base.is_none().then_some(problem)),
        }
    }
    let of_met = met.steps.iter().find_map(|step| step.clients);
    if let (Some(of_met), Some(of_names)) = (of_met, of_names)
        && of_met != of_names
    {
        let problem = format!(
            "its steps have {of_met} clients, but the names of the group's files say {of_names}"
        );
        skipped.push(Error::file(&met_path, problem));
    }
    let clients = options.clients.or(of_met).or(of_names).filter(|n| *n > 0);
    let own_path = qps_path.unwrap_or(met_path);
    let clients = clients.ok_or(Error::UnknownClients { path: own_path })?;
    let mut sheet = Sheet { labels, base, ..Sheet::default() };
    let tables = Tables { qps: &qps, met: &met };
    let clients = Clients { said: options.clients, usual: clients };
    sheet.steps = steps(&sheet.labels, tables, clients)?;
    skipped.extend(qps.skipped.into_iter().chain(met.skipped));
    sheet.notes.extend(skipped.iter().map(sheet::note).chain(qps.notes));
    Ok(sheet)
}

/// What a table of QPS without labels is read with.
#[derive(Debug, Clone, Copy)]
struct QpsOptions<'o> {
    met: &'o Met,
    options: &'o Options,
    /// Names of steps in the files beside it.
    steps_beside: &'o [String],
}

/// The labels that the tables of QPS name.
fn legend_labels(folder: &Folder, files: &Files) -> Vec<String> {
    let names = [&files.qps_tsv, &files.qps_csv].into_iter().flatten();
    let texts = names.filter_map(|name| read_text(&folder.path(name)?).ok());
    texts.flat_map(|text| legend::legend_labels(&text)).collect()
}

/// The QPS of a group by its table with tabs, with those steps that only the table with commas has. Where one of them
/// cannot be read, the other counts.
fn read_qps(
    folder: &Folder,
    files: &Files,
    with: QpsOptions<'_>,
    skipped: &mut Vec<Error>,
) -> Result<Qps, Error> {
    let QpsOptions { met, options, steps_beside } = with;
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
    let of_csv = csv.iter().flatten().flat_map(|(csv, _)| &csv.rows);
    let of_csv = of_csv.map(|row| row.step.row_name());
    let known: Vec<String> = steps_beside.iter().cloned().chain(of_csv).collect();
    let whole = |tsv: Qps| tsv.without_cut(&known, &path(&files.qps_tsv).unwrap_or_default());
    match (tsv.and_then(|tsv| tsv.map(whole).transpose()), csv) {
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
        (Err(problem), Ok(Some((csv, path)))) => {
            skipped.push(problem);
            Ok(csv.with_unended_note(&path))
        }
        (Err(problem), _) => Err(problem),
        (Ok(None), csv) => {
            let alone = || Qps::of_labels(met.labels.clone());
            Ok(csv?.map_or_else(alone, |(csv, path)| csv.with_unended_note(&path)))
        }
    }
}

/// The base that a table of ratios names, which must be one of the systems.
fn known_base(rel: &Rel, path: &Path, labels: &[String]) -> Result<String, Error> {
    let base = &rel.base;
    if labels.contains(base) {
        return Ok(base.clone());
    }
    let known = labels.join(", ");
    let problem = format!(
        "its base {base} is not one of the systems ({known}): the first system is the base"
    );
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
        let of_met = met.find_step(&row.step).and_then(|step| step.clients);
        order.push((row.step.clone(), clients.of_step(of_met)));
    }
    for step in &met.steps {
        if qps.find_step(&step.step).is_none() {
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
    let metrics = met.find_step(step).map_or(&[][..], |step| step.metrics_of(label));
    let of_metrics = || metrics.iter().find(|(m, _)| *m == rqps_model::Metric::Rate).map(|m| m.1);
    let has_column = qps.labels.iter().any(|known| known == label);
    let figure = match qps.find_step(step).filter(|_| has_column) {
        Some(row) => qps.value(row, label),
        None => of_metrics(),
    }?;
    let stated = Stated { figure: Some(figure), metrics: metrics.to_vec(), ..Stated::default() };
    Some(sheet::slice(stated))
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
                "it differs from {name}, and both have the metrics of one group: remove one of them"
            );
            return Err(Error::file(&other_path, problem));
        }
        skipped
            .push(Error::file(&other_path, format!("it is the same as {name}, which is imported")));
    }
    Met::parse(&text, &path)
}
