//! The state of the benchmark's tables, which decides what a step that reads finds.

use std::path::Path;

use rqps_client::Connection;
use rqps_model::{Dbms, TableFact, TableState, Version};

use crate::Error;
use crate::dbms::driver;

/// Reads the state of the tables, in milliseconds. `data_dir` is set if rqps can read the server's files.
/// What this user may not read is absent.
///
/// # Errors
/// When the connection fails.
pub fn read(
    dbms: Dbms,
    version: &Version,
    data_dir: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<TableState, Error> {
    let driver = driver(dbms);
    let mut state = (driver.table_state)(data_dir, connection)?;
    if !state.contains_key(&TableFact::TableBytes) {
        let bytes = (driver.table_bytes)(version, data_dir, connection)?;
        state.extend(bytes.map(|bytes| (TableFact::TableBytes, bytes)));
    }
    Ok(state)
}
