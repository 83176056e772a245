//! What a plan demands of a server that is up: engine, compression, durability, caches; asked of the
//! server.

use anyhow::Result;
use rqps_client::Connection;
use rqps_model::{Dbms, Engine, SystemSpec, Version};
use rqps_server::destructive::Scope;
use rqps_server::profile::{Rendered, check_caches};
use rqps_server::{RunningServer, compression, direct_io, durability, engine, facts};

use crate::system::installation::config_of;

/// A server that rqps has started, with its configuration.
#[derive(Clone, Copy)]
pub(crate) struct OwnServer<'a> {
    pub(crate) running: &'a RunningServer,
    pub(crate) config: &'a Rendered,
}

/// Checks that a server that is up has the engine, the compression, the durability and the caches that
/// the plan asks for, before anything is loaded; gives sentences for the user.
pub(crate) fn check(
    spec: &SystemSpec,
    server: Option<OwnServer<'_>>,
    scope: Option<Scope<'_>>,
    admin: &mut dyn Connection,
) -> Result<Vec<String>> {
    let running = server.map(|server| server.running);
    let subject = Subject::of(spec, running, admin);
    let Some((subject, scope)) = subject.zip(scope) else { return Ok(Vec::new()) };
    let log = running.map_or_else(String::new, RunningServer::log_since_start);
    engine::require_loaded(&subject.name, spec.engine, &log, admin)?;
    compression::prepare(subject.compression(scope), spec.variant.compression, admin)?;
    let Some(OwnServer { config: rendered, .. }) = server else { return Ok(Vec::new()) };
    let effective = facts::effective_settings(spec.dbms, admin)?;
    let (name, config) = (subject.name.as_str(), config_of(spec));
    let mut notes = durability::check(name, spec.dbms, &config, &effective)?;
    notes.extend(check_caches(name, spec.dbms, &config, rendered, &effective)?);
    let is_bounded = spec.variant.limits.memory_bytes.is_some();
    let is_cached = direct_io::reads_through_page_cache(spec.dbms, &effective);
    if spec.config == "io-bound" && is_cached && !is_bounded {
        notes.push(format!(
            "config \"io-bound\" without memory: {} reads through the page cache, which has no limit, \
             so reads come from memory; write memory = \"...\" in the system",
            spec.dbms.name()
        ));
    }
    Ok(notes)
}

/// What checks of a server need to know of it.
pub(crate) struct Subject {
    dbms: Dbms,
    version: Version,
    name: String,
    engine: Engine,
}

impl Subject {
    /// `None` for the null client, which has no version.
    pub(crate) fn of(
        spec: &SystemSpec,
        server: Option<&RunningServer>,
        admin: &dyn Connection,
    ) -> Option<Self> {
        let version = admin.session().server_version.clone()?;
        let name = match server {
            Some(server) => server.name().to_owned(),
            None => spec.label.to_string(),
        };
        Some(Self { dbms: spec.dbms, version, name, engine: spec.engine })
    }

    pub(crate) fn compression<'a>(&'a self, scope: Scope<'a>) -> compression::Subject<'a> {
        compression::Subject {
            dbms: self.dbms,
            version: &self.version,
            server: &self.name,
            engine: self.engine,
            scope,
        }
    }
}
