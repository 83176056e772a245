//! Fills the tables of a suite that is read from a file.

use anyhow::Result;
use rqps_model::{Slice, StepIdx};
use rqps_workload::LoadSpec;
use rqps_workload::statement::table_name;

use crate::engine::populate;
use crate::event::Event;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// Replaces a system's tables and fills them.
pub(crate) fn load(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    member: &mut Member<'_>,
    step: StepIdx,
) -> Result<Slice> {
    let planned = run.step(step);
    let spec = run.spec(member.idx());
    let (_, args, _) = planned.of_file()?;
    // One seed for the whole run: every system holds the same rows.
    let load =
        LoadSpec::new(args, spec.dbms, spec.engine, run.seed).compressed(spec.variant.compression);
    let up = &mut member.up;
    up.make_room((1..=load.tables).map(table_name).collect())?;
    let total_rows = load.rows * u64::from(load.tables);
    let label = &spec.label;
    let mut show = |rows| journal.tell(Event::Populating { label, rows, total_rows });
    let slice = populate::measure_load(&run.bench(up), planned, &load, &mut show)?;
    // Counting rows reads the tables through: no part of what was measured.
    if spec.dbms.is_server() {
        let interrupt = &run.environment.interrupt;
        up.breakable(interrupt, |admin| populate::check_rows(admin, &load))?;
        up.verify_compression()?;
        up.alter_tables(interrupt)?;
    }
    Ok(slice)
}
