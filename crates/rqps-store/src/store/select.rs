//! Reads runs back: whole, or the latest that can be resumed.

use std::collections::BTreeMap;

use rqps_model::run::SystemStep;
use rqps_model::{
    Host, Run, RunStatus, RunStep, RunSystem, SettingOrigin, Sizes, StepInfo, StepOutcome,
    TableState,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::slices::{self, Place};
use crate::store::Store;
use crate::store::insert::{BUILD_SCOPE, PROCESS_SCOPE, SERVER_SCOPE, SESSION_SCOPE};
use crate::store::{query_plans, recall, table_state, warnings};
use crate::values::unknown_word;
use crate::values::{Json, Text, Word};
use crate::{Error, RunRef};

impl Store {
    /// A run with all its slices.
    ///
    /// # Errors
    /// When no run or several runs are meant, or the store cannot be read.
    pub fn select_run(&self, run: &RunRef) -> Result<Run, Error> {
        let run_id = self.resolve(run)?;
        self.select_by_id(&run_id)
    }

    /// The latest unfinished run of this plan (TOML with every default), with its slices; `None` without one.
    /// [`Store::lock_run`] says whether a process still works on it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn select_latest_unfinished(&self, plan: &str) -> Result<Option<Run>, Error> {
        let sql = "SELECT run_id FROM run WHERE plan = ? AND status <> ?
                   ORDER BY started_unix_ms DESC, run_id DESC LIMIT 1";
        let of = params![plan, Word(RunStatus::Finished)];
        let run_id = self
            .connection
            .query_row(sql, of, |row| row.get::<_, String>(0))
            .optional()
            .map_err(|e| self.sql_error("find a run to resume", e))?;
        run_id.map(|run_id| self.select_by_id(&run_id)).transpose()
    }

    fn select_by_id(&self, run_id: &str) -> Result<Run, Error> {
        // One transaction, so that a run that is being measured is seen as of one moment.
        let read = || {
            let transaction = self.connection.unchecked_transaction()?;
            select_whole(&transaction, run_id)
        };
        read().map_err(|e| self.sql_error(&format!("read run {run_id}"), e))
    }
}

fn select_whole(connection: &Connection, run_id: &str) -> rusqlite::Result<Run> {
    let mut run = some_steps(connection, run_id, &|_| true)?;
    for (system_idx, system) in run.systems.iter_mut().enumerate() {
        system.settings = select_settings(connection, run_id, system_idx, SERVER_SCOPE)?;
        system.session = select_settings(connection, run_id, system_idx, SESSION_SCOPE)?;
        system.process = select_settings(connection, run_id, system_idx, PROCESS_SCOPE)?;
        system.build = select_settings(connection, run_id, system_idx, BUILD_SCOPE)?;
        system.origins = select_origins(connection, run_id, system_idx)?;
    }
    Ok(run)
}

/// A run with those of its steps that are wanted, and its systems without their settings.
pub(crate) fn some_steps(
    connection: &Connection,
    run_id: &str,
    is_wanted: &dyn Fn(&StepInfo) -> bool,
) -> rusqlite::Result<Run> {
    let sql = "SELECT run_id, name, status, started_unix_ms, finished_unix_ms, n_resumed,
                 rqps_version, command_line, plan, seed, schedule, base_system_idx, host_name,
                 host_kernel, host_os, host_cpu_model, host_n_cpus, host_memory_bytes,
                 host_virtual_machine, host_storage, calibration, imported, host_read_ahead_kb
               FROM run WHERE run_id = ?";
    let mut run = connection.prepare_cached(sql)?.query_row([run_id], run_of)?;
    run.warnings = warnings::select(connection, run_id)?;
    run.systems = select_systems(connection, run_id)?;
    run.steps = select_steps(connection, run_id, is_wanted)?;
    if run.base >= run.systems.len() {
        let problem = format!("base {} of {} systems", run.base, run.systems.len());
        return Err(rusqlite::Error::FromSqlConversionFailure(11, Type::Integer, problem.into()));
    }
    Ok(run)
}

fn run_of(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get(0)?,
        name: row.get(1)?,
        status: row.get::<_, Word<_>>(2)?.0,
        started_unix_ms: row.get(3)?,
        finished_unix_ms: row.get(4)?,
        n_resumed: row.get(5)?,
        rqps_version: row.get(6)?,
        command_line: row.get::<_, Json<_>>(7)?.0,
        plan: row.get(8)?,
        seed: row.get::<_, Text<_>>(9)?.0,
        schedule: row.get::<_, Json<_>>(10)?.0,
        base: row.get(11)?,
        host: Host {
            hostname: row.get(12)?,
            kernel: row.get(13)?,
            os: row.get(14)?,
            cpu_model: row.get(15)?,
            n_cpus: row.get(16)?,
            memory_bytes: row.get(17)?,
            virtual_machine: row.get(18)?,
            storage: row.get(19)?,
            read_ahead_kb: row.get(22)?,
        },
        calibration: row.get::<_, Option<Json<_>>>(20)?.map(|json| json.0),
        imported: row.get::<_, Option<Json<_>>>(21)?.map(|json| json.0),
        warnings: Vec::new(),
        systems: Vec::new(),
        steps: Vec::new(),
    })
}

fn select_systems(connection: &Connection, run_id: &str) -> rusqlite::Result<Vec<RunSystem>> {
    let mut statement = connection.prepare_cached(
        "SELECT spec, version, version_text, origin FROM system WHERE run_id = ?
         ORDER BY system_idx",
    )?;
    let system = |row: &Row<'_>| {
        Ok(RunSystem {
            spec: row.get::<_, Json<_>>(0)?.0,
            version: row.get::<_, Option<Text<_>>>(1)?.map(|text| text.0),
            version_text: row.get(2)?,
            origin: row.get(3)?,
            settings: BTreeMap::new(),
            session: BTreeMap::new(),
            process: BTreeMap::new(),
            build: BTreeMap::new(),
            origins: BTreeMap::new(),
        })
    };
    let systems = statement.query_map([run_id], system)?;
    systems.collect()
}

fn select_settings(
    connection: &Connection,
    run_id: &str,
    system_idx: usize,
    scope: &str,
) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, value FROM setting WHERE run_id = ? AND system_idx = ? AND scope = ?",
    )?;
    let pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    statement.query_map(params![run_id, system_idx, scope], pair)?.collect()
}

fn select_origins(
    connection: &Connection,
    run_id: &str,
    system_idx: usize,
) -> rusqlite::Result<BTreeMap<String, SettingOrigin>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, source, default_value FROM setting
         WHERE run_id = ? AND system_idx = ? AND scope = ? AND source IS NOT NULL",
    )?;
    let origin = |row: &Row<'_>| {
        let source = row.get::<_, Word<_>>(1)?.0;
        Ok((row.get(0)?, SettingOrigin { source, default: row.get(2)? }))
    };
    statement.query_map(params![run_id, system_idx, SERVER_SCOPE], origin)?.collect()
}

fn select_steps(
    connection: &Connection,
    run_id: &str,
    is_wanted: &dyn Fn(&StepInfo) -> bool,
) -> rusqlite::Result<Vec<RunStep>> {
    let mut steps = Vec::new();
    for (step_idx, mut step) in bare_steps(connection, run_id)?.into_iter().enumerate() {
        if is_wanted(&step.info) {
            step.systems = select_step_systems(connection, run_id, step_idx, step.start)?;
            steps.push(step);
        }
    }
    Ok(steps)
}

/// What a step is, from the first columns of a row.
pub(crate) fn step_info(row: &Row<'_>) -> rusqlite::Result<StepInfo> {
    Ok(StepInfo {
        name: row.get(0)?,
        family: row.get(1)?,
        n: row.get(2)?,
        kind: row.get::<_, Word<_>>(3)?.0,
        group: row.get::<_, Word<_>>(4)?.0,
        figure: row.get::<_, Word<_>>(5)?.0,
        what: row.get(6)?,
    })
}

/// The steps of a run without what is known of systems in them.
pub(crate) fn bare_steps(connection: &Connection, run_id: &str) -> rusqlite::Result<Vec<RunStep>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, family, n, kind, step_group, figure, what, n_clients, placement,
           start_idx
         FROM step
         WHERE run_id = ? ORDER BY step_idx",
    )?;
    let step = |row: &Row<'_>| {
        let info = step_info(row)?;
        let placement = row.get::<_, Word<_>>(8)?.0;
        let (clients, start) = (row.get(7)?, row.get(9)?);
        Ok(RunStep { info, clients, placement, start, systems: Vec::new() })
    };
    let steps = statement.query_map([run_id], step)?;
    steps.collect()
}

/// How a step went on its systems, in their order.
pub(crate) fn outcomes(
    connection: &Connection,
    place: Place<'_>,
) -> rusqlite::Result<Vec<StepOutcome>> {
    let mut statement = connection.prepare_cached(
        "SELECT outcome, failure_reason FROM step_system
         WHERE run_id = ? AND step_idx = ? ORDER BY system_idx",
    )?;
    statement.query_map(params![place.run_id, place.step_idx], outcome_of)?.collect()
}

fn select_step_systems(
    connection: &Connection,
    run_id: &str,
    step_idx: usize,
    start: u32,
) -> rusqlite::Result<Vec<SystemStep>> {
    let mut statement = connection.prepare_cached(
        "SELECT outcome, failure_reason, database_bytes, data_dir_bytes, redo_bytes, binlog_bytes,
           debt, checks
         FROM step_system
         WHERE run_id = ? AND step_idx = ? ORDER BY system_idx",
    )?;
    let system = |row: &Row<'_>| {
        let sizes = Sizes {
            database_bytes: row.get(2)?,
            data_dir_bytes: row.get(3)?,
            redo_bytes: row.get(4)?,
            binlog_bytes: row.get(5)?,
        };
        Ok(SystemStep {
            outcome: outcome_of(row)?,
            slices: Vec::new(),
            sizes,
            // Absent in runs of earlier versions.
            debt: row.get::<_, Option<Json<_>>>(6)?.map_or_else(BTreeMap::new, |json| json.0),
            checks: row.get::<_, Option<Json<_>>>(7)?.map_or_else(Vec::new, |json| json.0),
            plans: Vec::new(),
            plans_of_starts: Vec::new(),
            table_state: TableState::new(),
            recalls: BTreeMap::new(),
        })
    };
    let systems = statement.query_map(params![run_id, step_idx], system)?;
    let mut systems = systems.collect::<rusqlite::Result<Vec<_>>>()?;
    for (system_idx, system) in systems.iter_mut().enumerate() {
        let place = Place { run_id, step_idx, system_idx };
        system.slices = slices::select(connection, place)?;
        system.plans = query_plans::select(connection, place)?;
        system.table_state = table_state::select(connection, place)?;
        system.recalls = recall::select(connection, place, start)?;
    }
    Ok(systems)
}

fn outcome_of(row: &Row<'_>) -> rusqlite::Result<StepOutcome> {
    let word: String = row.get(0)?;
    match word.as_str() {
        "pending" => Ok(StepOutcome::Pending),
        "done" => Ok(StepOutcome::Done),
        "failed" => Ok(StepOutcome::Failed { reason: row.get(1)? }),
        _ => Err(unknown_word("outcome", &word)),
    }
}
