//! Stack profiles: their facts in a table, their stacks as files that other tools can draw.

use std::fs;
use std::path::Path;

use rqps_stacks::Stacks;
use rqps_stacks::profile::{Facts, StackProfile};
use rusqlite::{Row, params};

use crate::store::Store;
use crate::store::artifact::Artifact;
use crate::values::Json;
use crate::{Error, RunRef};

/// The directory of stacks below a run's artifacts.
pub const DIR: &str = "stacks";

/// What is kept of the stacks of a profile, and the names of the files.
const KINDS: [(&str, &str); 2] = [("cpu", "where CPU time went"), ("waits", "where threads were")];

impl Store {
    /// Stores a stack profile: its stacks as files, then its facts. `names` are those of the step and the
    /// system, for the reader of the files.
    ///
    /// # Errors
    /// When it is stored already, there is no such step or system, or something cannot be written.
    pub fn insert_stack_profile(
        &self,
        run_id: &str,
        profile: &StackProfile,
        names: (&str, &str),
    ) -> Result<(), Error> {
        let StackProfile { step_idx, system_idx, facts, stacks, waits } = profile;
        let dir = self.artifact_dir(run_id)?.join(DIR);
        fs::create_dir_all(&dir).map_err(|e| file_error("create", &dir, e))?;
        for ((kind, what), stacks) in KINDS.iter().zip([stacks, waits]) {
            if stacks.is_empty() {
                continue;
            }
            let name = file_name(*step_idx, *system_idx, kind);
            let path = dir.join(&name);
            fs::write(&path, stacks.to_string()).map_err(|e| file_error("write", &path, e))?;
            let what = format!("folded stacks of {} on {}: {what}", names.0, names.1);
            self.insert_artifact(run_id, &Artifact { path: format!("{DIR}/{name}"), what })?;
        }
        let action = format!("store the stack profile of step {step_idx} on system {system_idx}");
        self.transact(&action, |transaction| {
            transaction.execute(
                "INSERT INTO stack_profile (run_id, step_idx, system_idx, start_unix_ms, duration_ns,
                   n_operations, server_cpu_ns, facts)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    run_id,
                    step_idx,
                    system_idx,
                    facts.start_unix_ms,
                    facts.duration_ns,
                    facts.n_operations,
                    facts.server_cpu_ns,
                    Json(facts),
                ],
            )
        })?;
        Ok(())
    }

    /// The stack profiles of a run, by step and system. A profile whose file was removed has no such stacks.
    ///
    /// # Errors
    /// When there is no such run, or something cannot be read.
    pub fn select_stack_profiles(&self, run: &RunRef) -> Result<Vec<StackProfile>, Error> {
        let run_id = self.resolve(run)?;
        let read = || -> rusqlite::Result<Vec<(usize, usize, Facts)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT step_idx, system_idx, facts FROM stack_profile WHERE run_id = ?
                 ORDER BY step_idx, system_idx",
            )?;
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, Json<_>>(2)?.0));
            statement.query_map([&run_id], row)?.collect()
        };
        let rows = read().map_err(|e| self.sql_error("read the stack profiles", e))?;
        let dir = self.artifact_path(&run_id)?.join(DIR);
        rows.into_iter()
            .map(|(step_idx, system_idx, facts)| {
                let of = |kind| read_stacks(&dir.join(file_name(step_idx, system_idx, kind)));
                let (stacks, waits) = (of(KINDS[0].0)?, of(KINDS[1].0)?);
                Ok(StackProfile { step_idx, system_idx, facts, stacks, waits })
            })
            .collect()
    }
}

/// `07-1-cpu.folded`.
fn file_name(step_idx: usize, system_idx: usize, kind: &str) -> String {
    format!("{step_idx:02}-{system_idx}-{kind}.folded")
}

fn read_stacks(path: &Path) -> Result<Stacks, Error> {
    let text = match fs::read_to_string(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Stacks::default()),
        text => text.map_err(|e| file_error("read", path, e))?,
    };
    Stacks::parse(&text).map_err(|e| file_error("understand", path, std::io::Error::other(e)))
}

fn file_error(action: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::File { action, path: path.to_path_buf(), source }
}
