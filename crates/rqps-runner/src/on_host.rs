//! What a plan becomes on this host: what is `auto` in it, and how its systems fit into memory.

use anyhow::{Context as _, Result};
use rqps_model::{Placement, Schedule};
use rqps_store::Store;

use crate::Plan;
use crate::calibrate::disturbed;
use crate::environment::Environment;
use crate::event::Listener;
use crate::system::guests::identify_systems;
use crate::system::memory;

/// The plan as this host carries it out, with notes for the user. `auto` takes the values of the latest
/// calibration. Systems that do not fit into memory together are measured sequentially.
///
/// An unfinished run of the plan keeps the values of `auto` that it began with.
///
/// # Errors
/// When a server speaks another protocol than its address says, the host cannot be looked at, a configuration cannot be had, or a system does not fit.
pub fn on_this_host(
    plan: Plan,
    store: &Store,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<(Plan, Vec<String>)> {
    let plan = identify_systems(plan, environment, listen)?;
    let (mut plan, decided) = memory::fitted(plan, environment, listen)?;
    let mut told: Vec<String> = decided.into_iter().collect();
    let host = rqps_sample::host_info(&environment.results).context("describe this host")?;
    plan.calibration = store.select_calibration(&host)?;
    let is_interleaved = plan.schedule.is_interleaved();
    if plan.slice_is_auto && is_interleaved {
        let as_it_began = if environment.new_run { None } else { begun_with(&plan, store)? };
        let found = plan.calibration.as_ref().map(|found| found.slice_ms);
        if let Some(slice_ms) = as_it_began.or(found) {
            plan = with_slices_of(plan, slice_ms);
        }
    }
    let is_auto = plan.placement == Placement::Auto || (plan.slice_is_auto && is_interleaved);
    let doubt = plan.calibration.as_ref().filter(|_| is_auto).and_then(disturbed);
    told.extend(doubt.map(|doubt| {
        format!(
            "`auto` uses a calibration that was disturbed ({doubt}); run `rqps calibrate` again when the \
             host is quiet"
        )
    }));
    // What is stored of the plan is what was carried out.
    plan.slice_is_auto = false;
    Ok((plan, told))
}

/// The length of a slice that the latest unfinished run of the plan began with.
fn begun_with(plan: &Plan, store: &Store) -> Result<Option<u32>> {
    let is_of = |slice_ms: u32, text: &str| {
        let carried_out = Plan { slice_is_auto: false, ..with_slices_of(plan.clone(), slice_ms) };
        carried_out.to_toml() == text
    };
    Ok(store.list_unfinished()?.into_iter().find_map(|run| match run.schedule {
        Schedule::Interleaved { slice_ms, .. } if is_of(slice_ms, &run.plan) => Some(slice_ms),
        _ => None,
    }))
}

fn with_slices_of(mut plan: Plan, length_ms: u32) -> Plan {
    if let Schedule::Interleaved { slice_ms, .. } = &mut plan.schedule {
        *slice_ms = length_ms;
    }
    plan
}
