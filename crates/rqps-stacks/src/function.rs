//! Functions: own and inclusive CPU time per operation, and the differences between two systems.
//!
//! A function that calls itself counts once for a stack. The error of sampling is that of counts: a
//! stack seen n times could as well have been seen n ± sqrt(n) times (Poisson). One is added to each
//! count, so that a function that was never seen is not known to be absent. Nothing else that varies is
//! in it: what the host does between two slices, and how a compiler inlines.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Sampled, Stacks};

/// 95% of a normal distribution, both sides.
const Z: f64 = 1.96;

/// Samples of a function on one side that tell its absence on the other from chance: of 6 that could
/// have been on either side with the same chance, all on one have a probability of 2/64.
const ENOUGH: u64 = 6;

/// Two times, per operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Change {
    /// Of the base, µs.
    pub base_us: f64,
    /// Of the candidate, µs.
    pub candidate_us: f64,
    /// Half the width of the 95% interval of the difference by sampling alone, µs.
    pub half_width_us: f64,
}

impl Change {
    /// Of counts of samples, base and candidate, each with the time that one stands for.
    #[must_use]
    pub fn of(counts: [u64; 2], us_per_sample: [f64; 2]) -> Self {
        let [base, candidate] = [0, 1].map(|side| counts[side] as f64 * us_per_sample[side]);
        let variance = |side: usize| (counts[side] as f64 + 1.0) * us_per_sample[side].powi(2);
        let half_width_us = Z * (variance(0) + variance(1)).sqrt();
        Self { base_us: base, candidate_us: candidate, half_width_us }
    }

    /// Candidate less base, µs.
    #[must_use]
    pub fn difference_us(&self) -> f64 {
        self.candidate_us - self.base_us
    }

    /// Whether sampling alone does not explain the difference, where `n` of them are looked at: of
    /// hundreds of functions that do not differ, many have a difference beyond their own 95% interval.
    ///
    /// With a chance of 95% none of `n` equal ones passes (Bonferroni). A normal variable exceeds z with a
    /// probability of at most exp(-z²/2), both sides together.
    #[must_use]
    pub fn is_beyond_chance(&self, n: usize) -> bool {
        let z = (2.0 * (n.max(1) as f64 / 0.05).ln()).sqrt();
        self.difference_us().abs() > z / Z * self.half_width_us
    }
}

/// On which side something was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// On both, or too rarely to tell.
    Both,
    /// Only on the candidate.
    New,
    /// Only on the base.
    Vanished,
}

impl Presence {
    /// Of counts of samples, base and candidate.
    #[must_use]
    pub fn of(counts: [u64; 2]) -> Self {
        match counts {
            [0, n] if n >= ENOUGH => Self::New,
            [n, 0] if n >= ENOUGH => Self::Vanished,
            _ => Self::Both,
        }
    }

    /// One word; empty where both have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::New => "new",
            Self::Vanished => "vanished",
        }
    }
}

/// A function on two systems.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionChange {
    /// Its name.
    pub name: String,
    /// Its own time.
    pub own: Change,
    /// Its inclusive time.
    pub all: Change,
    /// Whether only one side has it.
    pub presence: Presence,
    /// Samples of both sides that it is in.
    pub n_samples: u64,
}

/// A function on one system.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionTime {
    /// Its name.
    pub name: String,
    /// Its own time, µs per operation.
    pub own_us: f64,
    /// Its inclusive time, µs per operation.
    pub all_us: f64,
    /// Half the width of the 95% interval of its own time by sampling alone, µs.
    pub own_half_width_us: f64,
}

/// Samples of a function: as the innermost frame, and anywhere in the stack.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    own: u64,
    all: u64,
}

fn counts<'a>(sampled: &Sampled<'a>) -> BTreeMap<&'a str, Counts> {
    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    for (frames, n) in sampled.stacks.iter() {
        if let Some(leaf) = frames.clone().next_back() {
            let own = &mut counts.entry(leaf).or_default().own;
            *own = own.saturating_add(n);
        }
        for name in frames.collect::<BTreeSet<_>>() {
            let all = &mut counts.entry(name).or_default().all;
            *all = all.saturating_add(n);
        }
    }
    counts
}

/// Every function of one system, by its own time, the longest first.
#[must_use]
pub fn times(sampled: &Sampled<'_>) -> Vec<FunctionTime> {
    let us = sampled.us_per_sample;
    let mut times: Vec<FunctionTime> = counts(sampled)
        .into_iter()
        .map(|(name, n)| FunctionTime {
            name: name.to_owned(),
            own_us: n.own as f64 * us,
            all_us: n.all as f64 * us,
            own_half_width_us: Z * (n.own as f64 + 1.0).sqrt() * us,
        })
        .collect();
    times.sort_by(|a, b| b.own_us.total_cmp(&a.own_us).then_with(|| a.name.cmp(&b.name)));
    times
}

/// Every function that either system has, by name.
#[must_use]
pub fn changes(base: &Sampled<'_>, candidate: &Sampled<'_>) -> Vec<FunctionChange> {
    let us = [base.us_per_sample, candidate.us_per_sample];
    let (of_base, of_candidate) = (counts(base), counts(candidate));
    let names: BTreeSet<&str> = of_base.keys().chain(of_candidate.keys()).copied().collect();
    let change = |name: &str| {
        let sides =
            [&of_base, &of_candidate].map(|side| side.get(name).copied().unwrap_or_default());
        let all = sides.map(|side| side.all);
        FunctionChange {
            name: name.to_owned(),
            own: Change::of(sides.map(|side| side.own), us),
            all: Change::of(all, us),
            presence: Presence::of(all),
            n_samples: all[0].saturating_add(all[1]),
        }
    };
    names.into_iter().map(change).collect()
}

/// The stacks of both sides with the functions that one side alone has taken out of their inner frames:
/// where a version put a function between two others, or gave one another name, what both have in common
/// is then at the same place. What such functions take themselves stays.
#[must_use]
pub fn in_common(base: &Stacks, candidate: &Stacks) -> [Stacks; 2] {
    let names = |stacks: &Stacks| -> BTreeSet<String> {
        stacks.iter().flat_map(|(frames, _)| frames.map(str::to_owned)).collect()
    };
    let (of_base, of_candidate) = (names(base), names(candidate));
    let is_shared = |name: &str| of_base.contains(name) && of_candidate.contains(name);
    [base, candidate].map(|stacks| stacks.without_inner(|name| !is_shared(name)))
}

/// By which time functions are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Their own.
    Own,
    /// Inclusive.
    All,
}

/// The `n` functions whose time grew most beyond chance, the largest growth first.
#[must_use]
pub fn grown_most(changes: &[FunctionChange], by: By, n: usize) -> Vec<&FunctionChange> {
    most(changes, by, n, 1.0)
}

/// The `n` functions whose time shrank most beyond chance, the largest loss first.
#[must_use]
pub fn shrunk_most(changes: &[FunctionChange], by: By, n: usize) -> Vec<&FunctionChange> {
    most(changes, by, n, -1.0)
}

fn most(changes: &[FunctionChange], by: By, n: usize, sign: f64) -> Vec<&FunctionChange> {
    let of = |change: &FunctionChange| match by {
        By::Own => change.own,
        By::All => change.all,
    };
    let size = |change: &FunctionChange| of(change).difference_us() * sign;
    // Fewer samples can show no difference, whatever they are.
    let n_tested = changes.iter().filter(|change| change.n_samples >= ENOUGH).count();
    let mut found: Vec<&FunctionChange> = changes
        .iter()
        .filter(|change| size(change) > 0.0 && of(change).is_beyond_chance(n_tested))
        .collect();
    found.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    found.truncate(n);
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stacks(text: &str) -> Stacks {
        Stacks::parse(text).unwrap()
    }

    #[test]
    fn a_function_that_calls_itself_counts_once() {
        let stacks = stacks("main;f;g;f 10\nmain;g 5\n");
        let times = times(&Sampled { stacks: &stacks, us_per_sample: 0.5 });
        let of = |name: &str| {
            let found = times.iter().find(|t| t.name == name).unwrap();
            (found.own_us, found.all_us)
        };
        assert_eq!((of("main"), of("f"), of("g")), ((0.0, 7.5), (5.0, 5.0), (2.5, 7.5)));
        assert_eq!(times[0].name, "f");
    }

    /// By hand: g grew by 40 samples of 0.1 µs, of which h, new, has 30.
    #[test]
    fn own_and_inclusive_growth() {
        let base = stacks("main;f 100\nmain;g 20\nmain;old 30\nmain;rare 2\n");
        let candidate = stacks("main;f 102\nmain;g 30\nmain;g;h 30\n");
        let sampled = |stacks| Sampled { stacks, us_per_sample: 0.1 };
        let changes = changes(&sampled(&base), &sampled(&candidate));
        let rows: Vec<String> = changes
            .iter()
            .map(|c| {
                format!(
                    "{} {:.1} {:.1} {}",
                    c.name,
                    c.own.difference_us(),
                    c.all.difference_us(),
                    c.presence.word()
                )
            })
            .collect();
        let expected = [
            "f 0.2 0.2 ",
            "g 1.0 4.0 ",
            "h 3.0 3.0 new",
            "main 0.0 1.0 ",
            "old -3.0 -3.0 vanished",
            "rare -0.2 -0.2 ",
        ];
        assert_eq!(rows, expected);
        let names = |found: Vec<&FunctionChange>| -> Vec<String> {
            found.iter().map(|c| c.name.clone()).collect()
        };
        // Of main's 1.0 ± 3.5 and g's own 1.0 ± 1.4 each may be chance.
        assert_eq!(names(grown_most(&changes, By::Own, 9)), ["h"]);
        assert_eq!(names(grown_most(&changes, By::All, 9)), ["g", "h"]);
        assert_eq!(names(shrunk_most(&changes, By::Own, 9)), ["old"]);
    }

    /// `start` was put before `run`, and `old` became `new`.
    #[test]
    fn what_both_have_is_laid_over_one_another() {
        let base = stacks("main;run;old;scan 7\nmain;run;old 1\n");
        let candidate = stacks("main;start;run;new;scan 9\nmain;start;run;new 2\n");
        let [base, candidate] = in_common(&base, &candidate);
        assert_eq!(base.to_string(), "main;run;old 1\nmain;run;scan 7\n");
        assert_eq!(candidate.to_string(), "main;run;new 2\nmain;run;scan 9\n");
    }

    #[test]
    fn half_widths_are_those_of_counts() {
        let change = Change::of([99, 399], [0.1, 0.2]);
        // sqrt(100 * 0.01 + 400 * 0.04) = sqrt(17).
        assert!((change.half_width_us - 1.96 * 17.0_f64.sqrt()).abs() < 1e-12);
        assert!((change.difference_us() - 69.9).abs() < 1e-9 && change.is_beyond_chance(1000));
        // 2.8 standard deviations: much for one, little for the largest of 200.
        let some = Change::of([99, 142], [0.1, 0.1]);
        assert!(some.is_beyond_chance(1) && !some.is_beyond_chance(200));
    }

    proptest! {
        /// Swapping the sides turns every sign and changes nothing else.
        #[test]
        fn swapping_sides_inverts(a in "([a-c](;[a-c]){0,3} [1-9]\n){0,6}", b in "([a-c](;[a-c]){0,3} [1-9]\n){0,6}") {
            let (a, b) = (stacks(&a), stacks(&b));
            let (a, b) = (Sampled { stacks: &a, us_per_sample: 0.25 }, Sampled { stacks: &b, us_per_sample: 0.5 });
            let (there, back) = (changes(&a, &b), changes(&b, &a));
            prop_assert_eq!(there.len(), back.len());
            for (x, y) in there.iter().zip(&back) {
                prop_assert!((x.own.difference_us() + y.own.difference_us()).abs() < 1e-12);
                prop_assert!((x.all.difference_us() + y.all.difference_us()).abs() < 1e-12);
                prop_assert!((x.all.half_width_us - y.all.half_width_us).abs() < 1e-12);
            }
        }

        /// Own times add up to the whole.
        #[test]
        fn own_times_add_up(a in "([a-c](;[a-c]){0,3} [1-9]\n){1,6}") {
            let a = stacks(&a);
            let sampled = Sampled { stacks: &a, us_per_sample: 0.25 };
            let sum: f64 = times(&sampled).iter().map(|t| t.own_us).sum();
            prop_assert!((sum - sampled.total_us()).abs() < 1e-9);
        }
    }
}
