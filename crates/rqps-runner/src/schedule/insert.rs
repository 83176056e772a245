//! A step of the Insert Benchmark on systems that are up.
//!
//! Each step but l.x is cut into blocks, as steps of other suites are. Steps that insert do a fixed
//! amount of work: a block is a fixed part of it, so that block i of one system meets tables as large as
//! block i of another, however long each takes. Several systems are interleaved; those that wait are stopped.

mod blocks;
mod check;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use rqps_model::StepIdx;
use rqps_workload::insert::{Schema, Work};

use crate::failure::Broken;
use crate::insert_tables::Tables;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::schedule::index::create_indexes;
use crate::schedule::recording::Recording;
use crate::schedule::settle::{Settled, settle_all};
use crate::system_state::Member;

pub(crate) use check::{interrupted, server_failed};

/// Carries out a step of the Insert Benchmark on one system or several that are interleaved.
pub(crate) fn insert_step(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
) -> Result<(), Broken> {
    let Some((work, _)) = run.step(step).of_insert() else {
        return Err(Broken::Unattributed(anyhow!("not a step of the Insert Benchmark")));
    };
    if let Work::Query { .. } = work.work {
        come_to_rest(run, journal, members, step)?;
    } else {
        members.iter_mut().for_each(|member| member.state.is_stirred = true);
    }
    if work.work == Work::Load {
        for member in &mut *members {
            let created = create_tables(run, member, step);
            created.map_err(|error| Broken::System(member.idx(), error))?;
        }
    }
    match work.work {
        Work::Index => create_indexes(run, journal, members, step, recording)?,
        _ => blocks::measure(run, journal, members, step, recording)?,
    }
    if matches!(work.work, Work::Load | Work::Index) {
        // Again after the indexes: the server may have rewritten the table for them.
        for member in members {
            let verified = member.up.verify_compression();
            verified.map_err(|error| Broken::System(member.idx(), error))?;
        }
    }
    Ok(())
}

/// Replaces the tables of a system by empty ones.
fn create_tables(run: &RunContext<'_>, member: &mut Member<'_>, step: StepIdx) -> Result<()> {
    let Some((_, args)) = run.step(step).of_insert() else { return Ok(()) };
    let schema = run.schema(member.idx(), args);
    member.up.make_room((1..=args.tables()).map(Schema::table).collect())?;
    for table in 1..=args.tables() {
        for sql in schema.create_table_sql(table) {
            member.up.admin.query(&sql).with_context(|| format!("create a table ({sql})"))?;
        }
    }
    member.state.tables = Tables::counted(vec![0; args.tables() as usize], false);
    Ok(())
}

/// Lets servers settle before they are queried, whatever changed their tables, and leaves them alone
/// for as long as the size of the tables demands: all together, so that none has longer.
fn come_to_rest(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
) -> Result<(), Broken> {
    let is_stirred = |member: &&mut &mut Member<'_>| member.state.is_stirred;
    let stirred: Vec<&mut Member<'_>> =
        members.iter_mut().filter(is_stirred).map(|member| &mut **member).collect();
    let mut wait = Duration::ZERO;
    if !stirred.is_empty()
        && let Some((_, args)) = run.step(step).of_insert()
    {
        wait = args.wait();
    }
    for Settled { system, result } in
        settle_all(run, journal, stirred, step).map_err(Broken::Unattributed)?
    {
        result.map_err(|error| Broken::System(system, error))?;
    }
    members.iter_mut().for_each(|member| member.state.is_stirred = false);
    let until = Instant::now() + wait;
    while Instant::now() < until {
        run.check_interrupt().map_err(Broken::Run)?;
        let left = until.saturating_duration_since(Instant::now());
        #[expect(clippy::disallowed_methods, reason = "a wait is what the benchmark asks for")]
        std::thread::sleep(left.min(Duration::from_millis(100)));
    }
    Ok(())
}
