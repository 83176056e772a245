//! A search: what is known, and what to do next.

use crate::choice::information;
use crate::gaps::Gap;
use crate::posterior::{GapProbability, Model, Posterior, Suspects, Trend};
use crate::probe::{HALF_WIDTH, Probe};

/// Standard error that a probe is expected to have before there is one.
const USUAL_SD: f64 = 0.005;

/// What builds of equal speed usually differ by: the standard deviation of the logarithm of their QPS.
const USUAL_BUILDS: f64 = 0.004;

/// Commits whose information is worked out, besides those that are built: more of them lie so near to each other that
/// they tell the same.
const N_CANDIDATES: usize = 8;

/// A commit that was measured so often, and precisely enough, is not measured for its own sake again: what its build
/// differs by stays.
const ENOUGH_PROBES: usize = 6;

/// A probe that is expected to tell less than this, in nats, is not worth its time: of two commits that are as probable
/// as each other, it would make one 52% probable. This is for a confidence of 95%.
const LEAST_TOLD: f64 = 1e-3;

/// What is known of a commit before it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// It is to be built.
    New,
    /// Its build is there.
    Built,
    /// It cannot be built.
    Broken,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Measure a commit, by its place.
    Measure(usize),
    /// The culprits are known.
    Found(Culprits),
    /// The ends do not differ, with the confidence that was asked for, or by less than is searched for.
    NoDifference,
    /// More probes would tell little.
    Stuck,
}

/// The culprits that are known with the confidence that was asked for. No commit that can be built divides their gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Culprits {
    /// One, or the two that changed the speed about as much, in order.
    pub named: Vec<GapProbability>,
    /// Where one is named: commits among which another one probably changed the speed.
    pub others: Option<Suspects>,
    /// Whether there probably is a second culprit, named or among the others. If not, they changed it by less.
    pub has_second: bool,
}

/// A search for the commit that changed the speed.
#[derive(Debug, Clone)]
pub struct Search {
    /// The commits after the good end, in order; the last one is the bad end.
    commits: Vec<Commit>,
    /// The probes of each step.
    steps: Vec<Vec<Probe>>,
    /// Probability that an answer has to have.
    confidence: f64,
    /// The smallest change that is searched for, as a share of the QPS.
    min_change: f64,
    /// How long a probe takes, without the build, s.
    measure_s: f64,
    /// How long a build takes, s.
    build_s: f64,
}

impl Search {
    /// A search over the commits after the good end, in order, for `n_steps` steps.
    #[must_use]
    pub fn new(commits: Vec<Commit>, n_steps: usize, confidence: f64) -> Self {
        let steps = vec![Vec::new(); n_steps];
        Self { commits, steps, confidence, min_change: 0.0, measure_s: 60.0, build_s: 60.0 }
    }

    /// Sets the smallest change that is searched for, as a share of the QPS: ends that differ by less are alike. 0
    /// searches for all.
    pub fn set_min_change(&mut self, share: f64) {
        self.min_change = share;
    }

    /// Sets how long a probe and a build take, s: as far as is known by now.
    pub fn set_times(&mut self, measure_s: f64, build_s: f64) {
        (self.measure_s, self.build_s) = (measure_s, build_s);
    }

    /// Says what became of a commit's build. The good end has none here.
    pub fn set_commit(&mut self, place: usize, commit: Commit) {
        if let Some(own) = place.checked_sub(1).and_then(|idx| self.commits.get_mut(idx)) {
            *own = commit;
        }
    }

    /// Adds a probe of a step. One whose ratio or standard error is no number, or not above 0, is none.
    pub fn add(&mut self, step_idx: usize, probe: Probe) {
        let is_fit = probe.log_ratio.is_finite() && probe.sd.is_finite() && probe.sd > 0.0;
        if let Some(step) = self.steps.get_mut(step_idx).filter(|_| is_fit) {
            step.push(probe);
        }
    }

    /// What is known now.
    #[must_use]
    pub fn posterior(&self) -> Posterior {
        Posterior::of(&Model::of(self.commits.len(), &self.steps, self.trends(), None))
    }

    /// What to do next.
    #[must_use]
    pub fn next(&self) -> Next {
        let last = self.commits.len();
        if !self.steps.iter().flatten().any(|probe| probe.commit == last) {
            return Next::Measure(last);
        }
        if self.ends_are_alike() {
            return Next::NoDifference;
        }
        let posterior = self.posterior();
        if posterior.none >= self.confidence {
            return Next::NoDifference;
        }
        match self.known_of(&posterior) {
            Some((known, true)) => Next::Found(known),
            _ => self.best(&posterior),
        }
    }

    /// The culprits that are known, also where there may be a second one.
    #[must_use]
    pub fn known(&self) -> Option<Culprits> {
        self.known_of(&self.posterior()).map(|(known, _)| known)
    }

    /// The same, and whether these are all.
    fn known_of(&self, posterior: &Posterior) -> Option<(Culprits, bool)> {
        let mut ranked = posterior.gaps.clone();
        ranked.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        let is_culprit = |own: &&GapProbability| {
            own.probability >= self.confidence && !self.can_divide(&own.gap)
        };
        let first = *ranked.iter().find(is_culprit)?;
        ranked.retain(|own| own.gap != first.gap);
        let has_second = posterior.sum_of_pairs() >= 0.5;
        // How large it is need not be known as well: near twice the other, that would take many probes.
        let has_changed =
            |own: &&GapProbability| own.changed >= self.confidence && !self.can_divide(&own.gap);
        let second = ranked.first().filter(|_| has_second).filter(has_changed);
        let mut culprits: Vec<GapProbability> =
            [first].into_iter().chain(second.copied()).collect();
        culprits.sort_by_key(|own| own.gap.first);
        let gaps: Vec<Gap> = culprits.iter().map(|own| own.gap).collect();
        let others = posterior.others(&gaps, self.confidence).filter(|_| gaps.len() == 1);
        let is_all = !has_second || second.is_some();
        Some((Culprits { named: culprits, others, has_second }, is_all))
    }

    /// Whether the ends differ by less than is searched for, on every step: two builds of equal speed may differ, too.
    fn ends_are_alike(&self) -> bool {
        let is_less = |probes: &Vec<Probe>| {
            let (mean, sd) = self.difference(probes);
            mean.abs() + HALF_WIDTH * sd < self.min_change
        };
        self.steps.iter().all(is_less)
    }

    /// Whether the bad end is slower or faster, on each step.
    fn trends(&self) -> Vec<Trend> {
        let of_step = |probes: &Vec<Probe>| {
            let (mean, sd) = self.difference(probes);
            let direction = if mean > 0.0 { 1.0 } else { -1.0 };
            Trend { direction, is_clear: mean.abs() > HALF_WIDTH * sd }
        };
        self.steps.iter().map(of_step).collect()
    }

    /// Logarithm of the QPS of the bad end over that of the good end, and its standard deviation.
    fn difference(&self, probes: &[Probe]) -> (f64, f64) {
        let last = self.commits.len();
        let of_end = probes.iter().filter(|probe| probe.commit == last);
        let (weight, sum) = of_end.fold((0.0, 0.0), |(weight, sum), probe| {
            let own = probe.sd.powi(-2);
            (weight + own, sum + own * probe.log_ratio)
        });
        if weight > 0.0 {
            (sum / weight, (1.0 / weight + 2.0 * USUAL_BUILDS.powi(2)).sqrt())
        } else {
            (0.0, f64::INFINITY)
        }
    }

    fn can_divide(&self, gap: &Gap) -> bool {
        (gap.first..gap.last).any(|place| self.can_build(place))
    }

    fn can_build(&self, place: usize) -> bool {
        place
            .checked_sub(1)
            .and_then(|idx| self.commits.get(idx))
            .is_some_and(|c| *c != Commit::Broken)
    }

    fn is_built(&self, place: usize) -> bool {
        self.commits.get(place - 1) == Some(&Commit::Built)
    }

    /// The probe that tells most per time.
    fn best(&self, posterior: &Posterior) -> Next {
        let sds: Vec<f64> = self.steps.iter().map(|probes| usual_sd(probes)).collect();
        let trends = self.trends();
        // The surer the answer has to be, the less is left to tell.
        let least = LEAST_TOLD * ((1.0 - self.confidence) / 0.05).min(1.0);
        let worth = |place: usize| {
            let build_s = if self.is_built(place) { 0.0 } else { self.build_s };
            let told = information(self.commits.len(), &self.steps, &trends, place, &sds);
            (told >= least).then_some((told / (self.measure_s + build_s), place))
        };
        let candidates = self.candidates(posterior).into_iter().filter_map(worth);
        let best = candidates.max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.map_or(Next::Stuck, |(_, place)| Next::Measure(place))
    }

    /// Commits that are worth a look: those that divide the probability evenly, and those whose builds are there.
    fn candidates(&self, posterior: &Posterior) -> Vec<usize> {
        let whole: f64 = posterior.gaps.iter().map(|own| own.probability).sum();
        let mut all: Vec<usize> =
            (1..=self.commits.len()).filter(|&place| self.is_built(place)).collect();
        let mut before = 0.0;
        for own in &posterior.gaps {
            let (gap, of_commit) = (&own.gap, own.of_commit());
            let part = whole / N_CANDIDATES as f64;
            for place in gap.first..=gap.last {
                // A probe of a commit divides those up to it from those after it.
                if ((before + of_commit) / part).floor() > (before / part).floor() {
                    all.extend(self.nearest(place, gap));
                    all.extend(self.nearest(place.saturating_sub(1), gap));
                }
                before += of_commit;
            }
        }
        all.sort_unstable();
        all.dedup();
        all.retain(|&place| !self.is_measured_enough(place));
        all
    }

    fn is_measured_enough(&self, place: usize) -> bool {
        let of_step = |probes: &Vec<Probe>| -> (usize, f64) {
            let of_commit = probes.iter().filter(|own| own.commit == place);
            (of_commit.clone().count(), of_commit.map(|own| own.sd.powi(-2)).sum())
        };
        let all: Vec<(usize, f64)> = self.steps.iter().map(of_step).collect();
        let most = all.iter().map(|(n, _)| *n).max().unwrap_or(0);
        // A step in which the commit fails gives no probe, however often it is tried.
        let mut measured = all.iter().filter(|(n, _)| *n > 0);
        most >= ENOUGH_PROBES && measured.all(|(_, weight)| weight.sqrt() * USUAL_BUILDS > 1.0)
    }

    /// The commit of a gap that can be built and is nearest to a place.
    fn nearest(&self, place: usize, gap: &Gap) -> Option<usize> {
        let distance = |other: &usize| other.abs_diff(place);
        (gap.first..=gap.last).filter(|&other| self.can_build(other)).min_by_key(distance)
    }
}

/// The middle one of the standard errors so far.
fn usual_sd(probes: &[Probe]) -> f64 {
    let mut sds: Vec<f64> = probes.iter().map(|probe| probe.sd).collect();
    sds.sort_by(f64::total_cmp);
    sds.get(sds.len() / 2).copied().unwrap_or(USUAL_SD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(n: usize) -> Search {
        Search::new(vec![Commit::New; n], 1, 0.95)
    }

    fn gaps_of(known: &Culprits) -> Vec<Gap> {
        known.named.iter().map(|own| own.gap).collect()
    }

    #[test]
    fn the_bad_end_comes_first_and_then_the_middle() {
        let mut search = search(16);
        assert_eq!(search.next(), Next::Measure(16));
        search.add(0, Probe { commit: 16, log_ratio: -0.1, sd: 0.003 });
        search.set_commit(16, Commit::Built);
        let Next::Measure(place) = search.next() else { panic!("{:?}", search.next()) };
        assert!((6..=10).contains(&place), "{place}");
    }

    /// A fall to a fiftieth, by probes as noisy as those of a busy host.
    #[test]
    fn a_fall_to_a_fiftieth_is_found() {
        for noise in [0.0, 0.05, -0.1, 0.2] {
            for sd in [0.02, 0.17, 0.4] {
                let mut search = search(7);
                search.set_min_change(0.02);
                let mut n_probes = 0;
                let end = loop {
                    match search.next() {
                        Next::Measure(3) => search.set_commit(3, Commit::Broken),
                        Next::Measure(place) if n_probes < 12 => {
                            n_probes += 1;
                            let level = if place >= 5 { -3.8 } else { 0.0 };
                            let log_ratio = level + noise * (-1.0_f64).powi(n_probes);
                            search.add(0, Probe { commit: place, log_ratio, sd });
                            search.set_commit(place, Commit::Built);
                        }
                        end => break end,
                    }
                };
                let Next::Found(known) = &end else { panic!("{noise}, {sd}: {end:?}") };
                assert_eq!(gaps_of(known), [Gap { first: 5, last: 5 }], "{noise}, {sd}");
            }
        }
    }

    #[test]
    fn ends_that_differ_by_less_than_is_searched_for_are_alike() {
        let of_end = |log_ratio| Probe { commit: 16, log_ratio, sd: 0.003 };
        for (log_ratio, is_alike) in
            [(-0.005, true), (0.004, true), (-0.012, false), (-0.05, false)]
        {
            let mut search = search(16);
            search.set_min_change(0.02);
            search.add(0, of_end(log_ratio));
            assert_eq!(search.next() == Next::NoDifference, is_alike, "{log_ratio}");
        }
    }

    #[test]
    fn a_build_that_is_there_is_tried_before_one_that_takes_long() {
        let mut search = search(16);
        search.add(0, Probe { commit: 16, log_ratio: -0.1, sd: 0.003 });
        search.set_commit(11, Commit::Built);
        search.set_times(60.0, 3600.0);
        assert_eq!(search.next(), Next::Measure(11));
    }

    /// Commits that cannot be built keep their probability: the answer has all of them.
    #[test]
    fn commits_that_cannot_be_built_are_suspects() {
        let mut search = search(8);
        for (commit, log_ratio) in [(8, -0.1), (4, -0.001), (7, -0.1), (7, -0.101), (4, 0.001)] {
            search.add(0, Probe { commit, log_ratio, sd: 0.003 });
        }
        search.set_commit(5, Commit::Broken);
        search.set_commit(6, Commit::Broken);
        let Next::Found(known) = search.next() else { panic!("{:?}", search.next()) };
        assert_eq!(gaps_of(&known), [Gap { first: 5, last: 7 }]);
    }

    /// Which one is larger would need many probes.
    #[test]
    fn two_changes_of_one_size_are_both_found() {
        let probes = [(16, -0.1), (12, -0.1), (11, -0.05), (8, -0.051), (7, -0.001), (4, 0.0)];
        let mut search = search(16);
        for (commit, log_ratio) in probes {
            search.add(0, Probe { commit, log_ratio, sd: 0.003 });
        }
        let Next::Found(known) = search.next() else { panic!("{:?}", search.next()) };
        assert_eq!(gaps_of(&known), [8, 12].map(|place| Gap { first: place, last: place }));
    }

    /// The first is known and named, whatever becomes of the second.
    #[test]
    fn a_second_culprit_is_searched_and_the_first_is_known() {
        let mut search = search(64);
        for (commit, log_ratio) in [(64, -0.1), (48, -0.05), (32, -0.05), (31, 0.0), (16, 0.0)] {
            search.add(0, Probe { commit, log_ratio, sd: 0.004 });
        }
        assert!(matches!(search.next(), Next::Measure(49..=63)), "{:?}", search.next());
        let known = search.known().unwrap();
        assert_eq!(gaps_of(&known), [Gap { first: 32, last: 32 }]);
        let others = known.others.unwrap();
        assert_eq!(others.gaps[0].gap, Gap { first: 49, last: 64 });
    }

    /// A second change that is about half as large as the first is named once it is known to be one.
    #[test]
    fn a_second_culprit_has_the_confidence_too() {
        let mut search = search(64);
        for (commit, log_ratio) in [
            (64, -0.076),
            (60, -0.076),
            (59, -0.05),
            (56, -0.05),
            (48, -0.05),
            (32, -0.05),
            (31, 0.0),
        ] {
            search.add(0, Probe { commit, log_ratio, sd: 0.004 });
        }
        match search.next() {
            Next::Measure(_) => {}
            Next::Found(known) => {
                assert!(known.named.iter().all(|own| own.changed >= 0.95), "{known:?}");
            }
            other => panic!("{other:?}"),
        }
    }

    /// A commit that fails in one of two steps.
    #[test]
    fn a_step_that_gives_no_probe_is_not_waited_for() {
        let mut search = Search::new(vec![Commit::Built; 16], 2, 0.95);
        for (commit, log_ratio) in [(16, -0.05), (8, -0.05), (7, 0.0), (9, -0.05)] {
            search.add(0, Probe { commit, log_ratio, sd: 0.004 });
            if commit != 8 {
                let own = if commit >= 9 { -0.1 } else { 0.0 };
                search.add(1, Probe { commit, log_ratio: own, sd: 0.004 });
            }
        }
        for _ in 0..ENOUGH_PROBES {
            search.add(0, Probe { commit: 8, log_ratio: -0.05, sd: 0.004 });
        }
        assert_ne!(search.next(), Next::Measure(8));
    }

    /// The second change is larger, and not yet found.
    #[test]
    fn a_known_culprit_is_named_also_below_one_that_is_searched() {
        let mut search = search(64);
        for (commit, log_ratio) in [(64, -0.12), (48, -0.05), (32, -0.05), (31, 0.0)] {
            for _ in 0..2 {
                search.add(0, Probe { commit, log_ratio, sd: 0.003 });
            }
        }
        let known = search.known().unwrap();
        assert_eq!(gaps_of(&known), [Gap { first: 32, last: 32 }]);
        assert!(known.has_second && known.others.is_some());
    }

    #[test]
    fn a_commit_is_not_measured_for_its_own_sake_for_ever() {
        let mut search = search(2);
        for _ in 0..ENOUGH_PROBES {
            search.add(0, Probe { commit: 2, log_ratio: -0.02, sd: 0.004 });
        }
        search.set_commit(2, Commit::Built);
        search.set_times(60.0, 1e9);
        assert_eq!(search.next(), Next::Measure(1));
    }

    #[test]
    fn what_is_no_number_is_no_probe() {
        let mut search = search(4);
        search.add(0, Probe { commit: 4, log_ratio: f64::NAN, sd: 0.1 });
        search.add(0, Probe { commit: 4, log_ratio: 0.0, sd: 0.0 });
        search.add(7, Probe { commit: 4, log_ratio: 0.0, sd: 0.1 });
        assert_eq!(search.next(), Next::Measure(4));
    }
}
