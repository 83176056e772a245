//! docs/schema.md and the database say the same of every table and column.

use rqps_store::Store;

/// One line per column: table, name, type, whether it may be null.
fn of_database() -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let database = rusqlite::Connection::open(store.path()).unwrap();
    let mut statement = database
        .prepare(
            "SELECT t.name, c.name, c.type, c.\"notnull\" FROM sqlite_schema AS t
             JOIN pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' ORDER BY t.rowid, c.cid",
        )
        .unwrap();
    let lines = statement.query_map([], |row| {
        let (table, name): (String, String) = (row.get(0)?, row.get(1)?);
        let (kind, not_null): (String, bool) = (row.get(2)?, row.get(3)?);
        let null = if not_null { "" } else { ", null" };
        Ok(format!("{table}: {name} | {}{null}", kind.replace(" GENERATED ALWAYS", "")))
    });
    lines.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// The same from the tables below the headings of the document.
fn of_document(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut table = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            table = name.trim_matches('`');
        }
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, kind, meaning] = cells.as_slice() else { continue };
        if let Some(name) = name.strip_prefix('`').and_then(|n| n.strip_suffix('`')) {
            assert!(!meaning.is_empty(), "{table}.{name} has no meaning");
            lines.push(format!("{table}: {name} | {kind}"));
        }
    }
    lines
}

#[test]
fn every_column_is_documented_as_it_is() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    let text = std::fs::read_to_string(path).unwrap();
    // The document has the tables in the order of their meaning, the database in that of their making.
    let mut documented = of_document(&text);
    let mut database = of_database();
    for lines in [&mut documented, &mut database] {
        lines.sort_by_key(|line| line.split(':').next().map(str::to_owned));
    }
    assert_eq!(documented.join("\n"), database.join("\n"));
}

/// The queries that the document shows as examples.
#[test]
fn the_examples_run() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    let text = std::fs::read_to_string(path).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&crate::generate::plain_run("r1")).unwrap();
    let slice = crate::generate::slice(&mut crate::generate::Draw(1), 0);
    store.insert_slice("r1", 0, 0, &slice).unwrap();
    let database = rusqlite::Connection::open(store.path()).unwrap();
    let examples: Vec<_> = text.split("```sql\n").skip(1).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let sql = example.split("```").next().unwrap();
        let mut statement = database.prepare(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        while rows.next().unwrap().is_some() {}
    }
}
