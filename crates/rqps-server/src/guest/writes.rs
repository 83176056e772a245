//! Whether somebody else's server takes writes, and ends them: asked before anything is made there.

use rqps_client::{Connection, Endpoint};
use rqps_model::Dbms;

use crate::{Error, Refusal};

/// What of PostgreSQL keeps writes from being made or from ending.
const POSTGRES: &str = "select pg_is_in_recovery()::text, current_setting('transaction_read_only'), \
                        current_setting('synchronous_standby_names'), current_setting('synchronous_commit'), \
                        current_setting('max_wal_senders'), \
                        (select count(*) from pg_stat_replication)::text";

/// Refuses a server that takes no writes, or whose commits wait for a standby that is not there.
pub(super) fn require_writes(
    dbms: Dbms,
    home: &Endpoint,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    if dbms != Dbms::Postgres {
        // A user may have the right to write all the same; the first statement shows it.
        return Ok(());
    }
    let result = connection.query(POSTGRES).map_err(|e| Error::client(POSTGRES, e))?;
    let row: Vec<String> = result
        .rows
        .into_iter()
        .next()
        .into_iter()
        .flatten()
        .map(Option::unwrap_or_default)
        .collect();
    let Some(row) = row.first_chunk() else {
        return Err(Error::Answer { doing: POSTGRES.to_owned(), answer: format!("{row:?}") });
    };
    match obstacle(row) {
        None => Ok(()),
        Some((why, remedy)) => {
            let address = home.address.to_string();
            Err(Refusal::NoWrites { address, why, remedy: remedy.to_owned() }.into())
        }
    }
}

/// Why writes cannot be made or do not end, by the answer to [`POSTGRES`], and what to do.
fn obstacle(
    [is_standby, read_only, names, commit, max_senders, n_standbys]: &[String; 6],
) -> Option<(String, &'static str)> {
    if is_standby == "true" {
        return Some(("it is a standby".to_owned(), "name the primary"));
    }
    if read_only == "on" {
        let why = "default_transaction_read_only is on for this user or database";
        return Some((why.to_owned(), "set it off there, or name another user"));
    }
    let waits = ["on", "remote_apply", "remote_write"].contains(&commit.as_str());
    if names.trim().is_empty() || !waits || max_senders == "0" || n_standbys != "0" {
        return None;
    }
    let why = format!(
        "commits wait for a standby (synchronous_standby_names = {names:?}), and none is connected"
    );
    Some((why, "start the standby, or set synchronous_commit = local for this user"))
}

/// The same of MySQL's and MariaDB's words to the first statement that writes.
pub(super) fn refused_write(home: &Endpoint, said: &rqps_client::ServerError) -> Option<Error> {
    // ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE.
    if !matches!(said.errno, 1290 | 1792 | 1836) {
        return None;
    }
    let (address, why) = (home.address.to_string(), said.to_string());
    let remedy = "name the server that takes writes, or set read_only = OFF there".to_owned();
    Some(Refusal::NoWrites { address, why, remedy }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_that_wait_for_a_standby_need_one() {
        let why = |row: [&str; 6]| obstacle(&row.map(str::to_owned)).map(|(why, _)| why);
        assert_eq!(why(["false", "off", "", "on", "10", "0"]), None);
        let waits = ["false", "off", "FIRST 1 (b)", "on", "10", "0"];
        assert!(why(waits).unwrap().starts_with("commits wait for a standby"));
        for (at, value) in [(3, "local"), (3, "off"), (4, "0"), (5, "1")] {
            let mut row = waits;
            row[at] = value;
            assert_eq!(why(row), None);
        }
        assert_eq!(why(["true", "on", "", "on", "10", "0"]).unwrap(), "it is a standby");
        assert!(why(["false", "on", "", "on", "10", "0"]).unwrap().contains("is on for this user"));
    }
}
