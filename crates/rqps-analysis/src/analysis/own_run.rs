//! The conditions of a report: those of the run, or of the base's run where several are joined.

use rqps_model::{Calibrated, Host, Imported, Schedule};

use super::Analysis;
use crate::join::Source;

impl<'a> Analysis<'a> {
    /// The run that the base is of, where the systems are of several.
    fn own_run(&self) -> Option<&'a Source> {
        self.joined?.source(self.base)
    }

    /// Where it was measured.
    #[must_use]
    pub fn host(&self) -> &'a Host {
        self.own_run().map_or(&self.run.host, |own| &own.host)
    }

    /// The order of the slices.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        self.own_run().map_or(self.run.schedule, |own| own.schedule)
    }

    /// The seed that all randomness derives from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.own_run().map_or(self.run.seed, |own| own.seed)
    }

    /// The version of rqps that measured.
    #[must_use]
    pub fn rqps_version(&self) -> &'a str {
        self.own_run().map_or(&self.run.rqps_version, |own| &own.rqps_version)
    }

    /// Where it was taken from; absent where rqps measured.
    #[must_use]
    pub fn imported(&self) -> Option<&'a Imported> {
        self.own_run().map_or(self.run.imported.as_ref(), |own| own.imported.as_ref())
    }

    /// What was known of the host's noise.
    pub(crate) fn calibration(&self) -> Option<&'a Calibrated> {
        self.own_run().map_or(self.run.calibration.as_ref(), |own| own.calibration.as_ref())
    }
}
