//! The load step: creates tables, fills them from several connections at once, indexes them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use rqps_client::{AnyConnection, Connection, Endpoint};
use rqps_load::clock::Clock;
use rqps_load::{Order, Pace, Stop, Tally};
use rqps_model::{Dbms, Slice, WarningKind};
use rqps_server::Patience;
use rqps_workload::{LoadSpec, populate};

use crate::engine::bench::Bench;
use crate::engine::guard::Witness;
use crate::engine::warnings;
use crate::engine::window::{Window, slice_of};
use crate::plan::steps::PlannedStep;

/// How often progress is shown while tables fill.
const SHOW_EVERY: Duration = Duration::from_millis(200);

/// Opens a connection.
pub(crate) type Open<'a> = dyn Fn() -> Result<Box<dyn Connection>, rqps_client::Error> + 'a;

/// Opens connections to a server.
pub(crate) fn opener(
    dbms: Dbms,
    endpoint: &Endpoint,
) -> impl Fn() -> Result<Box<dyn Connection>, rqps_client::Error> + use<> {
    let endpoint = endpoint.clone();
    move || Ok(Box::new(AnyConnection::open(dbms, &endpoint)?))
}

/// What a load needs to know of its surroundings.
pub(crate) struct Surroundings<'a> {
    /// Opens a connection to the server.
    pub(crate) open: &'a Open<'a>,
    /// Set when the user wants to stop.
    pub(crate) interrupt: &'a AtomicBool,
    /// How long an answer is waited for.
    pub(crate) patience: Patience,
}

/// Fills the tables of a load step; the time that it takes is the slice's. Whether the rows are there is the
/// caller's to check ([`check_rows`]): counting them reads the tables through.
pub(crate) fn measure_load(
    bench: &Bench<'_>,
    planned: &PlannedStep,
    spec: &LoadSpec,
    show: &mut dyn FnMut(u64),
) -> Result<Slice> {
    let open = opener(bench.dbms, bench.endpoint);
    let around = Surroundings { open: &open, interrupt: bench.interrupt, patience: bench.patience };
    let window = Window::open(bench)?;
    let witness = Witness::start();
    let tally = fill(spec, planned.clients, &around, show)?;
    let told = witness.warnings();
    let seen = window.close()?;
    let n = u32::try_from(spec.split(planned.clients).len()).unwrap_or(planned.clients);
    let mut warnings = [told, warnings::of_slice(&[&tally], &seen.usage, n)].concat();
    if n < planned.clients && spec.bulk_load_sql().is_some() {
        warnings.push(WarningKind::BulkLoad { n_loaders: n, n_clients: planned.clients });
    }
    Ok(slice_of(&tally, 0, spec.seed, seen, warnings))
}

/// Fills the tables and returns what was counted: rows as operations, the time with creation and
/// indexes and nothing else. `show` is told the rows so far. Whether the rows are there is the
/// caller's to check ([`check_rows`]), after the measured time.
pub(crate) fn fill(
    spec: &LoadSpec,
    n_loaders: u32,
    around: &Surroundings<'_>,
    show: &mut dyn FnMut(u64),
) -> Result<Tally> {
    let connect = || -> Result<Box<dyn Connection>> {
        let mut connection = (around.open)().context("connect to load")?;
        connection.set_timeout(Some(around.patience.question()))?;
        Ok(connection)
    };
    let mut first = connect()?;
    // It waits until all rows are there.
    rqps_server::idle::keep(spec.dbms, first.as_mut())?;
    let parts = spec.split(n_loaders);
    let connections = parts.iter().map(|_| connect()).collect::<Result<Vec<_>>>()?;
    let clock = Clock::starting_at(Instant::now());
    for table in 1..=spec.tables {
        first.query(&spec.create_table_sql(table)).context("create a table")?;
    }
    let order = Order { pace: Pace::Closed, stop: Stop::Events(0), seed: spec.seed };
    let n_rows = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let mut sum = Tally::for_order(&order);
    std::thread::scope(|scope| -> Result<()> {
        let mut loaders = Vec::new();
        // Nothing is sent: the channel closes when the last loader has ended, which is noticed at
        // once. A pause of the display's length would count as time of the load.
        let (alive, ends) = channel::<()>();
        for (parts, mut connection) in parts.iter().zip(connections) {
            let (n_rows, failed, alive) = (&n_rows, &failed, alive.clone());
            let interrupt = around.interrupt;
            let load = move || -> Result<Tally> {
                let _alive = alive;
                let mut tally = Tally::for_order(&order);
                for part in parts {
                    let mut begin_ns = clock.now_ns();
                    let done = populate::populate_table_part(
                        connection.as_mut(),
                        spec,
                        part,
                        &mut |rows| {
                            let now_ns = clock.now_ns();
                            tally.statement(now_ns, rows, 0);
                            tally.event(now_ns - begin_ns, now_ns);
                            begin_ns = now_ns;
                            n_rows.fetch_add(rows, Ordering::Relaxed);
                            !failed.load(Ordering::Relaxed) && !interrupt.load(Ordering::Relaxed)
                        },
                    );
                    if let Err(error) = done {
                        failed.store(true, Ordering::Relaxed);
                        return Err(error).with_context(|| format!("fill table {}", part.table));
                    }
                }
                Ok(tally)
            };
            let loader = std::thread::Builder::new().spawn_scoped(scope, load);
            if loader.is_err() {
                // The scope waits for those that have begun.
                failed.store(true, Ordering::Relaxed);
            }
            loaders.push(loader.context("start a loading thread")?);
        }
        drop(alive);
        while ends.recv_timeout(SHOW_EVERY) == Err(RecvTimeoutError::Timeout) {
            show(n_rows.load(Ordering::Relaxed));
        }
        for loader in loaders {
            let tally = loader.join().map_err(|_| anyhow!("a loading thread ended early"))??;
            sum.merge(&tally);
        }
        Ok(())
    })?;
    if around.interrupt.load(Ordering::Relaxed) {
        bail!("interrupted while tables were filled");
    }
    finish(first, spec, around)?;
    sum.last_ns = clock.now_ns();
    sum.finish(sum.last_ns);
    Ok(sum)
}

/// Indexes the tables and what else comes after their rows. Each statement has as long as its table is
/// large, until the user wants to stop.
fn finish(
    mut connection: Box<dyn Connection>,
    spec: &LoadSpec,
    around: &Surroundings<'_>,
) -> Result<()> {
    connection.set_timeout(Some(around.patience.through_rows(spec.rows)))?;
    let interrupt = around.interrupt;
    let breaker = connection.breaker()?;
    let (alive, ends) = channel::<()>();
    std::thread::scope(|scope| -> Result<()> {
        let statements = move || -> Result<()> {
            let _alive = alive;
            for sql in (1..=spec.tables).flat_map(|table| spec.finish_table_sql(table)) {
                connection.query(&sql).with_context(|| format!("finish a table ({sql})"))?;
            }
            Ok(())
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, statements);
        let thread = thread.context("start a thread that finishes the tables")?;
        let mut is_stopped = false;
        while ends.recv_timeout(SHOW_EVERY) == Err(RecvTimeoutError::Timeout) {
            if interrupt.load(Ordering::Relaxed) {
                is_stopped = true;
                breaker.break_off();
            }
        }
        let done = thread.join().map_err(|_| anyhow!("the thread that finishes tables ended"))?;
        if is_stopped {
            bail!("interrupted while tables were finished");
        }
        done
    })
}

/// Whether every table has the rows that it was given.
pub(crate) fn check_rows(connection: &mut dyn Connection, spec: &LoadSpec) -> Result<()> {
    for table in 1..=spec.tables {
        let sql = populate::count_sql(table);
        let result = connection.query(&sql).context("count rows")?;
        let found = result.scalar().unwrap_or("nothing");
        ensure!(
            found == spec.rows.to_string(),
            "table {table} has {found} rows after the load where {} were written",
            spec.rows
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use rqps_client::{
        Breaker, Error, NullConnection, Outcome, Params, ResultSet, Session, StatementId,
        StatementSpec,
    };
    use rqps_model::{Compression, Engine};
    use rqps_workload::Distribution;

    use super::*;

    fn spec() -> LoadSpec {
        LoadSpec {
            dbms: Dbms::Null,
            engine: Engine::Innodb,
            compression: Compression::None,
            tables: 2,
            rows: 10,
            secondary: false,
            distribution: Distribution::Uniform,
            seed: 1,
        }
    }

    fn load(open: &Open<'_>) -> Tally {
        let around = Surroundings {
            open,
            interrupt: &AtomicBool::new(false),
            patience: Patience::default(),
        };
        fill(&spec(), 2, &around, &mut |_| {}).unwrap()
    }

    /// What the connections of [`Recorder`] were asked, in order.
    static ASKED: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// How long they were told to wait, in order.
    static TIMEOUTS: Mutex<Vec<Option<Duration>>> = Mutex::new(Vec::new());

    /// A null client that writes down what it is asked as text.
    struct Recorder(NullConnection);

    impl Connection for Recorder {
        fn prepare(&mut self, spec: &StatementSpec<'_>) -> Result<StatementId, Error> {
            self.0.prepare(spec)
        }
        fn execute(&mut self, id: StatementId, params: &Params) -> Result<Outcome, Error> {
            self.0.execute(id, params)
        }
        fn execute_text(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
            self.0.execute_text(sql)
        }
        fn query(&mut self, sql: &str) -> Result<ResultSet, Error> {
            ASKED.lock().unwrap().push(sql.to_lowercase());
            self.0.query(sql)
        }
        fn session(&self) -> &Session {
            self.0.session()
        }
        fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
            TIMEOUTS.lock().unwrap().push(timeout);
            self.0.set_timeout(timeout)
        }
        fn breaker(&self) -> Result<Breaker, Error> {
            self.0.breaker()
        }
    }

    #[test]
    fn rows_are_counted_after_the_timed_part() {
        let n_counts = || ASKED.lock().unwrap().iter().filter(|q| q.contains("count(")).count();
        assert_eq!(load(&|| Ok(Box::new(Recorder(NullConnection::default())))).n_operations, 20);
        assert!(ASKED.lock().unwrap().iter().any(|q| q.starts_with("create table")));
        assert_eq!(n_counts(), 0, "the load itself counts rows");
        let mut connection = Recorder(NullConnection::default());
        let error = check_rows(&mut connection, &spec()).unwrap_err().to_string();
        assert_eq!(n_counts(), 1);
        assert_eq!(error, "table 1 has nothing rows after the load where 10 were written");
        // Nothing of a load waits for ever: not even what indexes its tables.
        let timeouts = TIMEOUTS.lock().unwrap();
        assert_eq!(timeouts.last(), Some(&Some(Patience::default().through_rows(10))));
        assert!(timeouts.len() > 1 && timeouts.iter().all(Option::is_some), "{timeouts:?}");
    }

    #[test]
    fn waiting_for_the_display_is_no_part_of_the_time() {
        // The least of several: a busy machine can make any one of them long.
        let tallies: Vec<Tally> =
            (0..10).map(|_| load(&|| Ok(Box::new(NullConnection::default())))).collect();
        assert!(tallies.iter().all(|t| t.n_operations == 20));
        let least = tallies.iter().map(Tally::duration_ns).min().unwrap();
        assert!(u128::from(least) < SHOW_EVERY.as_nanos() / 2, "{least} ns");
    }
}
