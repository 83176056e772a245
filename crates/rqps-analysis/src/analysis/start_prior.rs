//! What is assumed of starts of the servers: how far they differed on this host, where that was measured, and
//! on a host of reference.

use rqps_model::calibration::{Calibrated, CalibratedStarts};
use rqps_model::{Dbms, Engine, Run, RunStep, StepKind, SystemSpec};
use rqps_stats::starts::StartPrior;

use super::system_pair::SystemPair;

/// As how many degrees of freedom the values of reference count: few, as hosts differ in them.
const REFERENCE_DF: f64 = 4.0;

/// Whether a step changes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Reads,
    Writes,
}

impl Work {
    fn of(kind: StepKind) -> Self {
        match kind {
            StepKind::Read | StepKind::WarmUp => Self::Reads,
            StepKind::Load
            | StepKind::Write
            | StepKind::Insert
            | StepKind::Index
            | StepKind::Mixed => Self::Writes,
        }
    }
}

/// The prior of a step's ratio between two systems; `None` with the null client, which has no server.
pub(super) fn of_pair(
    run: &Run,
    calibrated: Option<&Calibrated>,
    step: &RunStep,
    SystemPair { base, candidate }: SystemPair,
) -> Option<StartPrior> {
    let of = |idx: usize| of_system(&run.systems.get(idx)?.spec, calibrated, step.info.kind);
    Some(of(base)?.of_both(of(candidate)?))
}

/// Whether starts on the host of the run are a part of it.
pub(super) fn is_of_host(prior: StartPrior) -> bool {
    prior.df > REFERENCE_DF
}

fn of_system(
    spec: &SystemSpec,
    calibrated: Option<&Calibrated>,
    kind: StepKind,
) -> Option<StartPrior> {
    let work = Work::of(kind);
    let reference = reference(spec, work)?;
    let is_like = |seen: &&CalibratedStarts| seen.dbms == spec.dbms && Work::of(seen.kind) == work;
    let seen = calibrated.into_iter().flat_map(|found| &found.starts).filter(is_like);
    Some(seen.fold(reference, |prior, seen| {
        prior.with(StartPrior { sd: seen.sd, df: f64::from(seen.n_starts) - 1.0 })
    }))
}

/// The values of reference: the root mean squares of the table in docs/explanation/method.md (Starts), or those of an
/// earlier run where they are larger. MySQL, one step of whose writes differed far more, and servers that are not in the
/// table have a larger value.
fn reference(spec: &SystemSpec, work: Work) -> Option<StartPrior> {
    let sd = match (spec.dbms, spec.engine, work) {
        (Dbms::Null, ..) => return None,
        (Dbms::Postgres, ..) => 0.012,
        (Dbms::Mariadb, Engine::Innodb, Work::Reads) => 0.011,
        (Dbms::Mariadb | Dbms::Mysql | Dbms::H2, ..) => 0.015,
    };
    Some(StartPrior { sd, df: REFERENCE_DF })
}
