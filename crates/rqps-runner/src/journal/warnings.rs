//! Warnings that are kept with the run; above all of what a system has become when its server is started again.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use rqps_audit::Differences;
use rqps_model::warning::ChangedSetting;
use rqps_model::{Label, RunSystem, Scope, SystemIdx, SystemSource, Warning, WarningKind};
use rqps_store::unix_ms;

use crate::event::Event;
use crate::journal::{Excluded, Journal};
use crate::run_context::RunContext;
use crate::system::RunningSystem;

impl Journal<'_> {
    /// Keeps a warning of a system, and shows it.
    pub(crate) fn warn(&mut self, system: SystemIdx, kind: WarningKind) -> Result<()> {
        let label = &self.run.systems[system.0].spec.label;
        (self.listen)(Event::Warning { label, kind: &kind });
        let warning = now(Scope::System(system.0), kind);
        self.store.add_warning(&self.run.id, &warning)?;
        self.run.warnings.push(warning);
        Ok(())
    }

    /// Keeps why what a server counts itself is missing, once for each system. The server must be well: one
    /// that has failed tells nothing more, and that is another warning.
    pub(crate) fn warn_of_counters(&mut self, system: SystemIdx, up: &RunningSystem) -> Result<()> {
        let Some(reason) = up.counted().failure() else { return Ok(()) };
        if lacks_counters(&self.run.warnings, system) {
            return Ok(());
        }
        let reason = reason.to_string();
        self.warn(system, WarningKind::CountersMissing { reason })
    }

    /// Keeps why the run ends before its steps do. Whoever runs it says it.
    pub(crate) fn note_end(&self, error: &anyhow::Error) -> Result<(), rqps_store::Error> {
        let warning = now(Scope::Run, WarningKind::RunEnded { reason: in_words(error) });
        self.store.add_warning(&self.run.id, &warning)
    }

    /// Keeps that a system is not measured further.
    pub(crate) fn exclude(&mut self, system: SystemIdx, error: anyhow::Error) -> Result<()> {
        let reason = in_words(&error);
        self.warn(system, WarningKind::Excluded { reason: reason.clone() }).context(reason)?;
        self.excluded.push(Excluded { system, error });
        Ok(())
    }

    /// Whether the others are of use without a system: with the base, and with one to compare with it.
    pub(crate) fn is_of_use_without(&self, run: &RunContext<'_>, system: SystemIdx) -> bool {
        system != run.base() && run.plan.systems.len() - self.excluded.len() > 2
    }

    /// Records what a server that was started is and runs with. Where its system has been measured
    /// already, it must be the same program; settings that are not the same are kept as a warning.
    pub(crate) fn keep_facts(&mut self, system: SystemIdx, facts: RunSystem) -> Result<()> {
        let mut states = self.run.steps.iter().map(|step| &step.systems[system.0]);
        let is_measured = states.any(|state| !state.slices.is_empty());
        let was = &self.run.systems[system.0];
        if is_measured && !was.version_text.is_empty() {
            if let Some(why) = other_program(was, &facts) {
                bail!(
                    "{} {why}; the results in this run are from before the change, and `--new` begins a \
                     new run",
                    facts.spec.label
                );
            }
            let settings = other_settings(was, &facts);
            if !settings.is_empty() {
                self.warn(system, WarningKind::SettingsChanged { settings })?;
            }
        }
        self.store.set_system_facts(&self.run.id, system.0, &facts)?;
        self.run.systems[system.0] = facts;
        Ok(())
    }
}

/// A warning that is noticed now.
pub(crate) fn now(scope: Scope, kind: WarningKind) -> Warning {
    Warning { at_unix_ms: Some(unix_ms()), scope, kind }
}

/// An error with its causes.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    format!("{error:#}").trim_end().to_owned()
}

/// Whether it is known of a system that its server's counters are missing.
fn lacks_counters(warnings: &[Warning], system: SystemIdx) -> bool {
    let is_it = |warning: &&Warning| {
        warning.scope == Scope::System(system.0)
            && matches!(warning.kind, WarningKind::CountersMissing { .. })
    };
    warnings.iter().any(|warning| is_it(&warning))
}

/// How a server is not the program that it was: `was 8.0.33 and is 8.0.34`.
fn other_program(was: &RunSystem, now: &RunSystem) -> Option<String> {
    // MySQL says by a suffix that a log is on.
    let version = |text: &'_ str| text.trim_end_matches("-log").to_owned();
    if version(&was.version_text) != version(&now.version_text) {
        return Some(format!("was {} and is now {}", was.version_text, now.version_text));
    }
    // Of the catalogue: the archive or main package, and its checksum.
    let is_own = matches!(now.spec.source, SystemSource::Basedir { .. } | SystemSource::Built(_));
    if !is_own && !was.origin.is_empty() && was.origin != now.origin {
        return Some(format!("came from {} and now comes from {}", was.origin, now.origin));
    }
    // Only of a program of the user's own.
    let sum = |system: &RunSystem| system.build.get("program_sha256").cloned();
    match (sum(was), sum(now)) {
        (Some(was), Some(now)) if was != now => {
            Some(format!("is now a different program (SHA-256 {was} before, {now} now)"))
        }
        _ => None,
    }
}

/// The settings that are not what they were and could move a result, by name.
fn other_settings(was: &RunSystem, now: &RunSystem) -> Vec<ChangedSetting> {
    let mut both = [was.clone(), now.clone()];
    for (system, label) in both.iter_mut().zip(["before", "now"]) {
        system.spec.label = Label(label.to_owned());
    }
    let differences = Differences::between(&both);
    let mut changed: BTreeMap<&str, [Option<String>; 2]> = BTreeMap::new();
    let audit = &differences.audit;
    // What weighs little between systems weighs as much as any other within one.
    let light = audit.harmless.iter().filter(|explained| !explained.affects.is_empty());
    for explained in audit.session.iter().chain(&audit.settings).chain(light) {
        let value = |at: usize| Some(explained.values.get(at)?.as_ref()?.text.clone());
        changed.insert(&explained.name, [value(0), value(1)]);
    }
    for difference in differences.unknown().chain(&differences.process).chain(&differences.partial)
    {
        let value = |at: usize| difference.values.get(at)?.clone();
        changed.insert(&difference.name, [value(0), value(1)]);
    }
    // An extension has its settings once its tables are there.
    let is_of_extension =
        |name: &str, before: &Option<String>| before.is_none() && name.contains('.');
    let changed = changed.into_iter().filter(|(name, [before, _])| !is_of_extension(name, before));
    changed
        .map(|(name, [before, after])| ChangedSetting { name: name.to_owned(), before, after })
        .collect()
}

#[cfg(test)]
mod tests;
