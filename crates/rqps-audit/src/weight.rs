//! What a difference weighs: data in `settings.toml`, applied to the values of the systems.

use rqps_model::{Dbms, Engine, RunSystem};

use super::known::SettingRule;
use super::value::{bytes, same};
use super::{Severity, Shown};

/// Whether a server and another are of two families, whose settings and habits differ by themselves.
pub(super) fn is_across(a: Dbms, b: Dbms) -> bool {
    a.family() != b.family()
}

/// What one system has of a setting.
#[derive(Clone, Copy)]
struct Value<'a> {
    dbms: Dbms,
    text: &'a str,
}

/// What a difference of known values weighs: that of the two systems which it parts most.
pub(super) fn weigh(
    known: &SettingRule,
    systems: &[RunSystem],
    values: &[Option<Shown>],
) -> Severity {
    let there: Vec<Value<'_>> = systems
        .iter()
        .zip(values)
        .filter(|(system, _)| is_of_its_engine(known, system))
        .filter_map(|(system, shown)| {
            Some(Value { dbms: system.spec.dbms, text: &shown.as_ref()?.text })
        })
        .collect();
    let pairs =
        there.iter().enumerate().flat_map(|(at, a)| there[..at].iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| weigh_pair(known, *a, *b)).max().unwrap_or(Severity::Minor)
}

/// Whether a system's tables are of the engine that a setting is about: InnoDB's pool is small and of
/// no use to tables of MyRocks.
fn is_of_its_engine(known: &SettingRule, system: &RunSystem) -> bool {
    let begins = |word: &str| known.mysql.iter().any(|name| name.starts_with(word));
    match system.spec.engine {
        Engine::Innodb => !begins("rocksdb"),
        Engine::Rocksdb => !begins("innodb"),
        Engine::Heap => true,
    }
}

fn weigh_pair(known: &SettingRule, of_a: Value<'_>, of_b: Value<'_>) -> Severity {
    let (a, b) = (of_a.text, of_b.text);
    let share = |groups: &[Vec<String>]| {
        let has = |group: &Vec<String>, text: &str| group.iter().any(|one| same(one, text));
        groups.iter().any(|group| has(group, a) && has(group, b))
    };
    // Clients connect once, before anything is measured.
    let moves = known.affects.iter().any(|word| word != "connects");
    if !moves || same(a, b) || share(&known.alike) || is_nearer(known.ratio, a, b) {
        return Severity::Minor;
    }
    let has = |it: &String| same(it, a) || same(it, b);
    let is_near = !known.with.is_empty() && !known.with.iter().any(has);
    let own = known.severity.unwrap_or(Severity::Notable);
    let own = if is_near { own.min(Severity::Notable) } else { own };
    match known.across {
        // What is far apart weighs the same in all families.
        Some(across) if is_across(of_a.dbms, of_b.dbms) && (is_near || known.with.is_empty()) => {
            own.min(across)
        }
        _ => own,
    }
}

/// Whether two numbers are nearer to one another than a ratio.
fn is_nearer(ratio: Option<f64>, a: &str, b: &str) -> bool {
    let number = |text: &str| bytes(text).map(|n| n as f64).or_else(|| text.parse::<f64>().ok());
    let (Some(ratio), Some(a), Some(b)) = (ratio, number(a), number(b)) else { return false };
    a > 0.0 && b > 0.0 && a.max(b) / a.min(b) < ratio
}
