//! The command above a log against the log: whether it may be that of another one.

use std::collections::BTreeMap;

use super::command::Command;
use super::flaw::Flaw;
use super::lines::{Lines, at_set_rate};
use super::part::Part;

/// Scripts of sysbench that change no row.
const READERS: [&str; 4] =
    ["oltp_read_only", "oltp_point_select", "select_random_points", "select_random_ranges"];

/// Scripts of sysbench that return no row.
const WRITERS: [&str; 6] = [
    "bulk_insert",
    "oltp_delete",
    "oltp_insert",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
];

/// Up to this share statements may be those by which a changed script begins or ends a thread.
const FEW_SHARE: f64 = 0.01;

/// Options for the rate of events, and those for the number of threads, of all versions.
const RATES: [&str; 2] = ["rate", "tx-rate"];
const THREADS: [&str; 2] = ["threads", "num-threads"];

/// A value that stands in a command and in the log.
struct Held {
    name: &'static str,
    own: Option<f64>,
}

/// What the log says otherwise than its command. An option that the log does not show is not held against it.
pub(super) fn flaws(lines: &Lines) -> Vec<Flaw> {
    let Some(command) = &lines.command else { return Vec::new() };
    let options = command.options();
    let shows_options = lines.seen.contains(&Part::Options);
    let threads = lines.threads.map(f64::from);
    let every_s = lines.every_s.map(|seconds| seconds as f64);
    // sysbench 1.0 prints a rate from 1 on, and a log with such a line is refused.
    let rate = shows_options.then_some(0.0);
    let threads = THREADS.map(|name| Held { name, own: threads });
    let rates = RATES.map(|name| Held { name, own: rate });
    let times = [
        Held { name: "report-interval", own: every_s },
        Held { name: "warmup-time", own: lines.warmup_s },
    ];
    let held = threads.into_iter().chain(rates).chain(times);
    let other = held.filter_map(|Held { name, own }| {
        let (said, own) = number(&options, name).zip(own)?;
        let is_other = (said.trunc() - own.trunc()).abs() >= 1.0;
        is_other.then_some(Flaw::OtherOption { name, said, own })
    });
    other.chain(other_script(command, lines)).collect()
}

/// Why a log without its own list of options is not imported: its command sets a rate.
pub(super) fn set_rate(lines: &Lines) -> Option<String> {
    if lines.seen.contains(&Part::Options) {
        return None;
    }
    let options = lines.command.as_ref()?.options();
    let name = RATES.into_iter().find(|name| number(&options, name).is_some_and(|n| n > 0.0))?;
    Some(at_set_rate(&format!("--{name}={}", options[name])))
}

/// A value that is a number; shells may leave a variable there.
fn number(options: &BTreeMap<String, String>, name: &str) -> Option<f64> {
    options.get(name)?.parse().ok().filter(|value: &f64| value.is_finite())
}

fn other_script(command: &Command, lines: &Lines) -> Option<Flaw> {
    let (script, kinds) = command.script().zip(lines.totals.kinds())?;
    let (what, n) = if READERS.contains(&&*script) {
        ("writes", kinds.write)
    } else if WRITERS.contains(&&*script) {
        ("reads", kinds.read)
    } else {
        return None;
    };
    let all = kinds.read + kinds.write + kinds.other;
    (n > FEW_SHARE * all).then_some(Flaw::OtherScript { script, what, n })
}
