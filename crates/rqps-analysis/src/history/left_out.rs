//! What is excluded from the series of a history, and why.

use rqps_model::Placement;

use crate::gate::{NoRatio, Unfit};
use crate::join::Machine;

/// A run or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The run.
    pub run_id: String,
    /// Which parts of it, steps or systems; empty for all of it.
    pub what: Vec<String>,
    /// Why.
    pub because: Because,
}

/// Why something is excluded from the series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    /// The run has no finished step of the selected ones.
    NothingFinished,
    /// The run is of another host than the latest.
    OtherHost {
        /// Its host.
        own: Machine,
        /// That of the latest run.
        latest: Machine,
    },
    /// Another run has all its results.
    Copied {
        /// The other run.
        run_id: String,
    },
    /// Another run has the same result.
    SameFigure {
        /// The other run.
        run_id: String,
    },
    /// The version is not known, and points are ordered by it.
    NoVersion,
    /// It was measured under other conditions than the latest point.
    OtherConditions(Vec<OtherCondition>),
    /// The result cannot be compared with any other.
    Unfit(Unfit),
    /// An insert rate was not held.
    RateNotHeld,
    /// The base has no result there.
    NoBaseFigure,
    /// There is no ratio to the base.
    NoRatio(NoRatio),
    /// The imported file does not say what it counts.
    NoUnit,
}

/// A condition that is not that of the latest point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherCondition {
    /// The placement of the threads.
    Placement {
        /// Its own.
        own: Placement,
        /// That of the latest point.
        latest: Placement,
    },
    /// A value of the suite.
    Work {
        /// Its keys in the plan, from the outermost on.
        keys: Vec<String>,
        /// Its value; absent where the plan does not say.
        own: Option<String>,
        /// That of the latest point.
        latest: Option<String>,
    },
}

/// One entry per run and reason, with the steps that it is about.
pub(super) fn merge(left_out: &mut Vec<LeftOut>) {
    let mut merged: Vec<LeftOut> = Vec::new();
    for one in left_out.drain(..) {
        let is_like = |m: &&mut LeftOut| m.run_id == one.run_id && m.because == one.because;
        match merged.iter_mut().find(is_like) {
            Some(known) => {
                let is_new = |what: &String| !known.what.contains(what);
                let new: Vec<String> = one.what.into_iter().filter(is_new).collect();
                known.what.extend(new);
            }
            None => merged.push(one),
        }
    }
    *left_out = merged;
}
