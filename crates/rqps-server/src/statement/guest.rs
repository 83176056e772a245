//! The forms of statements that are sent to somebody else's server.
//!
//! Statements on rows may be anything that [`super::names`] and [`super::calls`] let through. All others are read
//! position by position.

use rqps_model::Dbms;

use super::calls::columns_of_index;
use super::token::Tokens;

/// What the error for a statement that is not admitted says.
const ADMITTED: &str = "to a server given by its address rqps sends SELECT, INSERT, UPDATE, DELETE, REPLACE, \
    CREATE INDEX, DROP INDEX, ALTER TABLE, ANALYZE, VACUUM and OPTIMIZE of a table, transactions, and SET of a \
    setting of the session; measure a server that rqps starts for others";

/// First words of statements that change rows.
const CHANGING: &[&str] = &["insert", "update", "delete", "replace", "merge", "truncate"];

/// What an action of ALTER TABLE begins with.
const ACTIONS: &[&str] = &[
    "add",
    "drop",
    "alter",
    "modify",
    "change",
    "rename",
    "set",
    "reset",
    "validate",
    "engine",
    "row_format",
    "key_block_size",
    "auto_increment",
    "comment",
    "algorithm",
    "lock",
    "force",
    "order",
    "partition",
    "remove",
    "coalesce",
    "reorganize",
    "stats_persistent",
    "stats_auto_recalc",
    "stats_sample_pages",
    "page_compressed",
    "page_compression_level",
    "compression",
    "checksum",
    "transactional",
    "pack_keys",
    "max_rows",
    "min_rows",
    "avg_row_length",
];

/// What may be renamed in a table.
const RENAMED: &[&str] = &["column", "index", "key", "constraint"];

/// Words of statements on transactions.
const OF_TRANSACTIONS: &[&str] = &[
    "work",
    "transaction",
    "isolation",
    "level",
    "read",
    "committed",
    "uncommitted",
    "repeatable",
    "serializable",
    "only",
    "write",
    "with",
    "consistent",
    "snapshot",
    "and",
    "no",
    "chain",
];

/// Refuses statements in another form than those that rqps sends to somebody else's server.
pub(super) fn check(dbms: Dbms, tokens: &Tokens) -> Result<(), String> {
    let form = Form { tokens };
    let first = tokens.word(0);
    if matches!(first, "select" | "insert" | "update" | "delete" | "replace" | "with") {
        return form.check_rows(first);
    }
    let (postgres, mut at) = (dbms.is_postgres_family(), 1);
    let is_admitted = match first {
        "begin" | "start" | "commit" | "rollback" | "savepoint" | "release" => {
            form.is_of_transaction()
        }
        "create" => columns_of_index(tokens).is_some(),
        "drop" => tokens.word(1) == "index",
        "alter" => return form.check_alter(),
        "vacuum" | "analyze" | "analyse" if postgres => {
            at = if tokens.is(1, '(') { tokens.after_bracket(1) } else { 1 };
            form.skip(&mut at, &["full", "freeze", "verbose", "analyze", "analyse"]);
            form.names_tables(at, &[])
        }
        "analyze" | "optimize" if !postgres => {
            form.skip(&mut at, &["no_write_to_binlog", "local"]);
            let is_of_tables = tokens.word(at) == "table";
            is_of_tables && form.names_tables(at + 1, &["update", "drop", "persistent"])
        }
        _ => false,
    };
    if !is_admitted {
        return Err(ADMITTED.to_owned());
    }
    form.check_definition()
}

struct Form<'a> {
    tokens: &'a Tokens,
}

impl Form<'_> {
    /// Passes words of a list.
    fn skip(&self, at: &mut usize, words: &[&str]) {
        while words.contains(&self.tokens.word(*at)) {
            *at += 1;
        }
    }

    /// Refuses statements on rows that change some in a bracket or behind WITH, or that write their result somewhere.
    fn check_rows(&self, first: &str) -> Result<(), String> {
        let tokens = self.tokens;
        let mut depth = 0_usize;
        for at in 1..tokens.len() {
            let word = tokens.word(at);
            match word {
                "" if tokens.is(at, '(') => depth += 1,
                "" if tokens.is(at, ')') => depth = depth.saturating_sub(1),
                "into" if !self.is_into_of_insert(at) => {
                    return Err("INTO is allowed only after INSERT and REPLACE".to_owned());
                }
                _ if CHANGING.contains(&word) => {
                    let is_nested = tokens.is_before(at, '(') && !tokens.is(at + 1, '(');
                    let is_after_with = first == "with" && depth == 0 && !self.is_of_lock(at);
                    if is_nested || (is_after_with && !tokens.is(at + 1, '(')) {
                        return Err(format!(
                            "{} is allowed only at the beginning",
                            word.to_uppercase()
                        ));
                    }
                }
                _ => {}
            }
        }
        self.check_cascade()
    }

    /// Whether all before INTO are words of INSERT or REPLACE.
    fn is_into_of_insert(&self, at: usize) -> bool {
        const OPTIONS: &[&str] = &["ignore", "low_priority", "high_priority", "delayed"];
        let mut behind = 1;
        self.skip(&mut behind, OPTIONS);
        matches!(self.tokens.word(0), "insert" | "replace") && behind == at
    }

    /// FOR UPDATE, FOR NO KEY UPDATE.
    fn is_of_lock(&self, at: usize) -> bool {
        matches!(self.tokens.word_before(at), "for" | "key")
    }

    /// BEGIN and its like: words of a list alone, and the name of a savepoint at the end.
    fn is_of_transaction(&self) -> bool {
        let tokens = self.tokens;
        let mut at = 1;
        let is_plain = |at: usize| OF_TRANSACTIONS.contains(&tokens.word(at)) || tokens.is(at, ',');
        match tokens.word(0) {
            "savepoint" => {}
            "release" => self.skip(&mut at, &["savepoint"]),
            "rollback" => {
                self.skip(&mut at, &["work", "transaction"]);
                if tokens.word(at) != "to" {
                    return (at..tokens.len()).all(is_plain);
                }
                at += 1;
                self.skip(&mut at, &["savepoint"]);
            }
            "start" if tokens.word(1) != "transaction" => return false,
            _ => return (1..tokens.len()).all(is_plain),
        }
        tokens.name(at).is_some() && at + 1 == tokens.len()
    }

    /// Whether names of tables stand from here to the end, each with columns or without, or to one of these words.
    fn names_tables(&self, mut at: usize, ends: &[&str]) -> bool {
        let tokens = self.tokens;
        loop {
            if tokens.name(at).is_none() {
                return false;
            }
            at += 1;
            if tokens.is(at, '(') {
                at = tokens.after_bracket(at);
            }
            if at >= tokens.len() || ends.contains(&tokens.word(at)) {
                return true;
            }
            if !tokens.is(at, ',') {
                return false;
            }
            at += 1;
        }
    }

    /// ALTER TABLE with actions of a list.
    fn check_alter(&self) -> Result<(), String> {
        let tokens = self.tokens;
        let mut at = 1;
        self.skip(&mut at, &["online", "ignore"]);
        if tokens.word(at) != "table" {
            return Err(ADMITTED.to_owned());
        }
        at += 1;
        self.skip(&mut at, &["if", "exists", "only"]);
        at += 1;
        loop {
            let (action, then) = (tokens.word(at), tokens.word(at + 1));
            let is_admitted = match action {
                "set" => tokens.is(at + 1, '(') || matches!(then, "logged" | "unlogged"),
                "rename" => RENAMED.contains(&then),
                _ => ACTIONS.contains(&action),
            };
            if !is_admitted {
                let action = format!("{action} {then}").to_uppercase();
                return Err(format!(
                    "ALTER TABLE ... {} is not allowed; {ADMITTED}",
                    action.trim()
                ));
            }
            while at < tokens.len() && !tokens.is(at, ',') {
                at = if tokens.is(at, '(') { tokens.after_bracket(at) } else { at + 1 };
            }
            if at >= tokens.len() {
                return self.check_definition();
            }
            at += 1;
        }
    }

    /// Refuses points and names of catalogs in definitions, which need none.
    fn check_definition(&self) -> Result<(), String> {
        let tokens = self.tokens;
        for at in 0..tokens.len() {
            if tokens.is(at, '.') {
                return Err(
                    "name tables without a schema; they are in rqps's own schema".to_owned()
                );
            }
            let name = tokens.name(at).unwrap_or_default().to_ascii_lowercase();
            if name.starts_with("pg_") && !tokens.is(at + 1, '(') {
                return Err(format!("{name} is the server's own, not a table of the benchmark"));
            }
            if name == "union" {
                return Err("UNION names other tables".to_owned());
            }
        }
        self.check_cascade()
    }

    /// CASCADE would take along what others have built, but behind ON DELETE and ON UPDATE of a foreign key.
    fn check_cascade(&self) -> Result<(), String> {
        let tokens = self.tokens;
        let is_of_key = |at: usize| {
            matches!(tokens.word_before(at), "delete" | "update")
                && tokens.word_before(at - 1) == "on"
        };
        if tokens.words().any(|(at, word)| word == "cascade" && !is_of_key(at)) {
            return Err("CASCADE would drop what others have built on the tables".to_owned());
        }
        Ok(())
    }
}
