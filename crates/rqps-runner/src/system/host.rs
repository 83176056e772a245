//! Somebody else's server, where rqps is a guest in a schema of its own.

use anyhow::{Context as _, Result};
use rqps_client::Connection;
use rqps_model::SystemSpec;
use rqps_server::destructive::Scope;
use rqps_server::guest::{Guest, Maker, Terms, changes_settings, other_schemas};
use rqps_server::{Dsn, Error};

use super::{Data, Local, RunningSystem, Start};
use crate::Plan;
use crate::environment::Environment;
use crate::event::{Event, Listener};
use crate::system::guests::check_entered;

/// Makes rqps's schema; gives a connection that holds it.
pub(super) fn enter(
    dsn: &Dsn,
    spec: &SystemSpec,
    how: Start<'_>,
    listen: &mut Listener<'_>,
) -> Result<(Guest, Box<dyn Connection>)> {
    let Start { environment, name, data } = how;
    let maker = maker(environment, name);
    let mut told = |text: &str| listen(Event::Note(&format!("{}: {text}", spec.label)));
    let (allow_settings, patience) = (environment.allow_settings, environment.patience);
    let terms = Terms { maker: &maker, allow_settings, patience };
    let entered = Guest::enter(spec.dbms, &dsn.endpoint, terms, &mut told)?;
    if changes_settings(spec.dbms) && !allow_settings && data != Data::Try {
        told(KEEPS_SETTINGS);
    }
    Ok(entered)
}

/// Refuses statements of the plan that name a schema of the server's owner.
pub(super) fn check_statements(
    guest: &Guest,
    plan: &Plan,
    idx: usize,
    admin: &mut dyn Connection,
) -> Result<()> {
    let others = other_schemas(plan.systems[idx].dbms, guest.schema(), admin)?;
    check_entered(plan, idx, &others)
}

/// Who makes a schema: a run's system, in this results directory.
fn maker(environment: &Environment, name: &str) -> Maker {
    let results =
        std::path::absolute(&environment.results).unwrap_or_else(|_| environment.results.clone());
    Maker {
        name: name.to_owned(),
        version: environment.rqps_version.clone(),
        results: results.to_string_lossy().into_owned(),
    }
}

/// The note on every server of somebody else's.
const KEEPS_SETTINGS: &str = "rqps leaves the server's settings unchanged, so settling may take longer; \
    --allow-settings lets rqps change and restore them";

/// What statements that destroy may reach; nothing of the null client.
pub(super) fn scope<'a>(server: Option<&'a Local>, guest: Option<&'a Guest>) -> Option<Scope<'a>> {
    server.map(|server| server.running.scope()).or_else(|| guest.map(Guest::scope))
}

/// What is said of a schema that could not be dropped after a failure.
pub(super) fn describe_stay(guest: &Guest, error: &Error) -> String {
    let (schema, why) = (guest.schema(), error.chain());
    format!("schema {schema} was not dropped ({why}); the next run with this address drops it")
}

/// Whether rqps's schema stays because somebody else's table or view needs it.
pub(super) fn is_in_use(error: &anyhow::Error) -> bool {
    use rqps_server::{Error, Refusal};
    matches!(error.downcast_ref(), Some(Error::Refused(Refusal::SchemaInUse { .. })))
}

impl RunningSystem {
    /// Drops rqps's schema.
    pub(super) fn leave_guest(&mut self) -> Result<()> {
        let Some(guest) = &self.guest else { return Ok(()) };
        self.admin.set_timeout(Some(self.patience.question())).context("set a timeout")?;
        Ok(guest.leave(self.admin.as_mut(), &mut |_| {})?)
    }

    /// Takes the lock on rqps's schema for a new connection.
    ///
    /// # Errors
    /// When the schema is no longer this run's.
    pub(super) fn hold_schema(&self, connection: &mut dyn Connection) -> Result<(), Error> {
        self.guest.as_ref().map_or(Ok(()), |guest| guest.hold(connection))
    }
}
