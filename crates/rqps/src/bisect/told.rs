//! What a search tells: its beginning, each probe, and its answer with all probes in a table.

use std::collections::BTreeMap;

use anyhow::Result;
use rqps_analysis::Bar;
use rqps_bisect::{Culprits, GapProbability, Posterior, Suspects};
use rqps_build::Commit;
use rqps_model::{Estimate, Run};
use rqps_text::number::{count, percent, plain_ratio, ratio_with_interval};
use rqps_text::words::{list, one_line};

use super::range::Range;
use super::{Hunt, State, Why};
use crate::commit_plans::commit_line;
use crate::output::{say, table};

/// Columns of a subject in the table, which fits 80 columns.
const SUBJECT: usize = 16;

/// Columns of the chart.
const CHART: usize = 18;

/// The largest probability that is written as it is.
const MOST_SHOWN: f64 = 0.999;

/// Commits that an answer lists by their subjects.
const N_LISTED: usize = 10;

/// Why a ratio is no probe.
pub(super) fn bar(bar: Bar) -> &'static str {
    match bar {
        Bar::Sla => "the rate of inserts was not held",
        Bar::Check => "a check of its work failed",
        Bar::Plans => "its starts ran different plans",
        Bar::Rate => "a set rate was held, so that QPS tells nothing",
        Bar::Recall => "its searches found another part of the nearest vectors",
        Bar::HostBusy => "the host was busy",
    }
}

/// A run that measured a commit beside the one before it.
pub(super) fn compared(run: &Run, commit: &Commit, before: &Commit) -> Result<()> {
    let (id, commit, before) = (&run.id, commit.short(), before.short());
    say(&format!("run {id} compares {commit} with {before}; `rqps report {id}` shows it\n"))
}

pub(super) fn beginning(range: &Range, steps: &[String]) -> String {
    let [good, bad] = [0, range.last()].map(|place| commit_line(&range.commits[place]));
    let n = count(range.last(), "commit");
    format!("search {n} for a change of {}\n  good: {good}\n  bad:  {bad}", list(steps))
}

/// `1a2b3c4d5e6f: point-query 0.953 [0.945, 0.961] of the good end`.
pub(super) fn probe_line(commit: &Commit, ratios: &BTreeMap<String, Estimate>) -> String {
    let each = ratios.iter().map(|(step, ratio)| format!("{step} {}", ratio_with_interval(ratio)));
    format!("{}: {} of the good end", commit.short(), each.collect::<Vec<_>>().join(", "))
}

/// What a search has come to, in lines; commits of a list are indented.
pub(super) fn answer(hunt: &Hunt<'_>, state: &State) -> Vec<String> {
    match state {
        State::Found(known, why) => found(hunt, known, why.as_ref()),
        State::NoDifference => no_difference(hunt),
        State::Open { suspects, none, why } => open(hunt, suspects, *none, why),
    }
}

/// One commit, several that cannot be told apart, or two of these; and who may have changed the speed, too.
fn found(hunt: &Hunt<'_>, known: &Culprits, why: Option<&Why>) -> Vec<String> {
    let steps = hunt.steps_listed();
    let mut lines = match known.named.as_slice() {
        [only] if known.others.is_none() => {
            culprit(hunt, only, &format!("is the commit that changed {steps}"), only.probability)
        }
        [first, second] => {
            let each = [first, second]
                .map(|own| culprit(hunt, own, "is one of them", own.changed.max(own.probability)));
            let everywhere = if hunt.steps().len() > 1 { " on all of these steps" } else { "" };
            let lead = format!(
                "Two commits changed {steps}, neither clearly more than twice as much as the other{everywhere}."
            );
            [vec![lead], each.concat()].concat()
        }
        others => {
            let changed = format!("changed {steps}");
            others.iter().flat_map(|own| culprit(hunt, own, &changed, own.probability)).collect()
        }
    };
    if let Some(others) = &known.others {
        let by_less = if known.has_second { "" } else { ", by less than half as much" };
        let places: Vec<usize> = others.places().collect();
        let probability = chance(others.probability);
        if let [place] = places.as_slice() {
            let line = commit_line(&hunt.range.commits[*place]);
            lines.push(line);
            lines.push(format!(
                "changed {steps}, too{by_less}, with a probability of {probability}."
            ));
        } else {
            lines.push(format!(
                "Another commit changed {steps}, too{by_less}. With a probability of {probability} it is one of \
                 these {}:",
                count(places.len(), "commit")
            ));
            lines.extend(listed(hunt, places.into_iter()));
        }
    }
    let n = count(hunt.probes.len(), "probe");
    lines.extend(why.map(|why| match why {
        Why::UnderWay => format!("The search goes on, after {n}."),
        Why::Stuck => "More probes of this length would tell little more.".to_owned(),
        Why::MostProbes => format!("The search ended after {n}, the most that it makes."),
    }));
    lines
}

/// A culprit, and what is said of it.
fn culprit(hunt: &Hunt<'_>, own: &GapProbability, said: &str, probability: f64) -> Vec<String> {
    let (gap, probability) = (&own.gap, chance(probability));
    if gap.n() == 1 {
        let line = commit_line(&hunt.range.commits[gap.last]);
        return vec![line, format!("{said}, with a probability of {probability}.")];
    }
    let lead = format!(
        "One of these {} {said}, with a probability of {probability}. Nothing tells them apart, as commits \
         between them cannot be measured.",
        count(gap.n(), "commit"),
    );
    std::iter::once(lead).chain(listed(hunt, gap.first..=gap.last)).collect()
}

fn no_difference(hunt: &Hunt<'_>) -> Vec<String> {
    let steps = hunt.steps_listed();
    let [good, bad] = [0, hunt.range.last()].map(|place| hunt.range.commits[place].short());
    let least = &hunt.args.min_change;
    vec![format!("No difference of {least} or more between {good} and {bad} on {steps}.")]
}

/// A search that has no answer, or none yet.
fn open(hunt: &Hunt<'_>, suspects: &Suspects, none: f64, why: &Why) -> Vec<String> {
    let (confidence, n) = (&hunt.args.commits.confidence, count(hunt.probes.len(), "probe"));
    let lead = match why {
        Why::UnderWay => format!("No answer yet, after {n}."),
        Why::Stuck => format!(
            "No answer with {confidence} confidence: more probes of this length would tell little."
        ),
        Why::MostProbes => format!("No answer with {confidence} confidence after {n}."),
    };
    if none >= 0.5 {
        let none = chance(none);
        let of = format!("With a probability of {none} no commit changed {}.", hunt.steps_listed());
        return vec![lead, of];
    }
    let of = format!(
        "With a probability of {}, one of {} changed {}:",
        chance(suspects.probability),
        count(suspects.n(), "commit"),
        hunt.steps_listed()
    );
    let mut lines: Vec<String> =
        [lead, of].into_iter().chain(listed(hunt, suspects.places())).collect();
    if !matches!(why, Why::UnderWay) {
        let advice =
            "Measure each commit longer (--time, --starts), or ask for less (--confidence).";
        lines.push(advice.to_owned());
    }
    lines
}

fn listed(hunt: &Hunt<'_>, places: impl Iterator<Item = usize>) -> Vec<String> {
    let mut lines: Vec<String> = places
        .map(|place| {
            let why = if hunt.broken.contains_key(&place) { " (cannot be measured)" } else { "" };
            format!("  {}{why}", commit_line(&hunt.range.commits[place]))
        })
        .collect();
    let n_more = lines.len().saturating_sub(N_LISTED);
    lines.truncate(N_LISTED);
    lines.extend((n_more > 0).then(|| format!("  and {}", count(n_more, "more commit"))));
    lines
}

/// All probes in the order of the commits, with a chart of their ratios.
pub(super) fn probes(hunt: &Hunt<'_>) -> Result<String> {
    let posterior = hunt.search()?.posterior();
    let mut text = String::new();
    for step in hunt.steps() {
        let scale = Scale::of(hunt.probes.iter().filter_map(|probe| probe.ratios.get(step)));
        let mut rows = Vec::new();
        for place in 1..=hunt.range.last() {
            let commit = &hunt.range.commits[place];
            let row = |what: String, chart: String| {
                let subject: String = one_line(&commit.subject).chars().take(SUBJECT).collect();
                vec![
                    commit.short().to_owned(),
                    subject,
                    what,
                    chart,
                    probability(&posterior, place),
                ]
            };
            if hunt.broken.contains_key(&place) {
                rows.push(row("cannot be measured".to_owned(), String::new()));
            }
            for probe in hunt.probes.iter().filter(|probe| probe.place == place) {
                let Some(ratio) = probe.ratios.get(step) else { continue };
                rows.push(row(ratio_with_interval(ratio), scale.bar(ratio)));
            }
        }
        let chart = format!("{} to {}", plain_ratio(scale.low), plain_ratio(scale.high));
        let headings = ["commit", "subject", "rQPS", &chart, "chance"];
        text.push_str(&format!("{step}, relative to the good end\n{}\n", table(&headings, &rows)));
    }
    text.push_str("`rqps runs list` shows the run of each probe.\n");
    Ok(text)
}

/// That a commit is the one: its share of those that no probe tells apart.
pub(super) fn probability(posterior: &Posterior, place: usize) -> String {
    let of = posterior.gaps.iter().find(|own| own.gap.has(place));
    of.map_or_else(String::new, |own| chance(own.of_commit()))
}

/// A probability in percent; no search is certain.
fn chance(probability: f64) -> String {
    if probability > MOST_SHOWN {
        format!(">{}", percent(MOST_SHOWN))
    } else {
        percent(probability)
    }
}

/// From the lowest to the highest end of all intervals.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of<'e>(ratios: impl Iterator<Item = &'e Estimate>) -> Self {
        let start = Self { low: 1.0, high: 1.0 };
        ratios.fold(start, |scale, ratio| {
            let (low, high) = ratio.interval.unwrap_or((ratio.point, ratio.point));
            Self { low: scale.low.min(low), high: scale.high.max(high) }
        })
    }

    /// `   --o--   |`: the interval, the ratio, and where 1 is.
    fn bar(&self, ratio: &Estimate) -> String {
        let column = |value: f64| {
            let share = (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share from 0 to 1 of few columns"
            )]
            let column = (share.clamp(0.0, 1.0) * (CHART - 1) as f64).round() as usize;
            column
        };
        let (low, high) = ratio.interval.unwrap_or((ratio.point, ratio.point));
        let (low, point, high, one) = (column(low), column(ratio.point), column(high), column(1.0));
        let sign = |at: usize| match at {
            _ if at == point => 'o',
            _ if at == one => '|',
            _ if (low..=high).contains(&at) => '-',
            _ => ' ',
        };
        (0..CHART).map(sign).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, point: f64, high: f64) -> Estimate {
        Estimate { point, interval: Some((low, high)), n: 8 }
    }

    #[test]
    fn a_bar_has_interval_ratio_and_one() {
        let all = [estimate(0.9, 0.92, 0.94), estimate(0.98, 1.0, 1.02)];
        let scale = Scale::of(all.iter());
        assert_eq!(scale.bar(&all[0]), "---o---       |   ");
        let bar = scale.bar(&all[1]);
        assert_eq!(
            (bar.chars().count(), bar.find('o'), bar.trim_start().starts_with('-')),
            (CHART, Some(14), true)
        );
    }
}
