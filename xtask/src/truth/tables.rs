//! Tables of pairs: what reports say, what is true, and what libraries saw.

use std::cmp::Ordering;
use std::fmt::Write as _;

use rqps_explain::Kind;
use rqps_model::{Estimate, Verdict};

use super::numbers::{Share, of_median, percents};
use super::pair::{Pair, Seen};
use super::tally::Tally;

/// What reports say, by slowdown.
pub(super) fn verdicts(tally: &Tally) -> String {
    let mut text =
        "| CPU added | step pairs | slower | faster | same | unclear | below 1 beyond chance \
         | above | no verdict | half-width, read | write |\n\
         |---|---|---|---|---|---|---|---|---|---|---|"
            .to_owned();
    for (bp, group) in tally.by_slowdown() {
        let n_judged = group.n_judged();
        let share = |n: usize| format!("{n} ({:.1}%)", Share { n, of: n_judged }.share() * 100.0);
        let verdict = |wanted| share(group.n(|pair| pair.verdict == Some(wanted)));
        let side = |wanted| share(group.n(|pair| pair.direction == Some(wanted)));
        let [read, write] = group.half_widths().map(|widths| of_median(&widths, percents));
        let _ = write!(
            text,
            "\n| {}% | {n_judged} | {} | {} | {} | {} | {} | {} | {} | {read} | {write} |",
            f64::from(bp) / 100.0,
            verdict(Verdict::Slower),
            verdict(Verdict::Faster),
            verdict(Verdict::Same),
            verdict(Verdict::Unclear),
            side(Ordering::Less),
            side(Ordering::Greater),
            group.n(|pair| pair.verdict.is_none()),
        );
    }
    text
}

/// What is true of rQPS and causes, and what was found, by slowdown.
pub(super) fn rates(tally: &Tally) -> String {
    let mut text =
        "| CPU added | rQPS, true | of the library's rise | found | intervals with the truth | with \
         the library's | cause of slower: CPU | open | wrong |\n|---|---|---|---|---|---|---|---|---|"
            .to_owned();
    for (bp, group) in tally.by_slowdown() {
        let causes = group.causes();
        let _ = write!(
            text,
            "\n| {}% | {} | {} | {} | {} | {} | {} | {} | {} |",
            f64::from(bp) / 100.0,
            of_median(&group.values(|pair| Some(pair.truth.rqps)), four_digits),
            of_median(&group.values(|pair| Some(pair.seen?.rqps)), four_digits),
            of_median(&group.values(|pair| Some(pair.rqps?.point)), four_digits),
            group.held(Pair::rqps_holds),
            group.held(Pair::seen_rqps_holds),
            causes.right,
            causes.open,
            causes.wrong_words(),
        );
    }
    text
}

/// What is true of server CPU per operation, what the libraries saw and what was found, by slowdown.
pub(super) fn cpu(tally: &Tally) -> String {
    let mut text = "| CPU added | burnt / own CPU | us per operation: burnt | rise by the library \
                    | rise found | intervals with what was burnt | with the library's rise |\n\
                    |---|---|---|---|---|---|---|"
        .to_owned();
    for (bp, group) in tally.by_slowdown() {
        let us = |us: f64| format!("{us:.2}");
        let _ = write!(
            text,
            "\n| {}% | {} | {} | {} | {} | {} | {} |",
            f64::from(bp) / 100.0,
            of_median(&group.values(|pair| Some(pair.seen?.share)), percents),
            of_median(&group.values(|pair| Some(pair.truth.added_us)), us),
            of_median(&group.values(|pair| Some(pair.seen?.rise_us)), us),
            of_median(&group.values(Pair::found_us), us),
            group.held(Pair::cpu_holds),
            group.held(Pair::seen_cpu_holds),
        );
    }
    text
}

/// What the libraries saw over what rqps measured of the same.
pub(super) fn seen(tally: &Tally) -> Option<String> {
    let seen: Vec<Seen> = tally.pairs.iter().filter_map(|pair| pair.seen).collect();
    let range = |value: fn(&Seen) -> Option<f64>| {
        of_range(&seen.iter().filter_map(value).collect::<Vec<_>>())
    };
    (!seen.is_empty()).then(|| {
        format!(
            "median [least, most] of the library's CPU per command / rqps's CPU per operation of \
             threads that serve clients: {}; of commands / operations: {}",
            range(|seen| seen.of_served_cpu),
            range(|seen| seen.commands_per_operation),
        )
    })
}

/// One line for each pair, as CSV.
pub(super) fn csv(tally: &Tally) -> String {
    let mut text = "dbms,step,slowdown_pct,burnt_of_own,library_of_served_cpu,commands_per_operation,\
                    base_cpu_us,added_us,library_rise_us,cpu_ratio_true,cpu_ratio,cpu_ratio_low,cpu_ratio_high,\
                    rqps_true,rqps,rqps_low,rqps_high,verdict,beyond_chance,cause\n"
        .to_owned();
    for pair in &tally.pairs {
        let (seen, truth) = (pair.seen, pair.truth);
        let ends = |estimate: Option<Estimate>| {
            let interval = estimate.and_then(|estimate| estimate.interval);
            format!(
                "{},{},{}",
                or_empty(estimate.map(|estimate| estimate.point)),
                or_empty(interval.map(|(low, _)| low)),
                or_empty(interval.map(|(_, high)| high))
            )
        };
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{:.3},{:.4},{},{:.5},{},{:.5},{},{},{},{}",
            pair.dbms,
            pair.step,
            f64::from(pair.slowdown_bp) / 100.0,
            or_empty(seen.map(|seen| seen.share)),
            or_empty(seen.and_then(|seen| seen.of_served_cpu)),
            or_empty(seen.and_then(|seen| seen.commands_per_operation)),
            pair.base_cpu_us,
            truth.added_us,
            or_empty(seen.map(|seen| seen.rise_us)),
            truth.cpu_ratio,
            ends(pair.cpu_ratio),
            truth.rqps,
            ends(pair.rqps),
            pair.verdict.map_or("", Verdict::word),
            match pair.direction {
                Some(Ordering::Less) => "below",
                Some(Ordering::Greater) => "above",
                _ => "",
            },
            pair.cause.map_or("", Kind::key),
        );
    }
    text
}

fn four_digits(ratio: f64) -> String {
    format!("{ratio:.4}")
}

/// Median, least and most.
fn of_range(values: &[f64]) -> String {
    let words = |value: f64| format!("{value:.3}");
    let end = |choose: fn(f64, f64) -> f64| values.iter().copied().reduce(choose).map(words);
    match (end(f64::min), end(f64::max)) {
        (Some(least), Some(most)) => {
            format!("{} [{least}, {most}]", of_median(values, words))
        }
        _ => "-".to_owned(),
    }
}

fn or_empty(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.5}"))
}
