//! The tables of a database, and statements executed on them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::answer::{Answer, Failure};
use crate::statement::{Change, Column, Filter, Statement, Value, Wanted};
use crate::table::{Row, Table};

/// How the files of tables end, as InnoDB's do.
const ENDING: &str = "ibd";

/// The tables.
#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
    tables: Mutex<BTreeMap<String, Table>>,
}

/// Rows that a transaction will delete when it commits: others see them until then, and an INSERT of the
/// same id puts them back.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) is_open: bool,
    deletes: Vec<(String, u64)>,
}

type Tables = BTreeMap<String, Table>;

impl Store {
    /// The tables in a directory.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let mut tables = BTreeMap::new();
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let is_table = path.extension().is_some_and(|ending| ending == ENDING);
            if let Some(name) = path.file_stem().filter(|_| is_table) {
                tables.insert(name.to_string_lossy().into_owned(), Table::open(&path)?);
            }
        }
        Ok(Self { dir: dir.to_owned(), tables: Mutex::new(tables) })
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each table with the bytes of its file.
    pub(crate) fn sizes(&self) -> Vec<(String, u64)> {
        self.lock().iter().map(|(name, table)| (name.clone(), table.bytes())).collect()
    }

    /// Rows of all tables.
    pub(crate) fn n_rows(&self) -> u64 {
        self.lock().values().map(|table| table.n_rows).sum()
    }

    /// Whether a table is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.lock().contains_key(name)
    }

    /// Executes a statement with the values of its parameters.
    pub(crate) fn run(
        &self,
        statement: &Statement,
        params: &[Value],
        transaction: &mut Transaction,
    ) -> Result<Answer, Failure> {
        let mut tables = self.lock();
        match statement {
            Statement::Select { table, wanted, filter } => {
                select(find(&mut tables, table)?, table, wanted, &bound(filter, params)?)
            }
            Statement::Update { table, change, filter } => {
                let found = find(&mut tables, table)?;
                let n = update(found, change, &bound(filter, params)?, params);
                Ok(Answer::Done("UPDATE", n.map_err(|e| Failure::io(table, &e))?))
            }
            Statement::Delete { table, filter } => {
                let found = find(&mut tables, table)?;
                let ids = ids(found, &bound(filter, params)?);
                let n = ids.len() as u64;
                if transaction.is_open {
                    transaction.deletes.extend(ids.into_iter().map(|id| (table.clone(), id)));
                } else {
                    delete(found, table, ids)?;
                }
                Ok(Answer::Done("DELETE", n))
            }
            Statement::Insert { table, columns, rows } => {
                let found = find(&mut tables, table)?;
                let rows = new_rows(found, columns, rows, params)?;
                let mut is_free = |id: u64| {
                    let taken =
                        transaction.deletes.iter().position(|(t, i)| t == table && *i == id);
                    taken.map(|at| transaction.deletes.swap_remove(at)).is_some()
                        || found.k(id).is_none()
                };
                if let Some((id, _)) = rows.iter().find(|(id, _)| !is_free(*id)) {
                    return Err(Failure::duplicate(*id));
                }
                found.write(&rows).map_err(|e| Failure::io(table, &e))?;
                Ok(Answer::Done("INSERT", rows.len() as u64))
            }
            Statement::CreateTable { table } => {
                if tables.contains_key(table) {
                    return Err(Failure::table_exists(table));
                }
                let made = Table::create(&self.path(table));
                tables.insert(table.clone(), made.map_err(|e| Failure::io(table, &e))?);
                Ok(Answer::Done("CREATE TABLE", 0))
            }
            Statement::DropTable { table } => {
                if tables.remove(table).is_some() {
                    fs::remove_file(self.path(table)).map_err(|e| Failure::io(table, &e))?;
                }
                Ok(Answer::Done("DROP TABLE", 0))
            }
            Statement::CreateIndex { table } => {
                find(&mut tables, table).map(|_| Answer::Done("CREATE INDEX", 0))
            }
            Statement::Begin => {
                transaction.is_open = true;
                Ok(Answer::Done("BEGIN", 0))
            }
            Statement::Commit => {
                transaction.is_open = false;
                for (table, id) in std::mem::take(&mut transaction.deletes) {
                    if let Some(found) = tables.get_mut(&table) {
                        delete(found, &table, vec![id])?;
                    }
                }
                Ok(Answer::Done("COMMIT", 0))
            }
            Statement::Rollback => {
                *transaction = Transaction::default();
                Ok(Answer::Done("ROLLBACK", 0))
            }
        }
    }

    fn path(&self, table: &str) -> PathBuf {
        self.dir.join(format!("{table}.{ENDING}"))
    }
}

fn find<'t>(tables: &'t mut Tables, name: &str) -> Result<&'t mut Table, Failure> {
    tables.get_mut(name).ok_or_else(|| Failure::no_table(name))
}

/// A value with its parameter filled in.
fn value<'v>(value: &'v Value, params: &'v [Value]) -> Result<&'v Value, Failure> {
    match value {
        Value::Param(n) => {
            params.get(*n).ok_or_else(|| Failure::value(&format!("parameter {}", n + 1)))
        }
        value => Ok(value),
    }
}

fn number(of: &Value, params: &[Value]) -> Result<i64, Failure> {
    match value(of, params)? {
        Value::Int(n) => Ok(*n),
        Value::Text(text) => {
            text.trim().parse().map_err(|_| Failure::value(&format!("a number, not {text:?}")))
        }
        other => Err(Failure::value(&format!("a number, not {other:?}"))),
    }
}

fn text(of: &Value, params: &[Value]) -> Result<String, Failure> {
    match value(of, params)? {
        Value::Int(n) => Ok(n.to_string()),
        Value::Text(text) => Ok(text.clone()),
        other => Err(Failure::value(&format!("a text, not {other:?}"))),
    }
}

/// A filter with numbers in it.
enum Bound {
    All,
    Never,
    Ids(Vec<i64>),
    IdRange(i64, i64),
    Ks(Vec<i64>),
    KRange(i64, i64),
}

fn bound(filter: &Filter, params: &[Value]) -> Result<Bound, Failure> {
    Ok(match filter {
        Filter::All => Bound::All,
        Filter::Never => Bound::Never,
        Filter::In(column @ (Column::Id | Column::K), values) => {
            let all = values.iter().map(|v| number(v, params)).collect::<Result<_, _>>()?;
            if *column == Column::Id { Bound::Ids(all) } else { Bound::Ks(all) }
        }
        Filter::Between(column @ (Column::Id | Column::K), first, last) => {
            let (first, last) = (number(first, params)?, number(last, params)?);
            if *column == Column::Id {
                Bound::IdRange(first, last)
            } else {
                Bound::KRange(first, last)
            }
        }
        Filter::In(column, _) | Filter::Between(column, ..) => {
            return Err(Failure::value(&format!("no condition on {}", column.name())));
        }
    })
}

fn ids(table: &Table, filter: &Bound) -> Vec<u64> {
    let is_there = |id: &u64| table.k(*id).is_some();
    match filter {
        Bound::All => table.ids_where(|_| true),
        Bound::Never => Vec::new(),
        Bound::Ids(wanted) => {
            let mut all: Vec<u64> =
                wanted.iter().filter_map(|id| u64::try_from(*id).ok()).filter(is_there).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        Bound::IdRange(first, last) => {
            let first = u64::try_from(*first).unwrap_or(0);
            let last = u64::try_from(*last).unwrap_or(0).min(table.next_id());
            (first..=last).filter(is_there).collect()
        }
        Bound::Ks(wanted) => table.ids_where(|k| wanted.contains(&k)),
        Bound::KRange(first, last) => table.ids_where(|k| (*first..=*last).contains(&k)),
    }
}

fn select(table: &Table, name: &str, wanted: &Wanted, filter: &Bound) -> Result<Answer, Failure> {
    if matches!((wanted, filter), (Wanted::Count, Bound::All)) {
        return Ok(Answer::one("count", table.n_rows.to_string()));
    }
    let ids = ids(table, filter);
    let read = |id: u64| table.read(id).map_err(|e| Failure::io(name, &e));
    Ok(match wanted {
        Wanted::Count => Answer::one("count", ids.len().to_string()),
        Wanted::Sum => {
            Answer::one("sum", ids.iter().filter_map(|id| table.k(*id)).sum::<i64>().to_string())
        }
        Wanted::Bounds(column) => {
            let value = |id: &u64| match column {
                Column::K => table.k(*id),
                _ => i64::try_from(*id).ok(),
            };
            let text =
                |value: Option<i64>| value.map(|value| value.to_string()).unwrap_or_default();
            let (min, max) =
                (ids.iter().filter_map(value).min(), ids.iter().filter_map(value).max());
            Answer::rows(&["min", "max"], vec![vec![text(min), text(max)]])
        }
        Wanted::Length => {
            let lengths = ids.into_iter().map(|id| Ok(read(id)?.pad.len()));
            let sum: usize = lengths.sum::<Result<usize, Failure>>()?;
            Answer::one("sum", sum.to_string())
        }
        Wanted::Distinct => {
            let mut all =
                ids.into_iter().map(|id| Ok(read(id)?.c)).collect::<Result<Vec<_>, _>>()?;
            all.sort_unstable();
            all.dedup();
            Answer::rows(&["c"], all.into_iter().map(|c| vec![c]).collect())
        }
        Wanted::Columns(columns) => {
            let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
            let needs_file = columns.iter().any(|c| matches!(c, Column::C | Column::Pad));
            let row = |id: u64| -> Result<Vec<String>, Failure> {
                let row = if needs_file { read(id)? } else { Row::default() };
                let cell = |column: &Column| match column {
                    Column::Id => id.to_string(),
                    Column::K => table.k(id).unwrap_or(0).to_string(),
                    Column::C => row.c.clone(),
                    Column::Pad => row.pad.clone(),
                };
                Ok(columns.iter().map(cell).collect())
            };
            Answer::rows(&names, ids.into_iter().map(row).collect::<Result<_, _>>()?)
        }
    })
}

fn update(table: &mut Table, change: &Change, filter: &Bound, params: &[Value]) -> io::Result<u64> {
    let ids = ids(table, filter);
    let new_c = match change {
        Change::NewC(c) => text(c, params).ok(),
        Change::NextK => None,
    };
    for id in &ids {
        let mut row = table.read(*id)?;
        match &new_c {
            Some(c) => row.c.clone_from(c),
            None => row.k += 1,
        }
        table.write(&[(*id, row)])?;
    }
    Ok(ids.len() as u64)
}

fn delete(table: &mut Table, name: &str, ids: Vec<u64>) -> Result<(), Failure> {
    for id in ids {
        table.delete(id).map_err(|e| Failure::io(name, &e))?;
    }
    Ok(())
}

/// The rows of an INSERT with their ids: 0 or none means the next one.
fn new_rows(
    table: &Table,
    columns: &[Column],
    rows: &[Vec<Value>],
    params: &[Value],
) -> Result<Vec<(u64, Row)>, Failure> {
    let mut next = table.next_id();
    let mut all = Vec::with_capacity(rows.len());
    for values in rows {
        let (mut id, mut row) = (0, Row::default());
        for (column, value) in columns.iter().zip(values) {
            match column {
                Column::Id => id = u64::try_from(number(value, params)?).unwrap_or(0),
                Column::K => row.k = number(value, params)?,
                Column::C => row.c = text(value, params)?,
                Column::Pad => row.pad = text(value, params)?,
            }
        }
        if id == 0 {
            id = next;
        }
        next = next.max(id + 1);
        all.push((id, row));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_a_transaction_takes_and_puts_back_is_never_missing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let mut transaction = Transaction::default();
        let mut run = |sql: &str| store.run(&Statement::parse(sql).unwrap(), &[], &mut transaction);
        run("CREATE TABLE t (id SERIAL)").unwrap();
        run("INSERT INTO t (id,k,c,pad) VALUES (1,7,'a','b'),(2,7,'b','c')").unwrap();
        assert_eq!(
            run("INSERT INTO t (id,k,c,pad) VALUES (2,7,'','')"),
            Err(Failure::duplicate(2))
        );
        run("BEGIN").unwrap();
        assert_eq!(run("DELETE FROM t WHERE id=2"), Ok(Answer::Done("DELETE", 1)));
        assert_eq!(run("SELECT c FROM t WHERE id=2"), Ok(Answer::one("c", "b")));
        run("INSERT INTO t (id,k,c,pad) VALUES (2,8,'new','')").unwrap();
        run("DELETE FROM t WHERE id=1").unwrap();
        run("COMMIT").unwrap();
        assert_eq!(run("SELECT c FROM t WHERE id IN (1,2)"), Ok(Answer::one("c", "new")));
        assert_eq!(run("SELECT COUNT(*) FROM t"), Ok(Answer::one("count", "1")));
        assert_eq!(run("SELECT c FROM u WHERE id=1"), Err(Failure::no_table("u")));
    }
}
