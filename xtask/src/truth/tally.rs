//! Pairs of several runs, against what is wanted.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::Run;

use super::group::PairGroup;
use super::numbers::{of_median, percents};
use super::pair::Pair;
use crate::bench_client::median;

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

    /// The pairs of each slowdown, basis points.
    pub(super) fn by_slowdown(&self) -> BTreeMap<u32, PairGroup<'_>> {
        let mut groups = BTreeMap::<u32, PairGroup<'_>>::new();
        for pair in &self.pairs {
            groups.entry(pair.slowdown_bp).or_default().0.push(pair);
        }
        groups
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

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use rqps_explain::Kind;
    use rqps_model::{Estimate, StepKind, Verdict};

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
