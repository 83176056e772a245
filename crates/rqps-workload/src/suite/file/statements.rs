//! `[[statement]]` entries: SQL whose placeholders must match its parameters.

use serde::Deserialize;
use toml::Spanned;

use super::File;
use crate::SuiteError;
use crate::statement::{Expect, Source, Statement, TableChoice, Verb};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatementEntry {
    pub(super) name: Spanned<String>,
    sql: Spanned<String>,
    sql_postgres: Option<Spanned<String>>,
    sql_mariadb: Option<Spanned<String>>,
    #[serde(default)]
    params: Vec<Source>,
    expect: Spanned<Expect>,
    #[serde(default)]
    table: TableChoice,
    #[serde(default)]
    protocol: Travel,
}

#[derive(Deserialize, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Travel {
    #[default]
    AsAsked,
    Text,
}

/// Checks an entry by itself.
pub(super) fn read_statement(
    file: &File<'_>,
    entry: StatementEntry,
) -> Result<Statement, SuiteError> {
    let verbs = "begin with SELECT, INSERT, UPDATE or DELETE";
    let verb = Verb::of(entry.sql.get_ref())
        .ok_or_else(|| file.wrong(&entry.sql, "sql", "unknown kind of statement", verbs))?;
    let all = [
        ("sql", Some(&entry.sql)),
        ("sql_postgres", entry.sql_postgres.as_ref()),
        ("sql_mariadb", entry.sql_mariadb.as_ref()),
    ];
    for (key, sql) in all {
        let Some(sql) = sql else { continue };
        if Verb::of(sql.get_ref()) != Some(verb) {
            let problem = "not the same kind of statement as `sql`";
            return Err(file.wrong(sql, key, problem, verbs));
        }
        check_placeholders(file, key, sql, &entry.params)?;
    }
    let statement = Statement {
        name: entry.name.into_inner(),
        verb,
        params: entry.params,
        expect: *entry.expect.get_ref(),
        table: entry.table,
        always_text: entry.protocol == Travel::Text,
        sql: entry.sql.into_inner(),
        sql_postgres: entry.sql_postgres.map(Spanned::into_inner),
        sql_mariadb: entry.sql_mariadb.map(Spanned::into_inner),
    };
    let has_ids = statement.n_ids(1).is_some();
    if matches!(statement.expect, Expect::Range | Expect::OneToN) && !has_ids {
        let problem = "the statement has no range and no list of ids to count";
        return Err(file.wrong(&entry.expect, "expect", problem, "use \"0\", \"1\" or \"any\""));
    }
    Ok(statement)
}

/// Holds `?` and `{list}` in the SQL against the sources, in order.
fn check_placeholders(
    file: &File<'_>,
    key: &'static str,
    sql: &Spanned<String>,
    sources: &[Source],
) -> Result<(), SuiteError> {
    let text = sql.get_ref();
    if text.matches("{table}").count() != 1 {
        let problem = "{table} must occur exactly once";
        let remedy = "write {table} in place of the table's name; for a table of your own, write \
                      it into a comment: /* {table} */";
        return Err(file.wrong(sql, key, problem, remedy));
    }
    let rest = text.replace("{table}", "").replace("{list}", "");
    if rest.contains(['{', '}']) {
        let problem = "unknown word in braces";
        return Err(file.wrong(
            sql,
            key,
            problem,
            "use {table} and {list}, and ? for one parameter",
        ));
    }
    let bytes = text.as_bytes();
    let places: Vec<bool> = (0..bytes.len())
        .filter(|&at| bytes[at] == b'?' || bytes[at..].starts_with(b"{list}"))
        .map(|at| bytes[at] == b'{')
        .collect();
    let wanted: Vec<bool> = sources.iter().map(|source| source.is_list()).collect();
    if places == wanted {
        return Ok(());
    }
    let name = |is_list: &bool| if *is_list { "{list}" } else { "?" };
    let row = |places: &[bool]| places.iter().map(name).collect::<Vec<_>>().join(" ");
    let problem = format!("placeholders are [{}], params need [{}]", row(&places), row(&wanted));
    let remedy = "give one parameter per placeholder, in order; ids, hot-ids and ks fill a {list}";
    Err(file.wrong(sql, key, problem, remedy))
}
