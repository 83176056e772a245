//! What happens to a run on its way, kept with it; above all what a system has become when its server is
//! started again.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use rqps_model::{Incident, Label, RunSystem, SystemIdx, SystemSource};
use rqps_report::analysis::Differences;
use rqps_store::unix_ms;

use crate::journal::{Excluded, Journal};
use crate::run_context::RunContext;
use crate::system::RunningSystem;

/// Settings that a sentence names; more are counted.
const MAX_NAMED: usize = 8;

/// What is said of a server whose own counters are missing, before the reason.
const UNCOUNTED: &str = "what its server counts itself cannot be read and is missing in reports";

impl Journal<'_> {
    /// Keeps what happened, and says it.
    pub(crate) fn incident(&mut self, system: SystemIdx, what: String) -> Result<()> {
        let told = format!("{}: {what}", self.run.systems[system.0].spec.label);
        self.note(&told);
        let incident = Incident { at_unix_ms: unix_ms(), system: Some(system.0), what };
        self.store.add_incident(&self.run.id, &incident)?;
        self.run.incidents.push(incident);
        Ok(())
    }

    /// Keeps why what a server counts itself is missing, once for each system. The server must be well: one
    /// that has failed tells nothing more, and that is another incident.
    pub(crate) fn tell_uncounted(&mut self, system: SystemIdx, up: &RunningSystem) -> Result<()> {
        let Some(why) = up.counted().failure() else { return Ok(()) };
        if is_told(&self.run.incidents, system) {
            return Ok(());
        }
        self.incident(system, format!("{UNCOUNTED}: {why}"))
    }

    /// Keeps why the run ends before its steps do. Whoever runs it says it.
    pub(crate) fn note_end(&self, error: &anyhow::Error) -> Result<(), rqps_store::Error> {
        let what = format!("the run ended: {}", format!("{error:#}").trim_end());
        let incident = Incident { at_unix_ms: unix_ms(), system: None, what };
        self.store.add_incident(&self.run.id, &incident)
    }

    /// Keeps that a system is not measured further.
    pub(crate) fn exclude(&mut self, system: SystemIdx, error: anyhow::Error) -> Result<()> {
        let words = format!("{error:#}").trim_end().to_owned();
        self.incident(system, format!("left out: {words}")).context(words)?;
        self.excluded.push(Excluded { system, error });
        Ok(())
    }

    /// Whether the others are of use without a system: with the base, and with one to compare with it.
    pub(crate) fn is_of_use_without(&self, run: &RunContext<'_>, system: SystemIdx) -> bool {
        system != run.base() && run.plan.systems.len() - self.excluded.len() > 2
    }

    /// Records what a server that was started is and runs with. Where figures of its system are there
    /// already, it must be the same program; settings that are not the same are kept as an incident.
    pub(crate) fn keep_facts(&mut self, system: SystemIdx, facts: RunSystem) -> Result<()> {
        let mut states = self.run.steps.iter().map(|step| &step.systems[system.0]);
        let is_measured = states.any(|state| !state.slices.is_empty());
        let was = &self.run.systems[system.0];
        if is_measured && !was.version_text.is_empty() {
            if let Some(why) = other_program(was, &facts) {
                bail!(
                    "{} {why}, and what this run has of it was measured before that; `--new` begins a \
                     new run",
                    facts.spec.label
                );
            }
            if let Some(what) = other_settings(was, &facts) {
                self.incident(system, what)?;
            }
        }
        self.store.set_system_facts(&self.run.id, system.0, &facts)?;
        self.run.systems[system.0] = facts;
        Ok(())
    }
}

/// Whether it is known of a system that its server's counters are missing.
fn is_told(incidents: &[Incident], system: SystemIdx) -> bool {
    incidents.iter().any(|it| it.system == Some(system.0) && it.what.starts_with(UNCOUNTED))
}

/// How a server is not the program that it was: `was 8.0.33 and is 8.0.34`.
fn other_program(was: &RunSystem, now: &RunSystem) -> Option<String> {
    // MySQL says by a suffix that a log is on.
    let version = |text: &'_ str| text.trim_end_matches("-log").to_owned();
    if version(&was.version_text) != version(&now.version_text) {
        return Some(format!("was {} and is {}", was.version_text, now.version_text));
    }
    // Of the catalogue: the archive or main package, and its checksum.
    let is_own = matches!(now.spec.source, SystemSource::Basedir { .. });
    if !is_own && !was.origin.is_empty() && was.origin != now.origin {
        return Some(format!("came from {} and comes from {} now", was.origin, now.origin));
    }
    // Only of a program of the user's own.
    let sum = |system: &RunSystem| system.build.get("program_sha256").cloned();
    match (sum(was), sum(now)) {
        (Some(was), Some(now)) if was != now => {
            Some(format!("is another program than it was (SHA-256 {was} before, {now} now)"))
        }
        _ => None,
    }
}

/// The settings that are not what they were and could move a figure, in a sentence.
fn other_settings(was: &RunSystem, now: &RunSystem) -> Option<String> {
    let mut both = [was.clone(), now.clone()];
    for (system, label) in both.iter_mut().zip(["before", "now"]) {
        system.spec.label = Label(label.to_owned());
    }
    let differences = Differences::between(&both);
    let mut named: BTreeMap<&str, String> = BTreeMap::new();
    let audit = &differences.audit;
    // What weighs little between systems weighs as much as any other within one.
    let light = audit.harmless.iter().filter(|explained| !explained.affects.is_empty());
    for explained in audit.session.iter().chain(&audit.settings).chain(light) {
        let value = |at: usize| {
            let shown = explained.values.get(at).and_then(Option::as_ref);
            shown.map_or("absent", |shown| shown.text.as_str()).to_owned()
        };
        named.insert(&explained.name, format!("{} / {}", value(0), value(1)));
    }
    for difference in differences.unknown().chain(&differences.process).chain(&differences.partial)
    {
        let value = |at: usize| {
            let value = difference.values.get(at).and_then(Option::as_deref);
            value.unwrap_or("absent").to_owned()
        };
        named.insert(&difference.name, format!("{} / {}", value(0), value(1)));
    }
    if named.is_empty() {
        return None;
    }
    let mut told: Vec<String> =
        named.iter().take(MAX_NAMED).map(|(name, values)| format!("{name} {values}")).collect();
    if named.len() > MAX_NAMED {
        told.push(format!("and {} more", named.len() - MAX_NAMED));
    }
    Some(format!("it has other settings than before (before / now): {}", told.join(", ")))
}

#[cfg(test)]
mod tests;
