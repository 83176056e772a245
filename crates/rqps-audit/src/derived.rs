//! Differences made of several settings or facts: what a commit waits for, compression, allocator,
//! limits, which statements are logged.

use rqps_model::{Engine, RunSystem, WALL};

use super::weight::is_across;
use super::{Choice, Explained, Severity, Shown, value};

/// A fact that is made of others: its name, what it is about, and what a difference does.
struct Fact {
    name: &'static str,
    group: &'static str,
    affects: &'static [&'static str],
    why: &'static str,
    choice: Choice,
    /// What it is on a system, in a word; `None` where that is not known.
    of: fn(&RunSystem) -> Option<String>,
    /// What a difference weighs, in words.
    weight: &'static str,
    /// What a difference between these two weighs.
    severity: fn(&RunSystem, &RunSystem) -> Severity,
}

const FACTS: [Fact; 6] = [
    Fact {
        name: "commit",
        group: "durability",
        affects: &["writes"],
        why: "a commit that waits for the disk takes as long as the disk, another commit takes \
              microseconds: writes differ many times over",
        choice: Choice::Mixed,
        of: commit,
        weight: "severe between families or engines; within one, each setting counts by itself",
        severity: |a, b| {
            let is_told = a.spec.engine == b.spec.engine && !is_across(a.spec.dbms, b.spec.dbms);
            if is_told { Severity::Minor } else { Severity::Severe }
        },
    },
    Fact {
        name: "compression",
        group: "storage",
        affects: &["reads", "writes", "scans", "loads"],
        why: "compressed tables cost CPU for every page that is read or written, and need less \
              cache and storage",
        choice: Choice::Plan,
        of: |system| Some(system.spec.variant.compression.to_string()),
        weight: "severe; between engines notable",
        severity: |a, b| {
            if a.spec.engine == b.spec.engine { Severity::Severe } else { Severity::Notable }
        },
    },
    Fact {
        name: "cpus",
        group: "limits",
        affects: &["all"],
        why: "one server may use CPUs that the other may not",
        choice: Choice::Plan,
        of: |system| {
            let cpus = system.spec.variant.limits.cpus.as_ref();
            Some(cpus.map_or_else(|| "all".to_owned(), ToString::to_string))
        },
        weight: "severe",
        severity: |_, _| Severity::Severe,
    },
    Fact {
        name: "memory",
        group: "limits",
        affects: &["all"],
        why: "a memory limit includes the page cache: the server with less memory reads more from \
              storage",
        choice: Choice::Plan,
        of: |system| {
            let bytes = system.spec.variant.limits.memory_bytes;
            Some(bytes.map_or_else(|| "no limit".to_owned(), value::show_bytes))
        },
        // A server that reads past the page cache needs none where the other does.
        weight: "notable",
        severity: |_, _| Severity::Notable,
    },
    Fact {
        name: "malloc",
        group: "memory",
        affects: &["all"],
        why: "allocators differ in CPU and memory, most with many clients and large sorts",
        choice: Choice::Mixed,
        of: |system| {
            let text = system.process.get("malloc")?;
            text.split_whitespace().next().map(str::to_owned)
        },
        weight: "notable; between families minor",
        severity: |a, b| {
            if is_across(a.spec.dbms, b.spec.dbms) { Severity::Minor } else { Severity::Notable }
        },
    },
    Fact {
        name: "statements logged",
        group: "instrumentation",
        affects: &["all"],
        why: "each logged statement costs a write, the making of its text and a lock; one logged \
              statement in many thousands costs nothing visible",
        choice: Choice::Mixed,
        of: statements_logged,
        weight: "severe if one system logs all of them, or all that write; else notable",
        severity: |a, b| {
            let is_all = |s| statements_logged(s).is_some_and(|text| text.starts_with("all"));
            if is_all(a) || is_all(b) { Severity::Severe } else { Severity::Notable }
        },
    },
];

/// Whether a fact of the process is reported elsewhere.
pub fn is_told(name: &str) -> bool {
    [WALL, "config", "malloc"].contains(&name)
}

/// The facts that differ; those that weigh nothing are excluded.
pub(super) fn differences(systems: &[RunSystem]) -> Vec<Explained> {
    FACTS.iter().filter_map(|fact| difference(fact, systems)).collect()
}

fn difference(fact: &Fact, systems: &[RunSystem]) -> Option<Explained> {
    // One that never came up has nothing but its plan.
    let values: Vec<Option<String>> = systems
        .iter()
        .map(|system| (fact.of)(system).filter(|_| system.spec.dbms.is_server()))
        .collect();
    let there: Vec<(&RunSystem, &String)> =
        systems.iter().zip(&values).filter_map(|(s, v)| Some((s, v.as_ref()?))).collect();
    let pairs =
        there.iter().enumerate().flat_map(|(at, a)| there[..at].iter().map(move |b| (a, b)));
    let severity = pairs
        .filter(|((_, a), (_, b))| a != b)
        .map(|((a, _), (b, _))| (fact.severity)(a, b))
        .max()
        .filter(|severity| *severity > Severity::Minor)?;
    let shown = |text: String| Shown { text, source: None, is_implied: false };
    Some(Explained {
        name: fact.name.to_owned(),
        group: fact.group.to_owned(),
        values: values.into_iter().map(|text| text.map(shown)).collect(),
        affects: fact.affects.iter().map(|word| (*word).to_owned()).collect(),
        why: fact.why.to_owned(),
        choice: fact.choice,
        severity,
    })
}

/// What a commit waits for, by the settings that were in effect.
fn commit(system: &RunSystem) -> Option<String> {
    let setting = |name: &str| system.settings.get(name).map(String::as_str);
    let is_on = |name: &str| setting(name).and_then(value::switch).unwrap_or(false);
    let syncs_binlog = || is_on("log_bin") && setting("sync_binlog") == Some("1");
    let waits = match system.spec.engine {
        Engine::Heap => {
            let waits = !setting("synchronous_commit")?.eq_ignore_ascii_case("off");
            is_on("fsync") && waits
        }
        Engine::Innodb => {
            let method = setting("innodb_flush_method").unwrap_or_default();
            let never = ["nosync", "littlesync"].iter().any(|it| value::same(it, method));
            // 3 is MariaDB's alone, and syncs as often as 5.5 did.
            let syncs = ["1", "3"].contains(&setting("innodb_flush_log_at_trx_commit")?);
            syncs && !never || syncs_binlog()
        }
        Engine::Rocksdb => {
            let syncs = setting("rocksdb_flush_log_at_trx_commit")? == "1";
            syncs && !is_on("rocksdb_write_disable_wal") || syncs_binlog()
        }
    };
    Some(if waits { "waits for the disk" } else { "does not wait for the disk" }.to_owned())
}

/// Which statements a server writes to a log, by all settings that decide it.
fn statements_logged(system: &RunSystem) -> Option<String> {
    let settings = Settings { system };
    // No DBMS has settings of both.
    let word = settings.logged_by_mysql().or_else(|| settings.logged_by_postgres())?;
    Some(word.to_owned())
}

/// The settings of a system, read for what they log.
struct Settings<'a> {
    system: &'a RunSystem,
}

impl Settings<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.system.settings.get(name).map(String::as_str)
    }

    fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.text(name).is_some())
    }

    fn is_on(&self, name: &str) -> bool {
        self.text(name).and_then(value::switch).unwrap_or(false)
    }

    /// A number with or without a unit; what is not there is as if it were not asked for.
    fn number(&self, name: &str, absent: f64) -> f64 {
        let text = self.text(name).unwrap_or_default();
        let text = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        text.trim().parse::<f64>().unwrap_or(absent)
    }

    /// By MySQL's settings; `None` without them.
    fn logged_by_mysql(&self) -> Option<&'static str> {
        let slow = ["slow_query_log", "log_slow_query"];
        if !self.has_any(&["general_log"]) && !self.has_any(&slow) {
            return None;
        }
        let time =
            self.text("long_query_time").map_or("log_slow_query_time", |_| "long_query_time");
        let takes_all = self.number(time, 10.0) <= 0.0
            && self.number("min_examined_row_limit", 0.0) <= 0.0
            && self.number("log_slow_rate_limit", 1.0) <= 1.0;
        let is_slow = slow.iter().any(|name| self.is_on(name));
        let is_nowhere = self.text("log_output").is_some_and(|to| to.eq_ignore_ascii_case("NONE"));
        Some(if is_nowhere {
            "none"
        } else if self.is_on("general_log") || is_slow && takes_all {
            "all"
        } else if is_slow {
            "slow ones"
        } else {
            "none"
        })
    }

    /// By PostgreSQL's settings; `None` without them.
    fn logged_by_postgres(&self) -> Option<&'static str> {
        if !self.has_any(&["log_statement", "log_duration", "log_min_duration_statement"]) {
            return None;
        }
        let which = self.text("log_statement").unwrap_or_default();
        let slow = self.number("log_min_duration_statement", -1.0);
        let sampled = self.number("log_min_duration_sample", -1.0);
        let rate = self.number("log_statement_sample_rate", 1.0);
        let of_transactions = self.number("log_transaction_sample_rate", 0.0);
        let is_sampled = sampled >= 0.0 && rate > 0.0;
        // A duration of 0 is that of every statement; -1 is none at all.
        let takes_all = (-0.5..=0.0).contains(&slow)
            || is_sampled && sampled <= 0.0 && rate >= 1.0
            || of_transactions >= 1.0;
        Some(if which.eq_ignore_ascii_case("all") || self.is_on("log_duration") || takes_all {
            "all"
        } else if which.eq_ignore_ascii_case("mod") {
            "all that write"
        } else if slow > 0.0 {
            "slow ones"
        } else if is_sampled || of_transactions > 0.0 {
            "a sample"
        } else {
            "none"
        })
    }
}

/// For the documentation: name, severity, what it can move, and what a difference does.
pub(super) fn describe() -> Vec<(&'static str, &'static str, String, &'static str)> {
    FACTS.iter().map(|f| (f.name, f.weight, f.affects.join(", "), f.why)).collect()
}
