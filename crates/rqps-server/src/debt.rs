//! What a server has left to do: versions to purge, pages to write, trees to compact, rows to vacuum.

use std::collections::BTreeMap;

use rqps_client::Connection;
use rqps_model::Dbms;

use crate::Error;
use crate::dbms::driver;

/// Reads pending background work, by name. What this user may not read is skipped.
///
/// # Errors
/// When the connection fails.
pub fn read(dbms: Dbms, connection: &mut dyn Connection) -> Result<BTreeMap<String, u64>, Error> {
    (driver(dbms).debt)(connection)
}
