//! The audit as text and as JSON: `rqps servers audit`.
//!
//! A long file: one table in four forms, which must agree.

use std::collections::BTreeMap;

use rqps_model::{RunSystem, SettingSource};
use serde::Serialize;
use serde_json::{Value, json};

use super::findings::findings;
use super::{
    Audit, Choice, Difference, Differences, Explained, Finding, Severity, Shown, is_hidden, known,
    value,
};
use rqps_text::values::{MANY, by_value};
use rqps_text::words::{clip, list, one_line, shorten, wrap};

/// Widest line, columns.
const WIDTH: usize = 100;

/// Columns of a value.
const VALUE_COLUMNS: usize = 48;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Settings that can change QPS.
    Short,
    /// Every setting that differs or is no default.
    All,
}

/// Sentences of warning, the severe first: sessions that differ, settings that must not, builds that
/// cannot be compared.
fn warnings(systems: &[RunSystem], audit: &Audit) -> Vec<String> {
    findings(systems, audit).iter().map(Finding::sentence).collect()
}

fn label(system: &RunSystem) -> String {
    shorten(system.spec.label.as_str(), 60)
}

/// `sync_binlog: 0 / 1`; the fixed behaviour of a system without the setting stands in brackets.
#[must_use]
pub fn values(explained: &Explained) -> String {
    format!("{}: {}", called(explained), each(explained).join(" / "))
}

/// The same; many systems are grouped by value: `sync_binlog: 0 (20), 1 (3)`.
#[must_use]
pub fn values_in_short(explained: &Explained) -> String {
    let each = each(explained);
    if each.len() <= MANY + 1 {
        return values(explained);
    }
    format!("{}: {}", called(explained), by_value(&each))
}

fn called(explained: &Explained) -> String {
    clip(&explained.name, 2 * VALUE_COLUMNS)
}

fn each(explained: &Explained) -> Vec<String> {
    let value = |shown: &Option<Shown>| match shown {
        None => "-".to_owned(),
        Some(shown) => {
            let text = if shown.text.is_empty() { "empty" } else { &shown.text };
            let text = clip(text, VALUE_COLUMNS);
            if shown.is_implied { format!("({text})") } else { text }
        }
    };
    explained.values.iter().map(value).collect()
}

/// Severity, affected steps and choice: `notable: writes; defaults`.
#[must_use]
pub fn remarks(explained: &Explained) -> String {
    let affects = explained.affects.join(", ");
    let weight = explained.severity.word();
    let moves = if affects.is_empty() { String::new() } else { format!("{weight}: {affects}") };
    match explained.choice.words() {
        "" => moves,
        words if moves.is_empty() => words.to_owned(),
        words => format!("{moves}; {words}"),
    }
}

/// Numbers of the other settings that differ; `None` without any.
pub fn besides(differences: &Differences) -> Option<String> {
    let n_unknown = differences.unknown().count();
    let parts: Vec<String> = [
        (differences.audit.harmless.len(), "minor"),
        (n_unknown, "unknown to the audit"),
        (differences.partial.len(), "that not all systems have"),
        (differences.n_left_out, "of paths, ports, identities and parts that no benchmark uses"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    (!parts.is_empty()).then(|| format!("Other settings that differ: {}.", list(&parts)))
}

/// The facts of each system and their differences, as text.
#[must_use]
pub fn text(systems: &[RunSystem], extent: Extent) -> String {
    let differences = Differences::between(systems);
    let mut out = String::new();
    for text in warnings(systems, &differences.audit) {
        line(&mut out, &wrap("! ", &text, WIDTH));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for system in systems {
        head(&mut out, system);
        // Of several, what is configured alike is of no interest.
        if systems.len() == 1 || extent == Extent::All {
            chosen(&mut out, system);
        }
        out.push('\n');
    }
    if systems.len() > 1 {
        compare(&mut out, systems, &differences, extent);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// A system's build and session.
fn head(out: &mut String, system: &RunSystem) {
    let name = system.spec.dbms.name();
    let version = system.version.as_ref().map_or_else(String::new, |v| format!(" {v}"));
    line(out, &format!("{}  {name}{version}", label(system)));
    let fact = |name: &str| system.build.get(name).map_or("", String::as_str);
    let mut field = |name: &str, parts: &[&str]| {
        let parts: Vec<String> =
            parts.iter().map(|p| one_line(p)).filter(|p| !p.is_empty()).collect();
        if !parts.is_empty() {
            line(out, &wrap(&format!("  {name:<9} "), &parts.join("; "), WIDTH));
        }
    };
    // Checksums are in the run and in JSON.
    let origin = system.origin.split(" sha256:").next().unwrap_or_default();
    let source = fact("source");
    let source = if origin.starts_with(source) { "" } else { source };
    field("source", &[source, fact("packaged"), fact("compiled"), origin]);
    let is_told = system.version_text.contains(fact("platform"));
    let platform = if is_told { "" } else { fact("platform") };
    field("version", &[&system.version_text, fact("comment"), platform]);
    let debug = match fact("debug") {
        "" => String::new(),
        debug => format!("debug {debug}"),
    };
    let assertions = match fact("assertions") {
        "" => String::new(),
        assertions => format!("assertions {assertions}"),
    };
    // PostgreSQL's version names its compiler already.
    let compiler = if system.version_text.contains("compiled by") { "" } else { fact("compiler") };
    let kind = fact("build_type");
    field("build", &[kind, compiler, fact("optimisation"), &debug, &assertions, fact("sanitizer")]);
    let plugins = match fact("engine_plugins") {
        "" => String::new(),
        plugins => format!("as plugins: {plugins}"),
    };
    field("engines", &[fact("engines"), &plugins]);
    let session = session_line(system);
    field("session", &session.iter().map(String::as_str).collect::<Vec<_>>());
    let mut by_source: BTreeMap<&str, usize> = BTreeMap::new();
    for name in system.settings.keys() {
        let source = match system.origins.get(name).map(|o| o.source) {
            Some(SettingSource::Config) => "configured",
            Some(SettingSource::CommandLine) => "from the command line",
            Some(SettingSource::Default | SettingSource::Computed) => "defaults",
            Some(SettingSource::Other) => "set otherwise",
            None => "of unknown source",
        };
        *by_source.entry(source).or_default() += 1;
    }
    let told: Vec<String> = by_source.iter().map(|(source, n)| format!("{n} {source}")).collect();
    field("settings", &[&told.join(", ")]);
}

/// The facts of a session that one asks about first, in that order.
fn session_line(system: &RunSystem) -> Vec<String> {
    const FACTS: [(&str, &str); 13] = [
        ("transport", ""),
        ("tls", ""),
        ("auth", ""),
        ("character_set", "character set"),
        ("character_set_database", "of the database"),
        ("collation_connection", "collation"),
        ("collation_database", "of the database"),
        ("client_encoding", "encoding"),
        ("lc_collate", "collation"),
        ("transaction_isolation", ""),
        ("autocommit", "autocommit"),
        ("sql_mode", "sql_mode"),
        ("synchronous_commit", "synchronous_commit"),
    ];
    let facts = super::session_of(system);
    let mut before = String::new();
    let mut line = Vec::new();
    for (name, words) in FACTS {
        let Some(value) = facts.get(name) else { continue };
        // A database like its connection needs no word.
        let is_told = words != "of the database" || *value != before;
        before.clone_from(value);
        let value = if name == "tls" && value.is_empty() { "no TLS" } else { value };
        if is_told {
            let value = if value.is_empty() { "empty" } else { value };
            line.push(format!("{words} {value}").trim_start().to_owned());
        }
    }
    line
}

/// The settings that somebody chose, with the default where it is another one.
fn chosen(out: &mut String, system: &RunSystem) {
    for (name, text) in &system.settings {
        let Some(origin) = system.origins.get(name) else { continue };
        if origin.source != SettingSource::Config || is_hidden(name) {
            continue;
        }
        let known = known::list().find(system.spec.dbms, name).map(|found| found.known);
        let show =
            |text: &str| known.map_or_else(|| text.to_owned(), |known| value::normal(known, text));
        let (value, default) = (show(text), origin.default.as_deref().map(show));
        let default = match default {
            Some(default) if !value::same(&default, &value) => {
                let default = if default.is_empty() { "empty" } else { &default };
                format!(" (default {})", clip(default, VALUE_COLUMNS))
            }
            Some(_) => " (the default)".to_owned(),
            None => String::new(),
        };
        line(out, &wrap("    ", &format!("{name} = {value}{default}"), WIDTH));
    }
}

/// ` (1 severe, 3 notable)`; nothing where all are minor.
fn by_severity(all: &[&Explained]) -> String {
    let count = |wanted| all.iter().filter(|e| e.severity == wanted).count();
    let told: Vec<String> = [Severity::Severe, Severity::Notable]
        .into_iter()
        .map(|severity| (count(severity), severity.word()))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"))
        .collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

fn compare(out: &mut String, systems: &[RunSystem], differences: &Differences, extent: Extent) {
    let audit = &differences.audit;
    let labels: Vec<String> = systems.iter().map(label).collect();
    line(out, &wrap("Differences, in this order: ", &labels.join(" / "), WIDTH));
    if audit.session.is_empty() {
        line(out, "The sessions have no notable difference.");
    }
    let (wanted, unwanted): (Vec<&Explained>, Vec<&Explained>) =
        audit.settings.iter().partition(|e| e.choice.is_on_purpose());
    let (defaults, others): (Vec<&Explained>, Vec<&Explained>) =
        unwanted.into_iter().partition(|e| e.choice == Choice::Defaults);
    let heading = |all: &[&Explained], what: &str| {
        let n = if all.is_empty() { "none".to_owned() } else { all.len().to_string() };
        format!("\n{what}: {n}{}", by_severity(all))
    };
    line(out, &heading(&others, "Unplanned settings that can change QPS"));
    explain(out, &others);
    line(out, &heading(&defaults, "Different defaults that can change QPS"));
    explain(out, &defaults);
    let is_light = |e: &&Explained| e.choice == Choice::Defaults;
    let light: Vec<String> = audit.harmless.iter().filter(is_light).map(called).collect();
    if !light.is_empty() && extent == Extent::Short {
        line(out, &wrap("  ", &format!("minor: {}", light.join(", ")), WIDTH));
    }
    if !wanted.is_empty() {
        line(out, &heading(&wanted, "On purpose, by plan or configuration"));
        explain(out, &wanted);
    }
    let unknown: Vec<&Difference> = differences.unknown().collect();
    out.push('\n');
    if extent == Extent::All {
        if !audit.harmless.is_empty() {
            line(out, "Minor differences:");
            explain(out, &audit.harmless.iter().collect::<Vec<_>>());
        }
        for (what, all) in [
            ("Settings unknown to the audit:", unknown),
            ("Settings that not all systems have:", differences.partial.iter().collect()),
        ] {
            if !all.is_empty() {
                line(out, &format!("\n{what}"));
                for difference in all {
                    line(out, &wrap("  ", difference.sentence("").trim(), WIDTH));
                }
            }
        }
        out.push('\n');
    }
    if let Some(text) = besides(differences) {
        let n_listed = audit.harmless.len() + differences.partial.len();
        let is_more = n_listed > 0 || differences.unknown().next().is_some();
        let where_to = match extent {
            Extent::Short if is_more => " --all lists them.",
            _ => "",
        };
        line(out, &wrap("", &format!("{text}{where_to}"), WIDTH));
    }
}

/// Differences with what they do; what several in a row share is said once, after the last.
fn explain(out: &mut String, all: &[&Explained]) {
    for (idx, one) in all.iter().enumerate() {
        line(out, &wrap("  ", &values(one), WIDTH));
        let is_shared = all
            .get(idx + 1)
            .is_some_and(|next| next.why == one.why && remarks(next) == remarks(one));
        if is_shared {
            continue;
        }
        let remarks = remarks(one);
        let remarks = if remarks.is_empty() { String::new() } else { format!(" ({remarks})") };
        line(out, &wrap("      ", &format!("{}{remarks}", one.why), WIDTH));
    }
}

/// The same for programs, in full.
#[must_use]
pub fn json(systems: &[RunSystem]) -> String {
    let differences = Differences::between(systems);
    let raw = |all: &mut dyn Iterator<Item = &Difference>| -> Vec<Value> {
        all.map(|d| json!({ "name": d.name, "values": d.values })).collect()
    };
    let value = json!({
        "schema": 1,
        "severe": super::severe(systems).iter().map(Finding::sentence).collect::<Vec<_>>(),
        "warnings": warnings(systems, &differences.audit),
        "systems": systems.iter().map(system_json).collect::<Vec<_>>(),
        "differences": {
            "session": explained_json(&differences.audit.session),
            "settings": explained_json(&differences.audit.settings),
            "harmless": explained_json(&differences.audit.harmless),
            "unknown": raw(&mut differences.unknown()),
            "not_everywhere": raw(&mut differences.partial.iter()),
            "n_left_out": differences.n_left_out,
        },
    });
    format!("{value:#}\n")
}

fn system_json(system: &RunSystem) -> Value {
    let settings: BTreeMap<&String, Value> = system
        .settings
        .iter()
        .map(|(name, text)| {
            let origin = system.origins.get(name);
            let source = origin.map(|o| o.source);
            let default = origin.and_then(|o| o.default.as_ref());
            (name, json!({ "value": text, "source": source, "default": default }))
        })
        .collect();
    json!({
        "label": system.spec.label,
        "dbms": system.spec.dbms,
        "version": system.version,
        "version_text": system.version_text,
        "origin": system.origin,
        "build": system.build,
        "session": system.session,
        "settings": settings,
    })
}

/// A known difference for programs, values in the order of the systems.
#[derive(Debug, Serialize)]
pub struct ExplainedJson<'a> {
    name: &'a str,
    group: &'a str,
    values: Vec<Option<&'a str>>,
    sources: Vec<Option<SettingSource>>,
    affects: &'a [String],
    severity: Severity,
    choice: &'static str,
    why: &'a str,
}

/// Explained differences as JSON.
#[must_use]
pub fn explained_json(all: &[Explained]) -> Vec<ExplainedJson<'_>> {
    all.iter()
        .map(|e| ExplainedJson {
            name: &e.name,
            group: &e.group,
            values: e.values.iter().map(|v| v.as_ref().map(|v| v.text.as_str())).collect(),
            sources: e.values.iter().map(|v| v.as_ref().and_then(|v| v.source)).collect(),
            affects: &e.affects,
            severity: e.severity,
            choice: e.choice.key(),
            why: &e.why,
        })
        .collect()
}
