//! What the systems of a plan run with: each is started alone with an empty database, asked, stopped.

use rqps_model::WarningKind;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, bail};
use rqps_audit::{Differences, Filled, Finding, Severity, data_size, severe};
use rqps_model::{RunSystem, StepIdx, SystemIdx, SystemSpec};

use crate::Plan;
use crate::environment::Environment;
use crate::event::{Event, Listener};
use crate::journal::Journal;
use crate::plan::AuditRule;
use crate::run_context::RunContext;
use crate::system::installation::Installation;
use crate::system::installation::Ready;
use crate::system::leftover::{self, Purpose};
use crate::system::{Data, RunningSystem, Start};

/// Inspects every system of a plan, in the plan's order. Running servers are only read.
///
/// # Errors
/// Whatever keeps one of them from being up, or the user's interrupt.
pub fn audit(
    plan: &Plan,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<Vec<RunSystem>> {
    leftover::sweep_strays(environment, listen);
    // All are there before the first is started, so that what is missing is said at once.
    let installations = (0..plan.systems.len())
        .map(|idx| {
            let label = &plan.systems[idx].label;
            let installation = Installation::of(plan, idx, environment, listen);
            installation.with_context(|| format!("get {label}"))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut systems = Vec::new();
    for (idx, installation) in installations.iter().enumerate() {
        if environment.interrupt.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        let label = &plan.systems[idx].label;
        let asked = ask(&Asked { plan, idx, installation, data: Data::Look }, environment, listen);
        systems.push(asked.with_context(|| format!("inspect {label}"))?);
    }
    Ok(systems)
}

/// What is known of how the systems of a run differ, and was judged.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    /// What the systems said before the first of them was measured, in the plan's order; none where they
    /// are asked when they are up.
    looked_at: Vec<RunSystem>,
    /// The loads, each with a system whose tables' size after it was compared with the base's.
    weighed: BTreeSet<(StepIdx, SystemIdx)>,
}

impl Audit {
    /// Looks at all systems that come one after the other before the first of them is measured: each is
    /// started alone for a moment. What an earlier attempt has recorded is not asked again, and one that
    /// does not come up says why when it is measured.
    pub(crate) fn in_advance(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        ready: &[Ready],
    ) -> Result<()> {
        let plan = run.plan;
        let mut systems = journal.run().systems.clone();
        let is_unknown = |one: &&Ready| {
            systems[one.system.0].version_text.is_empty() && run.spec(one.system).dbms.is_server()
        };
        let unknown: Vec<&Ready> = ready.iter().filter(is_unknown).collect();
        // A single system is looked at when it is up.
        if plan.systems.len() < 2 || unknown.is_empty() {
            return judge(run, journal, &systems);
        }
        journal.note("inspecting all systems before the first is measured");
        for Ready { system, installation } in unknown {
            run.check_interrupt()?;
            let idx = system.0;
            let asked = Asked { plan, idx, installation, data: Data::Try };
            match ask(&asked, run.environment, journal.listener()) {
                Ok(facts) => systems[idx] = facts,
                Err(error) if run.is_of_run(&error) => return Err(error),
                // A server that is up already and refuses now refuses later, when hours have gone into the others.
                Err(error)
                    if matches!(installation, Installation::External(_))
                        && !journal.is_of_use_without(run, *system) =>
                {
                    let label = run.label(*system);
                    return Err(
                        error.context(format!("inspect {label} before the first is measured"))
                    );
                }
                Err(error) => {
                    let kind = unasked(plan.audit, run.label(*system).as_str(), error)?;
                    journal.warn(*system, kind)?;
                }
            }
        }
        judge(run, journal, &systems)?;
        self.looked_at = systems;
        Ok(())
    }

    /// Judges a system that is up, with what is known of the others, unless that was done in advance.
    pub(crate) fn judge_if_new(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        system: SystemIdx,
        facts: &RunSystem,
    ) -> Result<()> {
        let recorded = &journal.run().systems;
        let (systems, is_new) = with_facts(recorded, &self.looked_at, system.0, facts);
        if is_new {
            judge(run, journal, &systems)?;
            self.looked_at = systems;
        }
        Ok(())
    }

    /// Judges how much room the tables take that a step begins on, once for each load and candidate: as soon as
    /// those of the base and of the candidate are filled.
    pub(crate) fn judge_sizes(
        &mut self,
        run: &RunContext<'_>,
        journal: &mut Journal<'_>,
        step: StepIdx,
    ) -> Result<()> {
        let is_to_come = run.systems().any(|system| journal.is_pending(step, system));
        let is_of_interest = is_to_come && run.load() == 0 && !run.step(step).makes_tables();
        let Some(load) = run.made_by(step).filter(|_| is_of_interest) else {
            return Ok(());
        };
        let bytes = |system| journal.cell(load, system).sizes.database_bytes;
        let Some(of_base) = bytes(run.base()) else { return Ok(()) };
        let (mut others, mut weighed) = (Vec::new(), Vec::new());
        for system in run.systems().filter(|system| *system != run.base()) {
            if let Some(bytes) = bytes(system)
                && !self.weighed.contains(&(load, system))
            {
                weighed.push((load, system));
                others.push(Filled { spec: run.spec(system), bytes });
            }
        }
        let base = Filled { spec: run.spec(run.base()), bytes: of_base };
        if let Some(finding) = data_size(base, &others) {
            tell_or_refuse(run, journal, &[finding])?;
        }
        // One that was refused is refused again.
        self.weighed.extend(weighed);
        Ok(())
    }
}

/// Says the severe differences between systems, or refuses to measure them, as the plan wants it.
pub(crate) fn judge(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    systems: &[RunSystem],
) -> Result<()> {
    if run.launch > 0 {
        return Ok(());
    }
    for note in options_without_effect(run.base().0, systems) {
        journal.note(&note);
    }
    tell_or_refuse(run, journal, &severe(systems))
}

/// Candidates whose options differ from the base's, and whose servers run as the base does nevertheless: an option
/// may repeat what the profile sets.
fn options_without_effect(base: usize, systems: &[RunSystem]) -> Vec<String> {
    let Some(of_base) = systems.get(base).filter(|system| !system.settings.is_empty()) else {
        return Vec::new();
    };
    let is_equal = |system: &&RunSystem| {
        let pair = [of_base.clone(), (*system).clone()];
        let Differences { process, settings, partial, .. } = Differences::between(&pair);
        let spec = SystemSpec {
            label: of_base.spec.label.clone(),
            options: of_base.spec.options.clone(),
            ..system.spec.clone()
        };
        // What no setting shows may have an effect all the same.
        let is_shown = |name: &String| system.settings.contains_key(&name.replace('-', "_"));
        let mut options = system.spec.options.keys().chain(of_base.spec.options.keys());
        system.spec.options != of_base.spec.options
            && options.all(is_shown)
            && spec == of_base.spec
            && (&system.origin, &system.build) == (&of_base.origin, &of_base.build)
            && [process, settings, partial].iter().all(Vec::is_empty)
    };
    let told = systems.iter().filter(|system| !system.settings.is_empty()).filter(is_equal);
    let (base, note) = (
        &of_base.spec.label,
        "run with the same settings: their options change nothing; write other values",
    );
    told.map(|system| format!("{base} and {} {note}", system.spec.label)).collect()
}

/// Says what was found, or refuses to measure where it is severe and the plan wants it so.
fn tell_or_refuse(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    found: &[Finding],
) -> Result<()> {
    if run.plan.audit == AuditRule::Strict
        && let Some(refusal) = refusal(found)
    {
        bail!(refusal);
    }
    found.iter().for_each(|finding| journal.note(&finding.sentence()));
    Ok(())
}

/// The warning about a system that could not be asked in advance: its own start may succeed. A strict
/// audit measures nothing that it has not judged, and ends here.
fn unasked(rule: AuditRule, label: &str, error: anyhow::Error) -> Result<WarningKind> {
    if rule == AuditRule::Strict {
        return Err(error.context(format!(
            "inspect {label}: audit = \"strict\" measures nothing before all systems are known"
        )));
    }
    let text = format!("{error:#}");
    let reason = text.lines().next().unwrap_or_default().to_owned();
    Ok(WarningKind::NotLookedAt { reason })
}

/// What is known of all systems, of one the newest; and whether nothing was known of that one. `recorded`
/// is what the run has of earlier attempts, `looked_at` what was asked in advance, if anything was.
fn with_facts(
    recorded: &[RunSystem],
    looked_at: &[RunSystem],
    idx: usize,
    facts: &RunSystem,
) -> (Vec<RunSystem>, bool) {
    let known = if looked_at.is_empty() { recorded } else { looked_at };
    let is_new = facts.spec.dbms.is_server()
        && known.get(idx).is_none_or(|system| system.version_text.is_empty());
    let mut systems = known.to_vec();
    if let Some(system) = systems.get_mut(idx) {
        *system = facts.clone();
    }
    (systems, is_new)
}

/// Why systems with severe differences are not measured, and what to do; `None` without any.
fn refusal(found: &[Finding]) -> Option<String> {
    let one = |finding: &Finding| {
        let text = finding.text.trim_end_matches('.');
        format!("  {}: {text}; {}", finding.name, finding.remedy)
    };
    let severe = found.iter().filter(|finding| finding.severity == Severity::Severe);
    let told: Vec<String> = severe.map(one).collect();
    (!told.is_empty()).then(|| {
        format!(
            "the systems differ severely, so audit = \"strict\" measures nothing; audit = \"warn\" only \
             reports it:\n{}",
            told.join("\n")
        )
    })
}

/// A system that is looked at.
struct Asked<'a> {
    plan: &'a Plan,
    idx: usize,
    installation: &'a Installation,
    data: Data,
}

fn ask(
    &Asked { plan, idx, installation, data }: &Asked<'_>,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<RunSystem> {
    let tag = Purpose::Audit.tag(idx);
    let mut up = RunningSystem::start(
        plan,
        idx,
        installation,
        Start { environment, name: &tag, data },
        listen,
    )?;
    let facts = up.facts();
    let label = &plan.systems[idx].label;
    listen(Event::Preparing { label, doing: up.ending() });
    let ended = up.finish(None);
    let facts = facts?;
    if let Some(sentence) = ended? {
        listen(Event::Note(&sentence));
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use rqps_model::{Dbms, Label, SystemSource, SystemSpec};

    use super::*;

    #[test]
    fn strict_does_not_continue_with_a_system_that_could_not_be_asked() {
        let refused = || anyhow::anyhow!("no route to host").context("connect");
        let said = unasked(AuditRule::Warn, "far", refused()).unwrap();
        let reason = "connect: no route to host".to_owned();
        assert_eq!(said, WarningKind::NotLookedAt { reason });
        let error = unasked(AuditRule::Strict, "far", refused()).unwrap_err();
        expect_test::expect![[r#"inspect far: audit = "strict" measures nothing before all systems are known: connect: no route to host"#]]
            .assert_eq(&format!("{error:#}"));
    }

    #[test]
    fn a_system_that_was_not_asked_in_advance_is_judged_when_it_is_up() {
        let system = |label: &str, version: &str| RunSystem {
            version_text: version.to_owned(),
            ..RunSystem::new(SystemSpec::new(
                Label(label.to_owned()),
                Dbms::Mysql,
                SystemSource::Builtin,
            ))
        };
        let (a, b) = (system("a", "8.0.33"), system("b", "8.4.5"));
        let unknown = system("b", "");
        let recorded = [system("a", ""), unknown.clone()];
        // Asked in advance: known, and not judged again.
        let asked = [a.clone(), b.clone()];
        assert!(!with_facts(&recorded, &asked, 1, &b).1);
        // Not to be had then: judged with the other that was.
        let asked = [a.clone(), unknown];
        assert_eq!(with_facts(&recorded, &asked, 1, &b), (vec![a.clone(), b.clone()], true));
        // A single system, or none asked: what an earlier attempt recorded is known.
        assert!(with_facts(&recorded, &[], 0, &a).1);
        assert!(!with_facts(&[a.clone(), b], &[], 0, &a).1);
    }

    #[test]
    fn an_option_that_repeats_the_profile_changes_nothing() {
        let system = |label: &str, option: &str, flush: &str| {
            let spec = SystemSpec::new(Label(label.to_owned()), Dbms::Mysql, SystemSource::Builtin);
            let facts = |name: &str, value: &str| {
                std::collections::BTreeMap::from([(name.to_owned(), value.to_owned())])
            };
            let options =
                if option.is_empty() { Default::default() } else { facts("flush", option) };
            let spec = SystemSpec { options, ..spec };
            RunSystem { settings: facts("flush", flush), ..RunSystem::new(spec) }
        };
        let plain = system("plain", "", "O_DIRECT");
        let of = |other: RunSystem| options_without_effect(0, &[plain.clone(), other]);
        let told = of(system("direct", "O_DIRECT", "O_DIRECT"));
        assert_eq!(
            told,
            [
                "plain and direct run with the same settings: their options change nothing; write other values"
            ]
        );
        assert!(of(system("fsync", "fsync", "fsync")).is_empty());
        // Equal on purpose.
        assert!(of(system("twin", "", "O_DIRECT")).is_empty());
    }

    #[test]
    fn a_refusal_names_setting_values_and_remedy() {
        assert_eq!(refusal(&[]), None);
        let finding = Finding {
            severity: Severity::Severe,
            name: "tls".to_owned(),
            text: "The sessions differ in tls: no TLS on a, TLSv1.3 on b.".to_owned(),
            remedy: "give all systems the same `transport`".to_owned(),
        };
        expect_test::expect![[r#"
            the systems differ severely, so audit = "strict" measures nothing; audit = "warn" only reports it:
              tls: The sessions differ in tls: no TLS on a, TLSv1.3 on b; give all systems the same `transport`"#]]
        .assert_eq(&refusal(std::slice::from_ref(&finding)).unwrap());
        // What is no more than notable is told and measured.
        assert_eq!(refusal(&[Finding { severity: Severity::Notable, ..finding }]), None);
    }
}
