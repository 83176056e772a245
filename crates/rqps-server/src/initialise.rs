//! Making an instance with a server's data in it, and taking one up that an earlier rqps left.

mod template;

use rqps_model::Transport;

use crate::dbms::own_server;
use crate::instance::{Instance, Setup};
use crate::watch::{Progress, Watch};
use crate::{Error, certificate};
use template::Template;

impl Instance {
    /// Creates the directory and initialises a server's data in it, in place of an earlier instance.
    ///
    /// # Errors
    /// [`Error::NotOurs`] when it holds anything else, [`Error::InUse`] when another rqps uses it,
    /// [`Error::UnknownOption`] and [`Error::InitFailed`] when the server refuses.
    pub fn create(setup: Setup, watch: &mut Watch<'_>) -> Result<Self, Error> {
        let instance = Self::begin(setup)?;
        let what = format!("{} creates its data directory", instance.setup().installed.name());
        (watch.report)(Progress::Waiting { what: &what });
        let filled = match Template::of(instance.setup()) {
            Some(template) => template.fill(&instance, || initialise(&instance, watch)),
            None => initialise(&instance, watch),
        };
        if let Err(error) = filled {
            // Half a data directory is of no use to anybody; the error holds the log's end.
            let _ = instance.discard();
            return Err(error);
        }
        instance.mark_initialised()?;
        Ok(instance)
    }

    /// Opens an instance that an earlier rqps left, with its data.
    ///
    /// # Errors
    /// - [`Error::NotOurs`]: the directory is not a complete instance.
    /// - [`Error::OtherServer`]: it is that of another server.
    /// - [`Error::InUse`]: a server that was killed has not ended.
    /// - [`Error::NotSound`]: its server ran as the host went down, and its last writes may be lost; or its data
    ///   are gone.
    pub fn open(setup: Setup) -> Result<Self, Error> {
        let instance = Self::take_up(setup)?;
        write_config(&instance)?;
        Ok(instance)
    }
}

/// Has the server make its data.
fn initialise(instance: &Instance, watch: &mut Watch<'_>) -> Result<(), Error> {
    instance.make_directories()?;
    if instance.setup().transport == Transport::Tls {
        certificate::write(instance)?;
    }
    // Before the server meets it: its own message would come late and say little.
    instance.direct_io(watch.stop)?;
    let own = own_server(instance.setup().installed.dbms)?;
    (own.initialise)(instance, watch)
}

/// Writes the configuration file where the server will read it.
fn write_config(instance: &Instance) -> Result<(), Error> {
    let setup = instance.setup();
    (own_server(setup.installed.dbms)?.write_config)(instance, &setup.config.text)
}
