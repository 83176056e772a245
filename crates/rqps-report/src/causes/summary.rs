//! The causes of a whole run for one candidate, in a few sentences: `New CPU overhead: server CPU per
//! query rose to 1.4-1.6x on all point and range steps, IO unchanged.`

use rqps_analysis::{Analysis, Cell};
use rqps_explain::{Cause, Kind};
use rqps_model::{Group, Verdict};
use rqps_text::number;
use rqps_text::words::{capital, list};

use super::short_number::signed_us;

/// One compared step of a candidate.
#[derive(Debug, Clone, Copy)]
struct StepCause<'a> {
    /// The step's title.
    title: &'a str,
    /// The group that it is reported in.
    group: Group,
    /// One of what its rate counts.
    operation: &'a str,
    /// Its cause, where it is slower or faster.
    cause: Option<&'a Cause>,
    /// The server's CPU per operation relative to the base, as the tables have it.
    server_cpu: Option<f64>,
}

impl StepCause<'_> {
    /// The CPU that its cause is about, as times of the base's.
    fn times(&self, cause: &Cause) -> Option<f64> {
        self.server_cpu.filter(|_| !cause.is_of_serving && cause.times.is_some()).or(cause.times)
    }
}

/// Steps that a sentence names one by one; more are counted.
const MOST_NAMED: usize = 4;

/// The causes of all compared steps of a candidate.
pub(crate) fn of_candidate(analysis: &Analysis<'_>, system_idx: usize) -> Vec<String> {
    let compared = analysis.steps.iter().filter(|step| step.is_compared());
    // Steps without a verdict are among them: nothing is said of all of a group without those.
    let steps: Vec<StepCause<'_>> = compared
        .map(|step| StepCause {
            title: &step.title,
            group: step.group(),
            operation: step.step.info.figure.operation(),
            cause: step.cells.get(system_idx).and_then(Cell::cause),
            server_cpu: step
                .cells
                .get(system_idx)
                .and_then(|cell| Some(cell.server_cpu_ratio()?.point)),
        })
        .collect();
    sentences(&steps)
}

/// A sentence for each cause, losses before gains, what explains most steps first, what nothing explains
/// last.
fn sentences(steps: &[StepCause<'_>]) -> Vec<String> {
    let mut out = Vec::new();
    for direction in [Verdict::Slower, Verdict::Faster] {
        let mut kinds: Vec<(Kind, Vec<(&StepCause<'_>, &Cause)>)> = Vec::new();
        for kind in Kind::ALL {
            let is_it = |c: &&Cause| c.kind == kind && c.direction == direction;
            let of_kind = steps.iter().filter_map(|s| Some((s, s.cause.filter(is_it)?)));
            let of_kind: Vec<_> = of_kind.collect();
            if !of_kind.is_empty() {
                kinds.push((kind, of_kind));
            }
        }
        let is_last = |kind| match kind {
            Kind::NotExplained => 2,
            Kind::Several => 1,
            _ => 0,
        };
        kinds.sort_by_key(|(kind, of)| (is_last(*kind), std::cmp::Reverse(of.len())));
        out.extend(kinds.iter().map(|(kind, of)| sentence(*kind, direction, of, steps)));
    }
    out
}

fn sentence(
    kind: Kind,
    direction: Verdict,
    of_kind: &[(&StepCause<'_>, &Cause)],
    all: &[StepCause<'_>],
) -> String {
    let places = places(of_kind, all);
    let head = capital(kind.words(direction));
    let mut operations: Vec<&str> = of_kind.iter().map(|(step, _)| step.operation).collect();
    operations.sort_unstable();
    operations.dedup();
    let op = operations.join(" or ");
    let io = io(of_kind);
    let carrier = match kind {
        Kind::CpuOverhead | Kind::MoreWork | Kind::PlanChange => {
            let times: Option<Vec<f64>> =
                of_kind.iter().map(|(step, cause)| step.times(cause)).collect();
            let (whose, apart) = whose_cpu(of_kind, all);
            let range = times
                .map(|times| (format!("{whose} per {op} {} ", course_of_times(&times)), apart));
            let (range, apart) = range.unwrap_or_default();
            format!("{range}on {places}{io}{apart}")
        }
        Kind::Several | Kind::NotExplained => places,
        _ => {
            let us: Option<Vec<f64>> = of_kind.iter().map(|(_, cause)| cause.change_us).collect();
            let range = us.map(|us| format!("{} per {op} ", range_of_us(&us)));
            format!("{}on {places}", range.unwrap_or_default())
        }
    };
    format!("{head}: {carrier}.")
}

/// Whose CPU is told, and on which steps it is not that of all the server's threads.
fn whose_cpu(
    of_kind: &[(&StepCause<'_>, &Cause)],
    all: &[StepCause<'_>],
) -> (&'static str, String) {
    let (apart, whole): (Vec<_>, Vec<_>) =
        of_kind.iter().copied().partition(|(_, cause)| cause.is_of_serving);
    if whole.is_empty() {
        return ("CPU of connection threads", String::new());
    }
    let told = || format!("; on {}, CPU of connection threads", places(&apart, all));
    ("server CPU", if apart.is_empty() { String::new() } else { told() })
}

/// Said only where it holds for all.
fn io(of_kind: &[(&StepCause<'_>, &Cause)]) -> &'static str {
    let is_unchanged = of_kind.iter().all(|(_, cause)| cause.is_io_unchanged == Some(true));
    if is_unchanged { ", IO unchanged" } else { "" }
}

fn ends(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

/// `rose to 1.4-1.6x`, `fell to 0.9x`, or both ends alone where it did neither on all steps: a plan that changed
/// may cost less CPU and more of the rest.
fn course_of_times(times: &[f64]) -> String {
    let (low, high) = ends(times);
    // As it is shown: 1.002 is `1.00x`, which is no rise.
    let is_one = |end: f64| number::plain_ratio(end) == number::plain_ratio(1.0);
    let course = if low > 1.0 && !is_one(low) {
        "rose to "
    } else if high < 1.0 && !is_one(high) {
        "fell to "
    } else {
        ""
    };
    format!("{course}{}", range_of_times(times))
}

/// `1.4-1.6x`, or `1.5x`.
fn range_of_times(times: &[f64]) -> String {
    let (low, high) = ends(times);
    let (low, high) = (number::plain_ratio(low), number::plain_ratio(high));
    if low == high { format!("{low}x") } else { format!("{low}-{high}x") }
}

/// `+12 µs to +40 µs`.
fn range_of_us(us: &[f64]) -> String {
    let (low, high) = ends(us);
    let (low, high) = (signed_us(low), signed_us(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Where: whole groups of steps, where the cause is that of all their steps, and other steps by name.
fn places(of_kind: &[(&StepCause<'_>, &Cause)], all: &[StepCause<'_>]) -> String {
    let is_in = |title: &str| of_kind.iter().any(|(step, _)| step.title == title);
    let mut groups = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for group in Group::ALL {
        let of_group: Vec<&StepCause<'_>> = all.iter().filter(|s| s.group == group).collect();
        let is_whole = of_group.len() > 1 && of_group.iter().all(|step| is_in(step.title));
        match group_word(group).filter(|_| is_whole) {
            Some(word) => groups.push(word.to_owned()),
            None => {
                names.extend(of_group.iter().filter(|s| is_in(s.title)).map(|s| s.title.to_owned()))
            }
        }
    }
    let mut parts = Vec::new();
    if !groups.is_empty() {
        parts.push(format!("all {} steps", list(&groups)));
    }
    if names.len() > MOST_NAMED {
        let rest = names.len() - MOST_NAMED;
        names.truncate(MOST_NAMED);
        names.push(format!("{rest} more"));
    }
    parts.extend((!names.is_empty()).then(|| list(&names)));
    list(&parts)
}

fn group_word(group: Group) -> Option<&'static str> {
    match group {
        Group::Point => Some("point"),
        Group::Range => Some("range"),
        Group::RangeAggregate => Some("aggregation"),
        Group::Write => Some("write"),
        Group::Vector => Some("vector"),
        Group::Other => None,
    }
}

#[cfg(test)]
mod tests;
