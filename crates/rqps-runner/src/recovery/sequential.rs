//! A system that has the host to itself, from its start to its stop.

use super::catch_up::take_back;
use super::failures::after_failure;
use super::kept_data::start;
use super::start::end_launch;
use crate::audit::Audit;
use crate::failure::Broken;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::schedule::profiles::Profiler;
use crate::schedule::sequential::pending_steps;
use crate::system::installation::Ready;
use crate::system_state::{Member, SystemState};

/// A system from its start to its stop, with every step of the launch under way that it has not done.
pub(crate) fn measure_alone(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    profiler: &mut Profiler,
    state: &mut SystemState,
    ready: &Ready,
) -> Result<(), Broken> {
    let system = state.idx;
    let started = start(run, journal, state, ready, None);
    let mut up = started.map_err(|error| run.broken(system, error))?;
    loop {
        let mut member = Member { state: &mut *state, up };
        let measured = take_back(run, journal, audit, &mut member)
            .and_then(|()| pending_steps(run, journal, audit, profiler, &mut member));
        up = member.up;
        match measured {
            Ok(()) => break,
            Err(error) => up = after_failure(run, journal, state, ready, up, error)?,
        }
    }
    end_launch(run, journal, vec![(system, up)]).map_err(|error| run.broken(system, error))
}
