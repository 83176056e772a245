//! The gate's answer in a sentence, and why there is none.

use crate::command;
use crate::{settle, unfit};
use rqps_analysis::gate::{Fault, Gate, NotJudged, Outcome, Passage, Unsettled, Why};
use rqps_analysis::{Analysis, Cell};
use rqps_text::number::{count, exact_percent, p_value};
use rqps_text::words::{list, one_line};

/// The gate's answer in a sentence.
#[must_use]
pub fn sentence(gate: &Gate<'_>) -> String {
    let main = if gate.passage() == Passage::Error {
        format!("no judgement: {}", missing(gate).join("; "))
    } else {
        found(gate)
    };
    let counts = gate.counts();
    let others = [
        (counts.unclear, "unclear"),
        (counts.not_judged, "not judged"),
        (counts.faster, "faster"),
        (counts.same, "the same"),
        (counts.not_reached, "not reached"),
    ];
    let others = others.iter().filter(|(n, _)| *n > 0);
    let others: Vec<String> = others.map(|(n, words)| format!("{n} {words}")).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", list(&others)) };
    format!("{main}{others}.")
}

/// What was found slower, and what did not hold its insert rate, which is no slowdown of so much.
fn found(gate: &Gate<'_>) -> String {
    let analysis = gate.analysis;
    let (base, bound) = (one_line(analysis.base_label()), exact_percent(analysis.judging.bound));
    let of = count(gate.judged.len(), noun(gate));
    let (slower, short) = (gate.counts().slower, gate.counts().sla_failed);
    let only = gate.judged.first().filter(|_| noun(gate) == "step");
    let only = only.map(|one| one_line(analysis.label(one.system_idx)));
    if slower == 0 && short == 0 {
        // What is unclear may be slower.
        let than = format!("was found to be slower than {base} by {bound} or more");
        return match only {
            Some(who) => format!("no step of {who} {than}, of {of}"),
            None => format!("no candidate {than} in {of}"),
        };
    }
    let mut said = Vec::new();
    if slower > 0 {
        said.push(format!("is slower than {base} by {bound} or more on {slower} of {of}"));
    }
    if short > 0 {
        said.push(format!("did not hold an insert rate that {base} held on {short} of {of}"));
    }
    format!("{} {}", only.unwrap_or_else(|| "a candidate".to_owned()), said.join(", and "))
}

/// Why there is no judgement, and what was found all the same.
fn missing(gate: &Gate<'_>) -> Vec<String> {
    let steps = |n: usize| count(n, noun(gate));
    let (errors, all) = (gate.counts().errors, gate.judged.len());
    let said = [
        (errors > 0, format!("{errors} of {} without a valid result", steps(all))),
        (gate.is_empty(), format!("none of {} could be judged", steps(all))),
        (gate.is_unfinished(), "the run is unfinished".to_owned()),
        (gate.counts().slower > 0, format!("{} slower", steps(gate.counts().slower))),
        (
            gate.counts().sla_failed > 0,
            format!("{} failed their SLA", steps(gate.counts().sla_failed)),
        ),
    ];
    said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, text)| text).collect()
}

/// An outcome as one word or two, for tables.
pub(super) fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Slower => "slower",
        Outcome::RateNotHeld => "SLA failed",
        Outcome::Error(_) => "error",
        Outcome::Unclear(_) => "unclear",
        Outcome::NotJudged(_) => "not judged",
        Outcome::NotReached { .. } => "not reached",
        Outcome::Faster => "faster",
        Outcome::Same => "same",
    }
}

/// Why there is no judgement, a sentence each: for standard error.
#[must_use]
pub fn errors(gate: &Gate<'_>) -> Vec<String> {
    let of_steps = gate.judged.iter().filter_map(|one| match &one.outcome {
        Outcome::Error(found) => {
            let reason = fault(gate.analysis, found);
            Some(format!("{}: {reason}", gate.analysis.steps[one.step_idx].title))
        }
        _ => None,
    });
    let of_run = run_errors(gate).into_iter().map(|(_, text)| text);
    of_run.chain(of_steps).collect()
}

/// Those that are about no step: what is expected, and what is.
pub(super) fn run_errors(gate: &Gate<'_>) -> Vec<(&'static str, String)> {
    let run = gate.analysis.run;
    let mut out = Vec::new();
    if gate.is_unfinished() {
        let text = format!(
            "run {} is not finished ({}): run its command again to resume it ({}), or judge the \
             finished steps with --allow-unfinished",
            run.id,
            run.status,
            one_line(&command::line(&run.command_line))
        );
        out.push(("the run is finished", text));
    }
    if gate.is_empty() {
        let why = gate.judged.iter().find_map(|one| match &one.outcome {
            Outcome::NotJudged(reason) => Some(not_judged(*reason)),
            _ => None,
        });
        let text = match why {
            Some(reason) => format!("no step of run {} can be judged: {reason}", run.id),
            None => format!("no step of run {} was reached", run.id),
        };
        out.push(("a step is judged", text));
    }
    out
}

/// What is counted: of several candidates each has every step.
pub(super) fn noun(gate: &Gate<'_>) -> &'static str {
    let first = gate.judged.first().map(|one| one.system_idx);
    let is_one = gate.judged.iter().all(|one| Some(one.system_idx) == first);
    if is_one { "step" } else { "comparison" }
}

/// What would settle an unclear verdict, in words; `None` where that cannot be told.
pub(super) fn to_settle(cell: &Cell) -> Option<String> {
    // The chance is that of the projection: rqps_stats::precision.
    cell.settle()
        .map(|settle| format!("{} would settle it with a chance of 80%", settle::words(&settle)))
}

/// The reason of an outcome; `None` where its word says it.
#[must_use]
pub fn reason(gate: &Gate<'_>, outcome: &Outcome) -> Option<String> {
    let analysis = gate.analysis;
    match outcome {
        Outcome::Error(found) => Some(fault(analysis, found)),
        Outcome::Unclear(unsettled) => Some(unclear(analysis, *unsettled)),
        Outcome::NotJudged(reason) => Some(not_judged(*reason).to_owned()),
        Outcome::NotReached { system_idx } => Some(not_reached(analysis, *system_idx)),
        Outcome::Slower | Outcome::RateNotHeld | Outcome::Faster | Outcome::Same => None,
    }
}

fn fault(analysis: &Analysis<'_>, fault: &Fault) -> String {
    match fault {
        Fault::Failed { system_idx, reason } => {
            format!("failed on {}: {}", who(analysis, *system_idx), one_line(reason))
        }
        Fault::NotReached { system_idx } => not_reached(analysis, *system_idx),
        Fault::ChecksFailed { system_idx, checks } => {
            format!("on {} {}", who(analysis, *system_idx), unfit::checks_failed(checks))
        }
        Fault::BaseRateNotHeld => {
            format!("{} did not hold its insert rate", who(analysis, analysis.base))
        }
        Fault::NoRatio(found) => format!("{}, so there is no ratio", unfit::no_ratio(*found)),
        Fault::HostBusy => format!("{}, or judge it with --allow-busy-host", unfit::HOST_BUSY),
        Fault::NoVerdict => "it has no verdict; the report says why".to_owned(),
    }
}

fn not_reached(analysis: &Analysis<'_>, system_idx: usize) -> String {
    format!("not reached on {}", who(analysis, system_idx))
}

fn not_judged(reason: NotJudged) -> &'static str {
    match reason {
        NotJudged::Imported => {
            "its results were imported, one of each (n=1), so there is no verdict"
        }
        NotJudged::SetRate => unfit::SET_RATE,
    }
}

fn unclear(analysis: &Analysis<'_>, Unsettled { why, needs_starts }: Unsettled) -> String {
    let because = match why {
        Why::NoInterval => "one slice or block has no interval".to_owned(),
        Why::Fallen { alone, p } => {
            let (alone, n) = (alone.word(), analysis.n_tests());
            let p = p.map_or_else(String::new, p_value);
            format!(
                "{alone} on its own (p {p}), but not after adjustment for all {n} ratios of the run"
            )
        }
        Why::PlansVary => unfit::PLANS_VARY.to_owned(),
        Why::TooWide => {
            let bound = exact_percent(analysis.judging.bound);
            format!("the interval is too wide to decide on a slowdown of {bound}")
        }
    };
    if needs_starts {
        format!("{because}; the work is fixed, so only more loads (`loads`) measure more of it")
    } else if why == Why::NoInterval {
        format!("{because}; more slices give one")
    } else {
        because
    }
}

/// A system by its label, the base as such.
fn who(analysis: &Analysis<'_>, idx: usize) -> String {
    let label = one_line(analysis.label(idx));
    if idx == analysis.base { format!("the base {label}") } else { label }
}
