//! The host that was measured on.

use rqps_model::Host;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct HostJson<'a> {
    pub(super) hostname: &'a str,
    pub(super) os: &'a str,
    pub(super) kernel: &'a str,
    pub(super) cpu_model: &'a str,
    pub(super) n_cpus: u32,
    pub(super) memory_bytes: u64,
    pub(super) virtual_machine: bool,
    pub(super) storage: &'a str,
    /// Only where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read_ahead_kb: Option<u32>,
}

impl<'a> HostJson<'a> {
    pub(super) fn of(host: &'a Host) -> Self {
        Self {
            hostname: &host.hostname,
            os: &host.os,
            kernel: &host.kernel,
            cpu_model: &host.cpu_model,
            n_cpus: host.n_cpus,
            memory_bytes: host.memory_bytes,
            virtual_machine: host.virtual_machine,
            storage: &host.storage,
            read_ahead_kb: host.read_ahead_kb,
        }
    }
}
