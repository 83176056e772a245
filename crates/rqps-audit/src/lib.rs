//! Differences of settings, sessions and builds between systems, and which of them matter. The
//! facts are those that a run records, for its report and for `rqps servers audit`.

mod build;
pub mod derived;
pub mod difference;
pub mod finding;
pub mod findings;
mod known;
pub mod manual;
pub mod sheet;
pub mod size;
mod value;
mod weight;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rqps_model::{RunSystem, SettingSource};

pub use difference::{Difference, Differences};
pub use finding::Finding;
pub use findings::severe;
use known::{Key, Kind, SettingRule};
pub use rqps_model::warning::Severity;
pub use size::{Filled, data_size};
pub use value::same;

/// A known setting or fact that differs between systems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Its name, or its names in the order of the systems.
    pub name: String,
    /// Its part of the server.
    pub group: String,
    /// The value per system, in one form for all; absent where a system does not report it.
    pub values: Vec<Option<Shown>>,
    /// What a difference can change: `reads`, `writes`, `all`; nothing when empty.
    pub affects: Vec<String>,
    /// Its effect, without a full stop.
    pub why: String,
    /// Whose choice the difference is.
    pub choice: Choice,
    /// Its severity.
    pub severity: Severity,
}

/// A value of one system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The value: `1G`, `on`.
    pub text: String,
    /// Where the value comes from, if known.
    pub source: Option<SettingSource>,
    /// Whether the system lacks the setting and always behaves like this value.
    pub is_implied: bool,
}

/// Whose choice a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The plan's options or configurations.
    Plan,
    /// The configuration, which has a value for each version.
    Configuration,
    /// The defaults of the versions.
    Defaults,
    /// Some configured, some not, or unknown.
    Mixed,
}

impl Choice {
    /// For a sentence: `on purpose, by the plan`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Plan => "on purpose, by the plan",
            Self::Configuration => "on purpose, by the configuration for each version",
            Self::Defaults => "defaults",
            Self::Mixed => "",
        }
    }

    /// The word in JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Configuration => "configuration",
            Self::Defaults => "defaults",
            Self::Mixed => "mixed",
        }
    }

    /// Whether the plan or the configuration chose it.
    #[must_use]
    pub fn is_on_purpose(self) -> bool {
        matches!(self, Self::Plan | Self::Configuration)
    }
}

/// Known differences between systems.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// Differences of the sessions, the most severe first.
    pub session: Vec<Explained>,
    /// Known settings that can change QPS, the most severe first, then the unplanned.
    pub settings: Vec<Explained>,
    /// Minor differences.
    pub harmless: Vec<Explained>,
    /// Names of all known settings, as the systems call them.
    pub known_names: BTreeSet<String>,
}

/// The values of one setting: per system its name and value.
type Values<'a> = Vec<Option<(&'a str, &'a str)>>;

impl Audit {
    /// Compares settings, sessions and builds of the systems.
    #[must_use]
    pub fn of(systems: &[RunSystem]) -> Self {
        // Those that settings_of() makes into one.
        let parts = MADE.iter().flat_map(|(_, parts)| parts.iter());
        let known_names = parts.map(|name| (*name).to_owned()).collect();
        let is_heavy = |e: &Explained| e.severity > Severity::Minor;
        let (session, light): (Vec<_>, Vec<_>) = session(systems).into_iter().partition(is_heavy);
        let mut audit = Self { session, known_names, ..Self::default() };
        let settings: Vec<BTreeMap<String, String>> = systems.iter().map(settings_of).collect();
        let mut by_key: BTreeMap<Key, (&SettingRule, Values<'_>)> = BTreeMap::new();
        for (idx, (system, settings)) in systems.iter().zip(&settings).enumerate() {
            for (name, value) in settings {
                let Some(found) = known::list().find(system.spec.dbms, name) else { continue };
                audit.known_names.insert(name.clone());
                let none = || (found.known, vec![None; systems.len()]);
                by_key.entry(found.key).or_insert_with(none).1[idx] = Some((name, value));
            }
        }
        let mut all: Vec<Explained> = by_key
            .into_values()
            .filter(|(known, _)| !is_without_effect(known, &settings))
            .filter_map(|(known, values)| setting(systems, &settings, known, &values))
            .collect();
        all.extend(light);
        all.extend(derived::differences(systems));
        let (settings, harmless) = all.into_iter().partition(is_heavy);
        (audit.settings, audit.harmless) = (settings, harmless);
        // Stable: within both, the order of the list.
        audit.settings.sort_by_key(|e| (Reverse(e.severity), e.choice.is_on_purpose()));
        audit.session.sort_by_key(|e| Reverse(e.severity));
        audit
    }
}

/// Whether a setting only names or locates an instance, or belongs to a part that no benchmark
/// uses.
pub fn is_hidden(name: &str) -> bool {
    known::list().is_of_the_instance(name) || known::list().is_idle(name)
}

/// Whether a switch that the setting depends on is off wherever it is there.
fn is_without_effect(known: &SettingRule, settings: &[BTreeMap<String, String>]) -> bool {
    let is_off = |s: &BTreeMap<String, String>, name: &String| {
        s.get(name).is_none_or(|value| value::switch(value) == Some(false))
    };
    known.needs.as_ref().is_some_and(|name| settings.iter().all(|s| is_off(s, name)))
}

/// A system's settings, with the size of InnoDB's redo log in place of the several ways to set it, and
/// with what its query cache is by type and size.
fn settings_of(system: &RunSystem) -> BTreeMap<String, String> {
    let mut settings = system.settings.clone();
    let (size, files) = (settings.remove(SIZE), settings.remove(FILES));
    let capacity = settings.remove(CAPACITY);
    let number = |text: Option<String>| text.and_then(|t| t.parse::<u64>().ok());
    let of_files = number(size).and_then(|size| size.checked_mul(number(files).unwrap_or(1)));
    if let Some(bytes) = number(capacity).or(of_files) {
        settings.insert(REDO.to_owned(), bytes.to_string());
    }
    let kind = settings.remove(QUERY_CACHE_TYPE);
    let size = settings.get(QUERY_CACHE_SIZE).map(String::as_str);
    if let Some(state) = query_cache(kind.as_deref(), size) {
        settings.insert(QUERY_CACHE.to_owned(), state.to_owned());
    }
    settings
}

/// Whether the query cache answers anything: one without a size does not, whatever its type, and one
/// that is off does not, whatever its size. `None` where a server has neither.
fn query_cache(kind: Option<&str>, size: Option<&str>) -> Option<&'static str> {
    if kind.is_none() && size.is_none() {
        return None;
    }
    let is_off = kind.and_then(value::switch) == Some(false);
    Some(if is_off || size.and_then(value::bytes) == Some(0) {
        "off"
    } else if kind.is_some_and(|kind| kind == "2" || kind.eq_ignore_ascii_case("DEMAND")) {
        "on demand"
    } else {
        "on"
    })
}

/// The name under which InnoDB's redo log is compared.
const REDO: &str = "innodb redo log capacity";
const CAPACITY: &str = "innodb_redo_log_capacity";
const SIZE: &str = "innodb_log_file_size";
const FILES: &str = "innodb_log_files_in_group";

/// The name under which the query cache is compared.
const QUERY_CACHE: &str = "query cache";
const QUERY_CACHE_TYPE: &str = "query_cache_type";
const QUERY_CACHE_SIZE: &str = "query_cache_size";

/// What is compared under a name of ours, with the settings that it is made of.
const MADE: [(&str, &[&str]); 2] =
    [(REDO, &[CAPACITY, SIZE, FILES]), (QUERY_CACHE, &[QUERY_CACHE_TYPE, QUERY_CACHE_SIZE])];

/// The settings that something of our own name is made of; none for a server's setting.
fn parts_of(name: &str) -> &'static [&'static str] {
    MADE.iter().find(|(made, _)| *made == name).map_or(&[], |(_, parts)| parts)
}

/// Who gave a system the value of a setting, or of one of those that it is made of: the first that is
/// there, before it any that somebody configured.
fn source_of(system: &RunSystem, name: &str) -> Option<SettingSource> {
    let parts = parts_of(name);
    let own = [name];
    let names = if parts.is_empty() { &own[..] } else { parts };
    let there = || names.iter().filter_map(|name| system.origins.get(*name)).map(|o| o.source);
    there()
        .find(|source| *source == SettingSource::Config && name == QUERY_CACHE)
        .or_else(|| there().next())
}

/// A setting's difference; `None` when there is none.
fn setting(
    systems: &[RunSystem],
    settings: &[BTreeMap<String, String>],
    known: &SettingRule,
    values: &Values<'_>,
) -> Option<Explained> {
    let shown = |idx: usize| -> Option<Shown> {
        let system = &systems[idx];
        if let Some((name, value)) = values[idx] {
            let source = source_of(system, name);
            return Some(Shown { text: value::normal(known, value), source, is_implied: false });
        }
        // A system that was never asked says nothing, and neither does another family.
        let is_asked = !settings[idx].is_empty() && known.is_of(system.spec.dbms);
        let text = value::normal(known, known.absent.as_ref().filter(|_| is_asked)?);
        Some(Shown { text, source: None, is_implied: true })
    };
    let mut shown: Vec<Option<Shown>> = (0..systems.len()).map(shown).collect();
    if known.kind == Kind::Flags {
        let lists: Vec<&str> = shown.iter().flatten().map(|s| s.text.as_str()).collect();
        let mut flags = value::differing_flags(&lists).into_iter();
        for one in shown.iter_mut().flatten() {
            one.text = flags.next().unwrap_or_default();
        }
    }
    if !differ(&shown) {
        return None;
    }
    // In the order of the systems, each once.
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in values.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    Some(Explained {
        name: names.join(" / "),
        choice: choice(systems, &names, &shown),
        severity: weight::weigh(known, systems, &shown),
        values: shown,
        group: known.group.clone(),
        affects: known.affects.clone(),
        why: known.why.clone(),
    })
}

fn differ(values: &[Option<Shown>]) -> bool {
    let mut there = values.iter().flatten();
    there.next().is_some_and(|first| there.any(|other| !same(&first.text, &other.text)))
}

fn choice(systems: &[RunSystem], names: &[&str], values: &[Option<Shown>]) -> Choice {
    let option = |system: &RunSystem| -> Vec<String> {
        let is = |key: &str| {
            let key = key.replace('-', "_");
            names.iter().any(|name| *name == key || parts_of(name).contains(&key.as_str()))
        };
        let own = system.spec.options.iter().filter(|(key, _)| is(key));
        own.map(|(_, value)| value.clone()).collect()
    };
    let mut options = systems.iter().map(option);
    let first = options.next();
    if options.any(|other| Some(other) != first) {
        return Choice::Plan;
    }
    let there = || values.iter().flatten().filter(|v| !v.is_implied);
    let all = |wanted: fn(SettingSource) -> bool| there().all(|v| v.source.is_some_and(wanted));
    if all(|s| matches!(s, SettingSource::Config | SettingSource::CommandLine)) {
        let mut configs = systems.iter().map(|s| &s.spec.config);
        let first = configs.next();
        let is_one = configs.all(|other| Some(other) == first);
        // What one configuration gives some versions and others do not have is a difference of
        // versions.
        return if is_one { Choice::Configuration } else { Choice::Plan };
    }
    if all(|s| matches!(s, SettingSource::Default | SettingSource::Computed)) {
        return Choice::Defaults;
    }
    Choice::Mixed
}

/// The facts of the sessions that differ. A fact that only some systems have is a difference of
/// versions, unless it is known what the others do.
fn session(systems: &[RunSystem]) -> Vec<Explained> {
    let facts: Vec<BTreeMap<String, String>> = systems.iter().map(session_of).collect();
    let names: BTreeSet<&String> = facts.iter().flat_map(|f| f.keys()).collect();
    let mut found: Vec<(usize, Explained)> = Vec::new();
    for name in names {
        let known = known::list().session(name);
        let shown = |facts: &BTreeMap<String, String>| -> Option<Shown> {
            let value = facts.get(name);
            let absent = || known.filter(|_| !facts.is_empty()).and_then(|k| k.1.absent.as_ref());
            let text = value.or_else(absent)?;
            let text = known.map_or_else(|| text.clone(), |(_, known)| value::normal(known, text));
            Some(Shown { text, source: None, is_implied: value.is_none() })
        };
        let values: Vec<Option<Shown>> = facts.iter().map(shown).collect();
        let n_asked = facts.iter().filter(|f| !f.is_empty()).count();
        if values.iter().flatten().count() < n_asked || !differ(&values) {
            continue;
        }
        if known.is_some_and(|(_, known)| known.affects.is_empty()) {
            continue;
        }
        let explained = Explained {
            name: name.clone(),
            group: "session".to_owned(),
            // Of a fact of which nothing is known the worst is not supposed.
            severity: known
                .map_or(Severity::Notable, |(_, known)| weight::weigh(known, systems, &values)),
            values,
            affects: known.map_or_else(|| vec!["all".to_owned()], |(_, k)| k.affects.clone()),
            why: known.map_or_else(String::new, |(_, k)| k.why.clone()),
            choice: Choice::Mixed,
        };
        found.push((known.map_or(usize::MAX, |(at, _)| at), explained));
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, explained)| explained).collect()
}

/// The facts of a session, with the character set once where client, connection and results agree, and
/// the locale's in one spelling.
fn session_of(system: &RunSystem) -> BTreeMap<String, String> {
    let mut facts = system.session.clone();
    let parts = ["client", "connection", "results"];
    let sets: Vec<(&str, String)> = parts
        .into_iter()
        .filter_map(|part| Some((part, facts.remove(&format!("character_set_{part}"))?)))
        .collect();
    if let Some((_, first)) = sets.first() {
        let text = if sets.iter().all(|(_, set)| set == first) {
            first.clone()
        } else {
            sets.iter().map(|(part, set)| format!("{part} {set}")).collect::<Vec<_>>().join(", ")
        };
        facts.insert("character_set".to_owned(), text);
    }
    if let Some(collate) = facts.get_mut("lc_collate") {
        *collate = locale(collate);
    }
    facts
}

/// A locale with its character set as the C library takes it: `en_US.UTF-8` is `en_US.utf8`.
fn locale(text: &str) -> String {
    let Some((name, rest)) = text.split_once('.') else { return text.to_owned() };
    let end = rest.find(['@', ' ']).unwrap_or(rest.len());
    let (codeset, tail) = rest.split_at(end);
    format!("{name}.{}{tail}", codeset.to_ascii_lowercase().replace('-', ""))
}

#[cfg(test)]
mod tests;
