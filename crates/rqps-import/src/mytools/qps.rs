//! Tables of QPS: `qps.abs.GROUP.tsv` with its labels, or the same as CSV without them.

use std::path::Path;

use crate::Error;
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
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) step: FileStep,
    /// One per column; `None` where it was not run.
    pub(crate) values: Vec<Option<f64>>,
}

impl Qps {
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
            if let Some((column, label)) = legend(line) {
                if column != table.labels.len() + 1 {
                    let wanted = table.labels.len() + 1;
                    return Err(place.error(format!("col-{column} where col-{wanted} should be")));
                }
                if let Some(at) = table.labels.iter().position(|known| known == label) {
                    let line_no = legends[at] + 1;
                    return Err(place.error(format!(
                        "label {label} is that of line {line_no}, too: give each column a label of its own"
                    )));
                }
                table.labels.push(label.to_owned());
                legends.push(idx);
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
            table.take(step, &fields, place)?;
        }
        table.checked(path)
    }

    /// Reads the form with commas: the step's name, then a value per system. Labels come from elsewhere:
    /// `labels` where there are as many, else `col-1` and so on.
    ///
    /// # Errors
    /// A step that comes twice, and a table without a step.
    pub fn parse_csv(text: &str, path: &Path, labels: &[String]) -> Result<Self, Error> {
        let n = text.lines().next().map_or(0, |line| line.split(',').count().saturating_sub(1));
        let labels = if labels.len() == n {
            labels.to_vec()
        } else {
            (1..=n).map(|column| format!("col-{column}")).collect()
        };
        let mut table = Self { labels, ..Self::default() };
        for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let mut fields: Vec<&str> = line.split(',').collect();
            let step = fields.remove(0);
            table.take(step, &fields, Line { path, idx })?;
        }
        table.checked(path)
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
            return Err(format!("{n} values where there are {wanted} systems"));
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

    /// Adds the steps that only `other`, which is at `path`, has of the same systems.
    ///
    /// # Errors
    /// A step with other figures in `other`.
    pub(crate) fn add_steps(&mut self, other: Self, path: &Path) -> Result<(), Error> {
        self.skipped.extend(other.skipped);
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

/// The base that a table of relative QPS names above its labels; notes may stand before it.
pub(crate) fn parse_base(text: &str, path: &Path) -> Result<String, Error> {
    let base = text.lines().find_map(|line| line.trim().strip_prefix("Relative to:"));
    let base = base.map(str::trim).filter(|label| !label.is_empty());
    base.map(str::to_owned).ok_or_else(|| {
        Error::file(path, "it has no line `Relative to: LABEL`: the first system is the base")
    })
}

/// `col-2 : LABEL`.
fn legend(line: &str) -> Option<(usize, &str)> {
    let (column, label) = line.split_once(':')?;
    let column = column.trim().strip_prefix("col-")?.parse().ok()?;
    Some((column, label.trim()))
}
