//! Whether somebody else's server takes writes, and ends them: asked before anything is made there.

use rqps_client::{Connection, Endpoint};
use rqps_model::Dbms;

use crate::{Error, Refusal};

/// What of PostgreSQL keeps writes from being made or from ending.
const POSTGRES: &str = "select pg_is_in_recovery()::text, current_setting('transaction_read_only'), \
                        current_setting('synchronous_standby_names'), current_setting('synchronous_commit'), \
                        current_setting('max_wal_senders'), \
                        (select count(*) from pg_stat_replication)::text, \
                        (select count(*) from pg_stat_replication where sync_state is not null)::text, \
                        (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum'))::text";

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

/// The same of MySQL's and MariaDB's words to the first statement that writes.
pub(super) fn refused_write(home: &Endpoint, said: &rqps_client::ServerError) -> Option<Error> {
    // ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE.
    if !matches!(said.errno, 1290 | 1792 | 1836) {
        return None;
    }
    let (address, why) = (home.address.to_string(), said.to_string());
    let remedy = if said.errno == 1792 {
        "set transaction_read_only (tx_read_only) = OFF there, globally or for this user"
    } else {
        "name the server that takes writes, or set read_only = OFF there"
    };
    let remedy = remedy.to_owned();
    Some(Refusal::NoWrites { address, why, remedy }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

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
