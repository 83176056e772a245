//! Whether the values of one line are of one step: those per operation are those per second over the rate.

use super::step::{StepName, figure_heading};
use crate::derived::{Held, MAX_CPU_PCT, Pair, Printed, Range, hold};

/// Values by the operations that the step counts.
const OF_FIGURE: [Pair; 4] = [
    Pair::new("csps", "cspq"),
    Pair::new("rps", "rpq"),
    Pair::of_mb("rmbps", "rkbpq"),
    Pair::new("rkbps", "rkbpq"),
];

/// Values by the rows inserted, beside queries as well.
const OF_INSERTS: [Pair; 3] =
    [Pair::new("wps", "wpi"), Pair::of_mb("wmbps", "wkbpi"), Pair::new("wkbps", "wkbpi")];

/// Two columns: `least` cannot be above `most`.
struct Ordered {
    least: &'static str,
    most: &'static str,
    /// What `most` is.
    why: &'static str,
    /// The excluded values.
    out: &'static [&'static str],
}

const REACHED: Ordered = Ordered {
    least: "p99",
    most: "p50",
    why: "the rate that fewer seconds reach",
    out: &["p50", "p99"],
};

impl Ordered {
    fn flaw(&self, value: impl Fn(&str) -> Option<Printed>) -> Option<Flaw> {
        let (least, most) = (value(self.least)?, value(self.most)?);
        least.is_above(most).then(|| {
            let Self { least: head, most: other, why, out } = self;
            let text = format!(
                "{head} {} is more than {other} {}, {why}: both are excluded; merge it again",
                least.value, most.value
            );
            Flaw::Columns { heads: out.to_vec(), text }
        })
    }
}

/// How far `cpupq` may be from `cpups`, besides its digits. The scripts round the CPU seconds of a step to tenths.
const CPU_SLACK: f64 = 0.05;

/// The numbers of CPUs for which CPU per operation is the share of all CPUs over the rate.
pub(super) fn cpus(share: Printed, per_operation: Printed, rate: Printed) -> Range {
    let (share, own, rate) = (share.range(), per_operation.range(), rate.range());
    // `cpupq` is in microseconds, and `cpups` in percent.
    let n = |own: f64, rate: f64, share: f64| own * rate / (share * 1e4);
    Range {
        least: n(own.least, rate.least, share.most) * (1.0 - CPU_SLACK),
        most: n(own.most, rate.most, share.least) * (1.0 + CPU_SLACK),
    }
}

/// What is wrong with the CPU of a line. Both columns are made from the same samples.
fn cpu_flaw(
    share: Option<Printed>,
    per_operation: Option<Printed>,
    rate: Option<Printed>,
) -> Option<Flaw> {
    let share = share?;
    if share.range().least > MAX_CPU_PCT {
        let text = format!(
            "cpups {} is more than 100 percent of all CPUs: cpups and cpupq are excluded; merge it \
             again",
            share.value
        );
        return Some(Flaw::Columns { heads: vec!["cpups", "cpupq"], text });
    }
    let (own, rate) = (per_operation?, rate?);
    let n = cpus(share, own, rate);
    (n.most.floor() < n.least.max(1.0)).then(|| {
        let text = format!(
            "cpupq {} at a rate of {} and cpups {} give no whole number of CPUs: cpupq is \
             excluded; merge it again",
            own.value, rate.value, share.value
        );
        Flaw::Columns { heads: vec!["cpupq"], text }
    })
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Flaw {
    /// Its rate is another one, so that it has no rate.
    Figure(String),
    /// Some columns contradict others.
    Columns {
        /// Those that are excluded.
        heads: Vec<&'static str>,
        text: String,
    },
}

/// What is wrong with a line of a step. Where columns are of one other rate than the figure, and none of the figure,
/// the figure is wrong; else the columns are.
pub(super) fn flaws(step: &StepName, value: impl Fn(&str) -> Option<Printed> + Copy) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let figure = figure_heading(step);
    let of = |head: &str| value(head).map(|printed| printed.value);
    if step.inserts_per_s().is_none()
        && of("ips") == Some(0.0)
        && let Some(qps) = of("qps").filter(|qps| *qps > 0.0)
    {
        return vec![Flaw::Figure(format!(
            "ips 0 and qps {qps} in a step without queries: its headings ips and qps are swapped; \
             merge it again"
        ))];
    }
    for (rate_head, pairs) in by_rate(figure) {
        let Some(rate) = value(rate_head) else { continue };
        let held = hold(&pairs, rate, value);
        if held.contradictions.is_empty() {
            continue;
        }
        let told = format!("{} contradict {rate_head} {}", held.told(), rate.value);
        if rate_head == figure && held.other_rate().is_some() {
            let swapped = swapped(&held, rate_head, value);
            return vec![Flaw::Figure(format!("{told}{swapped}: merge it again"))];
        }
        let heads: Vec<&str> = held.contradictions.iter().map(|one| one.per_operation).collect();
        let text = format!("{told}: excluded are {}; merge it again", heads.join(", "));
        flaws.push(Flaw::Columns { heads, text });
    }
    let size_head = if value("dbgb1").is_some() { "dbgb1" } else { "dbgb" };
    let sizes = Ordered {
        least: size_head,
        most: "dbgb2",
        why: "the directory that holds them",
        out: &["dbgb", "dbgb1", "dbgb2"],
    };
    flaws.extend([sizes, REACHED].iter().filter_map(|ordered| ordered.flaw(value)));
    flaws.extend(cpu_flaw(value("cpups"), value("cpupq"), value(figure)));
    flaws
}

/// The pairs of each rate. Where inserts are the figure, all are of one rate.
fn by_rate(figure: &'static str) -> Vec<(&'static str, Vec<Pair>)> {
    let all = || OF_FIGURE.into_iter().chain(OF_INSERTS).collect();
    match figure {
        "ips" => vec![("ips", all())],
        _ => vec![(figure, OF_FIGURE.to_vec()), ("ips", OF_INSERTS.to_vec())],
    }
}

/// Whether the rate is that of the other heading.
fn swapped(held: &Held, rate_head: &str, value: impl Fn(&str) -> Option<Printed>) -> &'static str {
    let other = value(if rate_head == "ips" { "qps" } else { "ips" });
    let is_other =
        held.other_rate().zip(other).is_some_and(|(rate, other)| rate.meets(other.range()));
    if is_other { ", but match the other rate: ips and qps are swapped" } else { "" }
}
