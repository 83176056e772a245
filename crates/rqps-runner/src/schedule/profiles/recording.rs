//! How the extra slices of a step are recorded: on the systems that are due, interleaved, while all others wait.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rqps_model::{StepIdx, SystemIdx};
use rqps_stacks::profile::Unwind;

use super::Profiler;
use crate::engine::clients::StepClients;
use crate::engine::stacks::extra::{Extra, Side};
use crate::engine::stacks::record::{Recorded, Wanted};
use crate::engine::stacks::unwind::{better, wants_tables};
use crate::engine::waiting::Waiting;
use crate::journal::Journal;
use crate::plan::seed::{self, SeedDomain};
use crate::run_context::RunContext;
use crate::system_state::Member;

/// Time of the recording that shows whether frame pointers will do.
const TRIAL: Duration = Duration::from_secs(1);

/// How stacks are found, and for how long they are recorded.
#[derive(Debug, Clone, Copy)]
struct How {
    unwind: Unwind,
    time: Duration,
}

impl Profiler {
    /// Records a step on the systems that are due.
    pub(super) fn record_slices(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        members: &[&Member<'_>],
        step: StepIdx,
        due: &[SystemIdx],
    ) -> Result<Vec<Result<Recorded>>> {
        if self.unwind.is_none() {
            self.unwind = self.try_unwind(run, journal, members, step, due)?;
        }
        let time = run.plan.profiling.as_ref().map_or(TRIAL, |profiling| profiling.time);
        let unwind = self.unwind.unwrap_or(Unwind::FramePointer);
        self.extra(run, journal, members, step, due, How { unwind, time })
    }

    /// Frame pointers where they give whole stacks on every system, else unwind tables on all, where these
    /// do better. A chain of frame pointers costs next to nothing, but few builds have them throughout.
    /// A system whose trial fails has no say; `None` where none has, and the next step's trial decides.
    fn try_unwind(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        members: &[&Member<'_>],
        step: StepIdx,
        due: &[SystemIdx],
    ) -> Result<Option<Unwind>> {
        if self.learn_ability().is_err() {
            return Ok(None);
        }
        let mut shares = |unwind| -> Result<Vec<Option<f64>>> {
            let tried =
                due.iter().map(|&system| self.try_one(run, journal, members, step, system, unwind));
            tried.collect()
        };
        let by_pointers = shares(Unwind::FramePointer)?;
        if !wants_tables(&by_pointers) {
            let is_known = by_pointers.iter().any(Option::is_some);
            return Ok(is_known.then_some(Unwind::FramePointer));
        }
        let by_tables = shares(Unwind::Dwarf)?;
        Ok(Some(better(&by_pointers, &by_tables)))
    }

    /// The share of whole stacks of one system in a trial; `None` where there are none, or it failed.
    fn try_one(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        members: &[&Member<'_>],
        step: StepIdx,
        system: SystemIdx,
        unwind: Unwind,
    ) -> Result<Option<f64>> {
        let how = How { unwind, time: TRIAL };
        let share = self.extra(run, journal, members, step, &[system], how).and_then(|tried| {
            let tried = tried.into_iter().next().context("nothing was tried")?;
            tried?.complete_share(run.environment)
        });
        match share {
            Err(error) if run.is_interrupted() => Err(error),
            Err(error) => {
                let (label, way) = (run.label(system), unwind.words());
                journal.note(&format!("{label}: no trial of {way}: {error:#}"));
                Ok(None)
            }
            Ok(share) => Ok(share),
        }
    }

    /// Extra slices of a step on the systems `due`, the others stopped.
    fn extra(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        members: &[&Member<'_>],
        step: StepIdx,
        due: &[SystemIdx],
        how: How,
    ) -> Result<Vec<Result<Recorded>>> {
        let nth = (u64::from(run.n_resumed) << 20) + self.n_extra;
        self.n_extra += 1;
        let seed = seed::derive(run.seed_of(step), SeedDomain::Extra, nth);
        let planned = run.step(step);
        let (mut sides, mut failed) = (Vec::new(), Vec::new());
        for system in due {
            let at = members.iter().position(|member| member.idx() == *system);
            let at = at.context("no such system")?;
            let up = &members[at].up;
            let server = up.server_pid().context("rqps did not start the server")?;
            let bench = run.bench(up);
            let clients = StepClients::without_checks(&bench, planned, seed);
            failed.push(clients.as_ref().err().map(|error| anyhow::anyhow!("{error:#}")));
            sides.extend(clients.ok().map(|clients| Side { at, bench, server, clients }));
        }
        let freezers = members.iter().map(|member| member.up.freezer()).collect();
        let mut waiting = Waiting::new(freezers, false, run.environment)?;
        let ability = self.learn_ability().as_ref();
        let wanted = Wanted { ability, unwind: how.unwind, n_systems: sides.len() };
        let (temp, interrupt) = (run.environment.temp.as_path(), &run.environment.interrupt);
        let extra = Extra { time: how.time, seed, wanted, temp, interrupt };
        let mut recorded = extra.record(sides, &mut waiting, journal.listener())?.into_iter();
        // In the order of the systems, with those whose clients could not be connected.
        let in_order = failed.into_iter().map(|failed| match failed {
            Some(error) => Err(error),
            None => recorded.next().context("a system was not recorded")?,
        });
        Ok(in_order.collect())
    }
}
