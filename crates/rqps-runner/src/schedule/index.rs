//! The secondary indexes after a load, of one system after the other in an order that is drawn.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rqps_model::{StepIdx, WarningKind};

use super::recording::Recording;
use crate::engine::index::{TableIndexes, create_indexes as create, insert_rows_before};
use crate::engine::waiting::Waiting;
use crate::event::{Event, Nth};
use crate::failure::Broken;
use crate::journal::Journal;
use crate::plan::seed::shuffled;
use crate::plan::steps::Job;
use crate::run_context::RunContext;
use crate::schedule::warnings::warnings_of_step;
use crate::system_state::Member;

/// Creates the indexes of all members.
pub(crate) fn create_indexes(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
) -> Result<(), Broken> {
    let Recording { is_kept, others } = recording;
    let freezers = members.iter().map(|member| member.up.freezer()).chain(others).collect();
    let waiting = Waiting::new(freezers, false, run.environment);
    let mut waiting = waiting.map_err(Broken::Unattributed)?;
    for at in shuffled(members.len(), run.seed_of(step)) {
        let member = &mut *members[at];
        // A partner failed after this one was done, and the step continues with both.
        let is_done = match run.step(step).of_vector() {
            Some(_) => is_kept && !journal.cell(step, member.idx()).slices.is_empty(),
            None => member.state.tables.are_indexed,
        };
        if is_done {
            continue;
        }
        waiting.refresh().and_then(|()| waiting.only(at)).map_err(Broken::Unattributed)?;
        // Half of the indexes are of no use to a later attempt.
        member.up.set_note(None).map_err(Broken::Unattributed)?;
        let done = of_member(run, journal, member, step, &mut waiting, is_kept);
        done.map_err(|error| Broken::System(member.idx(), error))?;
    }
    Ok(())
}

/// Creates the indexes of a system's tables; the step's rate is of the time that it takes.
fn of_member(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
    waiting: &mut Waiting,
    is_kept: bool,
) -> Result<()> {
    let planned = run.step(step);
    let system = member.idx();
    let warnings = warnings_of_step(run, journal, member.state, step).kinds;
    let seed = run.seed_of(step);
    let bench = run.bench(&member.up);
    if let Some((_, args)) = planned.of_insert() {
        let n_rows = insert_rows_before(&bench, planned, &run.schema(system, args), seed)
            .context("insert the rows before the indexes")?;
        member.state.tables.rows.iter_mut().for_each(|rows| *rows += u64::from(n_rows));
    }
    let tables = indexes_of(run, member, step)?;
    let mut show = |elapsed: Duration| {
        waiting.look_at_the_clock();
        let (system, slice) = (Some(system.0), Some(Nth { idx: 0, n: 1 }));
        journal.tell(Event::Measuring { system, slice, elapsed, qps: 0.0 });
        !run.is_interrupted()
    };
    let mut slice = create(&bench, planned, &tables, seed, &mut show)?;
    member.state.tables.are_indexed = true;
    if planned.of_file().is_ok() {
        member.up.verify_compression()?;
        member.up.alter_tables(&run.environment.interrupt)?;
    }
    if !is_kept {
        return Ok(());
    }
    slice.warnings.splice(0..0, warnings);
    if waiting.gave_up() {
        slice.warnings.push(WarningKind::WaitingNotStopped);
    }
    let debt = member.up.debt()?;
    journal.cell_mut(step, system).debt = debt;
    // A store that another process has locked makes this one wait.
    waiting.thaw();
    journal.keep_slice(step, system, slice)
}

/// What is created on each table of a system.
fn indexes_of(
    run: &RunContext<'_>,
    member: &Member<'_>,
    step: StepIdx,
) -> Result<Vec<TableIndexes>> {
    let system = member.idx();
    let statements: Box<dyn Fn(u32) -> Vec<String>> = match &run.step(step).job {
        Job::Vector { step, args } => {
            let vectors = run.vectors.get(args)?;
            let schema = vectors.schema(run.spec(system).dbms, args);
            let table = step.table();
            let (before, create) = step.index(args).map_or_else(Default::default, |index| {
                (schema.before_index_sql(table), schema.create_index_sql(table, index))
            });
            let statements = create.into_iter().collect();
            return Ok(vec![TableIndexes { rows: vectors.rows(), before, statements }]);
        }
        Job::File { args, .. } => {
            let spec = run.load_spec(system, args);
            Box::new(move |table| spec.finish_table_sql(table))
        }
        Job::Insert { args, .. } => {
            let schema = run.schema(system, args);
            Box::new(move |table| schema.index_sql(table))
        }
    };
    let mut all = Vec::new();
    for (table, &rows) in (1..).zip(&member.state.tables.rows) {
        all.push(TableIndexes { rows, before: Vec::new(), statements: statements(table) });
    }
    Ok(all)
}
