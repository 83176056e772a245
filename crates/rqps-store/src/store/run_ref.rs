//! How a user names a run: its id, the beginning of one, or `latest`.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::store::Store;

/// How many ids an error lists.
const N_LISTED: usize = 8;

/// A run as a user names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RunRef {
    /// The one that was started last.
    #[default]
    Latest,
    /// The one with this id, or the only one whose id begins so.
    Id(String),
}

impl FromStr for RunRef {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "latest" => Self::Latest,
            id => Self::Id(id.to_owned()),
        })
    }
}

impl fmt::Display for RunRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.pad("latest"),
            Self::Id(id) => f.pad(id),
        }
    }
}

impl Store {
    /// The id of the run that is meant.
    ///
    /// # Errors
    /// When no run or several runs are meant, or the store cannot be read.
    pub fn resolve(&self, run: &RunRef) -> Result<String, Error> {
        let ids = self.select_ids()?;
        resolve_among(&ids, run).map(str::to_owned)
    }

    /// The ids of all runs, the latest first.
    fn select_ids(&self) -> Result<Vec<String>, Error> {
        let read = || {
            let sql = "SELECT run_id FROM run ORDER BY started_unix_ms DESC, run_id DESC";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|e| self.sql_error("list the runs", e))
    }
}

/// The id that is meant among `ids`, of which the latest is the first.
fn resolve_among<'a>(ids: &'a [String], run: &RunRef) -> Result<&'a str, Error> {
    let text = match run {
        RunRef::Latest => "",
        RunRef::Id(text) => text.as_str(),
    };
    let unknown = || Error::UnknownRun { reference: run.to_string(), near: near(ids, text) };
    if *run == RunRef::Latest {
        return ids.first().map(String::as_str).ok_or_else(unknown);
    }
    if let Some(id) = ids.iter().find(|id| *id == text) {
        return Ok(id);
    }
    let begin: Vec<_> = ids.iter().filter(|id| id.starts_with(text)).collect();
    match begin.as_slice() {
        [id] => Ok(id),
        [] => Err(unknown()),
        _ => {
            let matches = begin.into_iter().take(N_LISTED).cloned().collect();
            Err(Error::AmbiguousRun { reference: run.to_string(), matches })
        }
    }
}

/// Ids that have `text` somewhere in them; else those that share the longest beginning with it.
fn near(ids: &[String], text: &str) -> Vec<String> {
    let inside: Vec<_> = ids.iter().filter(|id| !text.is_empty() && id.contains(text)).collect();
    let common = |id: &str| id.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    let chosen = if inside.is_empty() {
        let longest = ids.iter().map(|id| common(id)).max().unwrap_or(0);
        ids.iter().filter(|id| common(id) == longest).collect()
    } else {
        inside
    };
    chosen.into_iter().take(N_LISTED).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs() {
        let ids = ["20261122-080000-demo", "20261121-203015-demo", "20261121-101010-pg"]
            .map(str::to_owned);
        let resolve = |text: &str| match resolve_among(&ids, &text.parse().unwrap()) {
            Ok(id) => id.to_owned(),
            Err(e) => e.to_string(),
        };
        let texts =
            ["latest", "20261121-1", "20261121-203015-demo", "20261121", "demo", "2026x", ""];
        expect_test::expect![[r#"
            20261122-080000-demo
            20261121-101010-pg
            20261121-203015-demo
            "20261121" is the beginning of several runs; write more of one of 20261121-203015-demo, 20261121-101010-pg
            no run matches "demo"; there are 20261122-080000-demo, 20261121-203015-demo
            no run matches "2026x"; there are 20261122-080000-demo, 20261121-203015-demo, 20261121-101010-pg
            "" is the beginning of several runs; write more of one of 20261122-080000-demo, 20261121-203015-demo, 20261121-101010-pg"#]]
        .assert_eq(&texts.map(resolve).join("\n"));
        let error = resolve_among(&[], &RunRef::Latest).unwrap_err();
        assert_eq!(error.to_string(), "no run matches \"latest\"; the store is empty");
    }
}
