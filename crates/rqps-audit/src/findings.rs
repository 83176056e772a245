//! The findings of an audit that stand before a run and at the top of its report.

use rqps_model::RunSystem;

use super::{Audit, Explained, Finding, Severity, build};
use rqps_text::words::{capital, clip, list_in_short, shorten};

/// Columns of a value.
const VALUE_COLUMNS: usize = 48;

/// The severe findings: differences of sessions and settings, and builds.
#[must_use]
pub fn severe(systems: &[RunSystem]) -> Vec<Finding> {
    let mut all = findings(systems, &Audit::of(systems));
    all.retain(|finding| finding.severity == Severity::Severe);
    all
}

/// The findings for the top of a report, severe ones first: sessions that differ, severe differences
/// of settings, builds. Notable settings are listed below.
pub fn findings(systems: &[RunSystem], audit: &Audit) -> Vec<Finding> {
    let of_session = |e: &&Explained| e.severity > Severity::Minor;
    // A setting that the session has, too, is reported for the session.
    let of_settings = |e: &&Explained| {
        e.severity == Severity::Severe && !audit.session.iter().any(|own| own.name == e.name)
    };
    let mut out: Vec<Finding> = audit
        .session
        .iter()
        .filter(of_session)
        .map(|e| of_difference(systems, e, "The benchmark's sessions differ in "))
        .collect();
    let settings = audit.settings.iter().filter(of_settings);
    out.extend(settings.map(|e| of_difference(systems, e, "The systems differ in ")));
    out.extend(build::findings(systems));
    out.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    out
}

fn label(system: &RunSystem) -> String {
    shorten(system.spec.label.as_str(), 60)
}

/// `The benchmark's sessions differ in tls: no TLS on a and b, TLSv1.3 on c. Every packet ...`
fn of_difference(systems: &[RunSystem], explained: &Explained, head: &str) -> Finding {
    let mut by_value: Vec<(String, Vec<String>)> = Vec::new();
    for (system, shown) in systems.iter().zip(&explained.values) {
        let Some(shown) = shown else { continue };
        let text = if shown.text.is_empty() { "empty" } else { &shown.text };
        let text = clip(text, VALUE_COLUMNS);
        match by_value.iter_mut().find(|(known, _)| *known == text) {
            Some((_, labels)) => labels.push(label(system)),
            None => by_value.push((text, vec![label(system)])),
        }
    }
    let told: Vec<String> = by_value
        .iter()
        .map(|(text, labels)| format!("{text} on {}", list_in_short(labels)))
        .collect();
    let why = if explained.why.is_empty() {
        String::new()
    } else {
        format!(" {}.", capital(&explained.why))
    };
    let name = clip(&explained.name, VALUE_COLUMNS);
    Finding {
        severity: explained.severity,
        text: format!("{head}{name}: {}.{why}", told.join(", ")),
        remedy: remedy(explained),
        name,
    }
}

/// What to write into a plan so that the systems are alike.
fn remedy(explained: &Explained) -> String {
    let key = match (explained.group.as_str(), explained.name.as_str()) {
        (_, "tls" | "transport") => "transport",
        (_, "compression") => "compression",
        (_, "commit") => "durability",
        ("limits", "cpus") => "cpus",
        ("limits", "memory") => "memory",
        (_, "malloc") => "malloc",
        (_, "statements logged") => {
            return "switch off statement logging on all systems in `options`: general_log and \
                    slow_query_log, or log_statement, log_duration and log_min_duration_statement"
                .to_owned();
        }
        (_, "query cache") => {
            return "give all systems the same query_cache_type and query_cache_size in `options`"
                .to_owned();
        }
        ("session", name) if name.starts_with("character_set") || name.starts_with("collation") => {
            return "give all systems the same character_set_server and collation_server in `options`"
                .to_owned();
        }
        (_, name) => {
            let name = name.split(" / ").next().unwrap_or(name);
            return format!("give all systems the same {name} in `options`");
        }
    };
    format!("give all systems the same `{key}`")
}
