//! The verdict on a candidate in sentences.

use crate::causes::summary::of_candidate;
use rqps_analysis::headline::{Counts, Lack, Unclear, cpu_behind};
use rqps_analysis::{Analysis, Headline, StepAnalysis};
use rqps_text::number::{self, count, plain_ratio, ratio_with_interval};
use rqps_text::words::{list, list_in_short};

use crate::recall;
use crate::settle;

/// Stands beside every verdict on a candidate that was measured in another run than the base.
const OVER_RUNS: &str = "Different runs: ratios include changes of the host between them.";

/// Candidates that a heading names.
const MOST_NAMED: usize = 3;

/// The heading of a table of several candidates: `Slower than MySQL 5.6.14: MySQL 8.0.33 on 11 and MySQL 9.7.4 on 10
/// of 13 steps`; those that are faster where none is slower, and what is compared where neither is.
#[must_use]
pub fn of_several(analysis: &Analysis<'_>) -> String {
    let base = &analysis.names[analysis.base];
    let n_steps = analysis.steps.iter().filter(|step| step.is_compared()).count();
    let steps = count(n_steps, "step");
    let told = |what: &str, n_of: fn(&Headline) -> usize| {
        let found: Vec<&Headline> = analysis.headlines.iter().filter(|own| n_of(own) > 0).collect();
        let named: Vec<String> = found
            .iter()
            .map(|own| format!("{} on {}", analysis.names[own.system_idx], n_of(own)))
            .collect();
        match named.len() {
            0 => None,
            1..=MOST_NAMED => Some(format!("{what} than {base}: {} of {steps}", list(&named))),
            n => {
                let all = analysis.headlines.len();
                let who = if n == all { format!("all {all}") } else { format!("{n} of {all}") };
                Some(format!("{what} than {base}: {who} candidates, on some of {steps}"))
            }
        }
    };
    if let Some(found) =
        told("Slower", |own| own.counts.slower).or_else(|| told("Faster", |own| own.counts.faster))
    {
        return found;
    }
    let names: Vec<String> =
        analysis.headlines.iter().map(|own| analysis.names[own.system_idx].clone()).collect();
    let who = match names.len() {
        0..=MOST_NAMED => list(&names),
        n => count(n, "candidate"),
    };
    format!("{who} against {base}, {steps}")
}

/// The verdict in one sentence.
#[must_use]
pub fn sentence(analysis: &Analysis<'_>, headline: &Headline) -> String {
    let counts = headline.counts;
    let (name, base) = (&analysis.names[headline.system_idx], &analysis.names[analysis.base]);
    let steps = count(counts.total(), "step");
    let bound = number::exact_percent(analysis.judging.bound);
    match (counts.measured(), counts.slower, counts.faster) {
        (0, ..) if counts.recall_differs > 0 => recall::sentence(analysis, headline.system_idx)
            .unwrap_or_else(|| {
                format!("{name} and {base} reach no equal recall: search with other efforts.")
            }),
        (0, ..) if counts.rate_held > 0 => {
            format!("{name} and {base} held the set rate: compare their response times and CPU.")
        }
        (0, ..) if counts.plans_vary > 0 => format!(
            "{name} against {base}: no verdict, because a server ran different query plans."
        ),
        (0, ..) if counts.host_busy > 0 => {
            format!("{name} against {base}: no verdict, because the host was busy with other work.")
        }
        (0, ..) if counts.imported > 0 => {
            format!("{name} against {base}: imported results, without a verdict.")
        }
        (0, ..) => format!("{name} could not be compared with {base} on any step."),
        (_, 0, 0) if counts.unclear == 0 => {
            let of = if counts.total() == 1 {
                "its only step".to_owned()
            } else if counts.same == counts.total() {
                format!("all {steps}")
            } else {
                format!("{} of {steps}", counts.same)
            };
            format!("{name} is as fast as {base} on {of}, within {bound}.")
        }
        (_, 0, 0) if counts.same == 0 => {
            let of = if counts.total() == 1 {
                "its only step".to_owned()
            } else if counts.unclear == counts.total() {
                format!("all {steps}")
            } else {
                format!("{} of {steps}", counts.unclear)
            };
            format!("{name} against {base}: unclear on {of}.")
        }
        (_, 0, 0) => format!(
            "{name} is as fast as {base} on {} of {steps}, within {bound}; {} unclear.",
            counts.same, counts.unclear
        ),
        (_, slower, 0) => format!("{name} is slower than {base} on {slower} of {steps}."),
        (_, 0, faster) => format!("{name} is faster than {base} on {faster} of {steps}."),
        (_, slower, faster) => {
            format!("{name} is slower than {base} on {slower} and faster on {faster} of {steps}.")
        }
    }
}

/// Median, largest loss and gain, causes, what is unclear or missing; a sentence each.
#[must_use]
pub fn details(analysis: &Analysis<'_>, headline: &Headline) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(over_runs(headline));
    out.extend(headline.median.map(|median| format!("Median rQPS {}.", plain_ratio(median))));
    out.extend(range(analysis, headline));
    for (idx, what) in [(headline.worst_idx, "loss"), (headline.best_idx, "gain")] {
        if let Some(text) = idx.and_then(|idx| extreme(&analysis.steps[idx], headline.system_idx)) {
            out.push(format!("Largest {what}: {text}."));
        }
    }
    let causes = causes(analysis, headline).into_iter();
    out.extend(causes.map(|sentence| format!("Cause: {sentence}")));
    out.extend(others(headline.counts));
    out.extend(unclear(analysis, headline));
    out
}

/// What must stand beside a verdict wherever it is shown: that runs differ, and the range of imported ratios.
fn beside(analysis: &Analysis<'_>, headline: &Headline) -> Vec<String> {
    over_runs(headline).into_iter().chain(range(analysis, headline)).collect()
}

fn over_runs(headline: &Headline) -> Option<String> {
    headline.is_over_runs.then(|| OVER_RUNS.to_owned())
}

/// The lowest and highest rQPS of imported rates, which have no verdicts.
fn range(analysis: &Analysis<'_>, headline: &Headline) -> Option<String> {
    let range = headline.range.filter(|_| headline.counts.imported > 0)?;
    let told = |step_idx: usize| {
        let step = analysis.steps.get(step_idx)?;
        let ratio = step.cells.get(headline.system_idx)?.rqps()?;
        Some(format!("{} ({})", plain_ratio(ratio.point), step.title))
    };
    let (lowest, highest) = (told(range.lowest_idx)?, told(range.highest_idx)?);
    Some(format!("rQPS from {lowest} to {highest}."))
}

/// The same of all candidates, each sentence once.
#[must_use]
pub fn beside_all(analysis: &Analysis<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    // A table of several has the ends of their ratios.
    let of = |own: &Headline| match analysis.headlines.len() {
        1 => beside(analysis, own),
        _ => over_runs(own).into_iter().collect(),
    };
    for sentence in analysis.headlines.iter().flat_map(of) {
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    all
}

/// The causes of its verdicts, a sentence each.
#[must_use]
pub fn causes(analysis: &Analysis<'_>, headline: &Headline) -> Vec<String> {
    of_candidate(analysis, headline.system_idx)
}

/// How many steps are neither slower nor faster, by outcome.
pub(crate) fn others(counts: Counts) -> Option<String> {
    let others: Vec<String> = [
        (counts.same, "the same"),
        (counts.unclear, "unclear"),
        (counts.sla_failed, "without a verdict (SLA failed)"),
        (counts.check_failed, "without a verdict (check failed)"),
        (counts.plans_vary, "without a verdict (plans vary)"),
        (counts.rate_held, "without a verdict (set rate held)"),
        (counts.recall_differs, "without a verdict (recall differs)"),
        (counts.host_busy, "without a verdict (host busy)"),
        (counts.imported, "imported"),
        (counts.failed, "failed"),
        (counts.missing, "not measured"),
    ]
    .iter()
    .filter(|(n, _)| *n > 0 && *n < counts.total())
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    let told = || format!("{} of {}.", list(&others), count(counts.total(), "step"));
    (!others.is_empty()).then(told)
}

/// `point-query 0.62 [0.60, 0.64], server CPU per query 1.53x [1.50, 1.56]`.
fn extreme(step: &StepAnalysis<'_>, system_idx: usize) -> Option<String> {
    let cell = step.cells.get(system_idx)?;
    let mut text = format!("{} {}", step.title, ratio_with_interval(&cell.rqps()?));
    if let Some(cpu) = cpu_behind(cell) {
        let operation = step.step.info.figure.operation();
        text.push_str(&format!(", server CPU per {operation} {}x", number::ratio(&cpu)));
        if let Some(ends) = number::interval(&cpu) {
            text.push_str(&format!(" {ends}"));
        }
    }
    Some(text)
}

/// Why steps are unclear, and what would settle them; which steps, where there is more than one reason.
#[must_use]
pub fn unclear(analysis: &Analysis<'_>, headline: &Headline) -> Vec<String> {
    let is_only = headline.unclear.len() == 1;
    let sentence = |of: &Unclear| {
        let titles = of.step_idxs.iter().filter_map(|&idx| analysis.steps.get(idx));
        let titles: Vec<String> = titles.map(|step| step.title.clone()).collect();
        let lead = match is_only && of.lack != Lack::Alone {
            true => "Unclear".to_owned(),
            false => format!("Unclear on {}", list_in_short(&titles)),
        };
        format!("{lead}: {}", because(analysis, of))
    };
    headline.unclear.iter().map(sentence).collect()
}

/// What steps lack for a verdict.
fn because(analysis: &Analysis<'_>, of: &Unclear) -> String {
    let wide = "the interval is too wide for a verdict";
    let amounts = || settle::amounts(&of.settles);
    match of.lack {
        Lack::Creation => "indexes are created once, and one slice has no interval.".to_owned(),
        Lack::Block => {
            "a single block has no interval; the work is fixed, so only more loads (`loads`) add blocks."
                .to_owned()
        }
        Lack::Slice => "a single slice has no interval; more slices would settle it.".to_owned(),
        Lack::Starts => {
            format!("{wide}; more starts of the servers would probably settle it{}.", amounts())
        }
        Lack::Time => {
            let is_interleaved = analysis.schedule().is_interleaved();
            let what = if is_interleaved { "measuring longer" } else { "more or longer slices" };
            format!("{wide}; {what} would probably settle it{}.", amounts())
        }
        Lack::Restarts => {
            format!("{wide}; the work is fixed, so only more loads (`loads`) measure more of it.")
        }
        Lack::Alone => format!(
            "slower or faster alone, but not after adjustment for all {} ratios of the run.",
            analysis.n_tests()
        ),
    }
}
