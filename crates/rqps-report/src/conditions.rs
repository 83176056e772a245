//! Conditions of runs and their differences, in words.

use rqps_analysis::join::Machine;
use rqps_model::warning::{Condition, ConditionValue, DifferentCondition, StepDifference};
use rqps_text::number;
use rqps_text::words::clip;

/// Columns that a sentence gives to a value.
const VALUE_COLUMNS: usize = 40;

/// The name of a condition: `kernel`, `suite rows`.
#[must_use]
pub fn name(condition: &Condition) -> String {
    match condition {
        Condition::Cpus => "CPUs".to_owned(),
        Condition::Host => "host".to_owned(),
        Condition::Memory => "memory".to_owned(),
        Condition::ReadAhead => "read-ahead".to_owned(),
        Condition::Storage => "storage".to_owned(),
        Condition::Distribution => "distribution".to_owned(),
        Condition::Kernel => "kernel".to_owned(),
        Condition::Schedule { keys } => with_keys("schedule", keys),
        Condition::FurtherSuite { number, keys } => with_keys(&format!("suite {number}"), keys),
        Condition::Suite { keys } => suite_value(keys),
        Condition::Version => "rqps".to_owned(),
    }
}

/// The name of a suite's value: `suite rows`.
pub(crate) fn suite_value(keys: &[String]) -> String {
    with_keys("suite", keys)
}

fn with_keys(what: &str, keys: &[String]) -> String {
    std::iter::once(what).chain(keys.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// The value of a condition; empty where the run does not know it.
#[must_use]
pub fn value(value: &ConditionValue) -> String {
    match value {
        ConditionValue::Unknown => String::new(),
        ConditionValue::Text(text) => text.clone(),
        ConditionValue::Cpus { n, model } => format!("{n} x {model}"),
        ConditionValue::Memory(size) => number::bytes(size.bytes),
        ConditionValue::Kb(n) => number::kb(*n),
    }
}

/// The values of a condition and the runs that they are of, by the names given: `6.8.0 in a, 6.9.1 in b`.
pub(crate) fn values<'n>(
    condition: &DifferentCondition,
    names: impl Iterator<Item = &'n str>,
) -> String {
    let values = condition.values.iter();
    let values = values.map(|of_run| of_run.as_ref().map_or_else(|| "none".to_owned(), value));
    by_value(values.zip(names))
}

/// A value, and the runs that have it.
struct SharedValue<'n> {
    value: String,
    names: Vec<&'n str>,
}

/// Values and the runs that they are of: `paired in A and B, free in C`; runs with one value share it.
pub(crate) fn by_value<'n>(values: impl Iterator<Item = (String, &'n str)>) -> String {
    let mut shared: Vec<SharedValue<'n>> = Vec::new();
    for (value, name) in values {
        match shared.iter_mut().find(|known| known.value == value) {
            Some(known) => known.names.push(name),
            None => shared.push(SharedValue { value, names: vec![name] }),
        }
    }
    let one = |SharedValue { value, names }: &SharedValue<'n>| {
        // Imported runs do not know their host.
        let value = if value.is_empty() { "unknown" } else { value };
        format!("{} in {}", clip(value, VALUE_COLUMNS), names.join(" and "))
    };
    shared.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Conditions of runs by their ids: `kernel 6.8.0 in 20261121-203015-demo, 6.9.1 in 20261122-080000-demo`.
pub(crate) fn of_runs(runs: &[String], conditions: &[DifferentCondition]) -> String {
    let ids = || runs.iter().map(String::as_str);
    let one = |of: &DifferentCondition| format!("{} {}", name(&of.condition), values(of, ids()));
    conditions.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// In what a step on a system differs from the same step on the base.
pub(crate) fn step_difference(difference: &StepDifference) -> String {
    match difference {
        StepDifference::Condition(condition) => name(condition),
        StepDifference::Placement { base, own } => format!("placement {own} against {base}"),
        StepDifference::Work => "what the step does".to_owned(),
    }
}

/// A machine: `db1, 4 x Xeon`.
#[must_use]
pub fn machine(Machine { hostname, n_cpus, cpu_model }: &Machine) -> String {
    format!("{hostname}, {n_cpus} x {cpu_model}")
}
