//! Runs without what was measured in detail: what lists and live views show, read in milliseconds.

use std::collections::HashMap;

use rqps_model::{
    Block, Imported, Inserts, Label, Run, RunStatus, Schedule, StepInfo, StepOutcome, Tool,
};
use rusqlite::{Connection, Row, params};

use crate::Error;
use crate::slices::Place;
use crate::store::Store;
use crate::store::run_ref::RunRef;
use crate::store::select;
use crate::values::{Json, Word};

/// A run for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// Its id.
    pub id: String,
    /// The plan's name.
    pub name: String,
    /// Status; also `running` after a run that was killed.
    pub status: RunStatus,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: i64,
    /// End, where it has ended, milliseconds since 1970.
    pub finished_unix_ms: Option<i64>,
    /// The host's name.
    pub host: String,
    /// Labels of its systems in the plan's order.
    pub systems: Vec<Label>,
    /// Index of the base among the systems.
    pub base: usize,
    /// Steps on systems: one for each pair of a step and a system.
    pub n_steps: u64,
    /// Those of them that are done.
    pub n_done: u64,
    /// Those of them that failed.
    pub n_failed: u64,
    /// The tool whose files were imported; absent for a measured run.
    pub imported: Option<Tool>,
    /// Its tags in order.
    pub tags: Vec<String>,
}

/// A run without its slices.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// The run as in a list.
    pub brief: Brief,
    /// The words of the command that started it.
    pub command_line: Vec<String>,
    /// The order of its slices.
    pub schedule: Schedule,
    /// Versions as the servers report them; empty before their start.
    pub versions: Vec<String>,
    /// Its steps in order.
    pub steps: Vec<OutlineStep>,
}

impl Outline {
    /// Whether it has a report.
    #[must_use]
    pub fn has_report(&self) -> bool {
        !self.steps.is_empty()
    }
}

/// A step of it.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlineStep {
    /// What it is.
    pub info: StepInfo,
    /// Client threads.
    pub clients: u32,
    /// On which start of the servers, from 0.
    pub start: u32,
    /// Outcome on each system.
    pub outcomes: Vec<StepOutcome>,
    /// Number of slices or blocks of each system.
    pub n_slices: Vec<u64>,
}

impl Store {
    /// All runs for a list, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_briefly(&self) -> Result<Vec<Brief>, Error> {
        let read = || {
            let transaction = self.connection.unchecked_transaction()?;
            let mut counts = counts(&transaction)?;
            let mut labels = labels(&transaction)?;
            let mut tags = self.all_tags()?;
            let sql = format!("{BRIEF} ORDER BY started_unix_ms DESC, run_id DESC");
            let mut statement = transaction.prepare_cached(&sql)?;
            let briefs = statement.query_map([], brief_of)?;
            let mut briefs = briefs.collect::<rusqlite::Result<Vec<_>>>()?;
            for brief in &mut briefs {
                let (n_steps, n_done, n_failed) = counts.remove(&brief.id).unwrap_or_default();
                (brief.n_steps, brief.n_done, brief.n_failed) = (n_steps, n_done, n_failed);
                brief.systems = labels.remove(&brief.id).unwrap_or_default();
                brief.tags = tags.remove(&brief.id).unwrap_or_default();
            }
            Ok(briefs)
        };
        read().map_err(|e| self.sql_error("list the runs", e))
    }

    /// A run without its slices.
    ///
    /// # Errors
    /// When no run or several runs are meant, or the store cannot be read.
    pub fn select_outline(&self, run: &RunRef) -> Result<Outline, Error> {
        let run_id = self.resolve(run)?;
        let read = || {
            let transaction = self.connection.unchecked_transaction()?;
            outline(&transaction, &run_id)
        };
        let mut outline =
            read().map_err(|e| self.sql_error(&format!("read the outline of run {run_id}"), e))?;
        outline.brief.tags = self.list_tags(&run_id)?;
        Ok(outline)
    }

    /// Status of a run.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub fn select_status(&self, run_id: &str) -> Result<RunStatus, Error> {
        let sql = "SELECT status FROM run WHERE run_id = ?";
        let status = self.connection.query_row(sql, [run_id], |row| row.get::<_, Word<_>>(0));
        status
            .map(|word| word.0)
            .map_err(|e| self.sql_error(&format!("read the status of run {run_id}"), e))
    }

    /// The slices or blocks of a step, for each of `n_systems` systems in order of time.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn select_blocks(
        &self,
        run_id: &str,
        step_idx: usize,
        n_systems: usize,
    ) -> Result<Vec<Vec<Block>>, Error> {
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT slice_idx, n_rounds, start_unix_ms, slice.duration_ns, slice.n_operations,
                   stated, slice.lateness_n_due, slice.lateness_n_missed,
                   inserts.n_operations, inserts.duration_ns, inserts.target_per_s
                 FROM slice LEFT JOIN stream AS inserts
                   ON inserts.slice_id = slice.slice_id AND inserts.role = 'insert'
                 WHERE run_id = ? AND step_idx = ? AND system_idx = ? ORDER BY slice_idx",
            )?;
            let of_system = |system_idx: usize| {
                let of = params![run_id, step_idx, system_idx];
                statement.query_map(of, block_of)?.collect::<rusqlite::Result<Vec<_>>>()
            };
            (0..n_systems).map(of_system).collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|e| self.sql_error(&format!("read the blocks of run {run_id}"), e))
    }

    /// A run for histories: only steps that `is_wanted`, slices without samples and response times, systems
    /// without settings.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub fn select_steps_of_run(
        &self,
        run_id: &str,
        is_wanted: &dyn Fn(&StepInfo) -> bool,
    ) -> Result<Run, Error> {
        let read = || {
            let transaction = self.connection.unchecked_transaction()?;
            select::some_steps(&transaction, run_id, is_wanted)
        };
        let mut run =
            read().map_err(|e| self.sql_error(&format!("read steps of run {run_id}"), e))?;
        let systems = run.steps.iter_mut().flat_map(|step| &mut step.systems);
        for slice in systems.flat_map(|system| &mut system.slices) {
            (slice.samples, slice.response_times) = (Vec::new(), Vec::new());
        }
        Ok(run)
    }

    /// The steps that any run has, by name, each once.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_steps(&self) -> Result<Vec<StepInfo>, Error> {
        let read = || {
            let mut steps: Vec<StepInfo> = Vec::new();
            let sql = "SELECT name, family, n, kind, step_group, figure, what FROM step
                       GROUP BY name ORDER BY name";
            let mut statement = self.connection.prepare_cached(sql)?;
            for step in statement.query_map([], select::step_info)? {
                steps.push(step?);
            }
            Ok(steps)
        };
        read().map_err(|e| self.sql_error("list the steps", e))
    }
}

/// Without systems, counts and tags.
const BRIEF: &str = "SELECT run_id, name, status, started_unix_ms, finished_unix_ms, host_name,
    base_system_idx, imported FROM run";

fn brief_of(row: &Row<'_>) -> rusqlite::Result<Brief> {
    Ok(Brief {
        id: row.get(0)?,
        name: row.get(1)?,
        status: row.get::<_, Word<_>>(2)?.0,
        started_unix_ms: row.get(3)?,
        finished_unix_ms: row.get(4)?,
        host: row.get(5)?,
        systems: Vec::new(),
        base: row.get(6)?,
        n_steps: 0,
        n_done: 0,
        n_failed: 0,
        imported: row.get::<_, Option<Json<Imported>>>(7)?.map(|json| json.0.tool),
        tags: Vec::new(),
    })
}

/// By run: steps on systems, those done, those failed.
fn counts(connection: &Connection) -> rusqlite::Result<HashMap<String, (u64, u64, u64)>> {
    let sql = "SELECT run_id, count(*), sum(outcome = 'done'), sum(outcome = 'failed')
               FROM step_system GROUP BY run_id";
    let mut statement = connection.prepare_cached(sql)?;
    let counts = |row: &Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)));
    statement.query_map([], counts)?.collect()
}

fn labels(connection: &Connection) -> rusqlite::Result<HashMap<String, Vec<Label>>> {
    let sql = "SELECT run_id, label FROM system ORDER BY run_id, system_idx";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut all: HashMap<String, Vec<Label>> = HashMap::new();
    while let Some(row) = rows.next()? {
        all.entry(row.get(0)?).or_default().push(Label(row.get(1)?));
    }
    Ok(all)
}

fn outline(connection: &Connection, run_id: &str) -> rusqlite::Result<Outline> {
    let sql = format!("{BRIEF} WHERE run_id = ?");
    let mut brief = connection.prepare_cached(&sql)?.query_row([run_id], brief_of)?;
    let sql = "SELECT label, version_text FROM system WHERE run_id = ? ORDER BY system_idx";
    let mut statement = connection.prepare_cached(sql)?;
    let systems = statement.query_map([run_id], |row| Ok((Label(row.get(0)?), row.get(1)?)))?;
    let (labels, versions): (Vec<Label>, Vec<String>) =
        systems.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().unzip();
    brief.systems = labels;
    let sql = "SELECT command_line, schedule FROM run WHERE run_id = ?";
    let (command_line, schedule) = connection.query_row(sql, [run_id], |row| {
        Ok((row.get::<_, Json<Vec<String>>>(0)?.0, row.get::<_, Json<Schedule>>(1)?.0))
    })?;
    let mut steps: Vec<OutlineStep> = select::bare_steps(connection, run_id)?
        .into_iter()
        .map(|step| OutlineStep {
            info: step.info,
            clients: step.clients,
            start: step.start,
            outcomes: Vec::new(),
            n_slices: vec![0; brief.systems.len()],
        })
        .collect();
    for (step_idx, step) in steps.iter_mut().enumerate() {
        let place = Place { run_id, step_idx, system_idx: 0 };
        step.outcomes = select::outcomes(connection, place)?;
    }
    let sql = "SELECT step_idx, system_idx, count(*) FROM slice WHERE run_id = ?
               GROUP BY step_idx, system_idx";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([run_id])?;
    while let Some(row) = rows.next()? {
        let (step_idx, system_idx): (usize, usize) = (row.get(0)?, row.get(1)?);
        if let Some(n) = steps.get_mut(step_idx).and_then(|s| s.n_slices.get_mut(system_idx)) {
            *n = row.get(2)?;
        }
    }
    let all = || steps.iter().flat_map(|step| &step.outcomes);
    let n = |is: fn(&StepOutcome) -> bool| all().filter(|o| is(o)).count() as u64;
    brief.n_steps = n(|_| true);
    brief.n_done = n(|outcome| *outcome == StepOutcome::Done);
    brief.n_failed = n(|outcome| matches!(outcome, StepOutcome::Failed { .. }));
    Ok(Outline { brief, command_line, schedule, versions, steps })
}

fn block_of(row: &Row<'_>) -> rusqlite::Result<Block> {
    let stated = row.get::<_, Option<Json<rqps_model::Stated>>>(5)?;
    let inserts = match row.get::<_, Option<u64>>(8)? {
        None => None,
        Some(n_rows) => {
            let (duration_ns, target_per_s) = (row.get(9)?, row.get(10)?);
            Some(Inserts { n_rows, duration_ns, target_per_s })
        }
    };
    Ok(Block {
        idx: row.get(0)?,
        n_rounds: row.get::<_, Option<u32>>(1)?.unwrap_or(0),
        start_unix_ms: row.get(2)?,
        duration_ns: row.get(3)?,
        n_operations: row.get(4)?,
        stated: stated.and_then(|json| json.0.figure),
        n_due: row.get::<_, Option<u64>>(6)?.unwrap_or(0),
        n_missed: row.get::<_, Option<u64>>(7)?.unwrap_or(0),
        inserts,
    })
}
