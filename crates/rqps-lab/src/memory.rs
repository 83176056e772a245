//! Whether the servers that are up together fit into this host's memory.

use anyhow::{Result, bail};
use rqps_server::profile::cache_bytes;

use crate::Plan;
use crate::installation::{Installation, render_config};

/// What a server takes beside its cache, bytes: code, connections, dictionaries. MySQL 8.0 with
/// nothing cached takes about 400 MB, the others less.
const BESIDE_CACHE: u64 = 400 << 20;

/// Refuses systems whose caches do not fit into memory together.
pub(crate) fn check(plan: &Plan, ready: &[(usize, Installation)]) -> Result<()> {
    let mut sum = 0_u64;
    let mut memory = u64::MAX;
    let mut parts = Vec::new();
    for (idx, installation) in ready {
        let Installation::Local(installed, _, _, places) = installation else { continue };
        let spec = &plan.systems[*idx];
        let config = render_config((plan, spec), &installed.version, places)?;
        memory = rqps_sample::host_info(&places.data)?.memory_bytes;
        let cache = cache_bytes(spec.dbms, &config);
        sum = sum.saturating_add(cache).saturating_add(BESIDE_CACHE);
        parts.push(format!("{} {} MB", spec.label, cache >> 20));
    }
    if sum > memory {
        bail!(
            "the systems do not fit into memory together: caches of {} and {} MB for each server \
             beside them, of {} MB; write mode = \"sequential\" below [schedule] (--schedule \
             sequential), or make the caches smaller",
            parts.join(", "),
            BESIDE_CACHE >> 20,
            memory >> 20
        );
    }
    Ok(())
}
