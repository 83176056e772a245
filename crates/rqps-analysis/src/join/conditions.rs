//! What runs were made under, compared: host, kernel, schedule, tables, arguments, rqps itself.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::warning::{DifferentCondition, ValueOfRun};
use rqps_model::{Host, Run};

use super::Source;
use rqps_text::number;
use rqps_text::words::clip;

/// Columns that a sentence gives to a value.
const VALUE_COLUMNS: usize = 40;

/// The condition of that name: how far the kernel reads ahead on the storage.
const READ_AHEAD: &str = "read-ahead";

/// Keys of a plan's suite that say which steps run and for how long, not what they do.
const NOT_THE_WORK: [&str; 4] = ["steps", "clients", "form", "seconds"];

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The machine.
    Host,
    /// Kernel and distribution.
    Kernel,
    /// Order and length of the slices.
    Schedule,
    /// Sizes of tables and arguments of steps.
    Work,
    /// The version of rqps.
    Tool,
}

impl Topic {
    /// Whether a difference can move figures by itself.
    #[must_use]
    pub fn moves_figures(self) -> bool {
        !matches!(self, Self::Tool)
    }

    /// For programs.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Kernel => "kernel",
            Self::Schedule => "schedule",
            Self::Work => "work",
            Self::Tool => "tool",
        }
    }
}

/// One condition that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it is about.
    pub topic: Topic,
    /// Its name: `kernel`, `suite rows`.
    pub name: String,
    /// Its value per run; absent where the run's plan does not say.
    pub values: Vec<Option<String>>,
}

impl Condition {
    /// The condition with the runs' ids.
    pub(crate) fn with_runs(&self, sources: &[Source]) -> DifferentCondition {
        let ids = sources.iter().map(|source| source.id.clone());
        let values = ids.zip(self.values.iter().cloned());
        let values = values.map(|(run, value)| ValueOfRun { run, value }).collect();
        DifferentCondition { name: self.name.clone(), values }
    }

    /// `6.8.0 in a, 6.9.1 in b`, of runs that are called so; runs with one value share it.
    #[must_use]
    pub fn by_value<'a>(&'a self, names: impl Iterator<Item = &'a str>) -> String {
        let values = self.values.iter().map(|value| value.as_deref().unwrap_or("none"));
        by_value(values.zip(names))
    }

    /// Whether two of the runs differ in it, for all that is known of them.
    pub(super) fn differs(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.values.get(a), self.values.get(b));
        a != b && [a, b].into_iter().flatten().all(|value| counts(&self.name, value.as_deref()))
    }
}

/// Whether a value may make a difference. That rqps did not record it yet is none by itself: it would stand
/// between every run of before and of today.
fn counts(name: &str, value: Option<&str>) -> bool {
    name != READ_AHEAD || value != Some("")
}

/// Values and the runs that they are of, in words: `paired in A and B, free in C`.
#[must_use]
pub fn by_value<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for (value, name) in values {
        match told.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(name),
            None => told.push((value, vec![name])),
        }
    }
    let one = |(value, names): &(&str, Vec<&str>)| {
        // Imported runs do not know their host.
        let value = if value.is_empty() { "unknown" } else { *value };
        format!("{} in {}", clip(value, VALUE_COLUMNS), names.join(" and "))
    };
    told.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `kernel 6.8.0 in 20261121-203015-demo, 6.9.1 in 20261122-080000-demo`; runs with one value share it.
#[must_use]
pub fn condition(DifferentCondition { name, values }: &DifferentCondition) -> String {
    let values = values
        .iter()
        .map(|of_run| (of_run.value.as_deref().unwrap_or("none"), of_run.run.as_str()));
    format!("{name} {}", by_value(values))
}

/// The conditions that are not the same in all runs.
#[must_use]
pub fn compare(runs: &[&Run]) -> Vec<Condition> {
    let all: Vec<BTreeMap<(usize, String), String>> = runs.iter().map(|run| facts(run)).collect();
    let names: BTreeSet<&(usize, String)> = all.iter().flat_map(BTreeMap::keys).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let values: Vec<Option<String>> = all.iter().map(|f| f.get(name).cloned()).collect();
            let topic = TOPICS[name.0];
            let mut told = values.iter().filter(|value| counts(&name.1, value.as_deref()));
            let first = told.next();
            let differs = told.any(|value| Some(value) != first);
            differs.then(|| Condition { topic, name: name.1.clone(), values })
        })
        .collect()
}

/// The topics in the order of reports.
const TOPICS: [Topic; 5] = [Topic::Host, Topic::Kernel, Topic::Schedule, Topic::Work, Topic::Tool];

/// What a run was made under: index of the topic and name, and value.
fn facts(run: &Run) -> BTreeMap<(usize, String), String> {
    let host = &run.host;
    let own = |topic: usize, name: &str, value: String| ((topic, name.to_owned()), value);
    let known = |is_known: bool, value: String| if is_known { value } else { String::new() };
    let mut facts: BTreeMap<(usize, String), String> = BTreeMap::from([
        own(0, "host", host.hostname.clone()),
        own(0, "CPUs", known(host.n_cpus > 0, format!("{} x {}", host.n_cpus, host.cpu_model))),
        own(0, "memory", known(host.memory_bytes > 0, number::bytes(host.memory_bytes))),
        own(0, "storage", host.storage.clone()),
        own(0, READ_AHEAD, host.read_ahead_kb.map(number::kb).unwrap_or_default()),
        own(1, "kernel", host.kernel.clone()),
        own(1, "distribution", host.os.clone()),
        own(4, "rqps", run.rqps_version.clone()),
    ]);
    let plan = parsed(&run.plan);
    let schedule = flat(plan.get("schedule"), "schedule");
    facts.extend(
        schedule
            .into_iter()
            // What placement was in force is known of each step.
            .filter(|(name, _)| !["schedule seed", "schedule placement"].contains(&name.as_str()))
            .map(|(name, value)| ((2, name), value)),
    );
    facts.extend(suites(&plan).into_iter().map(|(name, value)| ((3, name), value)));
    facts
}

/// Sizes of tables and arguments of a suite by their keys, not which steps, nor how long; with the suite's name
/// where it has one.
pub(crate) type Work = (Option<String>, BTreeMap<String, String>);

/// Those of all suites of a plan.
pub(crate) fn work(plan: &str) -> Vec<Work> {
    let plan = parsed(plan);
    let of = |suite: &toml::Value| {
        let name = suite.get("name").and_then(toml::Value::as_str).map(str::to_owned);
        (name, suite_work(suite, "suite", false))
    };
    all_suites(&plan).iter().map(of).collect()
}

/// The name of the suite that a step is of, where suites have names: `SUITE/STEP`.
#[must_use]
pub fn suite_of(step: &str) -> Option<&str> {
    step.rsplit_once('/').map(|(suite, _)| suite)
}

/// That of the suite whose step is called so: `SUITE/STEP` where suites have names.
pub(crate) fn work_of<'w>(work: &'w [Work], step: &str) -> Option<&'w BTreeMap<String, String>> {
    let suite = suite_of(step);
    let own = work.iter().find(|(name, _)| name.as_deref() == suite);
    own.or_else(|| work.first().filter(|_| work.len() == 1)).map(|(_, work)| work)
}

/// A machine's name for people and for telling machines apart: name, CPUs and their model.
pub(crate) fn host_name(host: &Host) -> String {
    format!("{}, {} x {}", host.hostname, host.n_cpus, host.cpu_model)
}

/// A plan that cannot be read says nothing.
fn parsed(plan: &str) -> toml::Table {
    plan.parse().unwrap_or_default()
}

fn suites(plan: &toml::Table) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (at, suite) in all_suites(plan).iter().enumerate() {
        // The first one is mostly the only one.
        let lead = if at == 0 { "suite".to_owned() } else { format!("suite {}", at + 1) };
        out.extend(suite_work(suite, &lead, true));
    }
    out
}

fn all_suites(plan: &toml::Table) -> &[toml::Value] {
    plan.get("suite").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice)
}

/// What a suite does by its keys, which begin with `lead`.
fn suite_work(suite: &toml::Value, lead: &str, with_seconds: bool) -> BTreeMap<String, String> {
    let is_work = |key: &str| {
        let key = key.strip_prefix(lead).unwrap_or(key).trim_start();
        let first = key.split(' ').next().unwrap_or(key);
        // A transaction that is held open is work, unlike how long is measured.
        let is_held = key == "seconds hold";
        !NOT_THE_WORK.contains(&first) || is_held || with_seconds && first == "seconds"
    };
    flat(Some(suite), lead).into_iter().filter(|(key, _)| is_work(key)).collect()
}

/// The values of a table and of the tables in it, by their keys with spaces between.
fn flat(value: Option<&toml::Value>, name: &str) -> BTreeMap<String, String> {
    match value {
        None => BTreeMap::new(),
        Some(toml::Value::Table(table)) => {
            table.iter().flat_map(|(key, v)| flat(Some(v), &format!("{name} {key}"))).collect()
        }
        Some(toml::Value::String(text)) => BTreeMap::from([(name.to_owned(), text.clone())]),
        Some(other) => BTreeMap::from([(name.to_owned(), other.to_string())]),
    }
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
        let wanted =
            [("suite kind", "sysbench"), ("suite rows", "1000"), ("suite seconds hold", "30")];
        assert_eq!(found, wanted.map(|(k, v)| (k.to_owned(), v.to_owned())));
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
