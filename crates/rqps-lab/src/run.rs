//! The order of things: from a plan to a finished run in the store. The file is long because this
//! order is told in one place.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use rqps_client::{Connection, MysqlConnection, NullConnection, PostgresConnection};
use rqps_model::{
    Dbms, Mark, Run, RunStatus, Schedule, Slice, StepKind, StepOutcome, SystemSource, Usage,
};
use rqps_server::Catalogue;
use rqps_store::{RunRef, Store};
use rqps_workload::LoadSpec;

use crate::event::{Event, Listener};
use crate::installation::Installation;
use crate::measure::{self, ANSWER_TIMEOUT, Wanted, mix, slice_of, unix_ms};
use crate::populate;
use crate::steps::{self, PlannedStep};
use crate::system::Up;
use crate::{Plan, begin, marks, placement};

/// What a run needs beside its plan.
#[derive(Debug, Clone)]
pub struct Context {
    /// The results directory.
    pub results: PathBuf,
    /// The cache of fetched servers.
    pub cache: PathBuf,
    /// The servers that can be fetched.
    pub catalogue: Arc<Catalogue>,
    /// The directory for temporary files.
    pub temp: PathBuf,
    /// Set when the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
    /// The command as typed, without passwords.
    pub command_line: String,
    /// Version of rqps.
    pub rqps_version: String,
    /// Start anew although an unfinished run of the plan exists.
    pub anew: bool,
    /// Seed to use where the plan sets none.
    pub drawn_seed: u64,
}

/// A run while it is carried out.
struct Lab<'a> {
    plan: &'a Plan,
    steps: Vec<PlannedStep>,
    context: &'a Context,
    store: &'a Store,
    run: Run,
    cpus: Vec<usize>,
    listen: &'a mut Listener<'a>,
    n_slices: u32,
    /// What the last settling of the present system left undone.
    unsettled: Option<String>,
}

/// Carries out a plan and returns the run's id. Every slice is stored as it ends; when this fails,
/// what was measured is kept and the same call goes on from there.
///
/// # Errors
/// Whatever keeps the run from finishing: a server that cannot be fetched or started or that dies,
/// a full disk, the user's interrupt. A step that fails by itself is recorded and is no error here.
pub fn run<'a>(
    plan: &'a Plan,
    store: &'a Store,
    context: &'a Context,
    listen: &'a mut Listener<'a>,
) -> Result<String> {
    let cpus = placement::usable_cpus()?;
    let all_local = plan.systems.iter().all(|s| !matches!(s.source, SystemSource::External { .. }));
    let steps = steps::of_plan(plan, &cpus, all_local)?;
    let Schedule::Sequential { slices: n_slices } = plan.schedule;
    let (run, lock) = begin::run(plan, &steps, store, context)?;
    let id = run.id.clone();
    let n_done = done(&run);
    let n_steps = steps.len() * plan.systems.len();
    listen(Event::RunStarted { run: &id, n_steps, n_done });
    let unsettled = None;
    let mut lab = Lab { plan, steps, context, store, run, cpus, listen, n_slices, unsettled };
    let result = lab.all_systems();
    let status = match &result {
        Ok(()) => RunStatus::Finished,
        Err(_) if context.interrupt.load(Ordering::Relaxed) => RunStatus::Interrupted,
        Err(_) => RunStatus::Failed,
    };
    let ended = if result.is_err() && lab.nothing_known() {
        // A run without a server that was ever up has nothing to keep and nothing to go on with.
        drop(lock);
        store.remove_run(&RunRef::Id(id.clone())).map(|_| ())
    } else {
        store.set_run_status(&id, status, Some(unix_ms()))
    };
    result?;
    ended?;
    (lab.listen)(Event::RunEnded { run: &id });
    Ok(id)
}

fn done(run: &Run) -> usize {
    let states = run.steps.iter().flat_map(|step| &step.systems);
    states.filter(|s| s.outcome != StepOutcome::Pending).count()
}

impl Lab<'_> {
    fn all_systems(&mut self) -> Result<()> {
        let pending: Vec<usize> =
            (0..self.plan.systems.len()).filter(|&s| self.has_pending(s)).collect();
        // Everything is fetched first: a version that cannot be had costs no measured time.
        let mut ready = Vec::new();
        for &idx in &pending {
            let label = &self.plan.systems[idx].label;
            let installation = Installation::of(self.plan, idx, self.context, self.listen);
            ready.push((idx, installation.with_context(|| format!("get {label}"))?));
        }
        for (idx, installation) in ready {
            let label = &self.plan.systems[idx].label;
            self.one_system(idx, &installation).with_context(|| format!("measure {label}"))?;
        }
        Ok(())
    }

    fn nothing_known(&self) -> bool {
        self.run.systems.iter().all(|system| system.version_text.is_empty())
    }

    fn has_pending(&self, system_idx: usize) -> bool {
        self.run.steps.iter().any(|s| s.systems[system_idx].outcome == StepOutcome::Pending)
    }

    fn one_system(&mut self, idx: usize, installation: &Installation) -> Result<()> {
        let log = log_path(&self.store.artifact_dir(&self.run.id)?, idx);
        let name = format!("{}-{idx}", self.run.id);
        let mut up = Up::start(self.plan, idx, installation, (self.context, &name), self.listen)?;
        let result = self.with_server(idx, &mut up);
        // What failed may have failed because the server died, which shows a moment later.
        let _ = result.is_err() && up.answers();
        let label = &self.plan.systems[idx].label;
        (self.listen)(Event::Preparing { label, doing: "stop" });
        match result {
            Ok(()) => {
                if let Some(sentence) = up.finish(&log)? {
                    (self.listen)(Event::Note(&sentence));
                }
                Ok(())
            }
            // What the server tells is the cause of what was seen, and its log reads best at the end.
            Err(error) => Err(match up.abandon(&log) {
                Some(cause) => anyhow!(cause).context(format!("{error:#}")),
                None => error,
            }),
        }
    }

    fn with_server(&mut self, idx: usize, up: &mut Up) -> Result<()> {
        self.record_facts(idx, up)?;
        self.unsettled = None;
        let pending: Vec<usize> = (0..self.steps.len())
            .filter(|&s| self.run.steps[s].systems[idx].outcome == StepOutcome::Pending)
            .collect();
        let first = pending.first().copied().unwrap_or(0);
        // On tables that were filled anew, until a later suite's load makes everything even again.
        let mut resumed = first > 0;
        if resumed {
            self.refill(idx, first, up)?;
        }
        for (n, &step_idx) in pending.iter().enumerate() {
            if self.context.interrupt.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            let next = pending.get(n + 1).copied();
            self.announce(idx, step_idx, next);
            resumed &= self.steps[step_idx].info.kind != StepKind::Load;
            let mut marks = if resumed { vec![Mark::Resumed] } else { Vec::new() };
            marks.extend(self.unsettled.iter().map(|left| Mark::NotSettled { left: left.clone() }));
            self.one_step(idx, step_idx, up, marks)?;
        }
        Ok(())
    }

    fn record_facts(&mut self, idx: usize, up: &mut Up) -> Result<()> {
        let facts = up.facts()?;
        self.store.set_system_facts(&self.run.id, idx, &facts)?;
        self.run.systems[idx] = facts;
        Ok(())
    }

    /// After an interruption the tables of the suite that goes on are filled anew: the old data
    /// directory is not trusted. Caches are warmed as before; the writes in between are not done
    /// again, which every slice that follows says. Nothing of it is stored.
    fn refill(&mut self, idx: usize, first: usize, up: &mut Up) -> Result<()> {
        if self.steps[first].info.kind == StepKind::Load {
            return Ok(());
        }
        let load = (0..first).rev().find(|&s| self.steps[s].info.kind == StepKind::Load);
        let load = load.ok_or_else(|| anyhow!("the suite has no load step to go on from"))?;
        (self.listen)(Event::Note(&format!(
            "{}: tables are filled anew before the run goes on",
            self.plan.systems[idx].label
        )));
        self.load(idx, load, up)?;
        self.settle(idx, load, up)?;
        for warm_up in load + 1..first {
            if self.steps[warm_up].info.kind == StepKind::WarmUp {
                self.measure((idx, warm_up), up, None)?;
            }
        }
        Ok(())
    }

    fn announce(&mut self, idx: usize, step_idx: usize, next: Option<usize>) {
        let planned = &self.steps[step_idx];
        let left: Duration = (0..self.plan.systems.len())
            .flat_map(|system| (0..self.steps.len()).map(move |step| (system, step)))
            .filter(|&(system, step)| {
                (system, step) != (idx, step_idx)
                    && self.run.steps[step].systems[system].outcome == StepOutcome::Pending
            })
            .map(|(_, step)| self.steps[step].expected(self.n_slices))
            .sum();
        (self.listen)(Event::StepStarted {
            label: &self.plan.systems[idx].label,
            step: &planned.info.name,
            clients: planned.clients,
            idx: done(&self.run),
            expected: planned.expected(self.n_slices),
            next: next.map(|n| self.steps[n].info.name.as_str()),
            left,
        });
    }

    fn one_step(
        &mut self,
        idx: usize,
        step_idx: usize,
        up: &mut Up,
        marks: Vec<Mark>,
    ) -> Result<()> {
        let is_load = self.steps[step_idx].info.kind == StepKind::Load;
        let measured = if is_load {
            self.load(idx, step_idx, up).and_then(|slice| {
                let slice = Slice { marks: [marks, slice.marks.clone()].concat(), ..slice };
                self.keep(idx, step_idx, slice)
            })
        } else {
            self.measure((idx, step_idx), up, Some(marks))
        };
        let outcome = match measured {
            Ok(()) => StepOutcome::Done,
            // What is not the step's own fault ends the run; the step stays pending. So does a
            // load: without its tables no step after it means anything.
            Err(error)
                if is_load
                    || self.context.interrupt.load(Ordering::Relaxed)
                    || error.downcast_ref::<rqps_store::Error>().is_some()
                    || !up.answers()
                    || up.is_out_of_space() =>
            {
                return Err(error.context(format!("step {}", self.steps[step_idx].info.name)));
            }
            Err(error) => StepOutcome::Failed { reason: format!("{error:#}") },
        };
        if outcome == StepOutcome::Done && self.steps[step_idx].step.settle {
            self.settle(idx, step_idx, up)?;
        }
        let kind = self.steps[step_idx].info.kind;
        let sizes = up.sizes(matches!(kind, StepKind::Load | StepKind::Insert))?;
        self.store.set_outcome(&self.run.id, step_idx, idx, &outcome, sizes)?;
        self.tell_end(idx, step_idx, &outcome);
        let state = &mut self.run.steps[step_idx].systems[idx];
        state.outcome = outcome;
        state.sizes = sizes;
        Ok(())
    }

    fn tell_end(&mut self, idx: usize, step_idx: usize, outcome: &StepOutcome) {
        let info = &self.steps[step_idx].info;
        let figures: Vec<f64> =
            self.run.steps[step_idx].systems[idx].slices.iter().map(Slice::figure).collect();
        let mean = (!figures.is_empty() && *outcome == StepOutcome::Done)
            .then(|| figures.iter().sum::<f64>() / figures.len() as f64);
        let failure = match outcome {
            StepOutcome::Failed { reason } => Some(reason.as_str()),
            _ => None,
        };
        (self.listen)(Event::StepEnded {
            label: &self.plan.systems[idx].label,
            step: &info.name,
            clients: self.steps[step_idx].clients,
            figure: mean,
            unit: info.figure.unit(),
            failure,
        });
    }

    /// Stores a load's slice, unless an attempt that was interrupted while it settled has done so.
    fn keep(&mut self, idx: usize, step_idx: usize, slice: Slice) -> Result<()> {
        if !self.run.steps[step_idx].systems[idx].slices.is_empty() {
            return Ok(());
        }
        self.store.insert_slice(&self.run.id, step_idx, idx, &slice)?;
        self.run.steps[step_idx].systems[idx].slices.push(slice);
        Ok(())
    }

    fn load(&mut self, idx: usize, step_idx: usize, up: &mut Up) -> Result<Slice> {
        let planned = &self.steps[step_idx];
        let spec = &self.plan.systems[idx];
        // One seed for the whole run: every system holds the same rows.
        let load = LoadSpec::new(&planned.args, spec.dbms, spec.engine, self.run.seed);
        up.make_room(&load)?;
        let total_rows = load.rows * u64::from(load.tables);
        let (label, listen) = (&spec.label, &mut *self.listen);
        let mut show = |rows| listen(Event::Populating { label, rows, total_rows });
        let around = populate::Surroundings {
            endpoint: up.endpoint(),
            interrupt: &self.context.interrupt,
            timeout: ANSWER_TIMEOUT,
        };
        drop(up.samples().take());
        let start_unix_ms = unix_ms();
        let first = up.samples().mark()?;
        let tally = match spec.dbms {
            Dbms::Mysql | Dbms::Mariadb => {
                populate::fill::<MysqlConnection>(&load, planned.clients, &around, &mut show)
            }
            Dbms::Postgres => {
                populate::fill::<PostgresConnection>(&load, planned.clients, &around, &mut show)
            }
            Dbms::Null => {
                populate::fill::<NullConnection>(&load, planned.clients, &around, &mut show)
            }
        }?;
        let last = up.samples().mark()?;
        // Counting rows reads the tables through: no part of what was measured.
        if spec.dbms != Dbms::Null {
            populate::check_rows(up.admin.as_mut(), &load)?;
        }
        let usage = Usage::between(&first, &last);
        let marks = marks::of_slice(&tally, &usage, planned.clients);
        let mut samples = up.samples().take();
        samples.retain(|s| (first.at_ns..=last.at_ns).contains(&s.at_ns));
        Ok(slice_of(&tally, (self.run.seed, 0, start_unix_ms), (usage, samples), marks))
    }

    /// Measures a step; its slices are stored with `marks`, or not at all when there are none to
    /// give: work that only brings a server back to where it was.
    fn measure(
        &mut self,
        (idx, step_idx): (usize, usize),
        up: &mut Up,
        marks: Option<Vec<Mark>>,
    ) -> Result<()> {
        // An interrupted step goes on after the slices that it has.
        let n_there = match &marks {
            Some(_) => self.run.steps[step_idx].systems[idx].slices.len(),
            None => 0,
        };
        let wanted = Wanted {
            seed: mix(self.run.seed, step_idx as u64 + 1),
            from: u32::try_from(n_there).unwrap_or(u32::MAX),
            n_slices: self.n_slices,
        };
        match self.plan.systems[idx].dbms {
            Dbms::Mysql | Dbms::Mariadb => {
                self.measure_with::<MysqlConnection>((idx, step_idx), up, wanted, marks)
            }
            Dbms::Postgres => {
                self.measure_with::<PostgresConnection>((idx, step_idx), up, wanted, marks)
            }
            Dbms::Null => self.measure_with::<NullConnection>((idx, step_idx), up, wanted, marks),
        }
    }

    fn measure_with<C: Connection + 'static>(
        &mut self,
        (idx, step_idx): (usize, usize),
        up: &mut Up,
        wanted: Wanted,
        marks: Option<Vec<Mark>>,
    ) -> Result<()> {
        let Self { steps, store, run, listen, cpus, context, .. } = self;
        let mut bench = up.bench(cpus, &context.interrupt);
        let mut slices = Vec::new();
        let id = run.id.clone();
        let mut keep = |mut slice: Slice| -> Result<()> {
            let Some(marks) = &marks else { return Ok(()) };
            slice.marks.extend(marks.iter().cloned());
            store.insert_slice(&id, step_idx, idx, &slice)?;
            slices.push(slice);
            Ok(())
        };
        let result = measure::step::<C>(&mut bench, &steps[step_idx], wanted, *listen, &mut keep);
        run.steps[step_idx].systems[idx].slices.extend(slices);
        result
    }

    /// Settles the server. What was left is said, and marks every slice until the next settling.
    fn settle(&mut self, idx: usize, step_idx: usize, up: &mut Up) -> Result<()> {
        let label = &self.plan.systems[idx].label;
        (self.listen)(Event::Preparing { label, doing: "settle" });
        self.unsettled = up.settle(&self.steps[step_idx].args, &self.context.interrupt)?;
        if let Some(left) = &self.unsettled {
            let step = &self.steps[step_idx].info.name;
            (self.listen)(Event::Note(&format!("{label}: not at rest after {step}: {left}")));
        }
        Ok(())
    }
}

/// Where a run keeps what belongs to one of its systems.
fn log_path(artifacts: &Path, system_idx: usize) -> PathBuf {
    artifacts.join(format!("server-{system_idx}.log"))
}
