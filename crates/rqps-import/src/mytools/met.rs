//! Metrics per operation, step by step: `o.met.GROUP`.
//!
//! ```text
//! sb.met.point-query.range100.pk1.dop1
//! --- absolute
//! cpu/o           cs/o    r/o     rKB/o   wKB/o   o/s     dbms
//! 0.000514        3.826   0       0       0.004   24575   x.my5651_rel.z12a
//! --- relative to first result
//! 1.18            1.00    1       1       0.00    0.87    x.my5744_rel.z12a
//! ```
//!
//! Which columns there are differs. The relative part is computed again, and held against the absolute one.

use std::path::Path;

use rqps_model::Metric;

use super::legend;
use super::relative::{PrintedLine, Relative};
use crate::Error;
use crate::cut::{cut_problem, unended_idx, unended_problem, whole_name};
use crate::derived::{Printed, cpu_problem};
use crate::number::parse_quantity;
use crate::steps::{FileName, FileStep};

/// The metrics of a file.
#[derive(Debug, Default)]
pub struct Met {
    /// The systems: in the order of a step that has all of them, else of their first lines.
    pub labels: Vec<String>,
    /// Whether all steps have their systems in that order, and one has all of them.
    is_ordered: bool,
    pub(crate) steps: Vec<MetStep>,
    /// Lines that were not taken over.
    pub(crate) skipped: Vec<Error>,
    /// The last line (from 0), where it has no end and a system of the last step.
    unended_idx: Option<usize>,
}

/// Those of one step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MetStep {
    pub(crate) step: FileStep,
    pub(crate) clients: Option<u32>,
    /// Per system its label and metrics, in the order of the columns.
    systems: Vec<(String, Vec<(Metric, f64)>)>,
}

impl MetStep {
    /// The metrics of a system; none where it was not run.
    pub(crate) fn metrics_of(&self, label: &str) -> &[(Metric, f64)] {
        let own = self.systems.iter().find(|(known, _)| known == label);
        own.map_or(&[], |(_, metrics)| metrics)
    }
}

/// What the lines below a heading are.
enum MetSection {
    /// Nothing was headed yet.
    None,
    /// The next line has the columns' headings.
    Heads,
    /// Values.
    Absolute,
    /// Ratios, which are held against the values, or what stands below headings that cannot be read.
    Relative,
}

/// What a column of values has.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    /// The system.
    Label,
    /// A metric.
    Metric(Metric),
    /// What is not taken over.
    Unknown,
}

impl Met {
    /// Reads a file. Lines that are neither headings nor values are skipped and named.
    ///
    /// # Errors
    /// A step that comes twice, and a file without a step.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let mut met = Self::default();
        let (mut part, mut relative) = (MetSection::None, Relative::default());
        let mut columns: Vec<Column> = Vec::new();
        for (idx, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() {
                continue;
            }
            let skipped = |problem: String| Error::line(path, idx, problem);
            let is_unended = unended_idx(text) == Some(idx);
            if let Some(step) = headed(line) {
                if is_unended {
                    met.skipped.push(skipped(unended_problem()));
                    continue;
                }
                if met.find_step(&step.step).is_some() {
                    return Err(skipped(format!("step {} occurs twice", step.step.row_name())));
                }
                met.steps.push(step);
                relative.begin_step();
                part = MetSection::None;
                continue;
            }
            let mut problem = None;
            part = match (line, part) {
                ("--- absolute", _) => MetSection::Heads,
                (line, _) if line.starts_with("--- relative") => MetSection::Relative,
                (line, MetSection::Heads) => match heads(line) {
                    Ok(found) => {
                        columns = found;
                        MetSection::Absolute
                    }
                    Err(why) => {
                        problem = Some(why);
                        columns.clear();
                        MetSection::Relative
                    }
                },
                (line, MetSection::Absolute) => {
                    let added = met.add(line, &columns);
                    met.unended_idx = (is_unended && added.is_ok()).then_some(idx);
                    problem = added.unwrap_or_else(Some);
                    printed(line, &columns).into_iter().for_each(|line| relative.take(line));
                    MetSection::Absolute
                }
                (line, MetSection::Relative) => {
                    if let Some((step, line)) = met.steps.last().zip(printed(line, &columns)) {
                        relative.hold(&step.step.row_name(), &line);
                    }
                    MetSection::Relative
                }
                (_, MetSection::None) => {
                    problem = Some("neither the name of a step nor `--- absolute`".to_owned());
                    MetSection::None
                }
            };
            met.skipped.extend(problem.map(skipped));
        }
        if met.labels.is_empty() {
            let first = (!met.skipped.is_empty()).then(|| met.skipped.remove(0));
            let none = || Error::file(path, "it has no metrics of a step: make the file again");
            return Err(first.unwrap_or_else(none));
        }
        met.skipped.extend(relative.problem().map(|problem| Error::file(path, problem)));
        met.order_labels();
        Ok(met)
    }

    /// Leaves out the last line where it ends within its label. Systems of other files are `known`.
    pub(super) fn exclude_cut(&mut self, known: &[String], path: &Path) {
        let Some(idx) = self.unended_idx.take() else { return };
        let Some((last, before)) = self.steps.split_last_mut() else { return };
        let Some(((label, _), others)) = last.systems.split_last() else { return };
        let own = before.iter().flat_map(|step| &step.systems).chain(others);
        let own = own.map(|(label, _)| label.as_str());
        let whole = whole_name(label, own.chain(known.iter().map(String::as_str)));
        let Some(problem) = whole.map(|whole| cut_problem(label, whole)) else { return };
        self.skipped.push(Error::line(path, idx, problem));
        let label = label.clone();
        last.systems.pop();
        self.labels.retain(|known| *known != label);
        self.order_labels();
    }

    /// Leaves out metrics of a step on some systems.
    pub(super) fn exclude(&mut self, step: &FileStep, is_out: impl Fn(&str) -> bool) {
        let own = self.steps.iter_mut().filter(|known| known.step == *step);
        own.for_each(|step| step.systems.retain(|(label, _)| !is_out(label)));
    }

    /// Leaves out all metrics, and steps but those of the QPS: the numbers of clients stay.
    pub(super) fn exclude_all(&mut self, has_qps: impl Fn(&FileStep) -> bool) {
        self.steps.retain(|step| has_qps(&step.step));
        self.steps.iter_mut().for_each(|step| step.systems.clear());
        self.labels.clear();
    }

    /// Takes the order of a step that has all systems, and sees whether all others have it.
    fn order_labels(&mut self) {
        let whole = self.steps.iter().find(|step| step.systems.len() == self.labels.len());
        let Some(whole) = whole else { return };
        let order: Vec<String> = whole.systems.iter().map(|(label, _)| label.clone()).collect();
        let place = |label: &String| order.iter().position(|known| known == label);
        self.is_ordered = self.steps.iter().all(|step| {
            let places: Vec<Option<usize>> =
                step.systems.iter().map(|(label, _)| place(label)).collect();
            places.is_sorted()
        });
        self.labels = order;
    }

    /// The labels of a table of as many columns without labels.
    ///
    /// # Errors
    /// Other columns, and an order that the steps do not tell; in words.
    pub(crate) fn labels_of_columns(&self, n: usize) -> Result<&[String], String> {
        if self.labels.len() != n {
            let systems = self.labels.len();
            return Err(format!("it has {n} columns, but its metrics have {systems} systems"));
        }
        match self.is_ordered {
            true => Ok(&self.labels),
            false => Err("its metrics do not show the order of its columns".to_owned()),
        }
    }

    /// Adds a line of values to the last step; the result is why a value was excluded.
    fn add(&mut self, line: &str, columns: &[Column]) -> Result<Option<String>, String> {
        let fields = fields(line);
        if fields.len() != columns.len() {
            if legend::has_spaces(line) {
                return Err(legend::SPACES.to_owned());
            }
            if line.contains(';') {
                return Err("its columns are separated by `;`: separate them by tabs".to_owned());
            }
            return Err(format!("{} fields in {} columns", fields.len(), columns.len()));
        }
        let mut metrics = Vec::new();
        let mut label = "";
        for (field, column) in fields.into_iter().zip(columns) {
            match column {
                Column::Label => label = field,
                Column::Unknown => {}
                Column::Metric(metric) => {
                    metrics.extend(parse_quantity(field)?.map(|value| (*metric, value)))
                }
            }
        }
        let step = self.steps.last_mut().ok_or("values before the name of a step")?;
        if step.systems.iter().any(|(known, _)| known == label) {
            return Err(format!("system {label} occurs twice"));
        }
        let of_line = printed(line, columns);
        let get = |metric| of_line.as_ref().and_then(|line| line.get(metric));
        let problem = get(Metric::HostCpuShare).zip(get(Metric::Rate));
        let problem = problem.and_then(|(cpu, rate)| cpu_problem(cpu, rate));
        if problem.is_some() {
            metrics.retain(|(metric, _)| *metric != Metric::HostCpuShare);
        }
        step.systems.push((label.to_owned(), metrics));
        if !self.labels.iter().any(|known| known == label) {
            self.labels.push(label.to_owned());
        }
        Ok(problem.map(|problem| format!("{label}: {problem}")))
    }

    pub(crate) fn find_step(&self, step: &FileStep) -> Option<&MetStep> {
        self.steps.iter().find(|known| known.step == *step)
    }
}

/// The fields of a line. Some lines have two tabs in a row between columns, and no value is ever empty.
fn fields(line: &str) -> Vec<&str> {
    line.split('\t').filter(|field| !field.is_empty()).collect()
}

/// The values of a line as they are printed; `None` for a line of other columns.
fn printed(line: &str, columns: &[Column]) -> Option<PrintedLine> {
    let fields = fields(line);
    let label = (*fields.last().filter(|_| fields.len() == columns.len())?).to_owned();
    let values = columns.iter().zip(fields).filter_map(|(column, field)| match column {
        Column::Metric(metric) => Some((*metric, Printed::parse(field)?)),
        Column::Label | Column::Unknown => None,
    });
    Some(PrintedLine { label, values: values.collect() })
}

/// The step that a line names: `sb.met.STEP`, or `sb.prepare.met.STEP` for filling the tables before it.
fn headed(line: &str) -> Option<MetStep> {
    let line = line.trim();
    let (name, is_load) = match line.strip_prefix("sb.prepare.met.") {
        Some(name) => (name, true),
        None => (line.strip_prefix("sb.met.")?, false),
    };
    let FileName { step, clients, .. } = FileName::parse(name)?;
    Some(MetStep { step: FileStep { is_load, ..step }, clients, systems: Vec::new() })
}

/// The columns by their headings.
fn heads(line: &str) -> Result<Vec<Column>, String> {
    let head = |word: &str| match word {
        "dbms" => Column::Label,
        word => {
            let metric = Metric::STATED.into_iter().find(|metric| metric.heading() == word);
            metric.map_or(Column::Unknown, Column::Metric)
        }
    };
    let columns: Vec<Column> = line.split_whitespace().map(head).collect();
    let n_labels = columns.iter().filter(|column| **column == Column::Label).count();
    if columns.last() != Some(&Column::Label) || n_labels != 1 {
        return Err("the last column should be `dbms`".to_owned());
    }
    let is_metric = |column: &Column| matches!(column, Column::Metric(_));
    let twice =
        columns.iter().enumerate().find(|(at, c)| is_metric(c) && columns[..*at].contains(c));
    if let Some((_, Column::Metric(metric))) = twice {
        let head = metric.heading();
        return Err(format!("heading {head} occurs twice: remove one of the columns"));
    }
    if !columns.iter().any(is_metric) {
        let known = Metric::STATED.map(|metric| metric.heading()).join(", ");
        return Err(format!("no column is known: known columns are {known}"));
    }
    Ok(columns)
}
