//! What is not in the series of a history, and why.

use crate::gate::{NoRatio, Unfit};

/// A run or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The run.
    pub run_id: String,
    /// Which part of it; empty for all of it.
    pub what: String,
    /// Why.
    pub because: Because,
}

/// Why something is not in the series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    /// The run has no finished step of those chosen.
    NothingFinished,
    /// The run is of another host than the latest.
    OtherHost {
        /// Its host.
        own: String,
        /// That of the latest run.
        latest: String,
    },
    /// Another run has all its figures.
    Copied {
        /// The other run.
        run_id: String,
    },
    /// Another run has the same figure.
    SameFigure {
        /// The other run.
        run_id: String,
    },
    /// The version is not known, and points follow one another by it.
    NoVersion,
    /// It was measured under other conditions than the latest point.
    OtherConditions(Vec<OtherCondition>),
    /// The figure cannot be compared, whatever it would be compared with.
    Unfit(Unfit),
    /// An insert rate was not held.
    RateNotHeld,
    /// The base has no figure there.
    NoBaseFigure,
    /// There is no ratio to the base.
    NoRatio(NoRatio),
    /// The imported file does not say what it counts.
    NoUnit,
}

/// A condition that is not that of the latest point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherCondition {
    /// Its name: `placement`, `suite rows`.
    pub name: String,
    /// Its value; absent where the plan does not say.
    pub own: Option<String>,
    /// That of the latest point.
    pub latest: Option<String>,
}

/// One entry per run and reason, with the steps that it is about.
pub(super) fn merge(left_out: &mut Vec<LeftOut>) {
    let mut merged: Vec<(LeftOut, Vec<String>)> = Vec::new();
    for one in left_out.drain(..) {
        let known = merged
            .iter_mut()
            .find(|(known, _)| known.run_id == one.run_id && known.because == one.because);
        match known {
            Some((_, whats)) if whats.contains(&one.what) => {}
            Some((_, whats)) => whats.push(one.what),
            None => {
                let whats = vec![one.what.clone()];
                merged.push((one, whats));
            }
        }
    }
    let said = merged.into_iter().map(|(one, whats)| {
        let what = rqps_text::words::list_in_short(&whats);
        LeftOut { what, ..one }
    });
    left_out.extend(said);
}
