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
//! Which columns there are differs. The relative part is not read: it is computed anew.

use std::path::Path;

use rqps_model::Metric;

use crate::Error;
use crate::number::parse_quantity;
use crate::steps::{FileName, FileStep};

/// The metrics of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Met {
    /// The systems in the order of their first lines.
    pub labels: Vec<String>,
    pub(crate) steps: Vec<MetStep>,
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
enum Part {
    /// Nothing was headed yet.
    None,
    /// The next line has the columns' headings.
    Heads,
    /// Values in these columns.
    Absolute(Vec<Option<Metric>>),
    /// Ratios, which are not read.
    Relative,
}

impl Met {
    /// Reads a file.
    ///
    /// # Errors
    /// A line that is neither heading nor values, unknown headings, a step that comes twice.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let mut met = Self::default();
        let mut part = Part::None;
        for (idx, line) in text.lines().enumerate() {
            let wrong = |problem: String| Error::line(path, idx, problem);
            if line.trim().is_empty() {
                continue;
            }
            if let Some(step) = headed(line) {
                if met.of(&step.step).is_some() {
                    return Err(wrong(format!("step {} comes twice", step.step.row_name())));
                }
                met.steps.push(step);
                part = Part::None;
                continue;
            }
            part = match (line, part) {
                ("--- absolute", _) => Part::Heads,
                (line, _) if line.starts_with("--- relative") => Part::Relative,
                (line, Part::Heads) => Part::Absolute(heads(line).map_err(wrong)?),
                (line, Part::Absolute(columns)) => {
                    met.add(line, &columns).map_err(wrong)?;
                    Part::Absolute(columns)
                }
                (_, Part::Relative) => Part::Relative,
                (_, Part::None) => {
                    return Err(wrong("neither the name of a step nor `--- absolute`".to_owned()));
                }
            };
        }
        Ok(met)
    }

    /// Adds a line of values to the last step.
    fn add(&mut self, line: &str, columns: &[Option<Metric>]) -> Result<(), String> {
        // Some lines have two tabs in a row between columns, and no value is ever empty.
        let fields: Vec<&str> = line.split('\t').filter(|field| !field.is_empty()).collect();
        if fields.len() != columns.len() {
            return Err(format!(
                "{} fields where there are {} columns",
                fields.len(),
                columns.len()
            ));
        }
        let mut metrics = Vec::new();
        let mut label = "";
        for (field, column) in fields.into_iter().zip(columns) {
            match column {
                None => label = field,
                Some(metric) => {
                    metrics.extend(parse_quantity(field)?.map(|value| (*metric, value)))
                }
            }
        }
        if !self.labels.iter().any(|known| known == label) {
            self.labels.push(label.to_owned());
        }
        let step = self.steps.last_mut().ok_or("values before the name of a step")?;
        if step.systems.iter().any(|(known, _)| known == label) {
            return Err(format!("system {label} comes twice"));
        }
        step.systems.push((label.to_owned(), metrics));
        Ok(())
    }

    pub(crate) fn of(&self, step: &FileStep) -> Option<&MetStep> {
        self.steps.iter().find(|known| known.step == *step)
    }
}

/// The step that a line names: `sb.met.STEP`, or `sb.prepare.met.STEP` for filling the tables before it.
fn headed(line: &str) -> Option<MetStep> {
    let line = line.trim();
    let (name, is_load) = match line.strip_prefix("sb.prepare.met.") {
        Some(name) => (name, true),
        None => (line.strip_prefix("sb.met.")?, false),
    };
    let FileName { step, clients } = FileName::parse(name)?;
    Some(MetStep { step: FileStep { is_load, ..step }, clients, systems: Vec::new() })
}

/// The columns; `None` is the system's.
fn heads(line: &str) -> Result<Vec<Option<Metric>>, String> {
    let head = |word: &str| match word {
        "dbms" => Ok(None),
        word => {
            let metric = Metric::STATED.into_iter().find(|metric| metric.heading() == word);
            metric.map(Some).ok_or_else(|| format!("unknown column {word:?}"))
        }
    };
    let columns: Vec<Option<Metric>> =
        line.split_whitespace().map(head).collect::<Result<_, _>>()?;
    if columns.last() != Some(&None) || columns.iter().filter(|c| c.is_none()).count() != 1 {
        return Err("the last column should be `dbms`".to_owned());
    }
    Ok(columns)
}
