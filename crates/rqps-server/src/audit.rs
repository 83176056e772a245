//! What a server is and who set what: facts of its build, and where its settings' values come from.
//!
//! A server that does not tell, or does not tell this user, leaves facts out; that is no error.

use std::collections::{BTreeMap, BTreeSet};

use rqps_client::Connection;
use rqps_model::{Dbms, SettingOrigin, SettingSource, Version};

use crate::dbms::driver;
use crate::dbms::driver::OriginsQuestion;

/// Source of each setting's value. `configured` has the settings in the configuration of rqps's own server;
/// absent for an external server.
pub fn origins(
    dbms: Dbms,
    version: Option<&Version>,
    connection: &mut dyn Connection,
    configured: Option<&BTreeSet<String>>,
) -> BTreeMap<String, SettingOrigin> {
    let mut origins = (driver(dbms).origins)(OriginsQuestion { version, configured }, connection);
    let Some(configured) = configured else { return origins };
    for (name, origin) in &mut origins {
        // initdb writes some settings into the configuration file, by nobody's choice.
        if origin.source == SettingSource::Config && !configured.contains(name) {
            origin.source = SettingSource::Other;
        }
    }
    origins
}

/// Facts of the running program: version, platform, compiler, debug and assertions, engines.
pub fn build_facts(
    dbms: Dbms,
    connection: &mut dyn Connection,
    version_text: &str,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    (driver(dbms).build)(connection, version_text, settings)
}
