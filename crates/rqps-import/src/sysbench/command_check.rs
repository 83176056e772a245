//! The command above a log against the log: whether it may be that of another one.

use std::collections::BTreeMap;

use super::command::Command;
use super::flaw::Flaw;
use super::line::is_same_percentile;
use super::lines::{Lines, at_set_rate};
use super::part::LogSection;

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

/// Options for the most events and for the measured time, of all versions.
const EVENT_LIMITS: [&str; 2] = ["events", "max-requests"];
const TIME_LIMITS: [&str; 2] = ["time", "max-time"];

/// Most requests of sysbench before 1.0, where no option says another number.
const DEFAULT_MAX_REQUESTS: f64 = 10_000.0;

/// A total time below or above these shares of the time limit is that of another run. sysbench ends in time, except
/// for its last events, which wait for the server.
const EARLY_FACTOR: f64 = 0.95;
const LATE_FACTOR: f64 = 1.2;

/// Options of a command with their values.
type Options = BTreeMap<String, String>;

/// A value that stands in a command and in the log.
struct Held {
    name: &'static str,
    own: Option<f64>,
}

/// What the log says otherwise than its command. An option that the log does not show is not held against it.
pub(super) fn flaws(lines: &Lines) -> Vec<Flaw> {
    let Some(command) = &lines.command else { return Vec::new() };
    let options = command.options();
    let shows_options = lines.seen.contains(&LogSection::Options);
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
    let limits = other_percentile(&options, lines)
        .into_iter()
        .chain(other_time(&options, lines))
        .chain(above_event_limit(&options, lines));
    other.chain(limits).chain(other_script(command, lines)).collect()
}

/// A percentile that neither the statistics nor the report intervals have.
fn other_percentile(options: &Options, lines: &Lines) -> Option<Flaw> {
    let name = "percentile";
    let said = number(options, name)?;
    let of_statistics = lines.latency.percentiles.iter().map(|(p, _)| *p);
    let mut all = lines.interval_percentiles.iter().copied().chain(of_statistics);
    let own = all.clone().next()?;
    let is_other = !all.any(|p| is_same_percentile(p, said));
    is_other.then_some(Flaw::OtherOption { name, said, own })
}

/// More events than the limit lets through.
fn above_event_limit(options: &Options, lines: &Lines) -> Option<Flaw> {
    let (name, said) = first_of(options, EVENT_LIMITS).filter(|(_, limit)| *limit > 0.0)?;
    let own = n_events(lines)?;
    (own > said + event_slack(lines)).then_some(Flaw::OtherOption { name, said, own })
}

/// A measured time that the limit of time does not explain.
fn other_time(options: &Options, lines: &Lines) -> Option<Flaw> {
    let (name, said) = first_of(options, TIME_LIMITS).filter(|(_, limit)| *limit > 0.0)?;
    let own = lines.seconds?;
    // The last events and those of a warm-up may take long, and a run that failed or was limited ends early.
    let longest_event_s = lines.latency.max.unwrap_or(0.0) / 1e3;
    let latest_s = said * LATE_FACTOR + longest_event_s + lines.warmup_s.unwrap_or(0.0);
    let may_end_early = lines.fatal.is_some() || may_be_limited(options, lines);
    let is_early = own <= said * EARLY_FACTOR && !may_end_early;
    (is_early || own >= latest_s).then_some(Flaw::OtherOption { name, said, own })
}

/// Whether a limit of events may have ended the run.
fn may_be_limited(options: &Options, lines: &Lines) -> bool {
    // Before 1.0 there is one without an option.
    let default = if lines.other_operations.is_some() { DEFAULT_MAX_REQUESTS } else { 0.0 };
    let limit = first_of(options, EVENT_LIMITS).map_or(default, |(_, limit)| limit);
    limit > 0.0 && n_events(lines).is_none_or(|n| n >= limit - event_slack(lines))
}

/// Events; before 1.0 a transaction may have several.
fn n_events(lines: &Lines) -> Option<f64> {
    let n = lines.totals.n_events().or(lines.events.map(|(n, _)| n))?;
    Some(n as f64)
}

/// Each thread may have begun one event more, or not have ended its last one.
fn event_slack(lines: &Lines) -> f64 {
    f64::from(lines.threads.unwrap_or(1))
}

/// The value of an option with several names.
fn first_of(options: &Options, names: [&'static str; 2]) -> Option<(&'static str, f64)> {
    names.into_iter().find_map(|name| Some((name, number(options, name)?)))
}

/// Why a log without its own list of options is not imported: its command sets a rate.
pub(super) fn set_rate(lines: &Lines) -> Option<String> {
    if lines.seen.contains(&LogSection::Options) {
        return None;
    }
    let options = lines.command.as_ref()?.options();
    let name = RATES.into_iter().find(|name| number(&options, name).is_some_and(|n| n > 0.0))?;
    Some(at_set_rate(&format!("--{name}={}", options[name])))
}

/// A value that is a number; shells may leave a variable there.
fn number(options: &Options, name: &str) -> Option<f64> {
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
