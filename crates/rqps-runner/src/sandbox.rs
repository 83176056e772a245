//! One server of a plan, up with an empty database, for whatever is not a run: shells, benches.

use anyhow::Result;
use rqps_client::{Connection, Endpoint};
use rqps_model::Transport;

use crate::Plan;
use crate::environment::Environment;
use crate::event::Listener;
use crate::plan::{limits, placement};
use crate::system::installation::Installation;
use crate::system::leftover::{self, Purpose};
use crate::system::{Data, RunningSystem, Start};

/// A server of a plan with an empty database, for everything but runs.
pub struct Sandbox {
    up: RunningSystem,
    name: String,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Fetches and starts the plan's first system.
    ///
    /// # Errors
    /// Whatever keeps it from being up.
    pub fn start(
        plan: &Plan,
        environment: &Environment,
        listen: &mut Listener<'_>,
    ) -> Result<Self> {
        let installation = Installation::of(plan, 0, environment, listen)?;
        let tag = Purpose::Sandbox.tag(0);
        leftover::sweep_strays(environment, listen);
        let how = Start { environment, name: &tag, data: Data::New };
        let up = RunningSystem::start(plan, 0, &installation, how, listen)?;
        if let Some(pid) = up.server_pid() {
            let cpus = limits::cpus_of(&plan.systems[0], &placement::usable_cpus()?);
            rqps_server::threads::pin_all(&rqps_server::process::tree(pid), &cpus)?;
        }
        let name = match &installation {
            Installation::Local(installed, ..) => installed.name(),
            Installation::External(dsn) => dsn.to_string(),
            Installation::Null => "null".to_owned(),
        };
        Ok(Self { up, name })
    }

    /// `MariaDB 10.11.5`.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The server's process id.
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        self.up.server_pid()
    }

    /// Its address.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.up.endpoint()
    }

    /// Addresses for other clients, socket and TCP, with the user but without the password.
    #[must_use]
    pub fn addresses(&self) -> Vec<String> {
        let of = |transport| self.up.address(transport);
        [Transport::Socket, Transport::Tcp].into_iter().filter_map(of).collect()
    }

    /// A connection to it.
    pub fn admin(&mut self) -> &mut dyn Connection {
        self.up.admin.as_mut()
    }

    /// Stops the server and removes its data.
    ///
    /// # Errors
    /// When it does not stop, or its data cannot be removed.
    pub fn stop(self) -> Result<()> {
        self.up.finish(None).map(|_| ())
    }
}
