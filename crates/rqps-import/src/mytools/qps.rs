//! Tables of QPS: `qps.abs.GROUP.tsv` with its labels, or the same as CSV without them.

use std::path::Path;

use rqps_model::Metric;

use super::csv::{self, CsvLine};
use super::legend::{self, Legend, check_labels, own_labels};
use super::met::Met;
use super::rates::is_other;
use crate::Error;
use crate::cut::{cut_problem, unended_idx, unended_problem, whole_name};
use crate::number::parse_quantity;
use crate::steps::FileStep;

/// A table of QPS.
#[derive(Debug, Default)]
pub struct Qps {
    /// The columns' systems.
    pub labels: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// Lines that were not taken over.
    pub(crate) skipped: Vec<Error>,
    /// What is to be known of lines that were taken.
    pub(crate) notes: Vec<String>,
    /// The last line (from 0), where it has no end and its step is the last.
    unended_idx: Option<usize>,
}

/// What to do where the systems of columns are not known.
const LABELS_REMEDY: &str = "write lines `col-1 : LABEL` above its steps, or put the table with tabs (qps.abs.GROUP.tsv) beside it";

/// Where the labels of a table with commas come from, if it has none of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CsvLabels<'l> {
    /// The table with tabs beside it.
    Table(&'l [String]),
    /// The metrics beside it.
    Metrics(&'l Met),
    /// The columns have numbers alone: the user says the DBMS.
    Numbers,
    /// Nothing tells them.
    Unknown,
}

impl<'l> CsvLabels<'l> {
    /// The labels that a file beside the table names.
    fn labels(self) -> &'l [String] {
        match self {
            Self::Table(labels) => labels,
            Self::Metrics(met) => &met.labels,
            Self::Numbers | Self::Unknown => &[],
        }
    }

    fn of_columns(self, n: usize, path: &Path) -> Result<Vec<String>, Error> {
        let numbers = || (1..=n).map(|column| format!("col-{column}")).collect();
        let refused = |why: String| Error::file(path, format!("{why}: {LABELS_REMEDY}"));
        match self {
            Self::Table(labels) if labels.len() == n => Ok(labels.to_vec()),
            Self::Table(labels) => Err(refused(format!(
                "it has {n} columns, but the table with tabs has {}",
                labels.len()
            ))),
            Self::Metrics(met) => met.labels_of_columns(n).map(<[String]>::to_vec).map_err(refused),
            Self::Numbers => Ok(numbers()),
            Self::Unknown => Err(refused("the systems of its columns are not known".to_owned())),
        }
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) step: FileStep,
    /// One per column; `None` where it was not run.
    pub(crate) values: Vec<Option<f64>>,
}

impl Qps {
    /// A table without a step.
    pub(super) fn of_labels(labels: Vec<String>) -> Self {
        Self { labels, ..Self::default() }
    }

    /// Reads the form with tabs: lines `col-1 : LABEL`, a line of headings, then a line per step whose
    /// name comes last. Other lines are skipped and named.
    ///
    /// # Errors
    /// A step or label that comes twice, a column without a label, headings of other columns, and a table
    /// without a step.
    pub fn parse_tsv(text: &str, path: &Path) -> Result<Self, Error> {
        check_no_ratios(text, path)?;
        let mut table = Self { labels: own_labels(text, path)?, ..Self::default() };
        let mut order: Option<Vec<usize>> = None;
        for (idx, line) in text.lines().enumerate() {
            let place = Line { path, idx };
            if line.trim().is_empty() || Legend::parse(line).is_some() {
                continue;
            }
            if legend::has_spaces(line) {
                table.skipped.push(place.error(legend::SPACES.to_owned()));
                continue;
            }
            let mut fields: Vec<&str> = line.split('\t').collect();
            // The step stands last, so that tabs behind it separate nothing.
            let n_filled = line.trim_end().split('\t').count();
            fields.truncate(n_filled.max(table.labels.len() + 1));
            let heads = headings(&fields);
            if !heads.is_empty() {
                order = Some(table.parse_order(heads).map_err(|problem| place.error(problem))?);
                continue;
            }
            let step = fields.pop().unwrap_or_default();
            let n_before = table.rows.len();
            table.take(step, &in_order(fields, order.as_deref()), place)?;
            let is_last = unended_idx(text) == Some(idx) && table.rows.len() > n_before;
            table.unended_idx = is_last.then_some(idx);
        }
        table.checked(path)
    }

    /// The table without a last line that ends within the name of its step. Steps of other files are `known`.
    ///
    /// # Errors
    /// A table that has no other line of a step.
    pub(super) fn without_cut(mut self, known: &[String], path: &Path) -> Result<Self, Error> {
        let Some((idx, (last, rows))) = self.unended_idx.take().zip(self.rows.split_last()) else {
            return Ok(self);
        };
        let name = last.step.row_name();
        let is_own = |known: &str| rows.iter().any(|row| row.step.row_name() == known);
        let whole = whole_name(&name, known.iter().map(String::as_str));
        let whole = whole.filter(|whole| !is_own(whole)).map(|whole| cut_problem(&name, whole));
        let lacks_range = last.step.range.is_none()
            && !rows.is_empty()
            && rows.iter().all(|row| row.step.range.is_some());
        let unended = (lacks_range && !known.contains(&name)).then(unended_problem);
        if let Some(problem) = whole.or(unended) {
            self.rows.pop();
            self.skipped.push(Error::line(path, idx, problem));
        } else if !known.contains(&name) {
            let note = format!("its line has no end, so {name} may lack digits or letters");
            self.notes.push(format!("{}.", Error::line(path, idx, note)));
        }
        self.checked(path)
    }

    /// Reads the form with commas: the step's name, then a value per system. Labels stand above it as in the
    /// form with tabs, or come from elsewhere.
    ///
    /// # Errors
    /// A step that comes twice, a table without a step, and columns whose systems nothing tells.
    pub(crate) fn parse_csv(text: &str, path: &Path, given: CsvLabels<'_>) -> Result<Self, Error> {
        check_no_ratios(text, path)?;
        let lines = csv::lines(text, path)?;
        let mut table = Self { labels: own_labels(text, path)?, ..Self::default() };
        let mut has_own = !table.labels.is_empty();
        let mut order: Option<Vec<usize>> = None;
        for CsvLine { idx, step, mut values } in lines.iter().cloned() {
            let place = Line { path, idx };
            if values.is_empty() {
                table.skipped.push(place.error("it has no values".to_owned()));
                continue;
            }
            let known = if has_own { &table.labels[..] } else { given.labels() };
            csv::drop_empty(&mut values, known.len().max(csv::widest(&lines)));
            let fields: Vec<&str> = values.iter().map(String::as_str).collect();
            let heads = headings(&fields);
            if !heads.is_empty() {
                order = Some(table.parse_order(heads).map_err(|problem| place.error(problem))?);
                continue;
            }
            if table.labels.is_empty() && csv::is_heading(&step, &fields, known) {
                table.labels = values;
                has_own = true;
                check_labels(table.labels.iter().map(|label| (label.as_str(), idx)), path)?;
                continue;
            }
            if table.labels.is_empty() {
                csv::check_thousands(&lines, path)?;
                table.labels = given.of_columns(fields.len(), path)?;
            }
            table.take(&step, &in_order(fields, order.as_deref()), place)?;
        }
        table.unended_idx = unended_idx(text);
        let table = table.checked(path)?;
        match given {
            CsvLabels::Table(labels) if table.labels != labels => {
                let own = table.labels.join(", ");
                Err(Error::file(
                    path,
                    format!(
                        "its columns are {own}, but those of the table with tabs are {}: write \
                         them in one order",
                        labels.join(", ")
                    ),
                ))
            }
            CsvLabels::Metrics(met) if !has_own => table.check_metrics(met, path),
            _ => Ok(table),
        }
    }

    /// Whether the columns have the rates of the metrics whose labels they got.
    fn check_metrics(self, met: &Met, path: &Path) -> Result<Self, Error> {
        for row in self.rows.iter().filter(|row| !row.step.is_scan()) {
            let Some(step) = met.find_step(&row.step) else { continue };
            for (label, value) in self.labels.iter().zip(&row.values) {
                let metrics = step.metrics_of(label);
                let rate = metrics.iter().find(|(metric, _)| *metric == Metric::Rate);
                let Some((value, rate)) = value.zip(rate.map(|(_, rate)| *rate)) else { continue };
                if is_other(value, rate) {
                    let name = row.step.row_name();
                    let problem = format!(
                        "step {name} has {value} in the column of {label}, whose metrics say \
                         {rate} (o/s): {LABELS_REMEDY}"
                    );
                    return Err(Error::file(path, problem));
                }
            }
        }
        Ok(self)
    }

    /// The columns (from 0) that a line of headings names, which may have another order than the labels.
    fn parse_order(&self, fields: &[&str]) -> Result<Vec<usize>, String> {
        let column = |field: &&str| field.trim().strip_prefix("col-")?.parse::<usize>().ok();
        let columns: Vec<Option<usize>> = fields.iter().map(column).collect();
        let at = |n: usize| columns.iter().position(|column| *column == Some(n));
        // Headings may stand above the labels.
        let n = if self.labels.is_empty() { columns.len() } else { self.labels.len() };
        let is_whole = columns.len() == n && (1..=n).all(|n| at(n).is_some());
        if is_whole {
            return Ok(columns.into_iter().flatten().map(|n| n - 1).collect());
        }
        let headings = fields.join(", ");
        Err(format!(
            "headings {headings}, expected each of col-1 to col-{n} once: make the table again"
        ))
    }

    /// Takes a line, or names why it cannot be read.
    fn take(&mut self, step: &str, values: &[&str], line: Line<'_>) -> Result<(), Error> {
        let row = match self.parse_row(step, values) {
            Ok(row) => row,
            Err(problem) => {
                self.skipped.push(line.error(problem));
                return Ok(());
            }
        };
        if self.find_step(&row.step).is_some() {
            let problem = format!("step {} occurs twice: remove one of them", row.step.row_name());
            return Err(line.error(problem));
        }
        self.rows.push(row);
        Ok(())
    }

    fn parse_row(&self, step: &str, values: &[&str]) -> Result<Row, String> {
        if values.len() != self.labels.len() {
            let (n, wanted) = (values.len(), self.labels.len());
            if [step].into_iter().chain(values.iter().copied()).any(|text| text.contains(';')) {
                return Err(
                    "its columns are separated by `;`: separate them by tabs, or by commas in a \
                            table *.csv"
                        .to_owned(),
                );
            }
            return Err(format!("{n} values for {wanted} systems"));
        }
        if values.is_empty() {
            return Err("neither a label nor a line of values".to_owned());
        }
        let step = FileStep::of_row(step.trim());
        if step.family.is_empty() || step.family.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("{:?} is not the name of a step", step.family));
        }
        let values = values.iter().map(|text| parse_quantity(text)).collect::<Result<_, _>>()?;
        Ok(Row { step, values })
    }

    /// The table, if it has a step.
    fn checked(mut self, path: &Path) -> Result<Self, Error> {
        if self.labels.is_empty() {
            let problem = "it names no systems: write lines `col-1 : LABEL` above its steps";
            return Err(Error::file(path, problem));
        }
        if !self.rows.is_empty() {
            return Ok(self);
        }
        let first = (!self.skipped.is_empty()).then(|| self.skipped.remove(0));
        let none = || Error::file(path, "it has no line of a step: make the table again");
        Err(first.unwrap_or_else(none))
    }

    /// A table with commas ends with a value, which may lack digits where its line has no end.
    pub(super) fn with_unended_note(mut self, path: &Path) -> Self {
        if let Some((idx, row)) = self.unended_idx.take().zip(self.rows.last()) {
            let name = row.step.row_name();
            let note = format!("its line has no end, so the last value of {name} may lack digits");
            self.notes.push(format!("{}.", Error::line(path, idx, note)));
        }
        self
    }

    /// Adds the steps that only `other`, which is at `path`, has of the same systems.
    ///
    /// # Errors
    /// A step with other figures in `other`.
    pub(crate) fn add_steps(&mut self, other: Self, path: &Path) -> Result<(), Error> {
        let is_told =
            |row: &Row| self.find_step(&row.step).is_some_and(|own| own.values == row.values);
        let other = match other.rows.last().is_some_and(is_told) {
            true => other,
            false => other.with_unended_note(path),
        };
        self.skipped.extend(other.skipped);
        self.notes.extend(other.notes);
        for row in other.rows {
            match self.find_step(&row.step) {
                Some(own) if own.values == row.values => {}
                None if row.values.len() == self.labels.len() => self.rows.push(row),
                _ => {
                    let name = row.step.row_name();
                    let problem = format!("step {name} differs from the table with tabs");
                    return Err(Error::file(path, problem));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn find_step(&self, step: &FileStep) -> Option<&Row> {
        self.rows.iter().find(|row| row.step == *step)
    }

    /// The value of a row on a system.
    pub(crate) fn value(&self, row: &Row, label: &str) -> Option<f64> {
        let at = self.labels.iter().position(|known| known == label)?;
        row.values.get(at).copied().flatten()
    }
}

/// A line of a file.
#[derive(Debug, Clone, Copy)]
struct Line<'p> {
    path: &'p Path,
    /// From 0.
    idx: usize,
}

impl Line<'_> {
    fn error(self, problem: String) -> Error {
        Error::line(self.path, self.idx, problem)
    }
}

/// The headings `col-1` and so on of a line; remarks may stand behind them.
fn headings<'f, 't>(fields: &'f [&'t str]) -> &'f [&'t str] {
    let n = fields.iter().take_while(|field| field.trim().starts_with("col-")).count();
    &fields[..n]
}

/// Values in the order of the labels; headings may have another one.
fn in_order<'f>(fields: Vec<&'f str>, order: Option<&[usize]>) -> Vec<&'f str> {
    let Some(order) = order.filter(|order| order.len() == fields.len()) else { return fields };
    let mut sorted = fields.clone();
    for (field, column) in fields.iter().zip(order) {
        sorted[*column] = field;
    }
    sorted
}

/// Refuses ratios, which would be taken for QPS.
fn check_no_ratios(text: &str, path: &Path) -> Result<(), Error> {
    let ratios = text.lines().position(|line| line.trim().starts_with("Relative to:"));
    ratios.map_or(Ok(()), |idx| {
        let problem = "it has ratios, not QPS (Relative to:): name it qps.rel.GROUP.tsv, and put \
                       the QPS in its place";
        Err(Error::line(path, idx, problem))
    })
}
