//! What the systems of a plan run with: each is started alone with an empty database, asked, stopped.

use anyhow::{Context as _, Result, bail};
use rqps_model::RunSystem;
use std::sync::atomic::Ordering;

use crate::Plan;
use crate::event::{Event, Listener};
use crate::installation::Installation;
use crate::leftover::{self, Purpose};
use crate::run::Context;
use crate::system::Up;

/// Asks every system of a plan what it is and what it runs with, in the plan's order. Servers that
/// run already are only looked at.
///
/// # Errors
/// Whatever keeps one of them from being up, or the user's interrupt.
pub fn audit(plan: &Plan, context: &Context, listen: &mut Listener<'_>) -> Result<Vec<RunSystem>> {
    leftover::sweep_strays(context, listen);
    // All are there before the first is started, so that what is missing is said at once.
    let installations = (0..plan.systems.len())
        .map(|idx| {
            let label = &plan.systems[idx].label;
            let installation = Installation::of(plan, idx, context, listen);
            installation.with_context(|| format!("get {label}"))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut systems = Vec::new();
    for (idx, installation) in installations.iter().enumerate() {
        if context.interrupt.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        let label = &plan.systems[idx].label;
        let asked = ask(plan, idx, installation, context, listen);
        systems.push(asked.with_context(|| format!("look at {label}"))?);
    }
    Ok(systems)
}

fn ask(
    plan: &Plan,
    idx: usize,
    installation: &Installation,
    context: &Context,
    listen: &mut Listener<'_>,
) -> Result<RunSystem> {
    let tag = Purpose::Audit.tag(idx);
    let log = context.temp.join(format!("rqps-{tag}.log"));
    let mut up = Up::start(plan, idx, installation, (context, &tag), listen)?;
    let facts = up.facts();
    let label = &plan.systems[idx].label;
    listen(Event::Preparing { label, doing: "stop" });
    let ended = up.finish(&log);
    // The log was only kept because servers of runs have theirs kept.
    let _ = std::fs::remove_file(&log);
    let facts = facts?;
    if let Some(sentence) = ended? {
        listen(Event::Note(&sentence));
    }
    Ok(facts)
}
