//! Tables of QPS: `qps.abs.GROUP.tsv` with its labels, or the same as CSV without them.

use std::path::Path;

use rqps_model::Metric;

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

impl CsvLabels<'_> {
    fn of_columns(self, n: usize, path: &Path) -> Result<Vec<String>, Error> {
        let numbers = || (1..=n).map(|column| format!("col-{column}")).collect();
        let refused = |why: String| Error::file(path, format!("{why}: {LABELS_REMEDY}"));
        match self {
            Self::Table(labels) if labels.len() == n => Ok(labels.to_vec()),
            Self::Table(labels) => Err(refused(format!(
                "it has {n} columns, and the table with tabs beside it has {}",
                labels.len()
            ))),
            Self::Metrics(met) => met.labels_of_columns(n).map(<[String]>::to_vec).map_err(refused),
            Self::Numbers => Ok(numbers()),
            Self::Unknown => {
                Err(refused("nothing says which systems its columns are of".to_owned()))
            }
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
        let mut table = Self::default();
        let mut legends: Vec<usize> = Vec::new();
        let mut order: Option<Vec<usize>> = None;
        for (idx, line) in text.lines().enumerate() {
            let place = Line { path, idx };
            if line.trim().is_empty() || line.starts_with("Relative to:") {
                continue;
            }
            if let Some(legend) = Legend::parse(line) {
                table.add_label(legend, &mut legends, place)?;
                continue;
            }
            let mut fields: Vec<&str> = line.split('\t').collect();
            if line.trim_end().split('\t').all(|field| field.starts_with("col-")) {
                order = Some(table.parse_order(line).map_err(|problem| place.error(problem))?);
                continue;
            }
            let step = fields.pop().unwrap_or_default();
            if let Some(order) = order.as_ref().filter(|order| order.len() == fields.len()) {
                let mut sorted = fields.clone();
                for (field, column) in fields.iter().zip(order) {
                    sorted[*column] = field;
                }
                fields = sorted;
            }
            let n_before = table.rows.len();
            table.take(step, &fields, place)?;
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
            let note = format!("its line has no end, so that {name} may lack digits or letters");
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
        let mut table = Self::default();
        let mut legends = Vec::new();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (idx, line) in lines {
            let place = Line { path, idx };
            if let Some(legend) = Legend::parse(line.trim_end_matches(',')) {
                table.add_label(legend, &mut legends, place)?;
                continue;
            }
            let mut fields: Vec<&str> = line.split(',').collect();
            if line.contains(';') {
                return Err(place.error(
                    "its columns are separated by `;`: separate them by commas, and write decimals with a point"
                        .to_owned(),
                ));
            }
            let step = fields.remove(0);
            if fields.is_empty() {
                table.skipped.push(place.error("it has no values".to_owned()));
                continue;
            }
            if table.labels.is_empty() {
                table.labels = given.of_columns(fields.len(), path)?;
            }
            table.take(step, &fields, place)?;
        }
        table.unended_idx = unended_idx(text);
        let table = table.checked(path)?;
        match given {
            CsvLabels::Metrics(met) if legends.is_empty() => table.check_metrics(met, path),
            _ => Ok(table),
        }
    }

    /// Whether the columns have the rates of the metrics whose labels they got.
    fn check_metrics(self, met: &Met, path: &Path) -> Result<Self, Error> {
        for row in self.rows.iter().filter(|row| !row.step.is_scan()) {
            let Some(step) = met.of(&row.step) else { continue };
            for (label, value) in self.labels.iter().zip(&row.values) {
                let metrics = step.metrics_of(label);
                let rate = metrics.iter().find(|(metric, _)| *metric == Metric::Rate);
                let Some((value, rate)) = value.zip(rate.map(|(_, rate)| *rate)) else { continue };
                if is_other(value, rate) {
                    let name = row.step.row_name();
                    let problem = format!(
                        "step {name} has {value} in the column of {label}, whose metrics beside it say {rate} (o/s): \
                         {LABELS_REMEDY}"
                    );
                    return Err(Error::file(path, problem));
                }
            }
        }
        Ok(self)
    }

    /// Adds the label of a column.
    fn add_label(
        &mut self,
        legend: Legend<'_>,
        legends: &mut Vec<usize>,
        line: Line<'_>,
    ) -> Result<(), Error> {
        let Legend { column, label } = legend;
        let wanted = self.labels.len() + 1;
        if column != wanted {
            return Err(line.error(format!("col-{column} where col-{wanted} should be")));
        }
        if label.is_empty() {
            return Err(
                line.error(format!("col-{column} has no label: write one behind the colon"))
            );
        }
        if let Some(at) = self.labels.iter().position(|known| known == label) {
            let line_no = legends[at] + 1;
            return Err(line.error(format!(
                "label {label} is that of line {line_no}, too: give each column a label of its own"
            )));
        }
        self.labels.push(label.to_owned());
        legends.push(line.idx);
        Ok(())
    }

    /// The columns (from 0) that a line of headings names, which may have another order than the labels.
    fn parse_order(&self, line: &str) -> Result<Vec<usize>, String> {
        let column = |field: &str| field.trim().strip_prefix("col-")?.parse::<usize>().ok();
        let columns: Vec<Option<usize>> = line.trim_end().split('\t').map(column).collect();
        let at = |n: usize| columns.iter().position(|column| *column == Some(n));
        // Headings may stand above the labels.
        let n = if self.labels.is_empty() { columns.len() } else { self.labels.len() };
        let is_whole = columns.len() == n && (1..=n).all(|n| at(n).is_some());
        if is_whole {
            return Ok(columns.into_iter().flatten().map(|n| n - 1).collect());
        }
        let headings = line.split_whitespace().collect::<Vec<_>>().join(", ");
        Err(format!(
            "headings {headings} where each of col-1 to col-{n} should stand once: make the table again"
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
        if self.of(&row.step).is_some() {
            let problem = format!("step {} comes twice: take one of them out", row.step.row_name());
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
            return Err(format!("{n} values where there are {wanted} systems"));
        }
        if values.is_empty() {
            return Err("neither a label nor a line of values".to_owned());
        }
        let step = FileStep::of_row(step.trim());
        if step.family.is_empty() || step.family.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("{:?} is no name of a step", step.family));
        }
        let values = values.iter().map(|text| parse_quantity(text)).collect::<Result<_, _>>()?;
        Ok(Row { step, values })
    }

    /// The table, if it has a step.
    fn checked(mut self, path: &Path) -> Result<Self, Error> {
        if self.labels.is_empty() {
            let problem = "it names no systems: lines `col-1 : LABEL` should stand above its steps";
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
            let note =
                format!("its line has no end, so that the last value of {name} may lack digits");
            self.notes.push(format!("{}.", Error::line(path, idx, note)));
        }
        self
    }

    /// Adds the steps that only `other`, which is at `path`, has of the same systems.
    ///
    /// # Errors
    /// A step with other figures in `other`.
    pub(crate) fn add_steps(&mut self, other: Self, path: &Path) -> Result<(), Error> {
        let is_told = |row: &Row| self.of(&row.step).is_some_and(|own| own.values == row.values);
        let other = match other.rows.last().is_some_and(is_told) {
            true => other,
            false => other.with_unended_note(path),
        };
        self.skipped.extend(other.skipped);
        self.notes.extend(other.notes);
        for row in other.rows {
            match self.of(&row.step) {
                Some(own) if own.values == row.values => {}
                None if row.values.len() == self.labels.len() => self.rows.push(row),
                _ => {
                    let name = row.step.row_name();
                    let problem = format!("step {name} differs from the table with tabs beside it");
                    return Err(Error::file(path, problem));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn of(&self, step: &FileStep) -> Option<&Row> {
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

/// The labels that lines `col-1 : LABEL` name.
pub(super) fn legend_labels(text: &str) -> Vec<String> {
    let legends = text.lines().filter_map(|line| Legend::parse(line.trim_end_matches(',')));
    legends.map(|legend| legend.label.to_owned()).collect()
}

/// `col-2 : LABEL`.
#[derive(Debug, Clone, Copy)]
struct Legend<'t> {
    column: usize,
    label: &'t str,
}

impl<'t> Legend<'t> {
    fn parse(line: &'t str) -> Option<Self> {
        let (column, label) = line.split_once(':')?;
        let column = column.trim().strip_prefix("col-")?.parse().ok()?;
        Some(Self { column, label: label.trim() })
    }
}
