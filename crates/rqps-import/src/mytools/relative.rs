//! The relative part of a file of metrics, held against its absolute part.

use rqps_model::Metric;

use crate::derived::Printed;

/// A line of a system, as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PrintedLine {
    pub(super) label: String,
    pub(super) values: Vec<(Metric, Printed)>,
}

impl PrintedLine {
    pub(super) fn get(&self, metric: Metric) -> Option<Printed> {
        self.values.iter().find(|(known, _)| *known == metric).map(|(_, value)| *value)
    }
}

/// The relative values of a file that were held against its absolute ones.
#[derive(Debug, Default)]
pub(super) struct Relative {
    /// The absolute lines of the step; the others are relative to the first.
    lines: Vec<PrintedLine>,
    n_compared: usize,
    n_other: usize,
    /// The first that is another one, in words.
    first: Option<String>,
}

impl Relative {
    /// Begins a step.
    pub(super) fn begin_step(&mut self) {
        self.lines.clear();
    }

    /// Takes an absolute line.
    pub(super) fn take(&mut self, line: PrintedLine) {
        self.lines.push(line);
    }

    /// Holds a relative line of `step`. Scripts round or cut digits off; a quotient by 0 is no value.
    pub(super) fn hold(&mut self, step: &str, line: &PrintedLine) {
        let own = self.lines.iter().find(|known| known.label == line.label);
        let Some((own, base)) = own.zip(self.lines.first()) else { return };
        for (metric, stated) in &line.values {
            let Some((value, of_base)) = own.get(*metric).zip(base.get(*metric)) else { continue };
            self.n_compared += 1;
            if value.over(of_base).meets(stated.range()) {
                continue;
            }
            self.n_other += 1;
            let (label, head) = (&line.label, metric.heading());
            self.first.get_or_insert_with(|| {
                format!(
                    "step {step} of {label} has {head} {} over {}, but relative {}",
                    value.value, of_base.value, stated.value
                )
            });
        }
    }

    /// What is wrong, in words.
    pub(super) fn problem(&self) -> Option<String> {
        let Self { n_compared, n_other, first, .. } = self;
        first.as_ref().map(|first| {
            format!(
                "{n_other} of its {n_compared} relative values differ from the absolute ones, \
                 which are used: {first}"
            )
        })
    }
}
