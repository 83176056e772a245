//! What a guest says to PostgreSQL: its schema, its lock, and whether it may write.

use rqps_client::{Connection, Endpoint};

use crate::answer::{query, rows};
use crate::dbms::guest_driver::{Drops, GuestDriver, LockDriver, LockQuestion};
use crate::guest::PREFIX;
use crate::{Error, Refusal};

pub(in crate::dbms) const GUEST: GuestDriver = GuestDriver {
    // By a statement: pgbouncer refuses a login with the parameter `options`.
    endpoint: |home, schema| Endpoint { on_login: Some(use_schema_sql(schema)), ..home },
    quote: quoted,
    schemas_sql: "select nspname from pg_catalog.pg_namespace order by 1",
    use_schema_sql,
    current_schema_sql: "select current_schema()",
    // A table of another user may have a policy or a rule of theirs.
    count_tables_sql: |schema, table| {
        format!(
            "select count(*) from pg_catalog.pg_tables where schemaname = {schema} and \
             tablename = '{table}' and tableowner = current_user and not rowsecurity"
        )
    },
    session_id_sql: Some("select pg_backend_pid()"),
    makes_schema_whole: true,
    count_objects_sql: |schema| {
        format!(
            "select count(*) from pg_catalog.pg_class c join pg_catalog.pg_namespace n \
             on n.oid = c.relnamespace where n.nspname = {schema}"
        )
    },
    // No marker is replicated to a server that can be written to.
    server_id_sql: &[],
    changes_settings: false,
    drops: Drops::Postgres,
    refused_texts: &[],
    read_write_sql: "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    limit_waits_sql,
    lock: Some(LockDriver {
        try_lock: |schema| LockQuestion {
            sql: format!("select pg_try_advisory_lock({CLASS}, {})", key(schema)),
            yes: "t",
        },
        has_lock,
        unlock_sql: |schema| format!("select pg_advisory_unlock({CLASS}, {})", key(schema)),
    }),
    require_writes,
    refused_write: |_, _| None,
    // insufficient_privilege.
    lacks_right: |said| said.sqlstate == "42501",
    grant,
};

/// The path of a session is the schema alone. `pg_catalog` is searched first all the same, and nothing is made there.
fn use_schema_sql(schema: &str) -> String {
    format!("SET search_path TO {}", quoted(schema))
}

/// A name in double quotes.
pub(in crate::dbms) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The first of the two numbers of an advisory lock: the letters `rqps`.
const CLASS: i32 = i32::from_be_bytes(*b"rqps");

/// The digits of a schema's name as the second number.
fn key(schema: &str) -> i32 {
    let digits = schema.strip_prefix(PREFIX).unwrap_or(schema);
    u32::from_str_radix(digits, 16).unwrap_or(0).cast_signed()
}

fn has_lock(schema: &str) -> LockQuestion {
    let (class, object) = (CLASS.cast_unsigned(), key(schema).cast_unsigned());
    let sql = format!(
        "select count(*) > 0 from pg_catalog.pg_locks where locktype = 'advisory' and \
         pid = pg_backend_pid() and classid = '{class}'::oid and objid = '{object}'::oid \
         and objsubid = 2 and granted"
    );
    LockQuestion { sql, yes: "t" }
}

fn limit_waits_sql(seconds: Option<u64>) -> String {
    match seconds {
        Some(seconds) => format!("SET lock_timeout = '{seconds}s'"),
        None => "RESET lock_timeout".to_owned(),
    }
}

/// What of PostgreSQL keeps writes from being made or from ending.
const OF_WRITES: &str = "select pg_is_in_recovery()::text, current_setting('transaction_read_only'), \
                        current_setting('synchronous_standby_names'), current_setting('synchronous_commit'), \
                        current_setting('max_wal_senders'), \
                        (select count(*) from pg_stat_replication)::text, \
                        (select count(*) from pg_stat_replication where sync_state is not null)::text, \
                        (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum'))::text";

/// Refuses a server that takes no writes, or whose commits wait for a standby that is not there.
fn require_writes(home: &Endpoint, connection: &mut dyn Connection) -> Result<(), Error> {
    let result = query(connection, OF_WRITES, OF_WRITES)?;
    let row: Vec<String> = result
        .rows
        .into_iter()
        .next()
        .into_iter()
        .flatten()
        .map(Option::unwrap_or_default)
        .collect();
    let Some(row) = row.first_chunk() else {
        return Err(Error::Answer { doing: OF_WRITES.to_owned(), answer: format!("{row:?}") });
    };
    match obstacle(row) {
        None => Ok(()),
        Some((why, remedy)) => {
            let address = home.address.to_string();
            Err(Refusal::NoWrites { address, why, remedy: remedy.to_owned() }.into())
        }
    }
}

/// Why writes cannot be made or do not end, by the answer to [`OF_WRITES`], and what to do.
fn obstacle(
    [is_standby, read_only, names, commit, max_senders, n_senders, n_seen, n_standbys]: &[String;
         8],
) -> Option<(String, &'static str)> {
    if is_standby == "true" {
        return Some(("it is a standby".to_owned(), "name the primary"));
    }
    if read_only == "on" {
        let why = "default_transaction_read_only is on for this user or database";
        return Some((why.to_owned(), "set it off there, or name another user"));
    }
    let waits = ["on", "remote_apply", "remote_write"].contains(&commit.as_str());
    if names.trim().is_empty() || !waits || max_senders == "0" {
        return None;
    }
    // Backups and subscribers take the log as well. A user without pg_read_all_stats does not see which are which.
    let is_seen = n_seen == n_senders;
    let wanted = n_wanted(names);
    let n_there: u64 = if is_seen { n_standbys } else { n_senders }.parse().unwrap_or(0);
    if n_there >= wanted {
        return None;
    }
    let there = if n_there == 0 { "none".to_owned() } else { n_there.to_string() };
    let why = format!(
        "commits wait for {wanted} {} (synchronous_standby_names = {names:?}), and {there} is connected",
        if wanted == 1 { "standby" } else { "standbys" }
    );
    Some((why, "start the standby, or set synchronous_commit = local for this user"))
}

/// How many standbys a commit waits for: `2 (a, b)`, `FIRST 2 (a, b)`, `ANY 2 (a, b)`. A list is for one.
fn n_wanted(names: &str) -> u64 {
    let Some((method, _)) = names.split_once('(') else { return 1 };
    method.split_whitespace().last().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// The statement by which a user gets the right to make a schema.
fn grant(connection: &mut dyn Connection) -> Option<String> {
    let sql = "select quote_ident(current_database()), quote_ident(current_user::text)";
    let row = rows(connection, sql).into_iter().next()?;
    let [database, user] = row.as_slice() else { return None };
    Some(format!("GRANT CREATE ON DATABASE {database} TO {user}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_names_digits() {
        assert_eq!(key("rqps_0000000a"), 10);
        assert_eq!(key("rqps_ffffffff"), -1);
    }

    #[test]
    fn commits_that_wait_for_a_standby_need_one() {
        let why = |row: [&str; 8]| obstacle(&row.map(str::to_owned)).map(|(why, _)| why);
        assert_eq!(why(["false", "off", "", "on", "10", "0", "0", "0"]), None);
        let waits = ["false", "off", "FIRST 1 (b)", "on", "10", "0", "0", "0"];
        assert!(why(waits).unwrap().starts_with("commits wait for 1 standby"));
        // A backup is no standby, one of two is not enough, and what cannot be seen is believed.
        assert!(why(["false", "off", "b", "on", "10", "1", "1", "0"]).unwrap().contains("none is"));
        let of_two = ["false", "off", "ANY 2 (a, b)", "on", "10", "3", "3", "1"];
        assert!(why(of_two).unwrap().contains("wait for 2 standbys"));
        assert_eq!(why(["false", "off", "2 (a, b)", "on", "10", "2", "2", "2"]), None);
        assert_eq!(why(["false", "off", "b", "on", "10", "1", "0", "0"]), None);
        for (at, value) in [(3, "local"), (3, "off"), (4, "0"), (7, "1")] {
            let mut row = waits;
            row[at] = value;
            assert_eq!(why(row), None);
        }
        let none = ["0"; 3];
        let row = |is_standby| [is_standby, "on", "", "on", "10", none[0], none[1], none[2]];
        assert_eq!(why(row("true")).unwrap(), "it is a standby");
        assert!(why(row("false")).unwrap().contains("is on for this user"));
    }
}
