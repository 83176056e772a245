//! What an instance keeps of itself in its marker while it is in use.

use std::sync::PoisonError;

use super::Instance;
use super::marker::{Marker, write_marker};
use crate::{Error, process};

/// When an instance's server ran last, and whether it has stopped since.
#[derive(Debug)]
pub(crate) struct Standing {
    boot: Option<String>,
    is_stopped: bool,
}

impl Instance {
    /// Notes that its server runs from now on, which says of its data that they are whole only once it has stopped;
    /// gives what was noted before.
    pub(crate) fn mark_running(&self) -> Result<Standing, Error> {
        // One that is not known is like no other.
        let boot = process::boot_id().unwrap_or_default();
        let mut before = Standing { boot: None, is_stopped: false };
        self.mark(|marker| {
            before = Standing { boot: marker.boot.replace(boot), is_stopped: marker.is_stopped };
            marker.is_stopped = false;
        })?;
        Ok(before)
    }

    /// Notes what was noted before a server that did not come to run.
    pub(crate) fn mark_as_before(&self, before: Standing) -> Result<(), Error> {
        self.mark(|marker| (marker.boot, marker.is_stopped) = (before.boot, before.is_stopped))
    }

    /// The note on its data.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.marker.lock().unwrap_or_else(PoisonError::into_inner).note.clone()
    }

    /// Sets or removes the note on its data, which outlives rqps.
    ///
    /// # Errors
    /// When the marker cannot be written.
    pub fn set_note(&self, note: Option<&str>) -> Result<(), Error> {
        self.mark(|marker| marker.note = note.map(str::to_owned))
    }

    /// Notes that its data directory is complete.
    pub(crate) fn mark_initialised(&self) -> Result<(), Error> {
        self.mark(|marker| marker.initialised = true)
    }

    /// Notes the password of the data that were put into its directory.
    pub(crate) fn mark_password(&self, password: String) -> Result<(), Error> {
        self.mark(|marker| marker.password = password)
    }

    /// Changes the marker, on disk and here.
    pub(super) fn mark(&self, change: impl FnOnce(&mut Marker)) -> Result<(), Error> {
        let mut marker = self.marker.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut marker);
        write_marker(&self.lock, &self.setup.dir, &marker)
    }
}
