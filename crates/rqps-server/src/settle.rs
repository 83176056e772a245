//! Brings a server's background work to rest without a restart, so that reads do not pay for
//! earlier writes: facts as the field's scripts have them, waiting as long as needed, not longer.
//!
//! The field sleeps 60 s and 1 s per million rows. Here that is the ceiling: the server's own
//! counters are watched, and what is still left then is said.

mod rest;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::unistd::syncfs;
use rqps_client::Connection;

use crate::Error;
use crate::dbms::driver;
use crate::watch::Watch;
pub(crate) use rest::{Debt, Tables, claim, not_refused, try_set_global, wait_for_rest};
pub use rest::{Settled, Target};

/// What is told of settings that stay as they are.
const KEPT: &str = "rqps changes no settings of a server given by its address (--allow-settings)";

/// Longest wait for tables with this number of rows in all.
#[must_use]
pub fn ceiling(rows: u64) -> Duration {
    Duration::from_secs((60 + rows / 1_000_000).min(1200))
}

/// Brings a server to rest: statistics, logs, dirty pages, purge or vacuum, write-back.
///
/// `rows` are those of all tables; they bound the wait. Settings that are changed meanwhile are
/// restored, also after an error.
///
/// # Errors
/// When the server or the connection fails, or the work is stopped. What is merely not permitted
/// (external servers) is told in [`Settled::detail`].
pub fn settle(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    rows: u64,
    watch: &mut Watch<'_>,
) -> Result<Settled, Error> {
    let start = Instant::now();
    let mut settled = Settled { seconds: 0.0, left: Vec::new(), detail: Vec::new() };
    let driver = driver(target.dbms);
    let names = (driver.tables)(connection)?;
    if !target.scope.allows_settings() {
        settled.detail.push(KEPT.to_owned());
    }
    let tables = Tables { names: &names, limit: ceiling(rows) };
    let debts = (driver.settle)(target, tables, connection, watch, &mut settled)?;
    if let Some(dir) = target.data_dir {
        write_back(dir)?;
    }
    for debt in debts {
        let list = if debt.value > debt.bound { &mut settled.left } else { &mut settled.detail };
        list.push(debt.to_string());
    }
    settled.seconds = start.elapsed().as_secs_f64();
    Ok(settled)
}

/// Makes the kernel write what the server wrote without a sync: logs, temporary files.
fn write_back(dir: &Path) -> Result<(), Error> {
    let doing = || format!("write back the file system of {}", dir.display());
    let file = File::open(dir).map_err(|e| Error::io(doing(), e))?;
    syncfs(&file).map_err(|e| Error::io(doing(), e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_is_the_fields_sleep() {
        assert_eq!(ceiling(0).as_secs(), 60);
        assert_eq!(ceiling(50_000_000).as_secs(), 110);
        assert_eq!(ceiling(u64::MAX).as_secs(), 1200);
    }
}
