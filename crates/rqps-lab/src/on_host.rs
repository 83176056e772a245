//! What a plan becomes on this host: what is `auto` in it, and how its systems fit into memory.

use anyhow::{Context as _, Result};
use rqps_model::Schedule;
use rqps_store::Store;

use crate::event::Listener;
use crate::run::Context;
use crate::{Plan, memory};

/// The plan as it is carried out here: with what the latest calibration of this host found where it
/// says `auto`, and one system after the other where they do not fit into memory together. With the
/// sentences that its owner is told.
///
/// # Errors
/// When the host cannot be looked at, a configuration cannot be had, or a system does not fit.
pub fn on_this_host(
    plan: Plan,
    store: &Store,
    context: &Context,
    listen: &mut Listener<'_>,
) -> Result<(Plan, Vec<String>)> {
    let (mut plan, decided) = memory::fitted(plan, context, listen)?;
    let host = rqps_sample::host_info(&context.results).context("describe this host")?;
    plan.calibration = store.select_calibration(&host)?;
    if let (true, Some(found)) = (plan.slice_is_auto, &plan.calibration)
        && let Schedule::Interleaved { slice_ms, .. } = &mut plan.schedule
    {
        *slice_ms = found.slice_ms;
    }
    // What is stored of the plan is what was carried out.
    plan.slice_is_auto = false;
    Ok((plan, decided.into_iter().collect()))
}
