//! Pairs of one slowdown: how many are found, explained and judged falsely.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rqps_explain::Kind;
use rqps_model::{StepKind, Verdict};

use super::numbers::Share;
use super::pair::Pair;

/// Of pairs of the same server, the share that may be called slower or faster.
const MOST_FALSE: f64 = 0.01;

/// Of pairs with a slowdown in basis points of server CPU, the share whose rQPS must be below 1 beyond
/// chance.
const LEAST_FOUND: [(u32, f64); 3] = [(200, 0.80), (500, 0.95), (1000, 0.98)];

/// The share of 95% intervals that must hold the truth, of rQPS and of server CPU.
const LEAST_HELD: f64 = 0.93;

/// Of pairs called slower, the share whose cause must be more CPU per operation.
const LEAST_EXPLAINED: f64 = 0.95;

/// Pairs of one slowdown.
#[derive(Debug, Default)]
pub(super) struct PairGroup<'a>(pub(super) Vec<&'a Pair>);

/// What reports give as the cause of pairs that they call slower.
#[derive(Debug, Default)]
pub(super) struct Causes {
    /// More CPU per operation.
    pub(super) right: usize,
    /// Several, or none.
    pub(super) open: usize,
    wrong: BTreeMap<&'static str, usize>,
}

impl Causes {
    fn n_wrong(&self) -> usize {
        self.wrong.values().sum()
    }

    pub(super) fn wrong_words(&self) -> String {
        let words: Vec<String> = self.wrong.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        if words.is_empty() { "0".to_owned() } else { words.join(", ") }
    }
}

impl PairGroup<'_> {
    pub(super) fn n(&self, is_one: impl Fn(&Pair) -> bool) -> usize {
        self.0.iter().filter(|pair| is_one(pair)).count()
    }

    /// Pairs with a verdict.
    pub(super) fn n_judged(&self) -> usize {
        self.n(|pair| pair.verdict.is_some())
    }

    pub(super) fn values(&self, value: impl Fn(&Pair) -> Option<f64>) -> Vec<f64> {
        self.0.iter().filter_map(|pair| value(pair)).collect()
    }

    /// Half-widths of rQPS as shares, of steps that read and of those that write.
    pub(super) fn half_widths(&self) -> [Vec<f64>; 2] {
        let of = |is_read: bool| {
            self.values(|pair| {
                pair.rqps.filter(|_| (pair.kind == StepKind::Read) == is_read)?.half_width()
            })
        };
        [of(true), of(false)]
    }

    pub(super) fn held(&self, holds: fn(&Pair) -> Option<bool>) -> Share {
        let all: Vec<bool> = self.0.iter().filter_map(|pair| holds(pair)).collect();
        Share { n: all.iter().filter(|holds| **holds).count(), of: all.len() }
    }

    pub(super) fn causes(&self) -> Causes {
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

    pub(super) fn short_of(&self, bp: u32) -> Vec<String> {
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
