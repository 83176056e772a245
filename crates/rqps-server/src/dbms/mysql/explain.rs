//! The table of MySQL's and MariaDB's EXPLAIN: asked for, and read into a shape.
//!
//! MySQL 8.0 Reference Manual, "EXPLAIN Output Format"; MariaDB Knowledge Base, "EXPLAIN".

use std::collections::BTreeSet;

use rqps_client::{Connection, Error, ResultSet};
use rqps_model::query_plan::{Access, Asked, Extra, Join, Path};
use rqps_model::{PlanShape, Version};

use crate::explain::{NAME, Question, Reason, Told, with_values};

/// Why MySQL does not tell.
pub(super) fn why_not(version: Option<&Version>, is_write: bool) -> Option<&'static str> {
    let is_old = version.is_some_and(|version| !version.at_least(&[5, 6, 3]));
    (is_write && is_old).then_some("MySQL explains UPDATE and DELETE from 5.6.3 on")
}

/// Asks MySQL for the plan of a statement. Newer versions have a setting for what EXPLAIN alone gives; 5.5 does not
/// know FORMAT.
pub(super) fn ask(
    version: Option<&Version>,
    connection: &mut dyn Connection,
    question: &Question<'_>,
    asked: Asked,
) -> Result<Result<Told, Reason>, Error> {
    let is_new = version.is_some_and(|version| version.at_least(&[5, 7]));
    let head = if is_new { "EXPLAIN FORMAT=TRADITIONAL" } else { "EXPLAIN" };
    ask_with(head, connection, question, asked)
}

/// The same of any server that gives the table for `head`.
pub(in crate::dbms) fn ask_with(
    head: &str,
    connection: &mut dyn Connection,
    question: &Question<'_>,
    asked: Asked,
) -> Result<Result<Told, Reason>, Error> {
    let result = if asked == Asked::Prepared {
        prepared(connection, head, question)?
    } else {
        connection.query(&format!("{head} {}", with_values(question)))?
    };
    Ok(parse(&result).map(|shape| (shape, table(&result))))
}

fn prepared(
    connection: &mut dyn Connection,
    head: &str,
    question: &Question<'_>,
) -> Result<ResultSet, Error> {
    let variable = |idx: usize| format!("@{NAME}_{idx}");
    let values = question.values.first().map_or(&[][..], Vec::as_slice);
    let set: Vec<String> =
        values.iter().enumerate().map(|(idx, v)| format!("{} = {v}", variable(idx))).collect();
    connection.query(&format!("SET {}", set.join(", ")))?;
    let sql = question.sql.replace('\\', "\\\\").replace('\'', "''");
    connection.query(&format!("PREPARE {NAME} FROM '{head} {sql}'"))?;
    let using: Vec<String> = (0..values.len()).map(variable).collect();
    let result = connection.query(&format!("EXECUTE {NAME} USING {}", using.join(", ")));
    connection.query(&format!("DEALLOCATE PREPARE {NAME}"))?;
    result
}

/// The table as lines of columns, for the record.
fn table(result: &ResultSet) -> String {
    let mut out = result.columns.join("\t");
    for row in &result.rows {
        let row: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
        out.push('\n');
        out.push_str(&row.join("\t"));
    }
    out
}

/// The shape that a table of EXPLAIN tells.
pub(crate) fn parse(result: &ResultSet) -> Result<PlanShape, Reason> {
    let column = |name: &str| {
        result
            .columns
            .iter()
            .position(|c| c.eq_ignore_ascii_case(name))
            .ok_or_else(|| format!("EXPLAIN gave no column {name:?}"))
    };
    let [kind, table, path, key, more] = [
        column("select_type")?,
        column("table")?,
        column("type")?,
        column("key")?,
        column("Extra")?,
    ];
    let id = column("id")?;
    let mut shape = PlanShape::default();
    let mut seen: Vec<&str> = Vec::new();
    for row in &result.rows {
        let cell = |idx: usize| row.get(idx).and_then(Option::as_deref).unwrap_or_default();
        match cell(kind) {
            "UNION RESULT" => continue,
            "DERIVED" | "MATERIALIZED" => {
                shape.extras.insert(Extra::Materialise);
            }
            _ => {}
        }
        let parts: Vec<&str> = cell(more).split(';').map(str::trim).collect();
        shape.extras.extend(parts.iter().flat_map(|part| extras(part)));
        // The tables of one SELECT are joined, in the order of the rows.
        if seen.contains(&cell(id)) && !cell(table).is_empty() {
            shape.joins.insert(join(&parts));
        }
        seen.push(cell(id));
        let found = access(cell(table), cell(path), cell(key), &parts, &mut shape.extras)?;
        // A part of a statement that reads no table is told only where it is the whole.
        if !found.table.is_empty() || result.rows.len() == 1 {
            shape.accesses.push(found);
        }
    }
    if shape.accesses.is_empty() {
        return Err("EXPLAIN gave no row".to_owned());
    }
    Ok(shape)
}

fn access(
    table: &str,
    path: &str,
    key: &str,
    parts: &[&str],
    extras: &mut BTreeSet<Extra>,
) -> Result<Access, Reason> {
    // MariaDB writes `range|filter`, and the filter's index behind the other.
    let is_filtered = path.contains('|');
    let first = |text: &str| text.split('|').next().unwrap_or_default().to_owned();
    let (mut path, mut key) = (path.to_owned(), key.to_owned());
    if is_filtered {
        (path, key) = (first(&path), first(&key));
        extras.insert(Extra::RowidFilter);
    }
    let found = match path.as_str() {
        "system" | "const" | "eq_ref" | "ref" | "ref_or_null" | "unique_subquery"
        | "index_subquery" | "fulltext" => Path::Lookup,
        "range" => Path::Range,
        "index_merge" => {
            extras.insert(Extra::IndexMerge);
            Path::Range
        }
        // The primary key is the table: from its beginning to its end it is all rows.
        "index" if key == "PRIMARY" => {
            key.clear();
            Path::WholeTable
        }
        "index" => Path::WholeIndex,
        "ALL" | "all" => Path::WholeTable,
        "" => Path::Nothing,
        other => {
            return Err(format!("EXPLAIN has an access of type {other:?}, which is not known"));
        }
    };
    // The primary key is the table: versions say of it that it covers a query, or do not.
    let is_covering = !["", "PRIMARY"].contains(&key.as_str())
        && parts.iter().any(|part| *part == "Using index" || part.starts_with("Using index for"));
    Ok(Access {
        table: table.to_owned(),
        path: found,
        index: (!key.is_empty()).then(|| key.replace(',', "+")),
        is_covering,
    })
}

/// What a part of the last column says is done beside reading.
fn extras(part: &str) -> Option<Extra> {
    let begins = |words: &[&str]| words.iter().any(|word| part.starts_with(word));
    let extra = if begins(&["Using filesort"]) {
        Extra::Sort
    } else if begins(&["Using temporary"]) {
        Extra::TemporaryTable
    } else if begins(&["Using index condition"]) {
        Extra::IndexCondition
    } else if begins(&["Using MRR", "Rowid-ordered scan", "Key-ordered"]) {
        Extra::MultiRangeRead
    } else if begins(&["Using index for skip scan"]) {
        Extra::SkipScan
    } else if begins(&["Using union(", "Using sort_union(", "Using intersect("]) {
        Extra::IndexMerge
    } else if begins(&["Using rowid filter"]) {
        Extra::RowidFilter
    } else if begins(&["Using join buffer"]) {
        Extra::JoinBuffer
    } else {
        return None;
    };
    Some(extra)
}

fn join(parts: &[&str]) -> Join {
    let is_hash = |part: &&str| {
        part.starts_with("Using join buffer")
            && (part.contains("hash join") || part.contains("BNLH"))
    };
    if parts.iter().any(is_hash) { Join::Hash } else { Join::NestedLoop }
}
