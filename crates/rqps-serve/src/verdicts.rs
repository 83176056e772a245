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
        // The same step as in the report's table of candidates.
        let worst = headline.range.and_then(|range| {
            let step = analysis.steps.get(range.lowest_idx)?;
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
            worst,
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
    let more = verdicts.candidates.get(MOST_CANDIDATES..).unwrap_or_default();
    html! {
        @if verdicts.n_severe > 0 {
            span.severe { (count(verdicts.n_severe, "severe warning")) }
        }
        @for candidate in verdicts.candidates.iter().take(MOST_CANDIDATES) {
            span.below { bdi { (one_line(candidate.label.as_str())) } ": " (line(candidate)) }
        }
        @if !more.is_empty() { span.below { (of_more(more)) } }
    }
}

/// `3 more candidates, 2 of them slower on some step`: slower ones are not passed over.
fn of_more(more: &[CandidateVerdicts]) -> Markup {
    let n_slower = more.iter().filter(|candidate| candidate.n_slower > 0).count();
    html! {
        (count(more.len(), "more candidate"))
        @if n_slower > 0 {
            ", " span.slower { @if more.len() > 1 { (n_slower) " of them " } "slower" } " on some step"
        }
    }
}

/// `2 slower, 1 unclear; worst 0.80 scan`, as in the report's table of candidates.
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
        @if let Some(StepRatio { step, rqps }) = &of.worst {
            "; worst " (plain_ratio(*rqps)) " " bdi { (one_line(step)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(n: [usize; 5], worst: Option<(&str, f64)>) -> CandidateVerdicts {
        let [n_slower, n_faster, n_same, n_unclear, n_without] = n;
        let worst = worst.map(|(step, rqps)| StepRatio { step: step.to_owned(), rqps });
        let label = rqps_model::Label("b".to_owned());
        CandidateVerdicts { label, n_slower, n_faster, n_same, n_unclear, n_without, worst }
    }

    fn text_of(markup: &Markup) -> String {
        let parts = markup.0.split('<');
        parts.map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
    }

    #[test]
    fn a_line_has_what_there_is() {
        let of = |n, worst| text_of(&line(&candidate(n, worst)));
        assert_eq!(
            of([2, 0, 0, 1, 3], Some(("scan", 0.8))),
            "2 slower, 1 unclear, 3 without a verdict; worst 0.80 scan"
        );
        assert_eq!(of([0, 1, 2, 0, 0], Some(("scan", 0.97))), "1 faster, 2 same; worst 0.97 scan");
        assert_eq!(of([0, 0, 3, 0, 0], None), "3 same");
    }

    #[test]
    fn slower_candidates_are_not_passed_over() {
        let of = |more: &[usize]| {
            let more: Vec<_> = more.iter().map(|n| candidate([*n, 0, 1, 0, 0], None)).collect();
            text_of(&of_more(&more))
        };
        assert_eq!(of(&[0, 0]), "2 more candidates");
        assert_eq!(of(&[3, 0, 1]), "3 more candidates, 2 of them slower on some step");
        assert_eq!(of(&[3]), "1 more candidate, slower on some step");
    }

    /// The report's table of candidates has the lowest ratio, also where another step has the verdict.
    #[test]
    fn the_worst_step_is_that_of_the_report() {
        let run = rqps_fixtures::demo();
        let analysis = Analysis::of(&run, rqps_stats::DEFAULT_BOUND);
        let verdicts = verdicts_of(&analysis, "1");
        assert!(!verdicts.candidates.is_empty());
        for (of, headline) in verdicts.candidates.iter().zip(&analysis.headlines) {
            let ratios = analysis.steps.iter().filter(|step| step.is_compared());
            let ratios = ratios.filter_map(|step| {
                Some((step.cells[headline.system_idx].comparable_rqps()?.point, &step.title))
            });
            let (rqps, step) = ratios.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            assert_eq!(of.worst, Some(StepRatio { step: step.clone(), rqps }));
        }
    }
}
