//! How a user names a run: its id, its name, the beginning of either, or `latest`.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::store::Store;

/// How many ids an error lists.
const N_LISTED: usize = 8;

/// A run as a user names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RunRef {
    /// The run that was started last.
    #[default]
    Latest,
    /// The run with this id, else the only run whose id begins so, else the only run of this name, else the only run
    /// whose name begins so.
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
    /// Resolves to the id of a run.
    ///
    /// # Errors
    /// When no run or several runs match, or the store cannot be read.
    pub fn resolve(&self, run: &RunRef) -> Result<String, Error> {
        let runs = self.select_names()?;
        resolve_among(&runs, run).map(str::to_owned)
    }

    /// The ids and names of all runs, the latest first.
    fn select_names(&self) -> Result<Vec<NamedRun>, Error> {
        let read = || {
            let sql = "SELECT run_id, name FROM run ORDER BY started_unix_ms DESC, run_id DESC";
            let mut statement = self.connection.prepare_cached(sql)?;
            let named =
                |row: &rusqlite::Row<'_>| Ok(NamedRun { id: row.get(0)?, name: row.get(1)? });
            statement.query_map([], named)?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|e| self.sql_error("list the runs", e))
    }
}

/// A run by its id and its name.
#[derive(Debug, Clone)]
struct NamedRun {
    id: String,
    name: String,
}

/// The id that is meant among `runs`, of which the latest is the first.
fn resolve_among<'a>(runs: &'a [NamedRun], run: &RunRef) -> Result<&'a str, Error> {
    let text = match run {
        RunRef::Latest => "",
        RunRef::Id(text) => text.as_str(),
    };
    let ids: Vec<&'a str> = runs.iter().map(|run| run.id.as_str()).collect();
    let unknown = || Error::UnknownRun { reference: run.to_string(), near: near(&ids, text) };
    if *run == RunRef::Latest {
        return ids.first().copied().ok_or_else(unknown);
    }
    if let Some(id) = ids.iter().find(|id| **id == text) {
        return Ok(id);
    }
    let ids_of = |is_meant: &dyn Fn(&NamedRun) -> bool| -> Vec<&'a str> {
        runs.iter().filter(|run| is_meant(run)).map(|run| run.id.as_str()).collect()
    };
    let ways: [&dyn Fn(&NamedRun) -> bool; 3] =
        [&|run| run.id.starts_with(text), &|run| run.name == text, &|run| {
            run.name.starts_with(text)
        }];
    let found = ways.iter().map(|way| ids_of(way)).find(|found| !found.is_empty());
    match found.unwrap_or_default().as_slice() {
        [id] => Ok(id),
        [] => Err(unknown()),
        several => {
            let matches = several.iter().take(N_LISTED).map(|&id| id.to_owned()).collect();
            Err(Error::AmbiguousRun { reference: run.to_string(), matches })
        }
    }
}

/// Ids that have `text` somewhere in them; else those that share the longest beginning with it.
fn near(ids: &[&str], text: &str) -> Vec<String> {
    let inside: Vec<&str> =
        ids.iter().copied().filter(|id| !text.is_empty() && id.contains(text)).collect();
    let common = |id: &str| id.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    let chosen = if inside.is_empty() {
        let longest = ids.iter().map(|id| common(id)).max().unwrap_or(0);
        ids.iter().copied().filter(|id| common(id) == longest).collect()
    } else {
        inside
    };
    chosen.into_iter().take(N_LISTED).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs() {
        let runs = ["20261122-080000-demo", "20261121-203015-demo", "20261121-101010-pg"]
            .map(|id| NamedRun { id: id.to_owned(), name: id[16..].to_owned() });
        let resolve = |text: &str| match resolve_among(&runs, &text.parse().unwrap()) {
            Ok(id) => id.to_owned(),
            Err(e) => e.to_string(),
        };
        let texts = [
            "latest",
            "20261121-1",
            "20261121-203015-demo",
            "20261121",
            "pg",
            "p",
            "demo",
            "dem",
            "emo",
            "2026x",
            "",
        ];
        expect_test::expect![[r#"
            20261122-080000-demo
            20261121-101010-pg
            20261121-203015-demo
            "20261121" matches several runs; name one of 20261121-203015-demo, 20261121-101010-pg
            20261121-101010-pg
            20261121-101010-pg
            "demo" matches several runs; name one of 20261122-080000-demo, 20261121-203015-demo
            "dem" matches several runs; name one of 20261122-080000-demo, 20261121-203015-demo
            no run matches "emo"; known runs: 20261122-080000-demo, 20261121-203015-demo
            no run matches "2026x"; known runs: 20261122-080000-demo, 20261121-203015-demo, 20261121-101010-pg
            "" matches several runs; name one of 20261122-080000-demo, 20261121-203015-demo, 20261121-101010-pg"#]]
        .assert_eq(&texts.map(resolve).join("\n"));
        let error = resolve_among(&[], &RunRef::Latest).unwrap_err();
        assert_eq!(error.to_string(), "no run matches \"latest\"; the store is empty");
    }
}
