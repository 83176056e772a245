//! Files that belong to a run: which there are, and what they are.

use std::path::Path;

use rusqlite::params;
use serde::Serialize;

use crate::Error;
use crate::store::Store;

/// A file below a run's artifact directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Artifact {
    /// Its path relative to that directory.
    pub path: String,
    /// What it is, in a few words: `server log of my5614.small`.
    pub what: String,
}

impl Store {
    /// Records a file below the run's artifact directory, in place of an earlier record. The caller writes
    /// the file.
    ///
    /// # Errors
    /// When the path is not relative and inside, there is no such run, or the store cannot be
    /// written.
    pub fn insert_artifact(&self, run_id: &str, artifact: &Artifact) -> Result<(), Error> {
        let Artifact { path, what } = artifact;
        let action = format!("record the file {path:?} of run {run_id}");
        if !is_inside(Path::new(path)) {
            let path = path.into();
            return Err(Error::File {
                action: "record outside the run's directory",
                path,
                source: std::io::ErrorKind::InvalidInput.into(),
            });
        }
        self.transact(&action, |transaction| {
            let sql = "INSERT INTO artifact (run_id, path, what) VALUES (?, ?, ?)
                       ON CONFLICT (run_id, path) DO UPDATE SET what = excluded.what";
            transaction.execute(sql, params![run_id, path, what])
        })?;
        Ok(())
    }

    /// The files of a run, by path.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_artifacts(&self, run_id: &str) -> Result<Vec<Artifact>, Error> {
        let read = || {
            let sql = "SELECT path, what FROM artifact WHERE run_id = ? ORDER BY path";
            let mut statement = self.connection.prepare_cached(sql)?;
            let artifact =
                |row: &rusqlite::Row<'_>| Ok(Artifact { path: row.get(0)?, what: row.get(1)? });
            statement.query_map([run_id], artifact)?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|e| self.sql_error(&format!("list the files of run {run_id}"), e))
    }
}

fn is_inside(path: &Path) -> bool {
    use std::path::Component::Normal;
    path.components().next().is_some() && path.components().all(|part| matches!(part, Normal(_)))
}
