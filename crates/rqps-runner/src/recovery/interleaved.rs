//! Systems that are up together, from their start to their stop.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow};
use rqps_model::WarningKind;
use rqps_model::{RunSystem, SystemIdx};

use super::catch_up::{catch_up, rest_on_kept_data, take_back};
use super::failures::after_failure;
use super::kept_data::{begin_on_kept_data, resumes_with, start};
use super::start::{Fate, end_launch, give_up, start_on_new_data};
use crate::audit::{Audit, judge};
use crate::failure::Broken;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::schedule::interleaved::Interleaved;
use crate::schedule::profiles::Profiler;
use crate::system::RunningSystem;
use crate::system::installation::Ready;
use crate::system_state::{Member, SystemState};

/// Systems that are measured together.
struct Together<'r, 's> {
    /// All that can be started.
    ready: &'r [&'r Ready],
    /// Those that are up.
    members: Vec<Member<'s>>,
}

impl<'r, 's> Together<'r, 's> {
    fn member(&mut self, system: SystemIdx) -> Option<&mut Member<'s>> {
        self.members.iter_mut().find(|member| member.idx() == system)
    }

    fn systems(&self) -> Vec<SystemIdx> {
        self.ready.iter().map(|ready| ready.system).collect()
    }

    fn ready_of(&self, system: SystemIdx) -> Option<&'r Ready> {
        self.ready.iter().copied().find(|ready| ready.system == system)
    }
}

/// All systems from their start to their stop, with the steps of the launch under way that they have not done.
pub(crate) fn measure_interleaved(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    profiler: &mut Profiler,
    states: &mut [SystemState],
    ready: &[&Ready],
) -> Result<()> {
    let mut all = Together { ready, members: Vec::new() };
    let measured = start_all(run, journal, &mut all, states)
        .and_then(|()| bring_back(run, journal, audit, &mut all))
        .and_then(|()| pending_steps(run, journal, audit, profiler, &mut all));
    match measured {
        Ok(()) => finish_all(run, journal, all.members),
        Err(error) => Err(abandon_all(run, journal, all.members, error)),
    }
}

/// Starts the systems, in the order in which they are ready; those that go on with their data all at once.
fn start_all<'s>(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    all: &mut Together<'_, 's>,
    states: &'s mut [SystemState],
) -> Result<()> {
    let mut begun = begin_on_kept_data(run, journal, all.ready)?;
    let started = start_each(run, journal, all, states, &mut begun);
    // Those that were begun and are no members stop as they should, too: their data stay.
    for (system, up) in begun {
        if let Ok(up) = up {
            give_up(run, journal, system, up, Fate::Kept);
        }
    }
    started
}

/// Starts them one after the other, except those that were begun.
fn start_each<'s>(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    all: &mut Together<'_, 's>,
    states: &'s mut [SystemState],
    begun: &mut BTreeMap<SystemIdx, Result<RunningSystem>>,
) -> Result<()> {
    let mut states: Vec<Option<&'s mut SystemState>> = states.iter_mut().map(Some).collect();
    for ready in all.ready {
        let system = ready.system;
        let Some(state) = states.get_mut(system.0).and_then(Option::take) else { continue };
        let up = start(run, journal, state, ready, begun.remove(&system));
        match up.with_context(|| format!("start {}", run.label(system))) {
            Ok(up) => all.members.push(Member { state, up }),
            Err(error) => continue_without(run, journal, system, error)?,
        }
    }
    Ok(())
}

/// Asks all that are up what they are, and brings them to where the run is.
fn bring_back(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    all: &mut Together<'_, '_>,
) -> Result<()> {
    make_alike(run, journal, all)?;
    let systems = ask_all(run, journal, all)?;
    // Before anything is stored of them: what is refused leaves no run.
    judge(run, journal, &systems)?;
    for member in &all.members {
        journal.keep_facts(member.idx(), systems[member.idx().0].clone())?;
    }
    let mut at_rest = rest_on_kept_data(run, journal, &mut all.members)?;
    for system in all.systems() {
        let Some(member) = all.member(system) else { continue };
        if let Err(error) = catch_up(run, journal, member, at_rest.remove(&system)) {
            let error = error.context(format!("prepare {}", run.label(system)));
            mend(run, journal, audit, all, system, error)?;
        }
    }
    // Some data turn out to be of no use only when they are used.
    for system in make_alike(run, journal, all)? {
        let Some(member) = all.member(system) else { continue };
        if let Err(error) = catch_up(run, journal, member, None) {
            let error = error.context(format!("prepare {}", run.label(system)));
            mend(run, journal, audit, all, system, error)?;
        }
    }
    Ok(())
}

/// The steps that they have not done, whatever fails on the way.
fn pending_steps(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    profiler: &mut Profiler,
    all: &mut Together<'_, '_>,
) -> Result<()> {
    let mut schedule = Interleaved::default();
    loop {
        match schedule.pending_steps(run, journal, audit, profiler, &mut all.members) {
            Ok(()) => return Ok(()),
            Err(Broken::System(system, error)) => mend(run, journal, audit, all, system, error)?,
            Err(Broken::Unattributed(error)) => mend_those_gone(run, journal, audit, all, error)?,
            Err(Broken::Run(error)) => return Err(error),
        }
    }
}

fn finish_all(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: Vec<Member<'_>>,
) -> Result<()> {
    let ups = members.into_iter().map(|Member { state, up }| (state.idx, up));
    end_launch(run, journal, ups.collect())
}

/// Ends all servers after a failure, and says what the one that caused it tells of it. The data of the
/// others stay for the same command: only those of a server that has failed are of no use.
fn abandon_all(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    mut members: Vec<Member<'_>>,
    error: anyhow::Error,
) -> anyhow::Error {
    // What failed may have failed because a server died, which shows a moment later.
    // Whoever interrupts is not made to wait for the answer of a server that hangs.
    if !run.is_interrupted() {
        for member in &mut members {
            let _ = member.up.answers();
        }
    }
    let mut error = error;
    for Member { state, up } in members {
        if let Some(cause) = give_up(run, journal, state.idx, up, Fate::Kept) {
            let label = run.label(state.idx);
            error = anyhow!(cause).context(format!("measure {label}: {error:#}"));
        }
    }
    error
}

/// What all that are up say they are. One whose server has died since is started again.
fn ask_all(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    all: &mut Together<'_, '_>,
) -> Result<Vec<RunSystem>> {
    let mut systems = journal.run().systems.clone();
    for system in all.systems() {
        while let Some(member) = all.member(system) {
            match member.up.facts() {
                Ok(facts) => {
                    systems[system.0] = facts;
                    break;
                }
                Err(error) => {
                    let error = error.context(format!("identify {}", run.label(system)));
                    replace(run, journal, all, system, error)?;
                }
            }
        }
    }
    Ok(systems)
}

/// Where the data of one system could not be used again, the others begin on new tables as well: ratios
/// of tables that have aged and tables that have not would be of the tables. Gives those others.
fn make_alike(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    all: &mut Together<'_, '_>,
) -> Result<Vec<SystemIdx>> {
    let is_refused = |member: &Member<'_>| {
        resumes_with(run, journal, member.idx()).is_some() && !member.state.is_on_kept_data
    };
    if !all.members.iter().any(is_refused) {
        return Ok(Vec::new());
    }
    let mut again = Vec::new();
    for system in all.systems() {
        let is_left = |member: &Member<'_>| member.idx() == system && member.state.is_on_kept_data;
        let Some(at) = all.members.iter().position(is_left) else { continue };
        let Some(ready) = all.ready_of(system) else { continue };
        journal.warn(system, WarningKind::NewTables)?;
        let Member { state, up } = all.members.remove(at);
        let _ = give_up(run, journal, system, up, Fate::Removed);
        match start_on_new_data(run, journal, state, ready) {
            Ok(up) => {
                all.members.insert(at, Member { state, up });
                again.push(system);
            }
            Err(error) => continue_without(run, journal, system, error)?,
        }
    }
    Ok(again)
}

/// Starts the server of a failed member again, and brings its tables to where the run is. Where that does not help,
/// the member is excluded if the others are of use without it.
fn mend(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    all: &mut Together<'_, '_>,
    system: SystemIdx,
    mut error: anyhow::Error,
) -> Result<()> {
    loop {
        replace(run, journal, all, system, error)?;
        let Some(member) = all.member(system) else { return Ok(()) };
        match take_back(run, journal, audit, member) {
            Ok(()) => return Ok(()),
            Err(again) => error = again,
        }
    }
}

/// The same without its tables, which are filled by whoever takes it back.
fn replace(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    all: &mut Together<'_, '_>,
    system: SystemIdx,
    error: anyhow::Error,
) -> Result<()> {
    let at = all.members.iter().position(|member| member.idx() == system);
    let (Some(at), Some(ready)) = (at, all.ready_of(system)) else {
        return Err(error);
    };
    let Member { state, up } = all.members.remove(at);
    match after_failure(run, journal, state, ready, up, error) {
        Ok(up) => {
            all.members.insert(at, Member { state, up });
            Ok(())
        }
        Err(Broken::System(_, error)) if journal.is_of_use_without(run, system) => {
            journal.exclude(system, error)
        }
        Err(broken) => Err(broken.into_error()),
    }
}

/// After an error that names no system, servers that are gone are started again. One that has nothing more to do
/// is left as it is.
///
/// # Errors
/// The error itself, where none is gone.
fn mend_those_gone(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    audit: &mut Audit,
    all: &mut Together<'_, '_>,
    error: anyhow::Error,
) -> Result<()> {
    if run.is_of_run(&error) {
        return Err(error);
    }
    let mut gone = Vec::new();
    for member in &mut all.members {
        let system = member.idx();
        let has_more = journal.first_pending(run.steps_of_launch(), system).is_some();
        if has_more && !member.up.answers() {
            gone.push(system);
        }
    }
    if gone.is_empty() {
        return Err(error);
    }
    let words = format!("{error:#}");
    for system in gone {
        mend(run, journal, audit, all, system, anyhow!("{words}"))?;
    }
    Ok(())
}

/// Excludes a system that could not be started, where the others are of use without it.
///
/// # Errors
/// The error itself, with why the run ends without the system.
fn continue_without(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    system: SystemIdx,
    error: anyhow::Error,
) -> Result<()> {
    if run.is_of_run(&error) {
        return Err(error);
    }
    if journal.is_of_use_without(run, system) {
        return journal.exclude(system, error);
    }
    let (label, base) = (run.label(system), run.label(run.base()));
    Err(if run.plan.systems.len() == 1 {
        error
    } else if system == run.base() {
        error.context(format!("the run ends, as {label} is its base"))
    } else {
        error.context(format!("without {label} no system can be compared with {base}"))
    })
}
