//! Fills the tables of a suite that is read from a file: blocks of equally many rows, with all systems interleaved.

use anyhow::{Context as _, Result, ensure};
use rqps_client::Connection;
use rqps_model::StepIdx;
use rqps_workload::statement::table_name;
use rqps_workload::{LoadSpec, populate};

use super::recording::Recording;
use super::work_blocks::{self, Ended};
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
    for member in &mut *members {
        let created = create_tables(run, member, step);
        created.map_err(|error| Broken::System(member.idx(), error))?;
    }
    let open = |member: &Member<'_>, seed| {
        let (_, args, _) = planned.of_file()?;
        let spec = run.load_spec(member.idx(), args);
        StepClients::of_load(&run.bench(&member.up), planned, &spec, seed)
    };
    let ended = work_blocks::measure(run, journal, members, step, recording, &open)?;
    let Some(Ended { result, all_clients, waiting }) = ended else { return Ok(()) };
    // All servers run when their clients leave.
    drop(waiting);
    drop(all_clients);
    result?;
    for member in members {
        let checked = check_tables(run, member, step);
        checked.map_err(|error| Broken::System(member.idx(), error))?;
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
    member.up.breakable(&run.environment.interrupt, |admin| check_rows(admin, &spec))?;
    member.up.verify_compression()
}

/// Whether every table has the rows that it was given.
fn check_rows(connection: &mut dyn Connection, spec: &LoadSpec) -> Result<()> {
    for table in 1..=spec.tables {
        let sql = populate::count_sql(table);
        let result = connection.query(&sql).context("count rows")?;
        let found = result.scalar().unwrap_or("nothing");
        ensure!(
            found == spec.rows.to_string(),
            "table {table} has {found} rows after a load of {}",
            spec.rows
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rqps_client::NullConnection;
    use rqps_model::{Compression, Dbms, Engine};
    use rqps_workload::Distribution;

    use super::*;

    #[test]
    fn rows_that_are_missing_are_told() {
        let spec = LoadSpec {
            dbms: Dbms::Null,
            engine: Engine::Innodb,
            compression: Compression::None,
            tables: 2,
            rows: 10,
            secondary: false,
            distribution: Distribution::Uniform,
            seed: 1,
        };
        let error = check_rows(&mut NullConnection::default(), &spec).unwrap_err().to_string();
        assert_eq!(error, "table 1 has nothing rows after a load of 10");
    }
}
