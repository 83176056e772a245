//! What a server that is up is asked, and told to do, beside being measured.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rqps_client::Connection;
use rqps_model::{Dbms, Engine, QueryPlan, RunSystem, Sizes, TableState};
use rqps_server::dbms::{has_binary_log, own_scope};
use rqps_server::{Watch, audit, compression, debt, destructive, facts, lsm, settle, table_state};
use rqps_workload::Probe;

use super::answers::{Gone, ask};
use super::host::scope;
use super::silence::Silence;
use super::{RunningSystem, query_plans};
use crate::engine::clients::StepClients;
use crate::system::demands::Subject;

/// How long a server may take over one thing that goes through tables and is not measured: counting rows, a
/// checkpoint, a vacuum. Whether it is still there is asked meanwhile.
const DO_WITHIN: Duration = Duration::from_secs(4 * 3600);

/// How often an interrupt is looked for while a server is asked for something that may take long.
const LOOK_EVERY: Duration = Duration::from_millis(200);

impl RunningSystem {
    /// What the server says it is and runs with.
    pub(crate) fn facts(&mut self) -> Result<RunSystem> {
        self.renew()?;
        let dbms = self.spec.dbms;
        let version_text = if dbms.is_server() {
            facts::version_text(self.admin.as_mut())?
        } else {
            dbms.to_string()
        };
        let settings = facts::effective_settings(dbms, self.admin.as_mut())?;
        let setup = self.server.as_ref().map(|s| s.instance.setup());
        let configured = setup.map(|s| s.config.option_names(dbms));
        let origins =
            audit::origins(dbms, self.version.as_ref(), self.admin.as_mut(), configured.as_ref());
        let mut build = setup.map_or_else(BTreeMap::new, |s| s.installed.build_facts());
        build.extend(audit::build_facts(dbms, self.admin.as_mut(), &version_text, &settings));
        Ok(RunSystem {
            spec: self.spec.clone(),
            version: self.version.clone(),
            version_text,
            origin: self.origin.clone(),
            session: facts::session_facts(dbms, self.admin.as_mut())?,
            process: self
                .server
                .as_ref()
                .map(|s| s.running.process_facts().clone())
                .unwrap_or_default(),
            build,
            origins,
            settings,
        })
    }

    /// Takes the tables of an earlier attempt for its own.
    pub(crate) fn adopt_tables(&mut self, tables: Vec<String>) {
        self.tables = tables;
    }

    /// Makes room for a suite's tables: older ones are dropped, on somebody else's server in rqps's own schema.
    pub(crate) fn make_room(&mut self, tables: Vec<String>) -> Result<()> {
        if !self.spec.dbms.is_server() {
            return Ok(());
        }
        self.renew()?;
        // Its data are not whole until the new ones are filled.
        self.set_note(None)?;
        let made: BTreeSet<String> = self.tables.drain(..).collect();
        let Some(scope) = scope(self.server.as_ref(), self.guest.as_ref()) else { return Ok(()) };
        for table in made.iter().chain(tables.iter().filter(|table| !made.contains(*table))) {
            destructive::drop_table(scope, table, self.admin.as_mut())?;
        }
        self.tables = tables;
        Ok(())
    }

    /// Runs the plan's own statements on tables that were just filled.
    pub(crate) fn alter_tables(&mut self, interrupt: &AtomicBool) -> Result<()> {
        let statements = self.spec.variant.sql_after_load.clone();
        let (dbms, guest) = (self.spec.dbms, self.guest.clone());
        let instance = self.server.as_ref().map(|s| s.instance_dirs());
        for sql in statements {
            let done = self.breakable(interrupt, |admin| {
                let scope = match (&instance, &guest) {
                    (Some((dir, _)), _) => own_scope(dbms, dir),
                    (None, Some(guest)) => guest.scope(),
                    // The null client has no server.
                    (None, None) => return Ok(()),
                };
                Ok(destructive::run_of_plan(scope, &sql, admin)?)
            });
            done.context("run the plan's sql_after_load")?;
        }
        Ok(())
    }

    /// Asks the server for something that may take long. A user who does not wait is not made to: the
    /// connection is broken, and what is asked of the server after that fails. Not that of somebody else's
    /// server, which would go on with it, and keep what was changed for its time.
    pub(crate) fn breakable<T>(
        &mut self,
        interrupt: &AtomicBool,
        work: impl FnOnce(&mut dyn Connection) -> Result<T>,
    ) -> Result<T> {
        let done = if self.server.is_none() {
            self.renew()?;
            let _ = self.admin.set_timeout(Some(DO_WITHIN));
            work(self.admin.as_mut())
        } else {
            let patience = self.patience;
            let answer = self.broken_off(interrupt, |admin| Ok(ask(admin, patience)))?;
            if answer.is_err() && interrupt.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            self.renew_after(answer)?;
            let _ = self.admin.set_timeout(Some(DO_WITHIN));
            self.broken_off(interrupt, work)
        };
        let _ = self.admin.set_timeout(Some(self.patience.question()));
        if let Err(error) = &done
            && let Some(error) =
                error.chain().find_map(|cause| cause.downcast_ref::<rqps_client::Error>())
        {
            self.note_hang(error);
        }
        done
    }

    /// Asks the server for something, and breaks the connection on an interrupt, when it answers nobody, and
    /// a moment after its first process has ended: one of PostgreSQL's others may outlive that, and wait for
    /// ever.
    fn broken_off<T>(
        &mut self,
        interrupt: &AtomicBool,
        work: impl FnOnce(&mut dyn Connection) -> Result<T>,
    ) -> Result<T> {
        let breaker = self.admin.breaker()?;
        let mut silence = Silence::of(self.spec.dbms, &self.endpoint, self.patience);
        let (running, die) = (self.server.as_ref().map(|s| &s.running), self.patience.die());
        let (admin, is_silent) = (self.admin.as_mut(), AtomicBool::new(false));
        let done = std::thread::scope(|scope| {
            let ((working, ends), is_silent) = (channel::<()>(), &is_silent);
            let watch = move || {
                let mut ended = None;
                while ends.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    if silence.is_total() {
                        is_silent.store(true, Ordering::Relaxed);
                    }
                    if running.is_some_and(|running| !running.is_alive()) {
                        ended.get_or_insert_with(Instant::now);
                    }
                    let is_over = ended.is_some_and(|since: Instant| since.elapsed() >= die)
                        || is_silent.load(Ordering::Relaxed)
                        || interrupt.load(Ordering::Relaxed);
                    if is_over {
                        breaker.break_off();
                    }
                }
            };
            let watching = std::thread::Builder::new().spawn_scoped(scope, watch);
            watching.context("start a thread that hears an interrupt")?;
            let done = work(admin);
            drop(working);
            done
        });
        match done {
            Err(_) if interrupt.load(Ordering::Relaxed) => bail!("interrupted"),
            Err(error) if is_silent.load(Ordering::Relaxed) => {
                self.gone = Some(Gone::Silent);
                Err(error)
            }
            other => other,
        }
    }

    /// Checks that the tables are compressed as the plan asks.
    pub(crate) fn verify_compression(&mut self) -> Result<()> {
        self.renew()?;
        let subject = {
            let running = self.server.as_ref().map(|s| &s.running);
            Subject::of(&self.spec, running, self.admin.as_ref())
        };
        let scope = scope(self.server.as_ref(), self.guest.as_ref());
        let Some((subject, scope)) = subject.zip(scope) else { return Ok(()) };
        let compression = self.spec.variant.compression;
        let (subject, admin) = (subject.compression(scope), self.admin.as_mut());
        Ok(compression::verify(subject, compression, &self.tables, admin)?)
    }

    /// The state of the engine's tree, where it has one that tells.
    pub(crate) fn lsm_state(&mut self) -> Result<Option<lsm::State>> {
        if self.spec.engine != Engine::Rocksdb {
            return Ok(None);
        }
        self.renew()?;
        match lsm::State::read(self.admin.as_mut()) {
            Ok(state) => Ok(Some(state)),
            // Somebody else's server may keep it to itself.
            Err(_) if self.server.is_none() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Its family.
    pub(crate) fn dbms(&self) -> Dbms {
        self.spec.dbms
    }

    /// How it goes about statements, asked in the sessions of a step; nothing of the null client.
    pub(crate) fn plans(&self, probes: &[Probe], clients: &StepClients) -> Result<Vec<QueryPlan>> {
        let dbms = self.spec.dbms;
        if !dbms.is_server() {
            return Ok(Vec::new());
        }
        let server = query_plans::Server { dbms, version: self.version.clone() };
        query_plans::ask(&server, probes, clients)
    }

    /// What the server has left to do, by name.
    pub(crate) fn debt(&mut self) -> Result<BTreeMap<String, u64>> {
        self.renew()?;
        Ok(debt::read(self.spec.dbms, self.admin.as_mut())?)
    }

    /// The state of its tables.
    pub(crate) fn table_state(&mut self) -> Result<TableState> {
        self.renew()?;
        let Some(version) = &self.version else { return Ok(TableState::new()) };
        let data_dir = self.server.as_ref().map(|s| s.running.data_dir());
        Ok(table_state::read(self.spec.dbms, version, data_dir, self.admin.as_mut())?)
    }

    /// Brings background work to rest; tells what was left.
    pub(crate) fn settle(&mut self, rows: u64, interrupt: &AtomicBool) -> Result<Option<String>> {
        let Some(version) = &self.version else { return Ok(None) };
        let (dbms, version) = (self.spec.dbms, version.clone());
        let (guest, instance) =
            (self.guest.clone(), self.server.as_ref().map(|s| s.instance_dirs()));
        let settled = self.breakable(interrupt, |admin| {
            let (scope, data_dir) = match (&instance, &guest) {
                (Some((dir, data)), _) => (own_scope(dbms, dir), Some(data.as_path())),
                (None, Some(guest)) => (guest.scope(), None),
                (None, None) => bail!("nothing to settle"),
            };
            let target = settle::Target { dbms, version: &version, scope, data_dir };
            let mut watch = Watch { stop: interrupt, report: &mut |_| {} };
            Ok(settle::settle(&target, admin, rows, &mut watch)?)
        })?;
        Ok((!settled.at_rest()).then(|| settled.left.join(", ")))
    }

    /// Sizes of the tables and of the data directory.
    pub(crate) fn sizes(&mut self) -> Result<Sizes> {
        self.renew()?;
        let Some(version) = &self.version else { return Ok(Sizes::default()) };
        let dir = self.server.as_ref().map(|s| s.running.data_dir());
        let admin = self.admin.as_mut();
        let database = facts::database_bytes(self.spec.dbms, version, dir, admin)?;
        let data_dir = self.server.as_ref().map(|s| s.running.data_dir_sizes());
        let has_binlog = has_binary_log(self.spec.dbms);
        Ok(Sizes {
            database_bytes: database,
            data_dir_bytes: data_dir.map(|d| d.total),
            redo_bytes: data_dir.map(|d| d.redo),
            binlog_bytes: data_dir.filter(|_| has_binlog).map(|d| d.binlog),
        })
    }
}
