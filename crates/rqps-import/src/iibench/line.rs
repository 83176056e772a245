//! Whether the values of one line are of one step: those per operation are those per second over the rate.

use super::step::{StepName, figure_heading};
use crate::derived::{Held, Pair, Printed, hold};

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

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Flaw {
    /// Its rate is another one, so that it has no figure.
    Figure(String),
    /// Some columns contradict others.
    Columns {
        /// Those that are left out.
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
            "ips 0 and qps {qps} in a step without queries: its headings ips and qps changed places; merge it again"
        ))];
    }
    for (rate_head, pairs) in by_rate(figure) {
        let Some(rate) = value(rate_head) else { continue };
        let held = hold(&pairs, rate, value);
        if held.contradictions.is_empty() {
            continue;
        }
        let told = format!("{} are not of {rate_head} {}", held.told(), rate.value);
        if rate_head == figure && held.other_rate().is_some() {
            let swapped = swapped(&held, rate_head, value);
            return vec![Flaw::Figure(format!("{told}{swapped}: merge it again"))];
        }
        let heads: Vec<&str> = held.contradictions.iter().map(|one| one.per_operation).collect();
        let text = format!("{told}: left out are {}; merge it again", heads.join(", "));
        flaws.push(Flaw::Columns { heads, text });
    }
    let size_head = if value("dbgb1").is_some() { "dbgb1" } else { "dbgb" };
    if let (Some(tables), Some(dir)) = (value(size_head), value("dbgb2"))
        && tables.is_above(dir)
    {
        let text = format!(
            "{size_head} {} are more than dbgb2 {}, the directory that holds them: both are left out",
            tables.value, dir.value
        );
        flaws.push(Flaw::Columns { heads: vec!["dbgb", "dbgb1", "dbgb2"], text });
    }
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
    if is_other { ", but of the other rate: ips and qps changed places" } else { "" }
}
