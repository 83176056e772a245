//! A step on one system that has the host to itself: load, warm-up, slices; and how any step ends.

use std::sync::atomic::Ordering;

use anyhow::{Result, anyhow};
use rqps_model::{Dbms, Mark, Sizes, Slice, StepKind, StepOutcome, Usage};
use rqps_store::unix_ms;
use rqps_workload::LoadSpec;
use rqps_workload::insert::Work;
use rqps_workload::statement::table_name;

use crate::event::Event;
use crate::failure::Broken;
use crate::guard::{Guards, Witness};
use crate::measure::{self, Wanted, slice_of};
use crate::run::Lab;
use crate::seed;
use crate::system::Up;
use crate::system_state::SystemState;
use crate::waiting::Waiting;
use crate::{engine_state, failed_step, insert, marks, populate};

/// What is said of slices after a server failed.
const STARTED_ANEW: &str = "the server failed before and was started anew: measured on tables filled \
                            anew, without the writes before";

/// What is said of slices of a system that came too late to take turns with the base.
const TOO_LATE: &str = "measured without the base, which had been measured before: no ratio";

impl Lab<'_> {
    /// Brings a system that was just started to where an interrupted run left it.
    pub(crate) fn catch_up(&mut self, idx: usize, up: &mut Up) -> Result<()> {
        let begin = self.steps_of_start().start;
        let first = self.first_pending(idx).unwrap_or(begin);
        self.states[idx].caution.unsettled = None;
        if self.states[idx].caution.left {
            match self.go_on_with_left(idx, first, up) {
                Err(error) if !self.is_of_run(&error) && up.answers() => {
                    let what = format!("the data that were left are not used: {error:#}");
                    self.incident(Some(idx), what)?;
                    (self.states[idx].caution.left, self.states[idx].caution.again) = (false, None);
                }
                other => return other,
            }
        }
        // On tables that were filled anew, until a later suite's load makes everything even again.
        self.states[idx].caution.resumed = first > begin;
        if first > begin {
            self.refill(idx, first, up)?;
        }
        Ok(())
    }

    /// Where the data that an interrupted attempt left are not sound, or not there, the tables of the suite
    /// that goes on are filled anew. Caches are warmed as before; the writes in between are not done
    /// again, which every slice that follows says. Nothing of it is stored.
    fn refill(&mut self, idx: usize, first: usize, up: &mut Up) -> Result<()> {
        if self.steps[first].fills() {
            return Ok(());
        }
        let load = self.filled_by(first);
        let load = load.ok_or_else(|| anyhow!("the suite has no load step to go on from"))?;
        (self.listen)(Event::Note(&format!(
            "{}: tables are filled anew before the run goes on",
            self.plan.systems[idx].label
        )));
        if self.insert_job(load).is_some() {
            self.refill_insert(idx, (load, first), up)?;
        } else {
            self.load(idx, load, up)?;
            self.settle(idx, load, up)?;
            self.warm_up_again(idx, load + 1..first, up)?;
        }
        self.note_filled(load, true, up)
    }

    /// Warms caches by those of the steps that do so; nothing of it is stored.
    pub(crate) fn warm_up_again(
        &mut self,
        idx: usize,
        steps: std::ops::Range<usize>,
        up: &Up,
    ) -> Result<()> {
        for step in steps {
            if self.steps[step].info.kind == StepKind::WarmUp {
                self.measure((idx, step), up, None)?;
            }
        }
        Ok(())
    }

    /// The marks that every slice of a step on a system gets.
    pub(crate) fn marks_of(&mut self, idx: usize, step_idx: usize) -> Vec<Mark> {
        let started_again = self.started_again(step_idx);
        let is_too_late = self.is_too_late(idx, step_idx);
        let SystemState { caution, n_faults, .. } = &mut self.states[idx];
        let has_failed = *n_faults > 0;
        caution.resumed &= !self.steps[step_idx].fills();
        caution.left &= !self.steps[step_idx].fills();
        let started_again = (caution.left && !caution.resumed)
            .then(|| Mark::Note { text: started_again.to_owned() });
        let resumed = caution.resumed.then(|| match has_failed {
            false => Mark::Resumed,
            true => Mark::Note { text: STARTED_ANEW.to_owned() },
        });
        let unsettled =
            caution.unsettled.iter().map(|left| Mark::NotSettled { left: left.clone() });
        let too_late = is_too_late.then(|| Mark::Note { text: TOO_LATE.to_owned() });
        let by_restart = self.plan.is_by_restart.then(|| {
            let text =
                "the systems do not fit into memory together, so that they did not take turns";
            Mark::Note { text: text.to_owned() }
        });
        let of_attempt = resumed.into_iter().chain(started_again);
        of_attempt.chain(unsettled).chain(too_late).chain(by_restart).collect()
    }

    /// Whether the base has ended a step of turns that a system is only about to begin: the system had been
    /// left out, and an attempt at the run after that has it alone.
    fn is_too_late(&self, idx: usize, step_idx: usize) -> bool {
        use StepKind::{Index, Load, WarmUp};
        let step = &self.run.steps[step_idx];
        self.plan.schedule.is_interleaved()
            && !matches!(step.info.kind, Load | WarmUp | Index)
            && idx != self.plan.base
            && step.systems[self.plan.base].outcome == StepOutcome::Done
    }

    /// Carries out a step on one system, the others at rest or not there.
    pub(crate) fn one_step(&mut self, idx: usize, step_idx: usize, up: &mut Up) -> Result<()> {
        let plan = self.plan;
        self.announce(&plan.systems[idx].label, &[idx], step_idx);
        let marks = self.marks_of(idx, step_idx);
        let measured = if self.insert_job(step_idx).is_some() {
            match self.insert_step(step_idx, &mut [(idx, &mut *up)], (true, Vec::new())) {
                Ok(()) => Ok(()),
                Err(Broken::System(_, error)) => Err(error),
                Err(Broken::Run(error)) => return Err(error),
            }
        } else if self.steps[step_idx].info.kind == StepKind::Load {
            self.load(idx, step_idx, up).and_then(|slice| {
                let slice = Slice { marks: [marks, slice.marks.clone()].concat(), ..slice };
                self.keep(idx, step_idx, slice)
            })
        } else {
            self.keep_plans(idx, step_idx, up)?;
            self.measure((idx, step_idx), up, Some(marks))
        };
        let outcome = self.outcome(step_idx, up, measured)?;
        self.end_step(idx, step_idx, up, outcome)
    }

    /// What came of a step on a system: done, failed by its own fault, or an error that ends the run.
    pub(crate) fn outcome(
        &self,
        step_idx: usize,
        up: &mut Up,
        measured: Result<()>,
    ) -> Result<StepOutcome> {
        let info = &self.steps[step_idx].info;
        match measured {
            Ok(()) => Ok(StepOutcome::Done),
            // What is not the step's own fault ends the run; the step stays pending. So do a load
            // and the making of indexes: without its tables no step after it means anything.
            Err(error)
                if self.steps[step_idx].fills()
                    || info.kind == StepKind::Index
                    || self.context.interrupt.load(Ordering::Relaxed)
                    || error.downcast_ref::<rqps_store::Error>().is_some()
                    || !up.answers()
                    || up.is_out_of_space() =>
            {
                Err(error.context(format!("step {}", info.name)))
            }
            Err(error) => Ok(StepOutcome::Failed { reason: failed_step::reason(&error) }),
        }
    }

    /// Settles the server where the suite says so, records the step's outcome and tells it.
    pub(crate) fn end_step(
        &mut self,
        idx: usize,
        step_idx: usize,
        up: &mut Up,
        outcome: StepOutcome,
    ) -> Result<()> {
        let outcome = self.judged(step_idx, idx, outcome);
        if outcome == StepOutcome::Done {
            self.states[idx].caution.measured = Some(step_idx);
        }
        if outcome == StepOutcome::Done && self.steps[step_idx].settles() {
            self.settle(idx, step_idx, up)?;
        }
        let is_of_step = self.states[idx].caution.unmeasured.take() != Some(step_idx);
        let sizes = if is_of_step { up.sizes()? } else { Sizes::default() };
        if is_of_step {
            engine_state::keep(self.store, (&self.run, idx), &self.steps[step_idx], up)?;
        }
        let makes_tables =
            self.steps[step_idx].fills() || self.steps[step_idx].info.kind == StepKind::Index;
        if outcome == StepOutcome::Done
            && makes_tables
            && let Some(load) = self.filled_by(step_idx)
        {
            self.note_filled(load, self.states[idx].caution.resumed, up)?;
        }
        self.tell_end(idx, step_idx, &outcome);
        let state = &mut self.run.steps[step_idx].systems[idx];
        state.outcome = outcome;
        state.sizes = sizes;
        self.store.set_outcome(&self.run.id, step_idx, idx, state)?;
        self.states[idx].under_way = None;
        up.dismiss_log();
        self.tell_uncounted(idx, up)
    }

    /// Notes that all of a step was measured and that nobody can say any more what it left, as in an earlier
    /// attempt at the run: its tables may be filled anew since. `unchecked` says why there are no checks.
    pub(crate) fn was_measured(
        &mut self,
        idx: usize,
        step_idx: usize,
        unchecked: fn() -> rqps_model::Check,
    ) {
        self.states[idx].caution.unmeasured = Some(step_idx);
        let is_insert = self.insert_job(step_idx).is_some();
        let checks = &mut self.run.steps[step_idx].systems[idx].checks;
        // What was checked before another system failed stands.
        if is_insert && checks.is_empty() {
            checks.push(unchecked());
        }
    }

    /// Brings the Insert Benchmark's tables to where step `first` begins: filled, and indexed when its
    /// turn has come. Rows that later steps exchanged are not exchanged again.
    fn refill_insert(
        &mut self,
        idx: usize,
        (load, first): (usize, usize),
        up: &mut Up,
    ) -> Result<()> {
        for step_idx in load..first {
            let Some((step, _)) = self.insert_job(step_idx) else { break };
            if matches!(step.work, Work::Load | Work::Index) {
                match self.insert_step(step_idx, &mut [(idx, &mut *up)], (false, Vec::new())) {
                    Ok(()) => {}
                    Err(Broken::System(_, error) | Broken::Run(error)) => return Err(error),
                }
            }
        }
        Ok(())
    }

    pub(crate) fn tell_end(&mut self, idx: usize, step_idx: usize, outcome: &StepOutcome) {
        let info = &self.steps[step_idx].info;
        let slices = &self.run.steps[step_idx].systems[idx].slices;
        // Over the whole time: blocks of work are not of equal length.
        let (n, ns) =
            slices.iter().fold((0, 0), |(n, ns), s| (n + s.n_operations, ns + s.duration_ns));
        let mean = (ns > 0 && *outcome == StepOutcome::Done).then(|| n as f64 * 1e9 / ns as f64);
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
    pub(crate) fn keep(&mut self, idx: usize, step_idx: usize, slice: Slice) -> Result<()> {
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
        let (_, args, _) = measure::of_file(planned)?;
        // One seed for the whole run: every system holds the same rows.
        let load = LoadSpec::new(args, spec.dbms, spec.engine, self.run.seed)
            .compressed(spec.variant.compression);
        up.make_room((1..=load.tables).map(table_name).collect())?;
        let total_rows = load.rows * u64::from(load.tables);
        let (label, listen) = (&spec.label, &mut *self.listen);
        let mut show = |rows| listen(Event::Populating { label, rows, total_rows });
        let open = populate::opener(spec.dbms, up.endpoint());
        let around = populate::Surroundings {
            open: &open,
            interrupt: &self.context.interrupt,
            patience: self.context.patience,
        };
        drop(up.samples().take());
        let start_unix_ms = unix_ms();
        let counters = up.counted().read();
        let (witness, first) = (Witness::start(), up.samples().mark()?);
        let tally = populate::fill(&load, planned.clients, &around, &mut show)?;
        let (last, seen) = (up.samples().mark()?, witness.marks());
        let counters = up.counted().since(counters.as_ref());
        // Counting rows reads the tables through: no part of what was measured.
        if spec.dbms != Dbms::Null {
            let interrupt = &self.context.interrupt;
            up.breakable(interrupt, |admin| populate::check_rows(admin, &load))?;
            up.verify_compression()?;
            up.alter_tables(interrupt)?;
        }
        let usage = Usage::between(&first, &last);
        let n = u32::try_from(load.split(planned.clients).len()).unwrap_or(planned.clients);
        let mut marks = [seen, marks::of_slice(&[&tally], &usage, n)].concat();
        if n < planned.clients && load.bulk_load_sql().is_some() {
            let text = format!(
                "MyRocks was loaded in bulk, each table by one connection: by {n} of {} clients",
                planned.clients
            );
            marks.push(Mark::Note { text });
        }
        let mut samples = up.samples().take();
        samples.retain(|s| (first.at_ns..=last.at_ns).contains(&s.at_ns));
        let slice = slice_of(&tally, (self.run.seed, 0, start_unix_ms), (usage, samples), marks);
        Ok(Slice { counters, ..slice })
    }

    /// Measures a step; its slices are stored with `marks`, or not at all when there are none to
    /// give: work that only brings a server back to where it was.
    fn measure(
        &mut self,
        (idx, step_idx): (usize, usize),
        up: &Up,
        marks: Option<Vec<Mark>>,
    ) -> Result<()> {
        // An interrupted step goes on after the slices that it has.
        let n_there = match &marks {
            Some(_) => self.run.steps[step_idx].systems[idx].slices.len(),
            None => 0,
        };
        let from = u32::try_from(n_there).unwrap_or(u32::MAX);
        let n_slices = self.steps[step_idx].n_slices(self.n_slices);
        let seed = seed::of_step(self.run.seed, step_idx);
        let attempt = self.attempt(idx, step_idx);
        let wanted = Wanted { seed, attempt, from, n_slices };
        if from >= n_slices {
            self.was_measured(idx, step_idx, insert::interrupted);
            return Ok(());
        }
        let Self { steps, store, run, listen, cpus, context, .. } = self;
        let bench = up.bench(cpus, &context.interrupt);
        let _held = Waiting::new(vec![up.freezer()], up.is_slowed(), context)?;
        let mut slices = Vec::new();
        let id = run.id.clone();
        let mut guards = Guards::new();
        let mut keep = |slice: Slice| -> Result<()> {
            let Some(marks) = &marks else { return Ok(()) };
            let mut one = [(idx, slice)];
            guards.look(&mut one);
            let [(_, mut slice)] = one;
            slice.marks.extend(marks.iter().cloned());
            store.insert_slice(&id, step_idx, idx, &slice)?;
            slices.push(slice);
            Ok(())
        };
        let result = measure::step(&bench, &steps[step_idx], wanted, *listen, &mut keep);
        run.steps[step_idx].systems[idx].slices.extend(slices);
        result
    }

    /// Settles the server. What was left is said, and marks every slice until the next settling.
    pub(crate) fn settle(&mut self, idx: usize, step_idx: usize, up: &mut Up) -> Result<()> {
        let label = &self.plan.systems[idx].label;
        (self.listen)(Event::Preparing { label, doing: "settle" });
        let left = up.settle(self.steps[step_idx].rows(), &self.context.interrupt)?;
        if let Some(left) = &left {
            let step = &self.steps[step_idx].info.name;
            (self.listen)(Event::Note(&format!("{label}: not at rest after {step}: {left}")));
        }
        self.states[idx].caution.unsettled = left;
        Ok(())
    }
}
