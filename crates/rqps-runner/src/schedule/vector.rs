//! Vector search: its tables, and the recall of its searches.

use anyhow::{Context as _, Result};
use rqps_model::{Recall, StepIdx, SystemIdx};
use rqps_workload::VectorArgs;
use rqps_workload::vector::{VectorSchema, VectorStep};

use super::load::{Filling, check_rows, fill};
use super::recording::Recording;

use crate::engine::clients::StepClients;
use crate::failure::Broken;
use crate::insert_tables::Tables;
use crate::journal::Journal;
use crate::run_context::RunContext;
use crate::system_state::Member;
use crate::vector_sets::VectorSet;

/// Queries whose answers are read for the recall, at most: its standard error is then a hundredth of the queries' own
/// spread.
const MOST_QUERIES: usize = 10_000;

/// The same without an index: each query looks at all vectors, and each must find all of the nearest.
const MOST_EXACT_QUERIES: usize = 200;

/// Replaces the tables of all members and fills them.
pub(crate) fn load(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    members: &mut [&mut Member<'_>],
    step: StepIdx,
    recording: Recording,
) -> Result<(), Broken> {
    let planned = run.step(step);
    let Some((_, args)) = planned.of_vector() else { return Ok(()) };
    let vectors = run.vectors.get(args).map_err(Broken::Run)?;
    let filling = Filling {
        create: &|member| create_tables(run, member, args, vectors),
        open: &|member, seed| {
            StepClients::of_vector_load(&run.bench(&member.up), planned, vectors, seed)
        },
        check: &|member| check_tables(run, member, args, vectors),
    };
    fill(run, journal, members, step, recording, &filling)
}

/// Replaces the tables of a system by empty ones.
fn create_tables(
    run: &RunContext<'_>,
    member: &mut Member<'_>,
    args: &VectorArgs,
    vectors: &VectorSet,
) -> Result<()> {
    let schema = vectors.schema(run.spec(member.idx()).dbms, args);
    let tables = 1..=args.tables();
    member.up.make_room(tables.clone().map(VectorSchema::table).collect())?;
    for sql in tables.flat_map(|table| schema.create_table_sql(table)) {
        member.up.admin.query(&sql).with_context(|| format!("create a table ({sql})"))?;
    }
    member.state.tables = Tables::counted(vec![vectors.rows(); args.tables() as usize], false);
    Ok(())
}

/// Whether the tables have their rows.
fn check_tables(
    run: &RunContext<'_>,
    member: &mut Member<'_>,
    args: &VectorArgs,
    vectors: &VectorSet,
) -> Result<()> {
    if !run.spec(member.idx()).dbms.is_server() {
        return Ok(());
    }
    member.up.breakable(&run.environment.interrupt, |admin| {
        check_rows(admin, args.tables(), vectors.rows(), VectorSchema::count_sql)
    })
}

/// Reads the answers of a search, unless they were read before an interruption, and stores its recall: in a session of
/// the step, after the measurement.
pub(crate) fn keep_recall(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    system: SystemIdx,
    step: StepIdx,
    clients: &StepClients,
) -> Result<()> {
    let Some((vector_step, args)) = run.step(step).of_vector() else { return Ok(()) };
    let dbms = run.spec(system).dbms;
    if !journal.cell(step, system).recalls.is_empty() || !dbms.is_server() {
        return Ok(());
    }
    let vectors = run.vectors.get(args)?;
    let schema = vectors.schema(dbms, args);
    let recall = read_recall(run, vectors, vector_step, args, &schema, clients)?;
    match recall {
        Some(recall) => journal.keep_recall(step, system, recall),
        None => Ok(()),
    }
}

fn read_recall(
    run: &RunContext<'_>,
    vectors: &VectorSet,
    step: &VectorStep,
    args: &VectorArgs,
    schema: &VectorSchema,
    clients: &StepClients,
) -> Result<Option<Recall>> {
    let is_exact = step.searched(args).is_none();
    let most = if is_exact { MOST_EXACT_QUERIES } else { MOST_QUERIES };
    let n = vectors.truth.n_queries().min(most);
    let mut recalls = Vec::with_capacity(n);
    for query in 0..n {
        run.check_interrupt()?;
        let sql = schema.search_sql_of(step.table(), is_exact, vectors.set.queries.get(query));
        let answer = clients.pool.ask(0, move |connection| connection.query(&sql))??;
        let mut places = Vec::with_capacity(answer.rows.len());
        for row in &answer.rows {
            let id = row.first().and_then(Option::as_deref).unwrap_or_default();
            places.push(id.parse().with_context(|| format!("the id {id:?} of an answer"))?);
        }
        recalls.push(vectors.truth.recall(&vectors.set, query, &places));
    }
    Ok(Recall::of(args.k, recalls))
}
