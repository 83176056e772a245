//! What is assumed of starts of the servers: how far they differed on this host, where that was measured, and
//! on a host of reference.

use rqps_model::calibration::{Calibrated, CalibratedStarts};
use rqps_model::{Dbms, Engine, Run, RunStep, StepInfo, StepKind, SystemSpec};
use rqps_stats::starts::StartPrior;

use super::system_pair::SystemPair;

/// As how many degrees of freedom the values of reference count: few, as hosts differ in them.
const REFERENCE_DF: f64 = 4.0;

/// What a step does with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Reads,
    Writes,
    /// Fills tables, makes indexes, or reads beside few writes.
    Others,
}

impl Work {
    fn of(step: &StepInfo) -> Self {
        if step.fills_tables() { Self::Others } else { Self::of_kind(step.kind) }
    }

    fn of_kind(kind: StepKind) -> Self {
        match kind {
            StepKind::Read | StepKind::WarmUp => Self::Reads,
            StepKind::Write | StepKind::Insert => Self::Writes,
            StepKind::Load | StepKind::Index | StepKind::Mixed => Self::Others,
        }
    }
}

/// What is assumed of starts of the servers, by how many there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StartPriors {
    /// Of one, which tells nothing of their spread, and of two or three.
    pub(super) of_one: StartPrior,
    /// Of four or more, which are judged by themselves where they differ by more.
    pub(super) of_several: StartPrior,
}

/// The priors of a step's ratio between two systems; `None` with the null client, which has no server.
pub(super) fn of_pair(
    run: &Run,
    calibrated: Option<&Calibrated>,
    step: &RunStep,
    SystemPair { base, candidate }: SystemPair,
) -> Option<StartPriors> {
    let of = |idx: usize, starts: Starts| {
        let spec = &run.systems.get(idx)?.spec;
        Some(of_system(reference(spec, Work::of(&step.info), starts)?, spec, calibrated, step))
    };
    let of_both = |starts: Starts| Some(of(base, starts)?.of_both(of(candidate, starts)?));
    Some(StartPriors { of_one: of_both(Starts::One)?, of_several: of_both(Starts::Several)? })
}

/// Whether starts on the host of the run are a part of it.
pub(super) fn is_of_host(prior: StartPrior) -> bool {
    prior.df > REFERENCE_DF
}

/// What a calibration of this host adds: what it measured of this step, and of other steps what makes the spread
/// larger. A step whose starts differ little says nothing of the others.
fn of_system(
    reference: StartPrior,
    spec: &SystemSpec,
    calibrated: Option<&Calibrated>,
    step: &RunStep,
) -> StartPrior {
    let work = Work::of(&step.info);
    let is_like =
        |seen: &&CalibratedStarts| seen.dbms == spec.dbms && Work::of_kind(seen.kind) == work;
    // Calibrations are of the usual engine.
    let is_same =
        |seen: &CalibratedStarts| seen.step == step.info.name && spec.engine != Engine::Rocksdb;
    let seen = calibrated.into_iter().flat_map(|found| &found.starts).filter(is_like);
    seen.filter(|seen| is_same(seen) || seen.sd > reference.sd).fold(reference, |prior, seen| {
        prior.with(StartPrior { sd: seen.sd, df: f64::from(seen.n_starts) - 1.0 })
    })
}

/// How many starts a ratio is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Starts {
    One,
    Several,
}

/// The values of reference: the root mean squares of the table in docs/explanation/method.md (Starts), or those of an
/// earlier run where they are larger, and for servers that are not in the table. The writes of MySQL differ most, but
/// not in every step: several starts, which show it where they do, assume less.
fn reference(spec: &SystemSpec, work: Work, starts: Starts) -> Option<StartPrior> {
    let sd = match (spec.dbms, spec.engine, work, starts) {
        (Dbms::Null, ..) => return None,
        (Dbms::Postgres, ..) => 0.012,
        (Dbms::Mariadb, Engine::Innodb, Work::Reads, _) => 0.011,
        (Dbms::Mysql, _, Work::Writes, Starts::One) => 0.035,
        (Dbms::Mariadb | Dbms::Mysql | Dbms::H2, ..) => 0.015,
    };
    Some(StartPrior { sd, df: REFERENCE_DF })
}
