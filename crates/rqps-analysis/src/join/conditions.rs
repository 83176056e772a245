//! The conditions of runs, compared: host, kernel, schedule, tables, arguments, rqps itself.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::warning::{Condition, ConditionValue, DifferentCondition};
use rqps_model::{Host, MemorySize, Run};

/// Keys of a plan's suite that say which steps run and for how long, not what they do.
const NOT_THE_WORK: [&str; 4] = ["steps", "clients", "form", "seconds"];

/// The conditions that are not the same in all runs.
#[must_use]
pub fn compare(runs: &[&Run]) -> Vec<DifferentCondition> {
    let all: Vec<BTreeMap<Condition, ConditionValue>> = runs.iter().map(|run| facts(run)).collect();
    let conditions: BTreeSet<&Condition> = all.iter().flat_map(BTreeMap::keys).collect();
    conditions
        .into_iter()
        .filter_map(|condition| {
            let values: Vec<_> = all.iter().map(|facts| facts.get(condition).cloned()).collect();
            let mut told = values.iter().filter(|value| condition.counts(value.as_ref()));
            let first = told.next();
            let differs = told.any(|value| Some(value) != first);
            differs.then(|| DifferentCondition { condition: condition.clone(), values })
        })
        .collect()
}

/// What a run was made under.
fn facts(run: &Run) -> BTreeMap<Condition, ConditionValue> {
    let host = &run.host;
    let known = |is_known: bool, value| if is_known { value } else { ConditionValue::Unknown };
    let cpus = ConditionValue::Cpus { n: host.n_cpus, model: host.cpu_model.clone() };
    let memory = ConditionValue::Memory(MemorySize { bytes: host.memory_bytes });
    let read_ahead = host.read_ahead_kb.map_or(ConditionValue::Unknown, ConditionValue::Kb);
    let mut facts = BTreeMap::from([
        (Condition::Host, ConditionValue::text(&host.hostname)),
        (Condition::Cpus, known(host.n_cpus > 0, cpus)),
        (Condition::Memory, known(host.memory_bytes > 0, memory)),
        (Condition::Storage, ConditionValue::text(&host.storage)),
        (Condition::ReadAhead, read_ahead),
        (Condition::Kernel, ConditionValue::text(&host.kernel)),
        (Condition::Distribution, ConditionValue::text(&host.os)),
        (Condition::Version, ConditionValue::text(&run.rqps_version)),
    ]);
    let plan = parsed(&run.plan);
    for (keys, value) in plan.get("schedule").map(flat).unwrap_or_default() {
        // What placement was in force is known of each step.
        if !matches!(keys.as_slice(), [key] if key == "seed" || key == "placement") {
            facts.insert(Condition::Schedule { keys }, ConditionValue::text(&value));
        }
    }
    for (at, suite) in all_suites(&plan).iter().enumerate() {
        for (keys, value) in suite_work(suite, true) {
            // The first one is mostly the only one.
            let condition = match at {
                0 => Condition::Suite { keys },
                _ => Condition::FurtherSuite { number: at + 1, keys },
            };
            facts.insert(condition, ConditionValue::text(&value));
        }
    }
    facts
}

/// Values of a plan by their keys, from the outermost on.
pub(crate) type Values = BTreeMap<Vec<String>, String>;

/// Sizes of tables and arguments of a suite by their keys, not which steps, nor how long; with the suite's name
/// where it has one.
pub(crate) type Work = (Option<String>, Values);

/// Those of all suites of a plan.
pub(crate) fn work(plan: &str) -> Vec<Work> {
    let plan = parsed(plan);
    let of = |suite: &toml::Value| {
        let name = suite.get("name").and_then(toml::Value::as_str).map(str::to_owned);
        (name, suite_work(suite, false))
    };
    all_suites(&plan).iter().map(of).collect()
}

/// The name of the suite that a step is of, where suites have names: `SUITE/STEP`.
#[must_use]
pub fn suite_of(step: &str) -> Option<&str> {
    step.rsplit_once('/').map(|(suite, _)| suite)
}

/// That of the suite whose step is called so: `SUITE/STEP` where suites have names.
pub(crate) fn work_of<'w>(work: &'w [Work], step: &str) -> Option<&'w Values> {
    let suite = suite_of(step);
    let own = work.iter().find(|(name, _)| name.as_deref() == suite);
    own.or_else(|| work.first().filter(|_| work.len() == 1)).map(|(_, work)| work)
}

/// What tells machines apart: name, CPUs and their model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub hostname: String,
    /// CPUs that rqps may use.
    pub n_cpus: u32,
    /// Their model.
    pub cpu_model: String,
}

impl Machine {
    /// That of a host.
    #[must_use]
    pub fn of(host: &Host) -> Self {
        let Host { hostname, n_cpus, cpu_model, .. } = host;
        Self { hostname: hostname.clone(), n_cpus: *n_cpus, cpu_model: cpu_model.clone() }
    }
}

/// A plan that cannot be read says nothing.
fn parsed(plan: &str) -> toml::Table {
    plan.parse().unwrap_or_default()
}

fn all_suites(plan: &toml::Table) -> &[toml::Value] {
    plan.get("suite").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice)
}

/// What a suite does.
fn suite_work(suite: &toml::Value, with_seconds: bool) -> Values {
    let is_work = |keys: &[String]| {
        let first = keys.first().map_or("", String::as_str);
        // A transaction that is held open is work, unlike how long is measured.
        let is_held = keys == ["seconds", "hold"];
        !NOT_THE_WORK.contains(&first) || is_held || with_seconds && first == "seconds"
    };
    flat(suite).into_iter().filter(|(keys, _)| is_work(keys)).collect()
}

/// The values of a table and of the tables in it; a value that is no table has no key.
fn flat(value: &toml::Value) -> Values {
    let mut out = Values::new();
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                for (mut keys, text) in flat(value) {
                    keys.insert(0, key.clone());
                    out.insert(keys, text);
                }
            }
        }
        toml::Value::String(text) => {
            out.insert(Vec::new(), text.clone());
        }
        other => {
            out.insert(Vec::new(), other.to_string());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_plan_is_its_tables_and_arguments() {
        let plan = "name = 'x'\n[[suite]]\nkind = 'sysbench'\nrows = 1000\nsteps = ['scan']\n\
                    [suite.seconds]\nread = 2.0\nhold = 30\n[schedule]\nslices = 3\n";
        let of_plan = work(plan);
        let found: Vec<_> = work_of(&of_plan, "scan").unwrap().clone().into_iter().collect();
        let wanted = [("kind", "sysbench"), ("rows", "1000"), ("seconds hold", "30")];
        let keys = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found, wanted.map(|(k, v)| (keys(k), v.to_owned())));
        assert!(work("no plan").is_empty());
    }

    #[test]
    fn a_step_does_the_work_of_its_own_suite() {
        let small = "[[suite]]\nname = 'small'\nrows = 1000\n";
        let big = "[[suite]]\nname = 'big'\nrows = 5000\n";
        let (both, alone) = (work(&format!("{small}{big}")), work(big));
        assert_eq!(work_of(&both, "big/scan"), work_of(&alone, "big/scan"));
        assert_ne!(work_of(&both, "big/scan"), work_of(&both, "small/scan"));
        assert_eq!(work_of(&both, "scan"), None);
    }
}
