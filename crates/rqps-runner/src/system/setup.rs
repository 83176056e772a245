//! A server of our own, from its files to the first answer.

use anyhow::Result;
use rqps_model::SystemSpec;
use rqps_server::options::describe_changes;
use rqps_server::profile::Rendered;
use rqps_server::{
    Allocator, Identity, Installed, Instance, Patience, Places, Progress, Setup, Trial, Watch,
};

use super::{Data, Local, Start};
use crate::Plan;
use crate::event::{Event, Listener};
use crate::system::installation::{render_config, tell};

/// What a server of our own is made from.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) installed: &'a Installed,
    pub(super) allocator: &'a Allocator,
    pub(super) identity: &'a Identity,
    pub(super) places: &'a Places,
}

/// Initialises and starts a server, or starts it on the data that were left.
pub(super) fn start_own(
    plan: &Plan,
    spec: &SystemSpec,
    parts: &Parts<'_>,
    how: Start<'_>,
    listen: &mut Listener<'_>,
) -> Result<Local> {
    let Start { environment, name, data } = how;
    let label = spec.label.clone();
    let doing = match data {
        Data::New | Data::Look | Data::Try => "initialise and start",
        Data::Kept => "start on its data",
    };
    listen(Event::Preparing { label: &label, doing });
    let mut report = |progress: Progress<'_>| tell(&progress, &label, listen);
    let mut watch = Watch { stop: &environment.interrupt, report: &mut report };
    let mut config = render_config(plan, spec, &parts.installed.version, parts.places)?;
    if environment.trial.is_verbatim {
        config.take_verbatim(spec.dbms, &spec.config)?;
    }
    let (trial, templates) = (environment.trial, environment.templates.clone());
    let setup = Setup {
        trial,
        templates,
        patience: environment.patience,
        ..setup(parts, spec, config, name, &mut watch)
    };
    let instance = match data {
        Data::New | Data::Look | Data::Try => Instance::create(setup, &mut watch)?,
        Data::Kept => Instance::open(setup)?,
    };
    match instance.start(None, &mut watch) {
        Ok(running) => Ok(Local { running, instance }),
        Err(error) => {
            // The error holds the end of the log; nothing else of it is of use.
            discard(instance, data);
            Err(error.into())
        }
    }
}

/// Removes the data of a server that did not come up. Those that were left are as good for a later attempt.
pub(super) fn discard(instance: Instance, data: Data) {
    if data != Data::Kept {
        let _ = instance.remove();
    }
}

fn setup(
    parts: &Parts<'_>,
    spec: &SystemSpec,
    config: Rendered,
    name: &str,
    watch: &mut Watch<'_>,
) -> Setup {
    let changes = describe_changes(&config.changes);
    let changes = changes.into_iter().map(|text| format!("{}: {text}", spec.label));
    for text in changes.chain(config.notes.iter().cloned()) {
        (watch.report)(Progress::Note { text: &text });
    }
    Setup {
        installed: parts.installed.clone(),
        dir: parts.places.data.join(name),
        sockets: parts.places.sockets.clone(),
        identity: parts.identity.clone(),
        config,
        transport: spec.transport,
        allocator: parts.allocator.clone(),
        limits: spec.variant.limits.clone(),
        trial: Trial::default(),
        templates: None,
        patience: Patience::default(),
    }
}
