//! Calibrations of hosts: stored as they are made, the latest for a host read back.

use rqps_model::{Calibration, Host};
use rusqlite::params;

use crate::Error;
use crate::store::Store;
use crate::values::Json;

impl Store {
    /// Stores a calibration beside the earlier ones.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn insert_calibration(&self, calibration: &Calibration) -> Result<(), Error> {
        let Calibration { made_unix_ms, rqps_version, host, system, seconds, slice_ms, .. } =
            calibration;
        self.transact("store a calibration", |transaction| {
            transaction.execute(
                "INSERT INTO calibration (made_unix_ms, rqps_version, host_name, host_kernel,
                   host_cpu_model, host_n_cpus, system, seconds, slice_ms, content)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    made_unix_ms,
                    rqps_version,
                    host.hostname,
                    host.kernel,
                    host.cpu_model,
                    host.n_cpus,
                    system,
                    seconds,
                    slice_ms,
                    Json(calibration),
                ],
            )
        })?;
        Ok(())
    }

    /// The latest calibration that applies to `host`; `None` if there is none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn select_calibration(&self, host: &Host) -> Result<Option<Calibration>, Error> {
        let read = || -> rusqlite::Result<Vec<Calibration>> {
            let mut statement = self.connection.prepare(
                "SELECT content FROM calibration ORDER BY made_unix_ms DESC, calibration_id DESC",
            )?;
            let rows = statement.query_map([], |row| row.get::<_, Json<_>>(0))?;
            rows.map(|row| row.map(|json| json.0)).collect()
        };
        let all = read().map_err(|e| self.sql_error("read the calibrations", e))?;
        Ok(all.into_iter().find(|calibration| calibration.is_of(host)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_of_the_same_kind_of_host_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let host = |n_cpus| Host { n_cpus, ..Host::default() };
        let made = |made_unix_ms, n_cpus| Calibration {
            made_unix_ms,
            rqps_version: "0.1.0".to_owned(),
            host: host(n_cpus),
            system: "PostgreSQL 17.4".to_owned(),
            seconds: 10.0,
            trials: Vec::new(),
            best: Vec::new(),
            slice_ms: 100,
            floors: Vec::new(),
            starts: Vec::new(),
            power: Vec::new(),
            n_slices: 0,
            disturbances: Vec::new(),
            narrowest: None,
        };
        assert_eq!(store.select_calibration(&host(2)).unwrap(), None);
        for calibration in [made(5, 2), made(7, 2), made(9, 4), made(6, 2)] {
            store.insert_calibration(&calibration).unwrap();
        }
        assert_eq!(store.select_calibration(&host(2)).unwrap(), Some(made(7, 2)));
        assert_eq!(store.select_calibration(&host(8)).unwrap(), None);
    }
}
