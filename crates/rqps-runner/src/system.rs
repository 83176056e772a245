//! A system from its plan to a server that is up, and down again: the runner's side of `rqps-server`.

mod answers;
mod asked;
pub(crate) mod builds;
pub(crate) mod demands;
pub(crate) mod guests;
mod host;
pub(crate) mod installation;
pub(crate) mod kept_log;
pub(crate) mod leftover;
pub(crate) mod memory;
mod query_plans;
mod setup;
mod silence;
mod start;
pub(crate) mod stored_tables;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::signal::Signal;
use rqps_client::{Connection, Endpoint};
use rqps_model::{SystemSpec, Transport, Version};
use rqps_sample::{Background, Sampler, Target};
use rqps_server::dbms::version;
use rqps_server::guest::Guest;
use rqps_server::{Freezer, Instance, Patience, RunningServer, Stopped, connect_to_keep};

use crate::Plan;
use crate::engine::bench::Bench;
use crate::engine::counted::Counted;
use crate::event::{Event, Listener};
use crate::plan::descriptors;
use crate::system::installation::Installation;
pub(crate) use start::{Data, Start};

use answers::Gone;
use demands::OwnServer;
use host::scope;
use setup::{Parts, discard, start_own};

/// How often the samplers look.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// Lines of a server's log that a failure shows.
const LOG_LINES: usize = 12;

/// A system that is up.
pub(crate) struct RunningSystem {
    spec: SystemSpec,
    version: Option<Version>,
    origin: String,
    server: Option<Local>,
    /// rqps's schema, in somebody else's server.
    guest: Option<Guest>,
    endpoint: Endpoint,
    pub(crate) admin: Box<dyn Connection>,
    samples: Background,
    counted: Counted,
    /// The names of the tables that the suite under way has made.
    tables: Vec<String>,
    /// The CPUs that it may run on, where that is less than rqps may use.
    cpus: Option<Vec<usize>>,
    /// How it was found to be of no more use, if it was.
    gone: Option<Gone>,
    /// How long it is waited for.
    patience: Patience,
}

/// A server of our own and its data.
struct Local {
    running: RunningServer,
    instance: Instance,
}

impl Local {
    /// The instance's directory, and the data directory in it.
    fn instance_dirs(&self) -> (PathBuf, PathBuf) {
        (self.instance.setup().dir.clone(), self.instance.data_dir())
    }
}

impl RunningSystem {
    /// Initialises and starts the server, or connects to the external one.
    pub(crate) fn start(
        plan: &Plan,
        idx: usize,
        installation: &Installation,
        how: Start<'_>,
        listen: &mut Listener<'_>,
    ) -> Result<Self> {
        let spec = plan.systems[idx].clone();
        let Start { environment, data, .. } = how;
        let patience = environment.patience;
        let (mut guest, mut entered) = (None, None);
        let (server, endpoint, origin) = match installation {
            Installation::Local(installed, allocator, identity, places) => {
                let parts = Parts { installed, allocator, identity, places };
                let server = start_own(plan, &spec, &parts, how, listen)?;
                let endpoint = server.running.endpoint(spec.transport);
                (Some(server), endpoint, installed.origin.clone())
            }
            Installation::External(dsn) if data == Data::Look => {
                (None, dsn.endpoint.clone(), dsn.to_string())
            }
            Installation::External(dsn) => {
                let (host, admin) = host::enter(dsn, &spec, how, listen)?;
                let endpoint = host.endpoint();
                (guest, entered) = (Some(host), Some(admin));
                (None, endpoint, dsn.to_string())
            }
            Installation::Null => (None, null_endpoint(), "the null client".to_owned()),
        };
        let n_files = descriptors::of_sampler(plan);
        let admin = entered.map_or_else(|| connect_to_keep(spec.dbms, &endpoint), Ok);
        let watched = admin
            .map_err(Into::into)
            .and_then(|admin| watch_over(admin, server.as_ref(), n_files, patience));
        let ready = watched.and_then(|mut both| {
            let ours = server
                .as_ref()
                .map(|s| OwnServer { running: &s.running, config: &s.instance.setup().config });
            let scope = scope(server.as_ref(), guest.as_ref());
            if let Some(guest) = &guest {
                host::check_statements(guest, plan, idx, both.0.as_mut())?;
            }
            for note in demands::check(&spec, ours, scope, both.0.as_mut())? {
                listen(Event::Note(&format!("{}: {note}", spec.label)));
            }
            both.0.set_timeout(Some(patience.question())).context("set a timeout")?;
            let version = version(spec.dbms, both.0.as_mut())?;
            Ok((both, version))
        });
        let ((admin, samples), version) = match ready {
            Ok(both) => both,
            Err(error) => {
                if let Some(Local { running, instance }) = server {
                    drop(running);
                    discard(instance, data);
                }
                if let Some(guest) = guest {
                    let mut told =
                        |text: &str| listen(Event::Note(&format!("{}: {text}", spec.label)));
                    if let Err(error) = guest.leave_anew(&mut told) {
                        told(&host::describe_stay(&guest, &error));
                    }
                }
                return Err(error);
            }
        };
        let counted = Counted::open(spec.dbms, &endpoint, patience);
        let cpus = spec.variant.limits.cpus.as_ref().map(|cpus| cpus.numbers().to_vec());
        Ok(Self {
            spec,
            version,
            origin,
            server,
            guest,
            endpoint,
            admin,
            samples,
            counted,
            tables: Vec::new(),
            cpus,
            gone: None,
            patience,
        })
    }

    /// Whether it has a data directory that is rqps's own.
    pub(crate) fn has_data(&self) -> bool {
        self.server.is_some()
    }

    /// Notes on its data what is in them, for an attempt that resumes with them ([`Data::Kept`]).
    pub(crate) fn set_note(&self, note: Option<&str>) -> Result<()> {
        let Some(server) = &self.server else { return Ok(()) };
        Ok(server.instance.set_note(note)?)
    }

    /// Where a server of our own listens.
    pub(crate) fn address(&self, transport: Transport) -> Option<String> {
        let server = self.server.as_ref()?;
        Some(server.running.endpoint(transport).address.to_string())
    }

    /// What is done to it at its end: only servers of our own are stopped.
    pub(crate) fn ending(&self) -> &'static str {
        if self.server.is_some() { "stop" } else { "disconnect" }
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn counted(&self) -> &Counted {
        &self.counted
    }

    pub(crate) fn server_pid(&self) -> Option<i32> {
        self.server.as_ref().map(|s| s.running.pid())
    }

    /// What stops it while it waits, and its death signal; absent for a server that is not ours.
    pub(crate) fn freezer(&self) -> Option<(Freezer, Signal)> {
        self.server.as_ref().map(|s| (s.running.freezer(), s.running.death()))
    }

    /// What measuring needs of it.
    pub(crate) fn bench<'a>(&'a self, cpus: &'a [usize], interrupt: &'a AtomicBool) -> Bench<'a> {
        Bench {
            label: &self.spec.label,
            dbms: self.spec.dbms,
            endpoint: &self.endpoint,
            server_pid: self.server_pid(),
            samples: &self.samples,
            counted: &self.counted,
            // Clients that are paired go where the server's threads may.
            cpus: self.cpus.as_deref().unwrap_or(cpus),
            interrupt,
            patience: self.patience,
            injected_slowdown: f64::from(self.spec.variant.injected_slowdown_bp) / 1e4,
        }
    }

    /// Gives it another injected slowdown, basis points.
    pub(crate) fn slow_down(&mut self, injected_slowdown_bp: u32) {
        self.spec.variant.injected_slowdown_bp = injected_slowdown_bp;
    }

    /// Whether it has an injected slowdown.
    pub(crate) fn is_slowed(&self) -> bool {
        self.spec.variant.injected_slowdown_bp > 0
    }

    /// Stops the server, keeps its log in `log` if anywhere, removes its data. rqps's schema in an external server
    /// is dropped. A server that did not stop as it should is told in a sentence.
    pub(crate) fn finish(mut self, log: Option<&Path>) -> Result<Option<String>> {
        if self.guest.is_some() {
            self.renew().context("drop rqps's schema")?;
        }
        let left = match self.leave_guest() {
            Ok(()) => None,
            // Nothing measured is worth less for it.
            Err(error) if host::is_in_use(&error) => Some(format!("{error:#}")),
            Err(error) => return Err(error),
        };
        let Self { server, admin, samples, counted, patience, .. } = self;
        drop(samples.finish());
        drop((admin, counted));
        let Some(Local { running, instance }) = server else { return Ok(left) };
        let name = running.name().to_owned();
        // Whatever fails, the data directory does not stay: the disk may be what is full.
        let stopped = running.stop(patience.stop());
        let kept = kept_log::keep(&instance, log);
        instance.remove()?;
        kept?;
        Ok(describe_unclean(&name, &stopped?))
    }

    /// Whether the server has said in the step under way that there is no space left for its data. There may
    /// be some again: one that dies gives it back.
    pub(crate) fn is_out_of_space(&self) -> bool {
        self.server.as_ref().is_some_and(|s| s.running.lacked_space())
    }

    /// What its log says of steps that have ended is no cause of what fails later.
    pub(crate) fn dismiss_log(&mut self) {
        if let Some(server) = &mut self.server {
            server.running.dismiss_log();
        }
    }

    /// Stops the server and leaves its data to the next attempt at the run, where these are whole; else as
    /// [`RunningSystem::abandon`], also where their disk is full. Gives what the server's end tells of the cause.
    pub(crate) fn leave(mut self, log: Option<&Path>) -> Ended {
        let is_whole = |s: &Local| {
            let is_well = s.running.end().is_none() || s.running.has_shut_down();
            s.instance.note().is_some() && is_well
        };
        let is_of_use = self.gone.is_none()
            && !self.is_out_of_space()
            && self.server.as_ref().is_some_and(is_whole);
        let Some(Local { running, instance }) = self.server.take_if(|_| is_of_use) else {
            return Ended { cause: self.abandon(log), kept: None, unclean: None };
        };
        let Self { admin, samples, counted, patience, .. } = self;
        drop(samples.finish());
        drop((admin, counted));
        let dir = instance.setup().dir.clone();
        let name = running.name().to_owned();
        let stopped = running.stop(patience.stop());
        let is_stopped = matches!(stopped, Ok(Stopped::Clean));
        let unclean = match stopped {
            Ok(stopped) => describe_unclean(&name, &stopped),
            Err(error) => Some(error.to_string()),
        };
        // The next attempt adds what its own server says.
        let _ = kept_log::keep(&instance, log);
        match instance.leave(is_stopped) {
            Ok(()) => Ended { cause: None, kept: Some(dir), unclean },
            Err(error) => Ended { cause: Some(error.to_string()), kept: None, unclean },
        }
    }

    /// Ends the server after a failure; gives what the server's end or its log tell of the cause, or that rqps's schema
    /// stays.
    pub(crate) fn abandon(mut self, log: Option<&Path>) -> Option<String> {
        let full = self.is_out_of_space();
        let left = self.leave_guest();
        let Self { server, guest, admin, samples, counted, gone, patience, .. } = self;
        drop(samples.finish());
        drop((admin, counted));
        // The failure that led here may have taken the connection with it.
        let stays = match (left, guest) {
            (Err(_), Some(guest)) => {
                let left = guest.leave_anew(&mut |_| {});
                left.err().map(|error| host::describe_stay(&guest, &error))
            }
            _ => None,
        };
        let Some(Local { running, instance }) = server else { return stays };
        let name = running.name().to_owned();
        let tail = || running.log_tail(LOG_LINES);
        let space = format!(
            "no space is left for the data of {name} in {}; free space, or name another directory \
             with --results",
            running.data_dir().display()
        );
        let cause = match running.end() {
            Some(end) => {
                let space = if full { format!("{space}; ") } else { String::new() };
                Some(format!("{space}{name} died ({end})\nthe end of its log:\n{}", tail()))
            }
            None if full => Some(format!("{space}\nthe end of its log:\n{}", tail())),
            None => running.out_of_memory().or_else(|| {
                let gone = gone.as_ref()?;
                // PostgreSQL lets all connections go when one of its processes crashes.
                let what = match running.signal_told() {
                    Some(line) => format!("{name} lost a process: {line}"),
                    None => format!("{name} {}", gone.words(patience)),
                };
                Some(format!("{what}\nthe end of its log:\n{}", tail()))
            }),
        };
        // The failure that led here is what the user needs to hear of, not a second one. Nobody waits for
        // one that hangs to stop by itself.
        if gone.is_some() {
            drop(running);
        } else {
            let _ = running.stop(patience.stop());
        }
        let _ = kept_log::keep(&instance, log);
        // Should they stay, they are of no use to a later attempt.
        let _ = instance.set_note(None);
        let _ = instance.remove();
        cause
    }
}

/// How a server ended that was stopped with its data kept.
pub(crate) struct Ended {
    /// What its end tells of the cause.
    pub(crate) cause: Option<String>,
    /// The directory of the data that were kept.
    pub(crate) kept: Option<PathBuf>,
    /// How it did not stop as it should.
    pub(crate) unclean: Option<String>,
}

/// What a server did in place of stopping as it should.
fn describe_unclean(name: &str, stopped: &Stopped) -> Option<String> {
    match stopped {
        Stopped::Clean => None,
        Stopped::Unclean(end) => Some(format!("{name} did not stop cleanly: {end}")),
        Stopped::Killed { after } => {
            Some(format!("{name} did not stop within {} s and was killed", after.as_secs_f64()))
        }
    }
}

/// A connection for questions and the samplers of a server that is up, which keep at most `n_files` files
/// of its processes open.
fn watch_over(
    mut admin: Box<dyn Connection>,
    server: Option<&Local>,
    n_files: usize,
    patience: Patience,
) -> Result<(Box<dyn Connection>, Background)> {
    // Nothing that takes long is asked before it is known to be up.
    admin.set_timeout(Some(patience.answer())).context("set a timeout")?;
    let target = Target {
        server_pid: server.map(|s| s.running.pid()),
        data_dir: server.map(|s| s.running.data_dir().to_owned()),
    };
    let sampler = Sampler::new(Instant::now(), target).context("start the samplers")?;
    Ok((admin, Background::start(sampler.keep_at_most(n_files), SAMPLE_EVERY)?))
}

/// That of the null client, which opens nothing.
pub(crate) fn null_endpoint() -> Endpoint {
    Endpoint {
        address: rqps_client::Address::Unix(PathBuf::new()),
        tls: rqps_client::Tls::Off,
        user: String::new(),
        password: rqps_client::Password::default(),
        server_public_key: None,
        database: String::new(),
        on_login: None,
        startup: rqps_client::Startup::default(),
        connect_timeout: Duration::ZERO,
    }
}
