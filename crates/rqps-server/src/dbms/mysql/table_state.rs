//! The state of InnoDB's and MyRocks's tables: old versions of rows, buffered changes, bytes to compact.

use std::path::Path;

use rqps_client::Connection;
use rqps_model::{TableFact, TableState};

use super::settle::parse_history;
use crate::answer::ask;
use crate::{Error, lsm};

pub(in crate::dbms) fn table_state(
    _: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<TableState, Error> {
    let mut state = TableState::new();
    let answer = ask(connection, "ask for InnoDB's status", "show engine innodb status")?;
    let status = answer.and_then(|answer| answer.rows.into_iter().next()?.into_iter().nth(2)?);
    if let Some(status) = &status {
        let history = parse_history(status);
        state.extend(history.map(|n| (TableFact::HistoryList, n)));
        let pages = parse_change_buffer(status);
        state.extend(pages.map(|n| (TableFact::ChangeBufferPages, n)));
    }
    if lsm::has_tables(connection)?
        && let Ok(lsm) = lsm::State::read(connection)
    {
        state.insert(TableFact::CompactionBytes, lsm.compaction_debt_bytes);
    }
    Ok(state)
}

/// `Ibuf: size 1, free list len 0, seg size 2, 0 merges`: pages in use. An empty buffer has one.
fn parse_change_buffer(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.trim().strip_prefix("Ibuf: size "))?;
    line.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse_change_buffer;

    #[test]
    fn reads_the_size_of_the_change_buffer() {
        let text = "INSERT BUFFER\n---\nIbuf: size 17, free list len 0, seg size 19, 0 merges\nx";
        assert_eq!(parse_change_buffer(text), Some(17));
        assert_eq!(parse_change_buffer("nothing"), None);
    }
}
