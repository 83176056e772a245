//! The tables in docs/reference/store.md are those of the database, with the comments of schema.sql.
//! `UPDATE_EXPECT=1` rewrites them.

use std::collections::BTreeMap;

use expect_test::expect_file;
use rqps_store::Store;
use rusqlite::Connection;

const PAGE: &str = include_str!("../../../../docs/reference/store.md");

const SCHEMA: &str = include_str!("../../schema.sql");

/// Stands before the tables of the page.
const MARKER: &str = "<!-- tables -->\n";

/// Begins the comment of a column that is described in the table named behind it.
const AS_IN: &str = "= ";

/// A column of the database.
struct Column {
    table: String,
    name: String,
    /// Its type, and whether it may be null.
    kind: String,
}

/// What schema.sql says of a table.
#[derive(Default)]
struct Comments {
    /// Of the table, line by line.
    table: Vec<&'static str>,
    /// Of each column, by name.
    columns: BTreeMap<&'static str, String>,
}

/// The comments of schema.sql by table; its head states their form.
fn parse_comments() -> BTreeMap<&'static str, Comments> {
    let mut tables: BTreeMap<&str, Comments> = BTreeMap::new();
    let mut table = "";
    let mut above: Vec<&str> = Vec::new();
    for line in SCHEMA.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("--") {
            above.push(comment.trim());
            continue;
        }
        let (code, behind) = line.split_once("--").unwrap_or((line, ""));
        let lines = std::mem::take(&mut above);
        if let Some(rest) = code.strip_prefix("CREATE TABLE ") {
            table = rest.trim_end_matches(" (");
            tables.entry(table).or_default().table = lines;
        } else if let Some(name) = code.split_whitespace().next() {
            let parts = lines.into_iter().chain([behind.trim()]).filter(|part| !part.is_empty());
            let meaning = parts.collect::<Vec<_>>().join(" ");
            tables.entry(table).or_default().columns.insert(name, meaning);
        }
    }
    tables
}

/// The columns of all tables, in the order in which they were made.
fn select_columns(database: &Connection) -> Vec<Column> {
    let sql = "SELECT t.name, c.name, c.type, c.\"notnull\" FROM sqlite_schema AS t
               JOIN pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' ORDER BY t.rowid, c.cid";
    let mut statement = database.prepare(sql).unwrap();
    let column = |row: &rusqlite::Row<'_>| {
        let (declared, not_null): (String, bool) = (row.get(2)?, row.get(3)?);
        let null = if not_null { "" } else { ", null" };
        let kind = format!("{}{null}", declared.replace(" GENERATED ALWAYS", ""));
        Ok(Column { table: row.get(0)?, name: row.get(1)?, kind })
    };
    statement.query_map([], column).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// Rows of the page's table for neighbouring columns: one row, or a row each.
fn render_rows(columns: &[Column], meaning: &str, all: &[Column]) -> String {
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else {
        return String::new();
    };
    let Some(other) = meaning.strip_prefix(AS_IN) else {
        let row = |c: &Column| format!("| `{}` | {} | {meaning} |\n", c.name, c.kind);
        return columns.iter().map(row).collect();
    };
    for own in columns {
        let is_same =
            |c: &Column| (c.table.as_str(), &c.name, &c.kind) == (other, &own.name, &own.kind);
        assert!(all.iter().any(is_same), "{}.{} is not as in {other}", own.table, own.name);
    }
    let n = columns.len();
    format!("| `{}` to `{}` | | {n} columns, each as in `{other}` |\n", first.name, last.name)
}

/// All tables of the database as Markdown.
fn render_tables(database: &Connection) -> String {
    let number: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let (all, comments) = (select_columns(database), parse_comments());
    let mut out = format!("\nThe tables of schema {number}.\n");
    for columns in all.chunk_by(|a, b| a.table == b.table) {
        let name = columns[0].table.as_str();
        let of_table = comments.get(name).unwrap();
        assert!(!of_table.table.is_empty(), "schema.sql has no comment above table {name}");
        let about = of_table.table.join("\n");
        out.push_str(&format!(
            "\n## `{name}`\n\n{about}\n\n| column | type | meaning |\n|---|---|---|\n"
        ));
        let meaning = |c: &Column| of_table.columns.get(c.name.as_str()).map_or("", String::as_str);
        let is_one_row =
            |a: &Column, b: &Column| meaning(a).starts_with(AS_IN) && meaning(a) == meaning(b);
        for neighbours in columns.chunk_by(is_one_row) {
            let text = meaning(&neighbours[0]);
            assert!(
                !text.is_empty(),
                "schema.sql has no comment for {name}.{}",
                neighbours[0].name
            );
            out.push_str(&render_rows(neighbours, text, &all));
        }
    }
    out
}

#[test]
fn the_page_has_every_table_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let database = Connection::open(store.path()).unwrap();
    let (head, _) = PAGE.split_once(MARKER).unwrap();
    let page = format!("{head}{MARKER}{}", render_tables(&database));
    expect_file!["../../../../docs/reference/store.md"].assert_eq(&page);
}

/// The queries that the page shows as examples.
#[test]
fn the_examples_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&crate::generate::plain_run("r1")).unwrap();
    let slice = crate::generate::slice(&mut crate::generate::Draw(1), 0);
    store.insert_slice("r1", 0, 0, &slice).unwrap();
    let database = Connection::open(store.path()).unwrap();
    let examples: Vec<_> = PAGE.split("```sql\n").skip(1).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let sql = example.split("```").next().unwrap();
        let mut statement = database.prepare(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        while rows.next().unwrap().is_some() {}
    }
}
