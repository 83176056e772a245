//! What an instance of a system is made from.

use rqps_model::SystemSpec;
use rqps_server::options::describe_changes;
use rqps_server::profile::Rendered;
use rqps_server::{Allocator, Identity, Installed, Places, Progress, Setup, Trial, Watch};

/// What an instance of a system is made from.
pub(super) fn setup(
    (installed, allocator): (&Installed, &Allocator),
    spec: &SystemSpec,
    config: Rendered,
    (identity, places, name): (&Identity, &Places, &str),
    watch: &mut Watch<'_>,
) -> Setup {
    for text in describe_changes(&config.changes).iter().chain(&config.notes) {
        (watch.report)(Progress::Note { text: &format!("{}: {text}", spec.label) });
    }
    Setup {
        installed: installed.clone(),
        dir: places.data.join(name),
        sockets: places.sockets.clone(),
        identity: identity.clone(),
        config,
        transport: spec.transport,
        allocator: allocator.clone(),
        limits: spec.variant.limits.clone(),
        trial: Trial::default(),
    }
}
