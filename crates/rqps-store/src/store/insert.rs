//! Stores a run's beginning, and its slices one by one.

use rqps_model::run::SystemStep;
use rqps_model::{Host, Run, RunStep, RunSystem, Sizes, Slice, StepInfo, StepOutcome};
use rusqlite::{Connection, params};

use crate::Error;
use crate::slices::{self, Place};
use crate::store::{Store, check_run_id};
use crate::store::{query_plans, recall, table_state, warnings};
use crate::values::{Json, Text, Word};

/// Scope of a server's effective settings.
pub(crate) const SERVER_SCOPE: &str = "server";
/// Scope of facts of the benchmark's own session.
pub(crate) const SESSION_SCOPE: &str = "session";
/// Facts of the server's process: allocator, limits.
pub(crate) const PROCESS_SCOPE: &str = "process";
/// Scope of facts of the server's build.
pub(crate) const BUILD_SCOPE: &str = "build";

impl Store {
    /// Stores a run, with the slices that it has already.
    ///
    /// # Errors
    /// When its id is taken or no good, or the store cannot be written.
    pub fn create_run(&self, run: &Run) -> Result<(), Error> {
        self.create_runs(std::slice::from_ref(run))
    }

    /// Stores several runs, all or none.
    ///
    /// # Errors
    /// As [`Store::create_run`], of any of them.
    pub fn create_runs(&self, runs: &[Run]) -> Result<(), Error> {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        ids.iter().try_for_each(|id| check_run_id(id))?;
        self.transact(&format!("store run {}", ids.join(", ")), |transaction| {
            runs.iter().try_for_each(|run| insert_whole(transaction, run))
        })
    }

    /// Stores a slice, which never changes again. It is on disk when this returns.
    ///
    /// # Errors
    /// When a slice with its idx is stored already, the run has no such step or system, or the
    /// store cannot be written. Nothing of the slice is stored then.
    pub fn insert_slice(
        &self,
        run_id: &str,
        step_idx: usize,
        system_idx: usize,
        slice: &Slice,
    ) -> Result<(), Error> {
        let place = Place { run_id, step_idx, system_idx };
        let action = format!(
            "store slice {} of step {step_idx} on system {system_idx} of run {run_id}",
            slice.idx
        );
        self.transact(&action, |transaction| slices::insert(transaction, place, slice))
    }
}

impl Store {
    /// Stores the blocks of interleaved systems of one step, all or none.
    ///
    /// # Errors
    /// As [`Store::insert_slice`].
    pub fn insert_block(
        &self,
        run_id: &str,
        step_idx: usize,
        blocks: &[(usize, &Slice)],
    ) -> Result<(), Error> {
        let action = format!("store a block of step {step_idx} of run {run_id}");
        self.transact(&action, |transaction| {
            for &(system_idx, slice) in blocks {
                slices::insert(transaction, Place { run_id, step_idx, system_idx }, slice)?;
            }
            Ok(())
        })
    }
}

/// Stores a run with all that it has.
fn insert_whole(transaction: &Connection, run: &Run) -> rusqlite::Result<()> {
    insert_run(transaction, run)?;
    for warning in &run.warnings {
        warnings::insert(transaction, &run.id, warning)?;
    }
    for (system_idx, system) in run.systems.iter().enumerate() {
        insert_system(transaction, &run.id, system_idx, system)?;
    }
    for (step_idx, step) in run.steps.iter().enumerate() {
        insert_step(transaction, &run.id, step_idx, step)?;
    }
    Ok(())
}

fn insert_run(connection: &Connection, run: &Run) -> rusqlite::Result<()> {
    let Run {
        id,
        name,
        status,
        started_unix_ms,
        finished_unix_ms,
        n_resumed,
        rqps_version,
        command_line,
        plan,
        seed,
        schedule,
        host,
        imported,
        calibration,
        warnings: _,
        base,
        systems: _,
        steps: _,
    } = run;
    let Host {
        hostname,
        kernel,
        os,
        cpu_model,
        n_cpus,
        memory_bytes,
        virtual_machine,
        storage,
        read_ahead_kb,
    } = host;
    connection
        .prepare_cached(
            "INSERT INTO run (run_id, name, status, started_unix_ms, finished_unix_ms, n_resumed,
               rqps_version, command_line, plan, seed, schedule, base_system_idx, host_name,
               host_kernel, host_os, host_cpu_model, host_n_cpus, host_memory_bytes,
               host_virtual_machine, host_storage, calibration, imported, host_read_ahead_kb)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            id,
            name,
            Word(status),
            started_unix_ms,
            finished_unix_ms,
            n_resumed,
            rqps_version,
            Json(command_line),
            plan,
            Text(seed),
            Json(schedule),
            base,
            hostname,
            kernel,
            os,
            cpu_model,
            n_cpus,
            memory_bytes,
            virtual_machine,
            storage,
            calibration.as_ref().map(Json),
            imported.as_ref().map(Json),
            read_ahead_kb,
        ])?;
    Ok(())
}

fn insert_system(
    connection: &Connection,
    run_id: &str,
    system_idx: usize,
    system: &RunSystem,
) -> rusqlite::Result<()> {
    let RunSystem {
        spec,
        version,
        version_text,
        origin,
        settings: _,
        session: _,
        process: _,
        build: _,
        origins: _,
    } = system;
    connection
        .prepare_cached(
            "INSERT INTO system (run_id, system_idx, label, dbms, engine, config, transport, spec,
               version, version_text, origin)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            run_id,
            system_idx,
            spec.label.as_str(),
            Word(spec.dbms),
            Word(spec.engine),
            spec.config,
            Word(spec.transport),
            Json(spec),
            version.as_ref().map(Text),
            version_text,
            origin,
        ])?;
    insert_settings(connection, run_id, system_idx, system)
}

/// Inserts a system's settings and facts of its session and build, of which none may be there.
pub(crate) fn insert_settings(
    connection: &Connection,
    run_id: &str,
    system_idx: usize,
    system: &RunSystem,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (name, value) in &system.settings {
        let origin = system.origins.get(name);
        let source = origin.map(|o| Word(o.source));
        let default = origin.and_then(|o| o.default.as_ref());
        let of = params![run_id, system_idx, SERVER_SCOPE, name, value, source, default];
        statement.execute(of)?;
    }
    let scopes = [
        (SESSION_SCOPE, &system.session),
        (PROCESS_SCOPE, &system.process),
        (BUILD_SCOPE, &system.build),
    ];
    for (scope, facts) in scopes {
        for (name, value) in facts {
            let none: Option<&str> = None;
            statement.execute(params![run_id, system_idx, scope, name, value, none, none])?;
        }
    }
    Ok(())
}

fn insert_step(
    connection: &Connection,
    run_id: &str,
    step_idx: usize,
    step: &RunStep,
) -> rusqlite::Result<()> {
    let RunStep { info, clients, placement, start, systems } = step;
    let StepInfo { name, family, n, kind, group, figure, what } = info;
    connection
        .prepare_cached(
            "INSERT INTO step (run_id, step_idx, name, family, n, kind, step_group, figure, what,
               n_clients, placement, start_idx)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            run_id,
            step_idx,
            name,
            family,
            n,
            Word(kind),
            Word(group),
            Word(figure),
            what,
            clients,
            Word(placement),
            start,
        ])?;
    for (system_idx, system) in systems.iter().enumerate() {
        insert_step_system(connection, Place { run_id, step_idx, system_idx }, system)?;
    }
    Ok(())
}

fn insert_step_system(
    connection: &Connection,
    place: Place<'_>,
    system: &SystemStep,
) -> rusqlite::Result<()> {
    let SystemStep {
        outcome,
        slices,
        sizes,
        debt,
        checks,
        plans,
        plans_of_starts: _,
        table_state,
        recalls,
    } = system;
    let Sizes { database_bytes, data_dir_bytes, redo_bytes, binlog_bytes } = sizes;
    let (outcome, reason) = outcome_columns(outcome);
    connection
        .prepare_cached(
            "INSERT INTO step_system (run_id, step_idx, system_idx, outcome, failure_reason,
               database_bytes, data_dir_bytes, redo_bytes, binlog_bytes, debt, checks)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            place.run_id,
            place.step_idx,
            place.system_idx,
            outcome,
            reason,
            database_bytes,
            data_dir_bytes,
            redo_bytes,
            binlog_bytes,
            Json(debt),
            Json(checks),
        ])?;
    query_plans::insert(connection, place, plans)?;
    table_state::insert(connection, place, table_state)?;
    // A stored step has one start.
    recall::insert(connection, place, recalls.values().next())?;
    slices.iter().try_for_each(|slice| slices::insert(connection, place, slice))
}

/// The columns `outcome` and `failure_reason`.
pub(crate) fn outcome_columns(outcome: &StepOutcome) -> (&'static str, Option<&str>) {
    match outcome {
        StepOutcome::Pending => ("pending", None),
        StepOutcome::Done => ("done", None),
        StepOutcome::Failed { reason } => ("failed", Some(reason)),
    }
}
