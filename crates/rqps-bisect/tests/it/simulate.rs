//! Commits whose speeds are known, and searches among them.

use rqps_bisect::{Commit, Culprits, GapProbability, Next, Probe, Search};
use rqps_stats::random::Random;

/// What is searched.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// Commits after the good end.
    pub(crate) n: usize,
    /// The part of its QPS that the culprit costs.
    pub(crate) loss: f64,
    /// Standard deviation of what builds differ by.
    pub(crate) builds: f64,
    /// Standard error of a probe.
    pub(crate) sd: f64,
    /// Commits that cannot be built.
    pub(crate) n_broken: usize,
    /// Other changes.
    pub(crate) others: Vec<Other>,
}

/// A change after the culprit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Other {
    /// How many commits later.
    pub(crate) after: usize,
    /// The part of its QPS that it costs.
    pub(crate) loss: f64,
}

impl Setting {
    pub(crate) fn usual() -> Self {
        Self { n: 64, loss: 0.05, builds: 0.004, sd: 0.004, n_broken: 3, others: Vec::new() }
    }

    /// Whether all named commits have changed the speed by more than a third of the largest change, and a commit of the
    /// largest one is among them.
    fn is_right(&self, known: &Culprits, culprit: usize) -> bool {
        let own = Other { after: 0, loss: self.loss };
        let all = || std::iter::once(&own).chain(&self.others);
        let largest = all().map(|other| other.loss).fold(0.0, f64::max);
        let is_named_of = |least: f64| {
            let places = all().filter(move |other| other.loss >= least * largest);
            move |named: &GapProbability| {
                places.clone().any(|other| named.gap.has(culprit + other.after))
            }
        };
        known.named.iter().all(is_named_of(0.34)) && known.named.iter().any(is_named_of(1.0))
    }

    /// Logarithm of the QPS at a place over that of the good end.
    fn change(&self, place: usize, culprit: usize) -> f64 {
        let own = Other { after: 0, loss: self.loss };
        let all = std::iter::once(&own).chain(&self.others);
        let before = all.filter(|other| place >= culprit + other.after);
        before.map(|other| (1.0 - other.loss).ln()).sum()
    }
}

/// What became of searches.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// That named commits.
    pub(crate) n_found: usize,
    /// Of these, who were right.
    pub(crate) n_held: usize,
    /// That said that the ends do not differ.
    pub(crate) n_without: usize,
    /// That reached the most probes.
    pub(crate) n_given_up: usize,
    /// That named two culprits.
    pub(crate) n_two: usize,
    n_probes: usize,
    n_searches: usize,
}

impl Tally {
    pub(crate) fn mean_probes(&self) -> f64 {
        self.n_probes as f64 / self.n_searches as f64
    }
}

/// Most probes of a search.
const MOST_PROBES: usize = 60;

pub(crate) fn tally(setting: &Setting, n_searches: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..n_searches {
        search(setting, seed, &mut tally);
    }
    tally
}

fn search(setting: &Setting, seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed * 7919 + 17);
    // All changes lie before the bad end.
    let most_after = setting.others.iter().map(|other| other.after).max().unwrap_or(0);
    let culprit = 1 + random.position(setting.n - most_after);
    let mut broken = Vec::new();
    while broken.len() < setting.n_broken {
        let place = 1 + random.position(setting.n - 1);
        if !broken.contains(&place) {
            broken.push(place);
        }
    }
    let builds: Vec<f64> = (0..=setting.n).map(|_| setting.builds * random.normal()).collect();
    let mut search = Search::new(vec![Commit::New; setting.n], 1, 0.95);
    search.set_min_change(0.02);
    tally.n_searches += 1;
    for _ in 0..MOST_PROBES {
        match search.next() {
            Next::Measure(place) if broken.contains(&place) => {
                search.set_commit(place, Commit::Broken);
            }
            Next::Measure(place) => {
                let log_ratio = setting.change(place, culprit) + builds[place] - builds[0]
                    + setting.sd * random.normal();
                search.add(0, Probe { commit: place, log_ratio, sd: setting.sd });
                search.set_commit(place, Commit::Built);
                tally.n_probes += 1;
            }
            Next::Found(known) => {
                tally.n_found += 1;
                tally.n_two += usize::from(known.named.len() > 1);
                tally.n_held += usize::from(setting.is_right(&known, culprit));
                return;
            }
            Next::NoDifference => {
                tally.n_without += 1;
                return;
            }
            Next::Stuck => break,
        }
    }
    tally.n_given_up += 1;
}
