//! Fills the tables of a suite that is read from a file: blocks of equally many rows, with all systems interleaved.

use anyhow::{Context as _, Result, ensure};
use rqps_client::Connection;
use rqps_model::StepIdx;
use rqps_workload::populate;
use rqps_workload::statement::table_name;

use super::recording::Recording;
use super::work_blocks::{self, Ended, OpenClients};
use crate::engine::clients::StepClients;
use crate::failure::Broken;
use crate::insert_tables::Tables;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::system_state::Member;

/// Replaces the tables of all members and fills them.
pub(crate) fn load(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
) -> Result<(), Broken> {
    let planned = run.step(step);
    let filling = Filling {
        create: &|member| create_tables(run, member, step),
        open: &|member, seed| {
            let (_, args, _) = planned.of_file()?;
            let spec = run.load_spec(member.idx(), args);
            StepClients::of_load(&run.bench(&member.up), planned, &spec, seed)
        },
        check: &|member| check_tables(run, member, step),
    };
    fill(run, journal, members, step, recording, &filling)
}

/// How the tables of a system are filled.
pub(super) struct Filling<'f> {
    /// Replaces them by empty ones.
    pub(super) create: &'f dyn Fn(&mut Member<'_>) -> Result<()>,
    pub(super) open: &'f OpenClients<'f>,
    /// Whether they have what they must have.
    pub(super) check: &'f dyn Fn(&mut Member<'_>) -> Result<()>,
}

/// Fills the tables of all members in blocks.
pub(super) fn fill(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
    filling: &Filling<'_>,
) -> Result<(), Broken> {
    let Filling { create, open, check } = filling;
    for member in &mut *members {
        create(member).map_err(|error| Broken::System(member.idx(), error))?;
    }
    let ended = work_blocks::measure(run, journal, members, step, recording, open)?;
    let Some(Ended { result, all_clients, waiting }) = ended else { return Ok(()) };
    // All servers run when their clients leave.
    drop(waiting);
    drop(all_clients);
    result?;
    for member in members {
        check(member).map_err(|error| Broken::System(member.idx(), error))?;
    }
    Ok(())
}

/// Replaces the tables of a system by empty ones.
fn create_tables(run: &RunContext<'_>, member: &mut Member<'_>, step: StepIdx) -> Result<()> {
    let (_, args, _) = run.step(step).of_file()?;
    let spec = run.load_spec(member.idx(), args);
    member.up.make_room((1..=spec.tables).map(table_name).collect())?;
    for table in 1..=spec.tables {
        let sql = spec.create_table_sql(table);
        member.up.admin.query(&sql).with_context(|| format!("create a table ({sql})"))?;
    }
    member.state.tables = Tables::counted(vec![spec.rows; spec.tables as usize], false);
    Ok(())
}

/// Whether the tables have their rows. Counting reads them through: no part of what was measured.
fn check_tables(run: &RunContext<'_>, member: &mut Member<'_>, step: StepIdx) -> Result<()> {
    let (_, args, _) = run.step(step).of_file()?;
    let spec = run.load_spec(member.idx(), args);
    if !spec.dbms.is_server() {
        return Ok(());
    }
    member.up.breakable(&run.environment.interrupt, |admin| {
        check_rows(admin, spec.tables, spec.rows, populate::count_sql)
    })?;
    member.up.verify_compression()
}

/// Whether every table has the rows that it was given.
pub(super) fn check_rows(
    connection: &mut dyn Connection,
    tables: u32,
    rows: u64,
    count_sql: fn(u32) -> String,
) -> Result<()> {
    for table in 1..=tables {
        let result = connection.query(&count_sql(table)).context("count rows")?;
        let found = result.scalar().unwrap_or("nothing");
        ensure!(found == rows.to_string(), "table {table} has {found} rows after a load of {rows}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rqps_client::NullConnection;

    use super::*;

    #[test]
    fn rows_that_are_missing_are_told() {
        let error = check_rows(&mut NullConnection::default(), 2, 10, populate::count_sql);
        let error = error.unwrap_err().to_string();
        assert_eq!(error, "table 1 has nothing rows after a load of 10");
    }
}
