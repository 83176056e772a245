//! PostgreSQL's EXPLAIN as JSON: asked for, and read into a shape.
//!
//! PostgreSQL's manual, "EXPLAIN" and "Using EXPLAIN"; names of nodes are those of its `explain.c`.

use rqps_client::{Connection, Error, ParamType};
use rqps_model::query_plan::{Access, Asked, Extra, Join, Path, PlanKind};
use rqps_model::{PlanShape, Version};
use serde_json::Value;

use crate::explain::{
    Executions, NAME, PreparedStatement, Question, Reason, Told, numbered, with_values,
};

const HEAD: &str = "EXPLAIN (COSTS OFF, FORMAT JSON)";

/// Asks for the plan of a statement, by its name in a session that has executed it. Elsewhere it is prepared, and asked
/// for until the server has decided whether one plan does for all values.
pub(super) fn ask(
    _: Option<&Version>,
    connection: &mut dyn Connection,
    question: &Question<'_>,
    asked: Asked,
) -> Result<Result<Told, Reason>, Error> {
    let text = if asked == Asked::Prepared {
        match question.prepared_as {
            Some(name) => executed(connection, name, question.values.first())?,
            None => prepared(connection, question)?,
        }
    } else {
        one(connection, &format!("{HEAD} {}", with_values(question)))?
    };
    Ok(parse(&text).map(|shape| {
        let kind = if has_parameter(&text) { PlanKind::Generic } else { PlanKind::Custom };
        (PlanShape { kind: (asked == Asked::Prepared).then_some(kind), ..shape }, text)
    }))
}

fn prepared(connection: &mut dyn Connection, question: &Question<'_>) -> Result<String, Error> {
    let types: Vec<&str> = question
        .types
        .iter()
        .map(|kind| match kind {
            ParamType::Int => "int4",
            ParamType::BigInt => "int8",
            ParamType::Text => "text",
            ParamType::Inferred | ParamType::Binary => "unknown",
        })
        .collect();
    let sql = numbered(question.sql);
    connection.query(&format!("PREPARE {NAME} ({}) AS {sql}", types.join(", ")))?;
    let mut told = Ok(String::new());
    for values in question.values {
        told = executed(connection, NAME, Some(values));
        if told.is_err() {
            break;
        }
    }
    connection.query(&format!("DEALLOCATE {NAME}"))?;
    told
}

fn executed(
    connection: &mut dyn Connection,
    name: &str,
    values: Option<&Vec<String>>,
) -> Result<String, Error> {
    let values = values.map_or_else(String::new, |values| values.join(", "));
    one(connection, &format!("{HEAD} EXECUTE {name} ({values})"))
}

/// The statements that a session has prepared. Their plans are counted since 14.
pub(super) fn prepared_statements(
    version: Option<&Version>,
    connection: &mut dyn Connection,
) -> Result<Vec<PreparedStatement>, Error> {
    let are_counted = version.is_some_and(|version| version.at_least(&[14]));
    let counts = if are_counted { "generic_plans, custom_plans" } else { "null, null" };
    let sql = format!("select name, statement, {counts} from pg_prepared_statements");
    let rows = connection.query(&sql)?.rows.into_iter();
    let statement = |row: Vec<Option<String>>| {
        let [name, sql, n_generic, n_custom] = <[Option<String>; 4]>::try_from(row).ok()?;
        let number = |text: Option<String>| text?.parse().ok();
        let both = number(n_generic).zip(number(n_custom));
        let executions = both.map(|(n_generic, n_custom)| Executions { n_generic, n_custom });
        Some(PreparedStatement { name: name?, sql: sql?, executions })
    };
    Ok(rows.filter_map(statement).collect())
}

fn one(connection: &mut dyn Connection, sql: &str) -> Result<String, Error> {
    Ok(connection.query(sql)?.scalar().unwrap_or_default().to_owned())
}

/// Whether a plan holds parameters in place of values: `$1`.
fn has_parameter(text: &str) -> bool {
    text.as_bytes()
        .windows(2)
        .any(|two| two[0] == b'$' && two[1].is_ascii_digit() && two[1] != b'0')
}

/// The shape that a plan in JSON tells.
pub(crate) fn parse(text: &str) -> Result<PlanShape, Reason> {
    let all: Value =
        serde_json::from_str(text).map_err(|error| format!("EXPLAIN gave no JSON: {error}"))?;
    let plan = all.get(0).and_then(|one| one.get("Plan"));
    let plan = plan.ok_or_else(|| "EXPLAIN gave no plan".to_owned())?;
    let mut shape = PlanShape::default();
    walk(plan, &mut shape);
    Ok(shape)
}

fn text_of<'a>(node: &'a Value, key: &str) -> &'a str {
    node.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node.get("Plans").and_then(Value::as_array).into_iter().flatten()
}

fn walk(node: &Value, shape: &mut PlanShape) {
    let kind = text_of(node, "Node Type");
    if node.get("Parallel Aware").and_then(Value::as_bool) == Some(true) {
        shape.extras.insert(Extra::Parallel);
    }
    match kind {
        "Bitmap Heap Scan" => {
            shape.extras.insert(Extra::Bitmap);
            shape.accesses.push(bitmap(node));
            return;
        }
        "Append" | "Merge Append" => return append(node, shape),
        // Before 14 each partition of which rows are changed has a plan of its own below.
        "ModifyTable" if n_members(node) > 1 => return append(node, shape),
        // A node without children that says never: no table is read.
        "Result" if children(node).next().is_none() => {
            shape.accesses.push(access(node, Path::Nothing, false));
        }
        "Index Scan" | "Index Only Scan" => {
            let path = by_condition(text_of(node, "Index Cond"));
            shape.accesses.push(access(node, path, kind == "Index Only Scan"));
        }
        "Tid Scan" => shape.accesses.push(access(node, Path::Lookup, false)),
        // Of foreign and custom scans nothing more is known than that they give a table.
        "ModifyTable" | "LockRows" => {}
        _ if node.get("Relation Name").is_some() => {
            shape.accesses.push(access(node, Path::WholeTable, false));
        }
        _ => {}
    }
    let hashed = ["Hashed", "Mixed"].contains(&text_of(node, "Strategy"));
    let extra = match kind {
        "Gather" | "Gather Merge" => Some(Extra::Parallel),
        "Sort" => Some(Extra::Sort),
        "Incremental Sort" => Some(Extra::IncrementalSort),
        "Aggregate" | "SetOp" if hashed => Some(Extra::HashAggregate),
        "Materialize" | "Memoize" | "CTE Scan" => Some(Extra::Materialise),
        _ => None,
    };
    shape.extras.extend(extra);
    shape.joins.extend(match kind {
        "Nested Loop" => Some(Join::NestedLoop),
        "Hash Join" => Some(Join::Hash),
        "Merge Join" => Some(Join::Merge),
        _ => None,
    });
    for child in children(node) {
        walk(child, shape);
    }
}

fn access(node: &Value, path: Path, is_covering: bool) -> Access {
    let index = text_of(node, "Index Name");
    Access {
        table: text_of(node, "Relation Name").to_owned(),
        path,
        index: (!index.is_empty()).then(|| index_name(index)),
        is_covering,
    }
}

/// The name that PostgreSQL gives a primary key's index is no more than that.
fn index_name(name: &str) -> String {
    if name.ends_with("_pkey") { "PRIMARY".to_owned() } else { name.to_owned() }
}

/// Whether a condition on an index is one value, or ranges or a list of them: `(id = $1)`,
/// `((k >= 5) AND (k <= 9))`, `(id = ANY ('{1,2}'::integer[]))`.
fn by_condition(condition: &str) -> Path {
    if condition.is_empty() {
        Path::WholeIndex
    } else if condition.contains(['<', '>']) || condition.contains("= ANY") {
        Path::Range
    } else {
        Path::Lookup
    }
}

/// The indexes below a bitmap are one access to the table.
fn bitmap(node: &Value) -> Access {
    let (mut indexes, mut path) = (Vec::new(), Path::Lookup);
    let mut left: Vec<&Value> = children(node).collect();
    left.reverse();
    while let Some(child) = left.pop() {
        if text_of(child, "Node Type") == "Bitmap Index Scan" {
            indexes.push(index_name(text_of(child, "Index Name")));
            path = path.max(by_condition(text_of(child, "Index Cond")));
        }
        left.extend(children(child));
    }
    let table = text_of(node, "Relation Name").to_owned();
    let index = (!indexes.is_empty()).then(|| indexes.join("+"));
    Access { table, path, index, is_covering: false }
}

/// Plans below a node that are none of its subqueries: those of partitions.
fn n_members(node: &Value) -> usize {
    children(node).filter(|child| text_of(child, "Parent Relationship") == "Member").count()
}

/// Partitions that are all read alike are told as one table: what their plans have at the same place.
fn append(node: &Value, shape: &mut PlanShape) {
    let before = shape.accesses.len();
    let mut ends = Vec::new();
    for child in children(node) {
        walk(child, shape);
        ends.push(shape.accesses.len() - before);
    }
    let all = shape.accesses.get(before..).unwrap_or_default();
    let n = ends.first().copied().unwrap_or(0);
    let is_even = n > 0 && ends.iter().zip(1..).all(|(end, nth)| *end == n * nth);
    if ends.len() < 2 || !is_even {
        return;
    }
    let folded: Option<Vec<Access>> =
        (0..n).map(|at| fold(&all.iter().skip(at).step_by(n).collect::<Vec<_>>())).collect();
    if let Some(folded) = folded {
        shape.accesses.truncate(before);
        shape.accesses.extend(folded);
    }
}

/// One access for those of all partitions; `None` where they are not alike.
fn fold(parts: &[&Access]) -> Option<Access> {
    let like = |a: &Access| {
        let own = a.index.as_deref().map(|i| i.strip_prefix(a.table.as_str()).unwrap_or(i));
        (a.path, a.is_covering, own.map(|own| own.trim_start_matches('_').to_owned()))
    };
    let first = parts.first().filter(|first| parts.iter().all(|p| like(p) == like(first)))?;
    let table = parts.iter().skip(1).fold(first.table.as_str(), |common, part| {
        let n = common.bytes().zip(part.table.bytes()).take_while(|(a, b)| a == b).count();
        common.get(..n).unwrap_or_default()
    });
    let table = table.trim_end_matches("_p");
    Some(Access { table: table.to_owned(), index: like(first).2, ..(*first).clone() })
}
