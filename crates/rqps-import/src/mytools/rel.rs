//! Tables of ratios, `qps.rel.GROUP.tsv`: which system is the base. Ratios are computed again from the QPS, and held
//! against those of the table.

use std::path::Path;

use super::qps::{Qps, Row};
use super::rates::last_digit;
use crate::Error;
use crate::number::parse_quantity;

/// A table of ratios.
#[derive(Debug)]
pub(super) struct Rel {
    /// The system that its first line names.
    pub(super) base: String,
    /// Its ratios, where it has lines of them.
    ratios: Option<Qps>,
    problems: Vec<Error>,
}

/// The lines of ratios, with others empty. A quotient by 0 is no value.
fn of_ratios(text: &str) -> String {
    let line = |line: &str| match line.contains('\t') || line.trim_start().starts_with("col-") {
        true => line.replace("-inf\t", "NA\t").replace("inf\t", "NA\t") + "\n",
        false => "\n".to_owned(),
    };
    text.lines().map(line).collect()
}

/// A ratio of the table and what the QPS give.
struct Difference {
    step: String,
    label: String,
    stated: f64,
    found: f64,
}

/// Ratios that were held against a base.
#[derive(Default)]
struct Held {
    n_compared: usize,
    differences: Vec<Difference>,
}

impl Rel {
    /// Reads the table. Notes may stand above its first line.
    ///
    /// # Errors
    /// A table that names no base.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let base = text.lines().find_map(|line| line.trim().strip_prefix("Relative to:"));
        let base = base.map(str::trim).filter(|label| !label.is_empty());
        let base = base.map(str::to_owned).ok_or_else(|| {
            Error::file(path, "it has no line `Relative to: LABEL`: the first system is the base")
        })?;
        // Notes and the name of the base are no lines of steps; a quotient by 0 is no value.
        let ratios = Qps::parse_tsv(&of_ratios(text), path);
        let has_values = text.lines().any(|line| {
            let is_value = |field: &str| parse_quantity(field).is_ok_and(|value| value.is_some());
            line.split_whitespace().filter(|field| is_value(field)).count() > 0
        });
        let (ratios, problems) = match ratios {
            Ok(mut ratios) => {
                let problems = std::mem::take(&mut ratios.skipped);
                (Some(ratios), problems)
            }
            Err(problem) => (None, has_values.then_some(problem).into_iter().collect()),
        };
        Ok(Self { base, ratios, problems })
    }

    /// Lines that cannot be held against the QPS.
    pub(super) fn take_problems(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.problems)
    }

    /// The names of its steps.
    pub(super) fn step_names(&self) -> impl Iterator<Item = String> {
        self.ratios.iter().flat_map(|ratios| &ratios.rows).map(|row| row.step.row_name())
    }

    /// Whether its ratios are those of the QPS to its base.
    ///
    /// # Errors
    /// Systems, steps and ratios that are not those of the QPS.
    pub(super) fn check(&self, qps: &Qps, path: &Path) -> Result<(), Error> {
        let Some(ratios) = self.ratios.as_ref().filter(|_| !qps.rows.is_empty()) else {
            return Ok(());
        };
        let refused = |problem: String| {
            Err(Error::file(path, format!("{problem}; ratios are computed from the QPS")))
        };
        if let Some(label) = ratios.labels.iter().find(|label| !qps.labels.contains(label)) {
            return refused(format!("its system {label} is not in the table of QPS"));
        }
        if let Some(row) = ratios.rows.iter().find(|row| qps.find_step(&row.step).is_none()) {
            let name = row.step.row_name();
            return refused(format!("its step {name} is not in the table of QPS"));
        }
        let Held { n_compared, differences } = held(ratios, qps, &self.base);
        let Some(first) = differences.first() else { return Ok(()) };
        let is_of = |base: &&String| {
            let other = held(ratios, qps, base);
            other.differences.is_empty() && other.n_compared >= n_compared
        };
        if let Some(other) = qps.labels.iter().filter(|label| **label != self.base).find(is_of) {
            return refused(format!(
                "its ratios are relative to {other}, but its first line says {}, which is the base",
                self.base
            ));
        }
        let Difference { step, label, stated, found } = first;
        refused(format!(
            "{} of its {n_compared} ratios differ from the QPS: step {step} of {label} has \
             {stated}, but the QPS give {found:.4}",
            differences.len()
        ))
    }
}

/// Holds ratios against the QPS over those of a base.
fn held(ratios: &Qps, qps: &Qps, base: &str) -> Held {
    let all: Vec<Option<f64>> = ratios.rows.iter().flat_map(|row| row.values.clone()).collect();
    let last_of_ratios = last_digit(&all);
    let mut held = Held::default();
    for row in &ratios.rows {
        let Some(own) = qps.find_step(&row.step) else { continue };
        let Some(of_base) = qps.value(own, base).filter(|value| *value > 0.0) else { continue };
        for (label, stated) in ratios.labels.iter().zip(&row.values) {
            let Some((stated, value)) = stated.zip(qps.value(own, label)) else { continue };
            held.n_compared += 1;
            let found = value / of_base;
            if (stated - found).abs() > last_of_ratios + slack(own, found, of_base) {
                let step = row.step.row_name();
                held.differences.push(Difference { step, label: label.clone(), stated, found });
            }
        }
    }
    held
}

/// How far a ratio may be off by the digits that the QPS lack. `bc` cuts digits off, so that a whole one may lack.
fn slack(row: &Row, ratio: f64, of_base: f64) -> f64 {
    let last = last_digit(&row.values);
    last * (1.0 + ratio) / (of_base - last).max(last) + 1e-9
}
