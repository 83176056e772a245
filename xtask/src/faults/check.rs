//! What has to hold after a fault, whatever it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rqps_model::{Run, RunStatus, Slice, StepKind, StepOutcome};
use rqps_store::Store;

use super::fault::Fault;
use super::hosted::{Hosted, pause};
use super::trial::SLICES;

/// How long the processes of a killed rqps may take to end: the kernel tells them at once, and the watchdog
/// kills after five seconds what does not listen.
const END_WITHIN: Duration = Duration::from_secs(30);

/// What went wrong in a trial.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) problems: Vec<String>,
}

impl Checks {
    pub(super) fn add(&mut self, problem: String) {
        self.problems.push(problem);
    }

    pub(super) fn hold(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }
}

/// What no rqps says, whatever happens to it.
pub(super) fn said(text: &str, checks: &mut Checks) {
    for word in
        ["panicked", "files that rqps did not create", "is damaged or not an SQLite database"]
    {
        checks.hold(!text.contains(word), || format!("{word:?} in what it said:\n{text}"));
    }
}

/// Every process of the trial ends by itself.
pub(super) fn await_end(hosted: &Hosted, checks: &mut Checks) {
    let since = Instant::now();
    while !hosted.processes().is_empty() {
        if since.elapsed() > END_WITHIN {
            nothing_left(hosted, false, checks);
            return;
        }
        pause();
    }
}

/// No process, and where the run has ended no data.
pub(super) fn nothing_left(hosted: &Hosted, has_ended: bool, checks: &mut Checks) {
    for pid in hosted.processes() {
        let cmdline = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let cmdline = String::from_utf8_lossy(&cmdline).replace('\0', " ");
        checks.add(format!("process {pid} is left: {cmdline}"));
    }
    let data = fs::read_dir(hosted.path("rqps-results/data")).into_iter().flatten().flatten();
    for entry in data.filter(|_| has_ended) {
        checks.add(format!("{} is left", entry.path().display()));
    }
}

/// The store is sound, by rqps's own word.
pub(super) fn verified(hosted: &Hosted, rqps: &Path, checks: &mut Checks) -> Result<()> {
    if !hosted.path("rqps-results/rqps.db").exists() {
        return Ok(());
    }
    let mut running = hosted.spawn(rqps, &["runs", "verify"], "verified.txt")?;
    let code = running.wait(hosted.deadline())?;
    checks.hold(code == Some(0), || format!("the store does not verify:\n{}", running.said()));
    Ok(())
}

/// A store that cannot be written is refused, by a message that names it.
pub(super) fn refused(hosted: &Hosted, rqps: &Path, checks: &mut Checks) -> Result<()> {
    let mut running = hosted.spawn(rqps, &["run", "plan.toml"], "refused.txt")?;
    let code = running.wait(hosted.deadline())?;
    let said = running.said();
    let store = hosted.path("rqps-results/rqps.db").display().to_string();
    let is_clear = said.contains("cannot write") && said.contains(&store);
    checks.hold(code == Some(2) && is_clear, || {
        format!("with a store that cannot be written it ended with {code:?}:\n{said}")
    });
    await_end(hosted, checks);
    Ok(())
}

pub(super) fn has_failed(run: &Run) -> bool {
    let mut states = run.steps.iter().flat_map(|step| &step.systems);
    states.any(|state| matches!(state.outcome, StepOutcome::Failed { .. }))
}

pub(super) fn n_slices(run: &Run) -> usize {
    run.steps.iter().flat_map(|step| &step.systems).map(|system| system.slices.len()).sum()
}

/// Everything that was stored when the fault had struck is there at the end, and nothing lacks.
pub(super) fn complete(
    fault: Fault,
    hosted: &Hosted,
    kept: Option<&Run>,
    last: Option<&Run>,
    checks: &mut Checks,
) -> Result<()> {
    let Some(last) = last else {
        checks.add("there is no run at the end".to_owned());
        return Ok(());
    };
    checks.hold(last.status == RunStatus::Finished, || format!("the run is {:?}", last.status));
    // A run of which nothing was known starts from its beginning.
    if let Some(kept) = kept.filter(|kept| n_slices(kept) > 0) {
        checks.hold(kept.id == last.id, || format!("run {} in place of {}", last.id, kept.id));
        checks.hold(kept.status == RunStatus::Finished || last.n_resumed > kept.n_resumed, || {
            format!("it was resumed, and says {} times", last.n_resumed)
        });
        for (before, after) in kept.steps.iter().zip(&last.steps) {
            for (before, after) in before.systems.iter().zip(&after.systems) {
                let is_kept = |slice: &&Slice| !after.slices.contains(slice);
                let n_lost = before.slices.iter().filter(is_kept).count();
                checks.hold(n_lost == 0, || format!("{n_lost} slices were lost or changed"));
            }
        }
    }
    let mut n_failed = 0;
    for step in &last.steps {
        let is_once = matches!(step.info.kind, StepKind::Load | StepKind::Index | StepKind::WarmUp);
        let wanted = if is_once { 1 } else { SLICES };
        for (system, state) in last.systems.iter().zip(&step.systems) {
            let (name, label) = (&step.info.name, &system.spec.label);
            match &state.outcome {
                StepOutcome::Pending => checks.add(format!("{name} on {label} is pending")),
                StepOutcome::Failed { reason } => {
                    n_failed += 1;
                    let tells = fault.told_by().is_some_and(|word| reason.contains(word));
                    checks.hold(tells, || format!("{name} on {label} failed: {reason}"));
                }
                // Interleaved systems have as many blocks as their time takes.
                StepOutcome::Done => checks.hold(state.slices.len() >= wanted, || {
                    format!("{name} on {label} has {} slices", state.slices.len())
                }),
            }
        }
    }
    checks
        .hold(n_failed <= fault.most_failed(), || format!("{n_failed} steps failed by one fault"));
    drop(Store::open_existing(&hosted.path("rqps-results")).context("open the store at the end")?);
    Ok(())
}

/// The report is there and says that the run was interrupted, and what happened to a server where it is to
/// tell that.
pub(super) fn report(
    fault: Fault,
    hosted: &Hosted,
    rqps: &Path,
    last: Option<&Run>,
    is_to_tell: bool,
    checks: &mut Checks,
) -> Result<()> {
    let Some(last) = last else { return Ok(()) };
    let mut running = hosted.spawn(rqps, &["report"], "report.txt")?;
    let code = running.wait(hosted.deadline())?;
    let text = running.said();
    checks.hold(code == Some(0), || format!("rqps report ended with {code:?}:\n{text}"));
    // Lines are wrapped.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if last.n_resumed > 0 {
        for words in ["The run was interrupted and resumed", "was resumed after an interruption"] {
            checks.hold(flat.contains(words), || {
                format!("the report does not say {words:?}:\n{text}")
            });
        }
    }
    // Whatever the server was doing: of a step that failed, or of what happened on the way.
    if let Some(word) = fault.told_by().filter(|_| is_to_tell) {
        checks.hold(flat.contains(word), || {
            format!("the report does not say {word:?} of what happened to a server:\n{text}")
        });
    }
    Ok(())
}

/// Where `rqps servers fetch` says that a server is.
pub(super) fn fetched_dir(said: &str, name: &str) -> Result<PathBuf> {
    let word = said.split_whitespace().find(|word| word.starts_with('/') && word.contains(name));
    let word = word.with_context(|| format!("rqps did not say where {name} is:\n{said}"))?;
    let path = Path::new(word.trim_end_matches([',', ':', ';', '.']));
    let dir = path.ancestors().find(|dir| dir.file_name().is_some_and(|n| n == name));
    Ok(dir.unwrap_or(path).to_owned())
}
