//! PostgreSQL's own counters: every column of its views that is a whole number, so that a new version's are there as
//! well.

use std::collections::BTreeMap;

use rqps_client::ResultSet;

use crate::dbms::driver::{CounterQuestion, Counters};

/// PostgreSQL's views, each with what is asked of it. `pg_stat_checkpointer` is there since 17,
/// `pg_stat_wal` since 14, `pg_stat_io` since 16 (documentation of 19, "The Cumulative Statistics
/// System").
pub(super) const VIEWS: &[CounterQuestion] = &[
    CounterQuestion {
        sql: |view| format!("{} where datname = current_database()", all(view)),
        ..view("pg_stat_database")
    },
    view("pg_stat_bgwriter"),
    view("pg_stat_checkpointer"),
    view("pg_stat_wal"),
    view(IO),
];

const fn view(name: &'static str) -> CounterQuestion {
    CounterQuestion { view: name, sql: all, parse: parse_view, moved_by_asking: &[] }
}

fn all(view: &str) -> String {
    format!("select * from {view}")
}

/// The view with a row for each kind of process and object.
const IO: &str = "pg_stat_io";

/// Columns that are whole numbers and no counters.
const NO_COUNTERS: [&str; 3] = ["datid", "numbackends", OP_BYTES];

/// Up to 17 the size of each read, write and extend of a row of `pg_stat_io`.
const OP_BYTES: &str = "op_bytes";

/// What is counted in units of [`OP_BYTES`], with the column that has its bytes since 18, where one read
/// or extend may be of many blocks: the bytes alone mean the same in all versions.
const WITH_BYTES: [(&str, &str); 3] =
    [("reads", "read_bytes"), ("writes", "write_bytes"), ("extends", "extend_bytes")];

/// The whole numbers of a view's columns, summed over its rows. A column that has anything else in one of
/// the rows is not of whole numbers, even where other rows happen to print one, and is left out.
fn parse_view(view: &str, result: &ResultSet) -> Counters {
    let mut sums: BTreeMap<String, Option<u64>> = BTreeMap::new();
    let column = |name: &str| result.columns.iter().position(|c| c == name);
    let (who, object, unit) = (column("backend_type"), column("object"), column(OP_BYTES));
    for row in &result.rows {
        let text = |at: Option<usize>| at.and_then(|at| row.get(at)?.as_deref()).unwrap_or("");
        let prefix = if view != IO {
            view.to_owned()
        } else if text(object) == "wal" {
            format!("{view}.wal")
        } else if text(who) == "client backend" {
            format!("{view}.client")
        } else {
            format!("{view}.other")
        };
        let unit_bytes: Option<u64> = text(unit).parse().ok();
        let mut add = |name: &str, value: Option<u64>| {
            let sum = sums.entry(format!("{prefix}.{name}")).or_insert(Some(0));
            *sum = sum.zip(value).map(|(sum, value)| sum.saturating_add(value));
        };
        for (name, value) in result.columns.iter().zip(row) {
            // NULL is of a row to which the column does not apply.
            let Some(value) = value.as_deref().filter(|_| !NO_COUNTERS.contains(&name.as_str()))
            else {
                continue;
            };
            let value: Option<u64> = value.parse().ok();
            add(name, value);
            let in_bytes = WITH_BYTES.iter().find(|(counted, _)| *counted == name.as_str());
            if let (Some((_, in_bytes)), Some(unit_bytes)) = (in_bytes, unit_bytes) {
                add(in_bytes, value.map(|n| n.saturating_mul(unit_bytes)));
            }
        }
    }
    sums.into_iter().filter_map(|(name, sum)| Some((name, sum?))).collect()
}

#[cfg(test)]
mod tests;
