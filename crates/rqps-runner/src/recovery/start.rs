//! How the systems of a run come up and go down.

use crate::journal::warnings::in_words;
use rqps_model::WarningKind;
use rqps_model::warning::ServerFault;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rqps_model::SystemIdx;

use crate::event::Event;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::side_by_side::on_each;
use crate::system::installation::Ready;
use crate::system::{Data, Ended, RunningSystem, Start};
use crate::system_state::SystemState;

/// How often the server of a system may fail before it is taken out of the run. Once or twice may be
/// chance, or the fault of a single step; a server that fails everywhere would make a day of failures.
pub(super) const FAULTS_AT_MOST: u32 = 3;

/// Starts a system on new data.
pub(super) fn start_on_new_data(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    ready: &Ready,
) -> Result<RunningSystem> {
    state.forget_kept_data();
    start_on(run, journal, state, ready, Data::New, None)
}

/// Starts a system on data, once more where somebody killed its server. `begun` is what came of a first start that
/// was tried already.
pub(super) fn start_on(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    ready: &Ready,
    data: Data,
    mut begun: Option<Result<RunningSystem>>,
) -> Result<RunningSystem> {
    let name = name_of(run, state.idx);
    loop {
        let how = Start { environment: run.environment, name: &name, data };
        let Ready { system, installation } = ready;
        let start =
            || RunningSystem::start(run.plan, system.0, installation, how, journal.listener());
        match begun.take().unwrap_or_else(start) {
            Err(error) if is_worth_another_start(run, journal, state, &error)? => {}
            other => return other,
        }
    }
}

/// What the directory or the schema of a system is named after.
pub(super) fn name_of(run: &RunContext<'_>, system: SystemIdx) -> String {
    format!("{}-{system}", run.run_id)
}

/// Whether a server that did not start is started once more: when somebody killed it. It counts as a
/// failure of it.
fn is_worth_another_start(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    error: &anyhow::Error,
) -> Result<bool> {
    if !was_killed(error) || run.is_interrupted() {
        return Ok(false);
    }
    state.n_faults += 1;
    let n = state.n_faults;
    if n >= FAULTS_AT_MOST {
        return Ok(false);
    }
    let fault = ServerFault { n, n_tolerated: FAULTS_AT_MOST, reason: in_words(error) };
    journal.warn(state.idx, WarningKind::KilledAtStart { fault })?;
    Ok(true)
}

/// Whether a server did not come up because somebody killed it, or what made its data directory.
fn was_killed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<rqps_server::Error>().is_some_and(rqps_server::Error::was_killed)
}

/// What becomes of the data of a server that is stopped after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The system is not to blame: its data stay for when the run is resumed.
    Kept,
    Removed,
}

/// Stops a system after a failure. Gives what the server's end tells of the cause.
pub(super) fn give_up(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    system: SystemIdx,
    up: RunningSystem,
    fate: Fate,
) -> Option<String> {
    let label = run.label(system);
    journal.tell(Event::Preparing { label, doing: up.ending() });
    // Without a place for its log it is stopped all the same.
    let log = log_path(run, journal, system).ok();
    if fate == Fate::Removed {
        return up.abandon(log.as_deref());
    }
    let Ended { cause, kept: dir, .. } = up.leave(log.as_deref());
    if let Some(dir) = dir {
        journal.note(&format!(
            "{label}: the data stay in {} until the run is resumed or removed",
            dir.display()
        ));
    }
    cause
}

/// A system whose steps of a launch are done.
struct Ending {
    system: SystemIdx,
    up: RunningSystem,
    log: PathBuf,
}

/// Stops systems whose steps of a launch are done, all at once, and keeps their logs. Their data stay where the next
/// launch is on them. Whatever the trouble of one, the others are stopped as well.
pub(super) fn end_launch(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    ups: Vec<(SystemIdx, RunningSystem)>,
) -> Result<()> {
    let mut endings = Vec::new();
    for (system, up) in ups {
        journal.tell(Event::Preparing { label: run.label(system), doing: up.ending() });
        endings.push(Ending { system, up, log: log_path(run, journal, system)? });
    }
    let is_followed = run.is_followed();
    let stopped = on_each(endings, |Ending { system, up, log }| {
        if !is_followed || !up.has_data() {
            return (system, up.finish(Some(&log)));
        }
        let ended = up.leave(Some(&log));
        (system, Ok(ended.unclean.or(ended.cause)))
    })?;
    let mut result = Ok(());
    for (system, stopped) in stopped {
        let told = stopped.and_then(|reason| match reason {
            Some(reason) => journal.warn(system, WarningKind::NotStopped { reason }),
            None => Ok(()),
        });
        result = result.and(told);
    }
    result
}

fn log_path(run: &RunContext<'_>, journal: &Journal<'_>, system: SystemIdx) -> Result<PathBuf> {
    log_of_launch(journal, run.launch, system)
}

/// Where a run keeps the log of a system's server of any launch.
pub(super) fn log_of_launch(
    journal: &Journal<'_>,
    launch: u32,
    system: SystemIdx,
) -> Result<PathBuf> {
    let artifacts: &Path = &journal.artifact_dir()?;
    Ok(artifacts.join(match launch {
        0 => format!("server-{system}.log"),
        _ => format!("server-{system}-start-{}.log", launch + 1),
    }))
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn who_was_killed_while_it_came_up_is_started_again() {
        let init = |was_killed| rqps_server::Error::InitFailed {
            server: "MySQL 8.0.33".to_owned(),
            path: "/data".into(),
            detail: "it was killed by signal 9 (SIGKILL)".to_owned(),
            was_killed,
            log: String::new(),
        };
        let start = |was_killed| rqps_server::Error::StartFailed {
            server: "MySQL 8.0.33".to_owned(),
            detail: "it was killed by signal 9 (SIGKILL)".to_owned(),
            was_killed,
            lacked_memory: false,
            log: String::new(),
        };
        for is_so in [false, true] {
            for error in [init(is_so), start(is_so)] {
                let told = anyhow::Error::new(error).context("start a");
                assert_eq!(was_killed(&told), is_so, "{told:#}");
            }
        }
        assert!(!was_killed(&anyhow!("no port")));
    }
}
