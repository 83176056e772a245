//! Tables that a run copies from the store of filled tables in place of filling them, and those that it stores.
//!
//! The load is a launch of its own. After it all servers are stopped. Their tables go into the store, and every system
//! is measured on a copy, whether this run filled the tables or an earlier one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use rqps_model::{StepIdx, StepOutcome, SystemIdx, SystemStep, WarningKind};
use rqps_server::{Identity, instance};

use super::start::name_of;
use crate::event::Event;
use crate::failure::BrokenTables;
use crate::filled_by::FilledBy;
use crate::journal::Journal;
use crate::journal::warnings::in_words;
use crate::run_context::RunContext;
use crate::system::installation::{Installation, Ready, render_config};
use crate::system::leftover;
use crate::system::stored_tables::{
    Copied, Found, Ingredients, StoredTables, TablesKey, TablesStore,
};

/// The tables of a system and their place in the store.
struct Tables<'r> {
    system: SystemIdx,
    steps: Filling,
    identity: &'r Identity,
    /// The directory of the system's instance.
    dir: PathBuf,
    store: TablesStore,
    key: TablesKey,
}

impl<'r> Tables<'r> {
    /// `None` where the system has none: the null client's.
    fn of(run: &RunContext<'_>, ready: &'r Ready) -> Result<Option<Self>> {
        let Installation::Local(installed, _, identity, places) = &ready.installation else {
            return Ok(None);
        };
        let Some(steps) = Filling::of(run) else { return Ok(None) };
        let spec = run.spec(ready.system);
        let (_, args, _) = run.step(steps.load).of_file()?;
        let key = TablesKey::of(&Ingredients {
            rqps_version: &run.environment.rqps_version,
            installed,
            identity,
            spec,
            config: &render_config(run.plan, spec, &installed.version, places)?,
            load: &run.load_spec(ready.system, args),
            settles: run.step(steps.last).settles(),
        });
        let dir = places.data.join(name_of(run, ready.system));
        let store = TablesStore::new(places);
        Ok(Some(Self { system: ready.system, steps, identity, dir, store, key }))
    }

    /// What is noted on the data when they are filled.
    fn note(&self) -> FilledBy {
        FilledBy { load: self.steps.load, is_refilled: false }
    }

    /// Whether the instance's data are filled, by their note.
    fn are_in_place(&self) -> bool {
        instance::note_on(&self.dir).is_some_and(|note| note.parse() == Ok(self.note()))
    }

    fn copy_out(&self, run: &RunContext<'_>) -> Result<()> {
        let note = self.note().to_string();
        self.store.copy_out(&self.key, &self.copied(run, &note))
    }

    fn copied<'c>(&'c self, run: &'c RunContext<'_>, note: &'c str) -> Copied<'c> {
        let stop = &*run.environment.interrupt;
        Copied { dir: &self.dir, identity: self.identity, note, stop }
    }
}

/// The steps that make the tables of a plan whose tables are reused.
#[derive(Debug, Clone, Copy)]
struct Filling {
    load: StepIdx,
    /// The last of them: the load, or the creation of indexes.
    last: StepIdx,
}

impl Filling {
    /// `None` where tables are not reused.
    fn of(run: &RunContext<'_>) -> Option<Self> {
        let mut making = run.all_steps().filter(|&step| run.step(step).makes_tables());
        let load = making.next().filter(|_| run.plan.reuses_tables())?;
        Some(Self { load, last: making.next_back().unwrap_or(load) })
    }

    fn all(self) -> impl Iterator<Item = StepIdx> {
        self.load.until(self.last).chain([self.last])
    }
}

/// Whether a system's tables are a copy of those that an earlier run filled, and nothing was measured on them yet.
pub(super) fn are_untouched(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    system: SystemIdx,
) -> bool {
    let Some(steps) = Filling::of(run) else { return false };
    let is_copy = |step: &SystemStep| step.outcome == StepOutcome::Done && step.slices.is_empty();
    is_copy(journal.cell(steps.last, system))
        && is_nothing_measured(run, journal, steps.last, system)
}

fn is_nothing_measured(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    filled: StepIdx,
    system: SystemIdx,
) -> bool {
    let mut later = run.all_steps().filter(|&step| step > filled);
    later.all(|step| {
        journal.is_pending(step, system) && journal.cell(step, system).slices.is_empty()
    })
}

/// Copies tables from the store for all systems that have not filled theirs, or have lost them since.
pub(crate) fn provide(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    ready: &[Ready],
) -> Result<()> {
    for one in ready {
        let Some(tables) = Tables::of(run, one)? else { continue };
        let last = tables.steps.last;
        let is_lost =
            || is_nothing_measured(run, journal, last, tables.system) && !tables.are_in_place();
        if journal.is_pending(last, tables.system) || is_lost() {
            provide_one(run, journal, &tables)?;
        }
    }
    Ok(())
}

fn provide_one(run: &RunContext<'_>, journal: &mut Journal<'_>, tables: &Tables<'_>) -> Result<()> {
    let system = tables.system;
    let stored = match tables.store.find(&tables.key) {
        Found::Nothing => return Ok(()),
        Found::Broken(reason) => return discard(run, journal, tables, reason),
        Found::Tables(stored) => stored,
    };
    journal.tell(Event::Preparing { label: run.label(system), doing: "copy its tables" });
    if let Err(error) = tables.copy_out(run) {
        run.check_interrupt()?;
        let reason = in_words(&error);
        return journal.warn(system, WarningKind::StoredTablesNotUsed { reason });
    }
    if !journal.is_pending(tables.steps.last, system) {
        return Ok(());
    }
    let StoredTables { run: filler, filled_unix_ms, sizes, .. } = *stored;
    journal.warn(system, WarningKind::TablesReused { run: filler, filled_unix_ms })?;
    for (step, sizes) in tables.steps.all().zip(sizes) {
        if journal.is_pending(step, system) {
            journal.cell_mut(step, system).sizes = sizes;
            journal.keep_outcome(step, system, StepOutcome::Done)?;
        }
    }
    Ok(())
}

/// Removes stored tables that are of no use, and says why.
fn discard(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    tables: &Tables<'_>,
    reason: String,
) -> Result<()> {
    journal.warn(tables.system, WarningKind::StoredTablesNotUsed { reason })?;
    if let Err(error) = tables.store.remove(&tables.key) {
        let label = run.label(tables.system);
        journal.note(&format!("{label}: the stored tables were not removed: {}", in_words(&error)));
    }
    Ok(())
}

/// Stores the tables that were filled in the launch under way, whose servers have stopped. From here on the run is on
/// copies.
pub(crate) fn keep(run: &RunContext<'_>, journal: &mut Journal<'_>, ready: &[Ready]) -> Result<()> {
    let is_filled = Filling::of(run).is_some_and(|all| run.step(all.last).launch == run.launch);
    if !is_filled {
        return Ok(());
    }
    for one in ready {
        let Some(tables) = Tables::of(run, one)? else { continue };
        let (steps, system) = (tables.steps, tables.system);
        let cell = journal.cell(steps.last, system);
        let Some(slice) = cell.slices.last() else { continue };
        if cell.outcome != StepOutcome::Done || !tables.are_in_place() {
            continue;
        }
        let (run_id, filled_unix_ms) = (run.run_id.clone(), slice.start_unix_ms);
        let sizes = steps.all().map(|step| journal.cell(step, system).sizes).collect();
        let key = tables.key.clone();
        let files = BTreeMap::new();
        let filled = StoredTables { run: run_id, filled_unix_ms, sizes, key, files };
        journal.tell(Event::Preparing { label: run.label(system), doing: "store its tables" });
        let note = tables.note().to_string();
        if let Err(error) = tables.store.keep(filled, &tables.copied(run, &note)) {
            run.check_interrupt()?;
            let reason = in_words(&error);
            journal.warn(system, WarningKind::TablesNotStored { reason })?;
        }
    }
    Ok(())
}

/// Has a system fill its tables in place of the copy that turned out to be of no use. Others on copies get new ones, as
/// their servers may not have stopped by themselves.
pub(crate) fn fill_instead(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    ready: &[Ready],
    broken: &BrokenTables,
) -> Result<()> {
    for one in ready {
        let Some(tables) = Tables::of(run, one)? else { continue };
        if !are_untouched(run, journal, tables.system) {
            continue;
        }
        leftover::clear(&tables.dir, run.environment)?;
        if tables.system == broken.system {
            discard(run, journal, &tables, broken.reason.clone())?;
            for step in tables.steps.all() {
                if journal.cell(step, tables.system).slices.is_empty() {
                    journal.keep_outcome(step, tables.system, StepOutcome::Pending)?;
                }
            }
        }
    }
    provide(run, journal, ready)
}
