//! `sb.met.*`: what the scripts made of iostat and vmstat of one step, two tables of one line each.
//!
//! ```text
//! samp    r/s     rMB/s   w/s     wMB/s   r/o     rKB/o   wKB/o   o/s
//! 600     0.1     0.0     12.3    0.1     0.000   0.001   0.004   24575
//! samp    cs/s    cpu/s   cs/o    cpu/o
//! 600     94023   12.6    3.826   0.000514
//! ```

use std::path::Path;

use rqps_model::Metric;

use crate::Error;
use crate::derived::{Pair, Printed, cpu_problem, hold};
use crate::number::{parse_quantity, whole};

/// The first heading of each table.
const FIRST_HEADING: &str = "samp";

/// Values per operation and what they are made from.
const PAIRS: [Pair; 5] = [
    Pair::new("cs/s", "cs/o"),
    Pair::new("cpu/s", "cpu/o"),
    Pair::new("r/s", "r/o"),
    Pair::of_mb("rMB/s", "rKB/o"),
    Pair::of_mb("wMB/s", "wKB/o"),
];

/// What the values per second are of, and their unit in that of the metric.
const PER_S: [(&str, Metric, f64); 5] = [
    ("cs/s", Metric::ContextSwitches, 1.0),
    ("cpu/s", Metric::HostCpuShare, 1.0),
    ("r/s", Metric::Reads, 1.0),
    ("rMB/s", Metric::ReadKb, 1024.0),
    ("wMB/s", Metric::WrittenKb, 1024.0),
];

/// What the file has.
#[derive(Debug, Default)]
pub(super) struct StepMet {
    /// The metrics, in the field's order.
    pub(super) metrics: Vec<(Metric, f64)>,
    /// The same per second, as far as it has them.
    pub(super) per_s: Vec<(Metric, f64)>,
    /// Most samples that a table rests on; 0 where none tells them.
    pub(super) n_samples: u32,
    /// Headings without values.
    pub(super) problems: Vec<Error>,
}

/// A field of a line below its heading.
struct Field<'t> {
    head: &'t str,
    printed: Printed,
    line_idx: usize,
}

impl StepMet {
    /// Reads the file.
    ///
    /// # Errors
    /// No metrics, values that cannot be read, and values that contradict one another.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let mut found = Self::default();
        let mut fields: Vec<Field<'_>> = Vec::new();
        let mut heads: Option<(usize, Vec<&str>)> = None;
        for (idx, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.first() == Some(&FIRST_HEADING) {
                found.take_headless(heads.replace((idx, words)), path);
                continue;
            }
            let Some((heads_idx, own)) = heads.take() else { continue };
            if words.is_empty() {
                found.take_headless(Some((heads_idx, own)), path);
                continue;
            }
            found
                .take(&own, &words, idx, &mut fields)
                .map_err(|why| Error::line(path, idx, why))?;
        }
        found.take_headless(heads, path);
        if found.metrics.is_empty() {
            let problem = "it has no line of metrics below headings `samp`: make it again";
            return Err(Error::file(path, problem));
        }
        check_fields(&fields, path)?;
        let printed = |head: &str| fields.iter().find(|f| f.head == head).map(|f| f.printed);
        let cpu = printed("cpu/o").zip(printed("o/s"));
        if let Some(problem) = cpu.and_then(|(cpu, rate)| cpu_problem(cpu, rate)) {
            found.metrics.retain(|(metric, _)| *metric != Metric::HostCpuShare);
            fields.retain(|field| field.head != "cpu/s");
            found.problems.push(Error::file(path, problem));
        }
        let per_s = |(head, metric, unit): (&str, Metric, f64)| {
            let field = fields.iter().find(|field| field.head == head)?;
            Some((metric, field.printed.value * unit))
        };
        found.per_s = PER_S.into_iter().filter_map(per_s).collect();
        found.metrics.sort_by_key(|(metric, _)| Metric::STATED.iter().position(|m| m == metric));
        Ok(found)
    }

    fn take<'t>(
        &mut self,
        heads: &[&'t str],
        words: &[&str],
        line_idx: usize,
        fields: &mut Vec<Field<'t>>,
    ) -> Result<(), String> {
        if words.len() != heads.len() {
            let (n, wanted) = (words.len(), heads.len());
            return Err(format!("{n} fields below {wanted} headings: make it again"));
        }
        for (head, word) in heads.iter().zip(words) {
            let printed = Printed::parse(word);
            if *head == FIRST_HEADING {
                let n = printed.map_or(0, |n| u32::try_from(whole(n.value)).unwrap_or(u32::MAX));
                self.n_samples = self.n_samples.max(n);
                continue;
            }
            fields.extend(printed.map(|printed| Field { head, printed, line_idx }));
            let Some(metric) = Metric::STATED.into_iter().find(|m| m.heading() == *head) else {
                continue;
            };
            let value = parse_quantity(word)?;
            if self.metrics.iter().any(|(known, _)| *known == metric) {
                return Err(format!("heading {head} occurs twice: remove one of the columns"));
            }
            self.metrics.extend(value.map(|value| (metric, value)));
        }
        Ok(())
    }

    /// Names headings that no values follow.
    fn take_headless(&mut self, heads: Option<(usize, Vec<&str>)>, path: &Path) {
        let error = |(idx, heads): (usize, Vec<&str>)| {
            let problem = format!("no values below its headings {}", heads.join(" "));
            Error::line(path, idx, problem)
        };
        self.problems.extend(heads.map(error));
    }
}

/// Whether values per operation are those per second over the rate.
fn check_fields(fields: &[Field<'_>], path: &Path) -> Result<(), Error> {
    let find = |head: &str| fields.iter().find(|field| field.head == head);
    let Some(rate) = find("o/s") else { return Ok(()) };
    let held = hold(&PAIRS, rate.printed, |head| find(head).map(|field| field.printed));
    let Some(first) = held.contradictions.first() else { return Ok(()) };
    let line_idx = find(first.per_operation).map_or(rate.line_idx, |field| field.line_idx);
    let problem = format!("{} contradict o/s {}: make it again", held.told(), rate.printed.value);
    Err(Error::line(path, line_idx, problem))
}
