//! l.x: some more rows, then the secondary indexes, one connection per table.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use rqps_client::Connection;
use rqps_load::clock::Clock;
use rqps_load::{Order, Pace, Stop, Tally};
use rqps_model::{Mark, Placement, Role, Usage};
use rqps_store::unix_ms;
use rqps_workload::insert::{InsertWorker, Inserter, Rows, Schema, TableIds};
use rqps_workload::{InsertArgs, Worker as _};

use super::reset_sequence;
use crate::bench::Bench;
use crate::event::Event;
use crate::guard::Witness;
use crate::marks;
use crate::measure::{connect, place_server, slice_of};
use crate::run::Lab;
use crate::seed;
use crate::steps::PlannedStep;
use crate::system::Up;
use crate::waiting::{RAN_ON, Waiting};

/// How often progress is shown.
const SHOW_EVERY: Duration = Duration::from_millis(500);

impl Lab<'_> {
    /// Creates the indexes of a system's tables; the time that it takes is the step's figure.
    pub(super) fn create_indexes(
        &mut self,
        step_idx: usize,
        (idx, up): (usize, &mut Up),
        waiting: &mut Waiting,
        store: bool,
    ) -> Result<()> {
        let Some((step, args)) = self.insert_job(step_idx) else { bail!("not a step to index") };
        let schema = self.schema(idx, &args);
        let marks = self.marks_of(idx, step_idx);
        let planned = self.steps[step_idx].clone();
        let seed = seed::of_step(self.run.seed, step_idx);
        let bench = up.bench(&self.cpus, &self.context.interrupt);
        let extra = step.rows_per_commit;
        insert_extra(&bench, &planned, (&schema, &args), extra, seed)
            .context("insert the rows before the indexes")?;
        for rows in &mut self.states[idx].tables.rows {
            *rows += u64::from(extra);
        }
        let rows = self.states[idx].tables.rows.clone();
        let bench = up.bench(&self.cpus, &self.context.interrupt);
        drop(up.samples().take());
        let start_unix_ms = unix_ms();
        let (witness, first) = (Witness::start(), up.samples().mark()?);
        let interrupt = &self.context.interrupt;
        let listen = &mut *self.listen;
        let mut show = |elapsed: Duration| {
            waiting.look_at_the_clock();
            listen(Event::Measuring { system: Some(idx), slice: Some(0), elapsed, qps: 0.0 });
            !interrupt.load(Ordering::Relaxed)
        };
        let tally = create(&bench, (&schema, &rows), seed, &mut show)?;
        let (last, seen) = (up.samples().mark()?, witness.marks());
        self.states[idx].tables.are_indexed = true;
        if !store {
            return Ok(());
        }
        let usage = Usage::between(&first, &last);
        let mut samples = up.samples().take();
        samples.retain(|s| (first.at_ns..=last.at_ns).contains(&s.at_ns));
        let told = marks::of_slice(&[&tally], &usage, planned.clients);
        let mut marks = [marks, seen, told].concat();
        if waiting.gave_up() {
            marks.push(Mark::Note { text: RAN_ON.to_owned() });
        }
        let debt = up.debt()?;
        self.run.steps[step_idx].systems[idx].debt = debt;
        let slice = slice_of(&tally, (seed, 0, start_unix_ms), (usage, samples), marks);
        // A store that another process has locked makes this one wait.
        waiting.thaw();
        self.keep(idx, step_idx, slice)
    }
}

/// Inserts one statement's rows into each table.
fn insert_extra(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    (schema, args): (&Schema, &InsertArgs),
    n_rows: u32,
    seed: u64,
) -> Result<()> {
    place_server(bench, planned.placement)?;
    for table in 1..=args.tables() {
        let (mut connection, _) = connect(bench, planned.placement, (table - 1, seed))?;
        reset_sequence(&mut connection, table, bench.dbms)?;
        let rows = Rows { ids: Arc::new(TableIds::new(1, 0)), pair: None };
        let draw = (args.protocol.for_role(Role::Insert, bench.dbms), table, seed);
        let inserter = Inserter::new(&mut connection, (schema, table), (rows, n_rows), draw)?;
        InsertWorker::Insert(inserter).event(&mut connection, &mut |_| {})?;
    }
    Ok(())
}

/// Creates the indexes of all tables at once, each on a connection of its own; counts the tables' rows.
fn create(
    bench: &Bench<'_>,
    (schema, rows): (&Schema, &[u64]),
    seed: u64,
    show: &mut dyn FnMut(Duration) -> bool,
) -> Result<Tally> {
    place_server(bench, Placement::Free)?;
    let order = Order { pace: Pace::Closed, stop: Stop::Events(0), seed };
    let mut connections = Vec::new();
    for idx in 0..rows.len() {
        let idx = u32::try_from(idx).unwrap_or(0);
        // Threads that the server starts for this inherit the CPUs of the one that serves the client.
        let mut connection = connect(bench, Placement::Free, (idx, seed))?.0;
        // All tables at once share the storage.
        connection.set_timeout(Some(bench.patience.through_rows(rows.iter().sum())))?;
        connections.push(connection);
    }
    let breakers = connections.iter().map(Connection::breaker).collect::<Result<Vec<_>, _>>()?;
    let clock = Clock::starting_at(Instant::now());
    let mut sum = Tally::for_order(&order);
    std::thread::scope(|scope| -> Result<()> {
        let (alive, ends) = channel::<()>();
        let mut threads = Vec::new();
        for ((number, mut connection), rows) in (1_u32..).zip(connections).zip(rows) {
            let alive = alive.clone();
            threads.push(scope.spawn(move || -> Result<Tally> {
                let _alive = alive;
                let mut tally = Tally::for_order(&order);
                let mut begin_ns = clock.now_ns();
                let statements = schema.index_sql(number);
                let n = statements.len() as u64;
                for (at, sql) in (0_u64..).zip(&statements) {
                    connection.query(sql).with_context(|| format!("create an index ({sql})"))?;
                    let now_ns = clock.now_ns();
                    // Each of several statements indexes its part of what the figure counts.
                    tally.statement(now_ns, rows * (at + 1) / n - rows * at / n, 0);
                    tally.event(now_ns - begin_ns, now_ns);
                    begin_ns = now_ns;
                }
                Ok(tally)
            }));
        }
        drop(alive);
        let mut stopped = false;
        while ends.recv_timeout(SHOW_EVERY) == Err(RecvTimeoutError::Timeout) {
            if !show(Duration::from_nanos(clock.now_ns())) {
                // A statement that takes minutes is not waited for.
                stopped = true;
                breakers.iter().for_each(rqps_client::Breaker::break_off);
            }
        }
        for thread in threads {
            let tally = thread.join().map_err(|_| anyhow!("an indexing thread ended early"))?;
            if stopped {
                bail!("interrupted while indexes were created");
            }
            sum.merge(&tally?);
        }
        Ok(())
    })?;
    sum.last_ns = clock.now_ns();
    sum.finish(sum.last_ns);
    Ok(sum)
}
