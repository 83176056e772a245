//! The rules of the audit as tables for docs/reference/audit-rules.md, from the data and functions that are applied.

use super::Severity;
use super::derived;
use super::known::{SettingRule, list};

/// All rules, a table for each part of the servers.
#[must_use]
pub fn describe() -> String {
    let mut groups: Vec<&str> = Vec::new();
    let rules = list().rules();
    for known in rules {
        if !groups.contains(&known.group.as_str()) {
            groups.push(&known.group);
        }
    }
    let mut out = String::new();
    for group in groups {
        out.push_str(&format!(
            "### {}\n\n| what | severity | can move | what a difference does | source |\n\
             |---|---|---|---|---|\n",
            rqps_text::words::capital(group)
        ));
        for known in rules.iter().filter(|known| known.group == group) {
            out.push_str(&row(known));
        }
        out.push('\n');
    }
    out.push_str(
        "### Made of several facts\n\n| what | severity | can move | what a difference does | source |\n\
         |---|---|---|---|---|\n",
    );
    for (name, severity, affects, why) in derived::describe() {
        out.push_str(&format!("| {name} | {severity} | {affects} | {why} | rqps |\n"));
    }
    out
}

fn row(known: &SettingRule) -> String {
    let moves = known.affects.join(", ");
    let moves = if moves.is_empty() { "nothing".to_owned() } else { moves };
    let (names, source) = (names(known), source(known));
    let why = known.why.replace('|', "\\|");
    format!("| {names} | {} | {moves} | {why} | {source} |\n", weight(known))
}

fn names(known: &SettingRule) -> String {
    let lists = [&known.session, &known.mysql, &known.postgres];
    let all = lists.iter().flat_map(|names| names.iter());
    let mut names: Vec<String> = Vec::new();
    for name in all.map(|name| format!("`{}`", name.replace('|', "`, `"))) {
        // Families may have one name for it.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The severity with what makes it less.
fn weight(known: &SettingRule) -> String {
    let moves = known.affects.iter().any(|word| word != "connects");
    let own = match known.severity {
        _ if !moves => Severity::Minor,
        own => own.unwrap_or(Severity::Notable),
    };
    let mut out = own.word().to_owned();
    if let Some(across) = known.across {
        out.push_str(&format!("; between families {}", across.word()));
    }
    if let Some(ratio) = known.ratio {
        out.push_str(&format!("; minor below {ratio} times"));
    }
    let groups = |groups: &[Vec<String>]| {
        groups.iter().map(|g| g.join(" / ")).collect::<Vec<_>>().join("; ")
    };
    if !known.alike.is_empty() {
        out.push_str(&format!("; minor among {}", groups(&known.alike)));
    }
    if !known.with.is_empty() {
        out.push_str(&format!("; notable where none is {}", known.with.join(" / ")));
    }
    out
}

/// Where it is written what the setting does.
fn source(known: &SettingRule) -> String {
    let mysql = |name: &String| {
        if name.starts_with("innodb") {
            "MySQL manual, InnoDB system variables; MariaDB manual, InnoDB system variables"
        } else if name.starts_with("binlog") || name.contains("_bin") {
            "MySQL manual, binary logging options; MariaDB manual, replication system variables"
        } else if name.starts_with("rocksdb") {
            "MariaDB manual, MyRocks system variables"
        } else if name.starts_with("performance_schema") {
            "MySQL manual, Performance Schema system variables"
        } else {
            "MySQL manual, server system variables; MariaDB manual, server system variables"
        }
    };
    let mut out = Vec::new();
    out.extend(known.mysql.first().map(mysql));
    if !known.postgres.is_empty() {
        out.push("PostgreSQL manual, server configuration");
    }
    if !known.session.is_empty() {
        out.push("the connection, and the server's report on it");
    }
    out.join("; ")
}
