//! Pairs counted by their slowdown, as tables and against what is wanted.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rqps_explain::Kind;
use rqps_model::{Estimate, Run, StepKind, Verdict};

use super::pair::{Pair, Seen};
use crate::bench_client::median;

/// Of pairs of the same server, the share that may be called slower or faster.
const MOST_FALSE: f64 = 0.01;

/// Of pairs with a slowdown in basis points of server CPU, the share whose rQPS must be below 1 beyond
/// chance.
const LEAST_FOUND: [(u32, f64); 3] = [(200, 0.80), (500, 0.95), (1000, 0.98)];

/// The share of 95% intervals that must hold the truth, of rQPS and of server CPU.
const LEAST_HELD: f64 = 0.93;

/// Of pairs called slower, the share whose cause must be more CPU per operation.
const LEAST_EXPLAINED: f64 = 0.95;

/// Half-width after a minute, median over steps that read and over those that write, as shares.
const MOST_WIDTH: [f64; 2] = [0.01, 0.03];

/// What there must be.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    /// Step pairs of the smallest slowdown, which is none where a server is there twice.
    pub(super) n_pairs: usize,
    /// Slowdowns that were asked for, basis points.
    pub(super) slowdowns_bp: &'a [u32],
    /// Whether a step was measured for at least a minute on each system.
    pub(super) has_a_minute: bool,
}

/// Pairs of several runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) pairs: Vec<Pair>,
    n_runs: usize,
    hosts: BTreeSet<String>,
}

impl Tally {
    /// Adds the pairs of a run.
    pub(super) fn count(&mut self, run: &Run, pairs: Vec<Pair>) {
        let host = &run.host;
        self.n_runs += 1;
        self.hosts.insert(format!(
            "rqps {}, {} CPUs {}, kernel {}",
            run.rqps_version, host.n_cpus, host.cpu_model, host.kernel
        ));
        self.pairs.extend(pairs);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.n_runs += other.n_runs;
        self.hosts.extend(other.hosts.iter().cloned());
        self.pairs.extend(other.pairs.iter().cloned());
    }

    pub(super) fn n_runs(&self) -> usize {
        self.n_runs
    }

    pub(super) fn host(&self) -> String {
        self.hosts.iter().cloned().collect::<Vec<_>>().join("; ")
    }

    /// Step pairs of the smallest slowdown, which is none where a server is there twice.
    pub(super) fn n_pairs(&self) -> usize {
        self.by_slowdown().first_key_value().map_or(0, |(_, group)| group.n_judged())
    }

    fn by_slowdown(&self) -> BTreeMap<u32, PairGroup<'_>> {
        let mut groups = BTreeMap::<u32, PairGroup<'_>>::new();
        for pair in &self.pairs {
            groups.entry(pair.slowdown_bp).or_default().0.push(pair);
        }
        groups
    }

    /// What reports say, by slowdown.
    pub(super) fn verdicts(&self) -> String {
        let mut text =
            "| CPU added | step pairs | slower | faster | same | unclear | below 1 beyond chance \
             | above | no verdict | half-width, read | write |\n\
             |---|---|---|---|---|---|---|---|---|---|---|"
                .to_owned();
        for (bp, group) in self.by_slowdown() {
            let n_judged = group.n_judged();
            let share = |n: usize| format!("{n} ({:.1}%)", percent(n, n_judged));
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
    pub(super) fn rates(&self) -> String {
        let mut text =
            "| CPU added | rQPS, true | found | intervals with the truth | cause of slower: \
                        CPU | open | wrong |\n|---|---|---|---|---|---|---|"
                .to_owned();
        for (bp, group) in self.by_slowdown() {
            let causes = group.causes();
            let _ = write!(
                text,
                "\n| {}% | {} | {} | {} | {} | {} | {} |",
                f64::from(bp) / 100.0,
                of_median(&group.values(|pair| Some(pair.truth.rqps)), four_digits),
                of_median(&group.values(|pair| Some(pair.rqps?.point)), four_digits),
                group.held(Pair::rqps_holds),
                causes.right,
                causes.open,
                causes.wrong_words(),
            );
        }
        text
    }

    /// What is true of server CPU per operation, what the libraries saw and what was found, by slowdown.
    pub(super) fn cpu(&self) -> String {
        let mut text =
            "| CPU added | burnt / own CPU | us per operation: burnt | rise by the library \
                        | rise found | intervals with what was burnt | with the library's rise |\n\
                        |---|---|---|---|---|---|---|"
                .to_owned();
        for (bp, group) in self.by_slowdown() {
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
                group.held(Pair::seen_holds),
            );
        }
        text
    }

    /// What the libraries saw over what rqps measured of the same.
    pub(super) fn seen(&self) -> Option<String> {
        let seen: Vec<Seen> = self.pairs.iter().filter_map(|pair| pair.seen).collect();
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
    pub(super) fn csv(&self) -> String {
        let mut text = "dbms,step,slowdown_pct,burnt_of_own,library_of_served_cpu,commands_per_operation,\
                        base_cpu_us,added_us,library_rise_us,cpu_ratio_true,cpu_ratio,cpu_ratio_low,cpu_ratio_high,\
                        rqps_true,rqps,rqps_low,rqps_high,verdict,beyond_chance,cause\n"
            .to_owned();
        for pair in &self.pairs {
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

    /// What is short of what is wanted.
    pub(super) fn short_of(&self, wanted: &Wanted<'_>) -> Vec<String> {
        let groups = self.by_slowdown();
        let mut short = Vec::new();
        if self.hosts.len() > 1 {
            short.push("runs of several hosts or versions: give another --results".to_owned());
        }
        if self.n_pairs() < wanted.n_pairs {
            short.push(format!("{} of {} step pairs", self.n_pairs(), wanted.n_pairs));
        }
        for bp in wanted.slowdowns_bp.iter().filter(|bp| !groups.contains_key(bp)) {
            short.push(format!("nothing measured with {}% of CPU added", f64::from(*bp) / 100.0));
        }
        if wanted.has_a_minute {
            short.extend(self.too_wide());
        }
        for (bp, group) in &groups {
            let of_group = |what: String| format!("{}%: {what}", f64::from(*bp) / 100.0);
            short.extend(group.short_of(*bp).into_iter().map(of_group));
        }
        short
    }

    /// Which intervals of rQPS are too wide. A slowdown makes none wider.
    fn too_wide(&self) -> Vec<String> {
        let widths = PairGroup(self.pairs.iter().collect()).half_widths();
        let kinds = ["read", "write"].into_iter().zip(widths).zip(MOST_WIDTH);
        let wide = kinds.filter_map(|((kind, widths), most)| {
            let is_narrow = !widths.is_empty() && median(widths.clone()) <= most;
            let words = of_median(&widths, percents);
            (!is_narrow)
                .then(|| format!("half-width of {kind} steps {words}, not {:.0}%", most * 100.0))
        });
        wide.collect()
    }
}

/// Pairs of one slowdown.
#[derive(Debug, Default)]
struct PairGroup<'a>(Vec<&'a Pair>);

/// What reports give as the cause of pairs that they call slower.
#[derive(Debug, Default)]
struct Causes {
    /// More CPU per operation.
    right: usize,
    /// Several, or none.
    open: usize,
    wrong: BTreeMap<&'static str, usize>,
}

impl Causes {
    fn n_wrong(&self) -> usize {
        self.wrong.values().sum()
    }

    fn wrong_words(&self) -> String {
        let words: Vec<String> = self.wrong.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        if words.is_empty() { "0".to_owned() } else { words.join(", ") }
    }
}

impl PairGroup<'_> {
    fn n(&self, is_one: impl Fn(&Pair) -> bool) -> usize {
        self.0.iter().filter(|pair| is_one(pair)).count()
    }

    /// Pairs with a verdict.
    fn n_judged(&self) -> usize {
        self.n(|pair| pair.verdict.is_some())
    }

    fn values(&self, value: impl Fn(&Pair) -> Option<f64>) -> Vec<f64> {
        self.0.iter().filter_map(|pair| value(pair)).collect()
    }

    /// Half-widths of rQPS as shares, of steps that read and of those that write.
    fn half_widths(&self) -> [Vec<f64>; 2] {
        let of = |is_read: bool| {
            self.values(|pair| {
                pair.rqps.filter(|_| (pair.kind == StepKind::Read) == is_read)?.half_width()
            })
        };
        [of(true), of(false)]
    }

    fn held(&self, holds: fn(&Pair) -> Option<bool>) -> Share {
        let all: Vec<bool> = self.0.iter().filter_map(|pair| holds(pair)).collect();
        Share { n: all.iter().filter(|holds| **holds).count(), of: all.len() }
    }

    fn causes(&self) -> Causes {
        let mut causes = Causes::default();
        for pair in self.0.iter().filter(|pair| pair.verdict == Some(Verdict::Slower)) {
            match pair.cause {
                Some(Kind::CpuOverhead) => causes.right += 1,
                None | Some(Kind::Several | Kind::NotExplained) => causes.open += 1,
                Some(other) => *causes.wrong.entry(other.key()).or_default() += 1,
            }
        }
        causes
    }

    fn short_of(&self, bp: u32) -> Vec<String> {
        let mut short = Vec::new();
        let n_judged = self.n_judged();
        let n_none = self.0.len() - n_judged;
        if n_none > 0 {
            short.push(format!("{n_none} steps without a verdict"));
        }
        let n_false =
            self.n(|pair| matches!(pair.verdict, Some(Verdict::Slower | Verdict::Faster)));
        if bp == 0 && n_false as f64 > MOST_FALSE * n_judged as f64 {
            short.push(format!("{n_false} false verdicts of {n_judged} pairs"));
        }
        let held =
            [("rQPS", self.held(Pair::rqps_holds)), ("server CPU", self.held(Pair::cpu_holds))];
        for (what, held) in held {
            if held.of > 0 && held.share() < LEAST_HELD {
                short.push(format!("intervals of {what} that hold the truth: {held}"));
            }
        }
        let found =
            Share { n: self.n(|pair| pair.direction == Some(Ordering::Less)), of: n_judged };
        let least = LEAST_FOUND.iter().find(|(of, _)| *of == bp);
        if least.is_some_and(|(_, least)| found.share() < *least) {
            short.push(format!("found in {found}"));
        }
        let causes = self.causes();
        let n_slower = causes.right + causes.open + causes.n_wrong();
        if bp > 0 && (causes.right as f64) < LEAST_EXPLAINED * n_slower as f64 {
            short.push(format!("cause found in {} of {n_slower} slower pairs", causes.right));
        }
        if bp > 0 && causes.n_wrong() > 0 {
            short.push(format!("wrong causes: {}", causes.wrong_words()));
        }
        short
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy)]
struct Share {
    n: usize,
    of: usize,
}

impl Share {
    fn share(self) -> f64 {
        self.n as f64 / self.of.max(1) as f64
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} ({:.1}%)", self.n, self.of, self.share() * 100.0)
    }
}

fn percent(n: usize, of: usize) -> f64 {
    Share { n, of }.share() * 100.0
}

fn four_digits(ratio: f64) -> String {
    format!("{ratio:.4}")
}

fn percents(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// The median in words; `-` where there is none.
fn of_median(values: &[f64], words: impl Fn(f64) -> String) -> String {
    if values.is_empty() { "-".to_owned() } else { words(median(values.to_vec())) }
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

#[cfg(test)]
mod tests {
    use super::super::pair::Truth;
    use super::*;

    fn pair(bp: u32, rqps: f64) -> Pair {
        let estimate =
            |point: f64| Estimate { point, interval: Some((point - 0.01, point + 0.01)), n: 8 };
        let is_slower = rqps < 0.985;
        Pair {
            dbms: "postgres".to_owned(),
            step: "point-query".to_owned(),
            kind: StepKind::Read,
            slowdown_bp: bp,
            truth: Truth { added_us: f64::from(bp) / 100.0, rqps: 0.97, cpu_ratio: 1.05 },
            seen: None,
            base_cpu_us: 100.0,
            rqps: Some(estimate(rqps)),
            cpu_ratio: Some(estimate(1.05)),
            verdict: Some(if is_slower { Verdict::Slower } else { Verdict::Same }),
            direction: is_slower.then_some(Ordering::Less),
            cause: is_slower.then_some(Kind::CpuOverhead),
        }
    }

    fn tally(pairs: Vec<Pair>) -> Tally {
        Tally { pairs, n_runs: 1, hosts: BTreeSet::new() }
    }

    const WANTED: Wanted<'_> = Wanted { n_pairs: 1, slowdowns_bp: &[500], has_a_minute: false };

    #[test]
    fn nothing_is_short_where_all_is_found() {
        assert_eq!(tally(vec![pair(500, 0.97)]).short_of(&WANTED), Vec::<String>::new());
        let wanted = Wanted { n_pairs: 2, slowdowns_bp: &[200, 500], has_a_minute: true };
        expect_test::expect![[r#"
            1 of 2 step pairs
            nothing measured with 2% of CPU added
            half-width of read steps 1.03%, not 1%
            half-width of write steps -, not 3%"#]]
        .assert_eq(&tally(vec![pair(500, 0.97)]).short_of(&wanted).join("\n"));
    }

    #[test]
    fn what_is_missed_is_told() {
        let mut wrong = pair(500, 0.94);
        wrong.cause = Some(Kind::Waiting);
        wrong.cpu_ratio = Some(Estimate { point: 1.2, interval: Some((1.1, 1.3)), n: 8 });
        let mut fake = pair(0, 0.97);
        fake.truth.cpu_ratio = 1.05;
        expect_test::expect![[r#"
            0%: 1 false verdicts of 1 pairs
            5%: intervals of rQPS that hold the truth: 0 of 2 (0.0%)
            5%: intervals of server CPU that hold the truth: 1 of 2 (50.0%)
            5%: found in 1 of 2 (50.0%)
            5%: cause found in 0 of 1 slower pairs
            5%: wrong causes: 1 waiting"#]]
        .assert_eq(&tally(vec![fake, wrong, pair(500, 1.0)]).short_of(&WANTED).join("\n"));
    }
}
