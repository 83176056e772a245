//! Names before a point: a column's table or alias, never another schema.
//!
//! A position is one of tables or one of expressions. The words that begin tables count wherever they stand. Those that
//! end them count only where no server takes them for a name, so that an alias cannot hide a table behind it.

use std::collections::BTreeSet;

use rqps_model::Dbms;

use super::results::{FunctionResult, has_arguments, is_otherwise_named};
use super::token::{Token, Tokens};
use super::{OF_ROWS, Place};

/// Words after which names of tables stand.
const BEFORE_TABLES: &[&str] =
    &["from", "join", "straight_join", "into", "table", "tables", "using", "only"];

/// The same where no bracket follows, which makes them functions.
const BEFORE_TABLES_OR_CALLS: &[&str] = &["insert", "replace", "delete", "truncate", "analyze"];

/// The same in definitions.
const BEFORE_DEFINED: &[&str] = &[
    "references",
    "view",
    "index",
    "sequence",
    "statistics",
    "inherits",
    "rename",
    "to",
    "partition",
    "vacuum",
    "optimize",
    "cluster",
    "like",
];

/// Words before `update` that make it a part of something else.
const BEFORE_OTHER_UPDATE: &[&str] = &["key", "for", "do", "on", "then"];

/// Words after which expressions stand, reserved in all servers.
const BEFORE_EXPRESSIONS: &[&str] = &["where", "having", "limit", "select"];

/// First words of a query in brackets, reserved in all servers. VALUES is a name in PostgreSQL.
const QUERIES: &[&str] = &["select", "with", "table"];

/// Functions with FROM or FOR between their arguments.
const WITH_FROM: &[&str] = &["extract", "substring", "substr", "trim", "overlay"];

/// Words before the name of a column with its table.
const BEFORE_COLUMNS: &[&str] = &[
    "select",
    "distinct",
    "all",
    "where",
    "and",
    "or",
    "xor",
    "not",
    "on",
    "by",
    "set",
    "having",
    "case",
    "when",
    "then",
    "else",
    "between",
    "like",
    "ilike",
    "rlike",
    "regexp",
    "returning",
    "div",
    "mod",
    "interval",
    "from",
    "binary",
    "sql_no_cache",
    "limit",
    "in",
    "any",
    "update",
];

/// Schemas of servers, and the beginning of PostgreSQL's catalogs.
const CATALOGS: &[&str] = &["information_schema", "mysql", "performance_schema", "sys"];
const CATALOG: &str = "pg_";

/// Refuses names before a point that may be another schema's, and catalogs on somebody else's server.
pub(super) fn check(dbms: Dbms, tokens: &Tokens, place: Place<'_>) -> Result<(), String> {
    let defines = !OF_ROWS.contains(&tokens.word(0));
    let mut reader = Reader {
        dbms,
        tokens,
        place,
        defines,
        levels: vec![Level { is_query: true, ..Level::default() }],
        is_set: false,
        has_query: false,
        introduced: BTreeSet::new(),
        results: Vec::new(),
        used: Vec::new(),
    };
    // What INSERT calls the row that it would have inserted.
    if tokens.word(0) == "insert" {
        reader.introduced.insert("excluded".to_owned());
    }
    for at in 0..tokens.len() {
        reader.read(at)?;
    }
    for Use { name, column } in &reader.used {
        if !reader.introduced.contains(name) {
            return Err(format!("{name:?} before a point is no table or alias of the statement"));
        }
        if reader.results.iter().any(|result| result.calls(name, column)) {
            return Err(format!(
                "PostgreSQL may take {name}.{column} for the call {column}({name}), as {name} is the \
                 result of a function; write {column} alone"
            ));
        }
    }
    Ok(())
}

/// A level of brackets.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    /// Whether names here are of tables.
    is_of_tables: bool,
    /// Whether they are again after a comma.
    is_list: bool,
    /// Whether it is a query, so that FROM is followed by tables: not so in EXTRACT(YEAR FROM t.d).
    is_query: bool,
}

impl Level {
    fn set(&mut self, is_of_tables: bool) {
        (self.is_of_tables, self.is_list) = (is_of_tables, is_of_tables);
    }
}

/// A name before a point, in lower case, and the one behind it, which is empty for a star.
struct Use {
    name: String,
    column: String,
}

struct Reader<'a> {
    dbms: Dbms,
    tokens: &'a Tokens,
    place: Place<'a>,
    defines: bool,
    levels: Vec<Level>,
    /// Whether the SET of an UPDATE has been read.
    is_set: bool,
    /// Whether a SELECT or FROM has been read.
    has_query: bool,
    /// Names of tables and aliases, in lower case.
    introduced: BTreeSet<String>,
    /// Functions among the tables of PostgreSQL.
    results: Vec<FunctionResult>,
    /// Names before points.
    used: Vec<Use>,
}

impl Reader<'_> {
    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn read(&mut self, at: usize) -> Result<(), String> {
        let tokens = self.tokens;
        let level = *self.level();
        match tokens.get(at) {
            Some(Token::Symbol('(')) => self.open(at),
            Some(Token::Symbol(')')) => {
                self.levels.pop();
            }
            Some(Token::Symbol(',')) => self.level().is_of_tables = level.is_list,
            Some(Token::Symbol('.')) => return self.point(at),
            Some(Token::Word(_) | Token::Quoted(_)) => return self.name(at),
            _ => {}
        }
        Ok(())
    }

    /// A name or a keyword.
    fn name(&mut self, at: usize) -> Result<(), String> {
        if self.tokens.is(at + 1, '.') {
            return Ok(());
        }
        if self.level().is_of_tables || self.is_row_alias(at) {
            self.introduce(at)?;
        }
        if self.tokens.is_before(at, '.') { Ok(()) } else { self.word(at) }
    }

    fn open(&mut self, at: usize) {
        let level = *self.level();
        let is_query = QUERIES.contains(&self.tokens.word(at + 1));
        let is_insert = matches!(self.tokens.word(0), "insert" | "replace");
        let are_columns = is_insert
            && !self.has_query
            && self.levels.len() == 1
            && at.checked_sub(1).is_some_and(|before| self.tokens.name(before).is_some());
        let is_of_call =
            self.dbms.is_postgres_family() && !self.defines && has_arguments(self.tokens, at);
        let is_of_tables = level.is_of_tables && !is_query && !are_columns && !is_of_call;
        let takes_from = WITH_FROM.contains(&self.tokens.word_before(at)) && !level.is_of_tables;
        self.levels.push(Level { is_of_tables, is_list: is_of_tables, is_query: !takes_from });
    }

    /// A table or an alias.
    fn introduce(&mut self, at: usize) -> Result<(), String> {
        let name = self.tokens.name(at).unwrap_or_default().to_ascii_lowercase();
        let is_catalog = CATALOGS.contains(&name.as_str()) || name.starts_with(CATALOG);
        if let Place::Guest(others) = self.place {
            if is_catalog {
                return Err(format!("{name} is the server's own, not a table of the benchmark"));
            }
            if others.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
                return Err(format!(
                    "{name} is a schema of the server; use another name for a table or an alias"
                ));
            }
        }
        self.introduced.insert(name);
        if self.dbms.is_postgres_family() {
            if is_otherwise_named(self.tokens, at) {
                return Err(format!(
                    "{} among the tables has no certain name; write it after SELECT",
                    self.tokens.word(at).to_uppercase()
                ));
            }
            self.results.extend(FunctionResult::read(self.tokens, at));
        }
        Ok(())
    }

    /// MySQL's `VALUES (...) AS new ON DUPLICATE KEY UPDATE k = new.k`.
    fn is_row_alias(&self, at: usize) -> bool {
        let is_as = self.tokens.word_before(at) == "as" && at > 1 && self.tokens.is(at - 2, ')');
        is_as && self.tokens.word(0) == "insert" && self.levels.len() == 1
    }

    /// A point, and the name before it.
    fn point(&mut self, at: usize) -> Result<(), String> {
        let tokens = self.tokens;
        let before = at.saturating_sub(1);
        let name = tokens.name(before).unwrap_or_default();
        if tokens.name(at + 1).is_none() && !tokens.is(at + 1, '*') {
            return Err("no name follows a point".to_owned());
        }
        let is_schema =
            matches!(self.place, Place::Own(schema) if name.eq_ignore_ascii_case(schema));
        // What stands before the first point of a name is judged there.
        if is_schema || tokens.is_before(before, '.') {
            return Ok(());
        }
        let is_longer = tokens.is(at + 2, '.')
            || tokens.is(at + 2, '(')
            // A type, and what it is of.
            || tokens.get(at + 2) == Some(&Token::Text);
        if self.level().is_of_tables || is_longer || !self.is_after_expression(before) {
            return Err(format!(
                "{name:?} is before a point, as a schema is; name tables without one, as they \
                 lie in rqps's own schema"
            ));
        }
        let column = tokens.name(at + 1).unwrap_or_default().to_owned();
        self.used.push(Use { name: name.to_ascii_lowercase(), column });
        Ok(())
    }

    /// Whether a column can stand here, by what stands before.
    fn is_after_expression(&self, at: usize) -> bool {
        match at.checked_sub(1).and_then(|before| self.tokens.get(before)) {
            // A variable or a type follows.
            Some(Token::Symbol('@' | ':' | ')')) | None => false,
            Some(Token::Symbol(_)) => true,
            Some(Token::Word(word)) => BEFORE_COLUMNS.contains(&word.as_str()),
            Some(_) => false,
        }
    }

    /// A word that may say what comes next.
    fn word(&mut self, at: usize) -> Result<(), String> {
        let tokens = self.tokens;
        let (word, before) = (tokens.word(at), tokens.word_before(at));
        match word {
            "" => return Ok(()),
            "from" if !self.is_from_of_query(at) => {}
            // ON DUPLICATE KEY UPDATE; a word that MySQL reserves stands before.
            "update" if before == "key" && !self.dbms.is_postgres_family() => {
                self.level().set(false)
            }
            "update" if BEFORE_OTHER_UPDATE.contains(&before) => {}
            "delete" if before == "then" => {}
            "update" => self.level().set(true),
            _ if BEFORE_TABLES.contains(&word) => self.level().set(true),
            _ if BEFORE_TABLES_OR_CALLS.contains(&word) && !tokens.is(at + 1, '(') => {
                self.level().set(true);
            }
            _ if self.defines && BEFORE_DEFINED.contains(&word) => self.level().set(true),
            "on" => {
                // CREATE INDEX i ON t; in a join a condition follows, and a comma ends it.
                let is_of_tables = self.defines && !self.has_query;
                self.level().is_of_tables = is_of_tables;
            }
            // A variable of MySQL may have any name.
            _ if tokens.is_before(at, '@') => {}
            "for" => return self.begin_for(at),
            _ if self.ends_tables(at) => self.level().set(false),
            _ => {}
        }
        if word == "select" {
            self.level().is_query = true;
        }
        self.is_set |= word == "set";
        self.has_query |= matches!(word, "select" | "from");
        Ok(())
    }

    /// Whether FROM is that of a query, not of a function or of IS DISTINCT FROM.
    fn is_from_of_query(&mut self, at: usize) -> bool {
        let before = at.checked_sub(2).map_or("", |before| self.tokens.word(before));
        let is_distinct =
            self.tokens.word_before(at) == "distinct" && matches!(before, "is" | "not");
        self.level().is_query && !is_distinct
    }

    /// FOR UPDATE ends the tables. Other words behind FOR, as in USE INDEX FOR ORDER BY, do not.
    fn begin_for(&mut self, at: usize) -> Result<(), String> {
        let is_of_locks = matches!(self.tokens.word(at + 1), "update" | "share" | "no" | "key");
        if is_of_locks {
            self.level().set(false);
        } else if self.level().is_query && !self.defines && !self.place.is_own() {
            return Err("FOR is allowed only in FOR UPDATE and FOR SHARE".to_owned());
        }
        Ok(())
    }

    /// Whether a word ends a list of tables, and is the name of none.
    fn ends_tables(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let word = tokens.word(at);
        let is_top = self.levels.len() == 1;
        match word {
            "set" if !self.dbms.is_postgres_family() || self.place.is_own() => true,
            // PostgreSQL takes SET for an alias elsewhere.
            "set" => {
                let before = at.checked_sub(2).map_or("", |before| tokens.word(before));
                let is_of_update = is_top && !self.is_set && tokens.word(0) == "update";
                is_of_update
                    || (tokens.word_before(at) == "update" && matches!(before, "do" | "then"))
            }
            "values" => is_top && !self.has_query || self.place.is_own(),
            // Not the GROUP of WITHIN GROUP, which a condition of a join may have.
            "group" | "order" => tokens.word(at + 1) == "by",
            _ => BEFORE_EXPRESSIONS.contains(&word),
        }
    }
}
