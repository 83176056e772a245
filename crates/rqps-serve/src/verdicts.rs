//! How a run came out, as a line for each candidate in the list of runs.

use maud::{Markup, html};
use rqps_analysis::{Analysis, Headline};
use rqps_report::warning::InWords;
use rqps_store::{CandidateVerdicts, StepRatio, Verdicts};
use rqps_text::number::{count, plain_ratio};
use rqps_text::words::one_line;

/// Candidates of a run that the list shows.
const MOST_CANDIDATES: usize = 3;

/// What is kept of an analysis.
#[must_use]
pub fn verdicts_of(analysis: &Analysis<'_>, rqps_version: &str) -> Verdicts {
    let outcomes = analysis.run.steps.iter().flat_map(|step| &step.systems);
    let is_done = |step: &&rqps_model::SystemStep| step.outcome == rqps_model::StepOutcome::Done;
    let candidate = |headline: &Headline| {
        let counts = headline.counts;
        let extreme = headline.worst_idx.or(headline.best_idx).and_then(|idx| {
            let step = &analysis.steps[idx];
            let rqps = step.cells.get(headline.system_idx)?.rqps()?.point;
            Some(StepRatio { step: step.title.clone(), rqps })
        });
        CandidateVerdicts {
            label: analysis.run.systems[headline.system_idx].spec.label.clone(),
            n_slower: counts.slower,
            n_faster: counts.faster,
            n_same: counts.same,
            n_unclear: counts.unclear,
            n_without: counts.total() - counts.measured(),
            extreme,
        }
    };
    Verdicts {
        rqps_version: rqps_version.to_owned(),
        finished_unix_ms: analysis.run.finished_unix_ms,
        n_done: outcomes.filter(is_done).count() as u64,
        n_severe: InWords::of(analysis).severe.len(),
        candidates: analysis.headlines.iter().map(candidate).collect(),
    }
}

/// A line for each candidate, of many the first ones.
pub(crate) fn lines(verdicts: &Verdicts) -> Markup {
    let n_more = verdicts.candidates.len().saturating_sub(MOST_CANDIDATES);
    html! {
        @if verdicts.n_severe > 0 {
            span.severe { (count(verdicts.n_severe, "severe warning")) }
        }
        @for candidate in verdicts.candidates.iter().take(MOST_CANDIDATES) {
            span.below { bdi { (one_line(candidate.label.as_str())) } ": " (line(candidate)) }
        }
        @if n_more > 0 { span.below { (count(n_more, "more candidate")) } }
    }
}

/// `2 slower, 1 unclear; 0.80 on scan`.
fn line(of: &CandidateVerdicts) -> Markup {
    let counts = [
        (of.n_slower, "slower"),
        (of.n_faster, "faster"),
        (of.n_same, "same"),
        (of.n_unclear, "unclear"),
        (of.n_without, "without a verdict"),
    ];
    let told = counts.into_iter().filter(|(n, _)| *n > 0);
    html! {
        @for (nth, (n, word)) in told.enumerate() {
            @if nth > 0 { ", " }
            span class=(word.split(' ').next().unwrap_or_default()) { (n) " " (word) }
        }
        @if let Some(StepRatio { step, rqps }) = &of.extreme {
            "; " (plain_ratio(*rqps)) " on " bdi { (one_line(step)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_there_is() {
        let of = |n: [usize; 5], extreme: Option<(&str, f64)>| {
            let [n_slower, n_faster, n_same, n_unclear, n_without] = n;
            let extreme = extreme.map(|(step, rqps)| StepRatio { step: step.to_owned(), rqps });
            let label = rqps_model::Label("b".to_owned());
            let of = CandidateVerdicts {
                label,
                n_slower,
                n_faster,
                n_same,
                n_unclear,
                n_without,
                extreme,
            };
            let text = line(&of).into_string();
            text.split('<')
                .map(|part| part.split_once('>').map_or(part, |(_, t)| t))
                .collect::<String>()
        };
        assert_eq!(
            of([2, 0, 0, 1, 3], Some(("scan", 0.8))),
            "2 slower, 1 unclear, 3 without a verdict; 0.80 on scan"
        );
        assert_eq!(of([0, 0, 3, 0, 0], None), "3 same");
    }
}
