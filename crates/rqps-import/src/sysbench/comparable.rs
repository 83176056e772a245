//! Whether the figures of two logs of one step can be compared: statements per event, the mix of reads and writes,
//! scripts and options.

use std::collections::BTreeMap;

use super::line::quotable;
use super::log::Log;

/// How far statements per event may be apart without a word. In 3370 public logs those of one script differ by
/// 0.02%.
const SLACK_SHARE: f64 = 0.01;

/// From this share on statements per event are those of other events; below it a script may draw them at random.
const OTHER_EVENTS_SHARE: f64 = 0.1;

/// Statements that scripts draw at random differ by this over the root of the number of events.
const RANDOM: f64 = 2.0;

/// From this share on writes per event count as others: sysbench counts a delete of a missing row as no write.
const OTHER_WRITES_SHARE: f64 = 0.1;

/// Options that say where a test runs, how long, and what it prints. They may differ without a word.
const OF_THE_HOST: [&str; 17] = [
    "batch-delay",
    "config-file",
    "db-debug",
    "db-driver",
    "debug",
    "events",
    "histogram",
    "max-requests",
    "max-time",
    "num-threads",
    "percentile",
    "rand-seed",
    "report-interval",
    "thread-init-timeout",
    "threads",
    "time",
    "verbosity",
];

/// The same by their beginnings. They hold passwords, too.
const OF_THE_SERVER: [&str; 5] = ["mysql-", "pgsql-", "warmup-", "forced-", "tls-"];

/// A value in two logs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Both<T> {
    pub(crate) own: T,
    pub(crate) reference: T,
}

/// How a log differs from another one of its step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Difference {
    /// Statements per event, of all kinds or one.
    PerEvent {
        /// `queries`, `reads`, `writes`.
        what: &'static str,
        /// Means.
        n: Both<f64>,
        /// By which share they differ beyond what retries and events under way explain.
        share: f64,
        /// Whether all events of either log may have one number of them, so that chance has no part in it.
        is_fixed: bool,
    },
    /// Writes per event, with as many statements.
    Writes(Both<f64>),
    /// The script.
    Script(Both<String>),
    /// An option of the command; `None` where it is not given.
    Option { name: String, value: Both<Option<String>> },
}

impl Difference {
    /// Whether the figures cannot be compared.
    pub(crate) fn is_of_other_events(&self) -> bool {
        matches!(
            self,
            Self::PerEvent { share, is_fixed, .. } if *is_fixed || *share > OTHER_EVENTS_SHARE
        )
    }

    /// What tells kinds of differences apart: each is told once for a step.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::PerEvent { what, .. } => (*what).to_owned(),
            Self::Writes(_) => "writes alone".to_owned(),
            Self::Script(Both { own, .. }) => format!("script {own}"),
            Self::Option { name, value } => format!("--{name} {:?}", value.own),
        }
    }

    /// By how much; larger differences are told before smaller ones.
    pub(crate) fn size(&self) -> f64 {
        match self {
            Self::PerEvent { share, .. } => *share,
            Self::Writes(Both { own, reference }) => share(*own, *reference),
            Self::Script(_) | Self::Option { .. } => 1.0,
        }
    }

    /// The difference in words; `known` names the other log.
    fn told(&self, known: &str) -> String {
        match self {
            Self::PerEvent { what, n: Both { own, reference }, .. } => {
                format!(
                    "it has {own:.2} {what} per event, but {known} of the same step has \
                     {reference:.2}"
                )
            }
            Self::Writes(Both { own, reference }) => format!(
                "it has {own:.2} writes per event, but {known} of the same step has \
                 {reference:.2}: sysbench counts no write that changes no row"
            ),
            Self::Script(Both { own, reference }) => {
                format!("its script is {own}, but that of {known} of the same step is {reference}")
            }
            Self::Option { name, value: Both { own, reference } } => {
                let said = |value: &Option<String>| match value {
                    Some(value) => format!("--{name}={}", quotable(value)),
                    None => format!("no --{name}"),
                };
                format!(
                    "it has {}, but {known} of the same step has {}",
                    said(own),
                    said(reference)
                )
            }
        }
    }
}

/// A log with the name by which messages call it.
#[derive(Debug, Clone)]
pub(crate) struct NamedLog<'l> {
    pub(crate) name: String,
    pub(crate) log: &'l Log,
}

/// A log whose figure cannot be compared with that of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherEvents {
    /// Which of the logs.
    pub(crate) idx: usize,
    /// Why, with the reference.
    pub(crate) why: String,
}

/// What logs of one step have of one another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) refused: Vec<OtherEvents>,
    /// Differences that may be meant, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Holds the logs of one step against one of them.
pub(crate) fn compare(logs: &[NamedLog<'_>], reference: usize) -> Compared {
    let mut compared = Compared::default();
    let Some(NamedLog { name: known, log: of }) = logs.get(reference) else { return compared };
    let mut told: BTreeMap<String, (f64, String)> = BTreeMap::new();
    for (idx, NamedLog { name, log }) in logs.iter().enumerate() {
        let found = differences(log, of);
        if let Some(other) = found.iter().find(|difference| difference.is_of_other_events()) {
            let why = format!("{}: their QPS cannot be compared", other.told(known));
            compared.refused.push(OtherEvents { idx, why });
            continue;
        }
        for difference in &found {
            let size = difference.size();
            let entry = told.entry(difference.kind()).or_insert((0.0, String::new()));
            if size > entry.0 {
                *entry = (size, format!("{name}: {}.", difference.told(known)));
            }
        }
    }
    compared.notes = told.into_values().map(|(_, note)| note).collect();
    compared
}

/// How a log differs from the reference of its step.
pub(crate) fn differences(own: &Log, reference: &Log) -> Vec<Difference> {
    let mut found = Vec::new();
    let slack = 1.0 + SLACK_SHARE + random(own).max(random(reference));
    // Queries have reads and writes in them.
    if let Some(queries) = per_event("queries", own, reference, slack) {
        found.push(queries);
    } else {
        found.extend(per_event("reads", own, reference, slack));
        if found.is_empty() {
            found.extend(writes(own, reference));
        }
    }
    // A log without its command tells neither script nor options.
    if let (Some(a), Some(b)) = (&own.script, &reference.script) {
        if a != b {
            found.push(Difference::Script(Both { own: a.clone(), reference: b.clone() }));
        }
        found.extend(options(own, reference, a == b));
    }
    found
}

/// What statements that are drawn at random may differ by, as a share.
fn random(log: &Log) -> f64 {
    let n_events = log.events.map_or(0, |(n, _)| n).max(1);
    RANDOM / (n_events as f64).sqrt()
}

/// The statements of a kind, by its name.
fn count(log: &Log, what: &str) -> Option<f64> {
    match what {
        "queries" => log.queries.map(|(n, _)| n as f64),
        "reads" => log.kinds.map(|kinds| kinds.read),
        _ => log.kinds.map(|kinds| kinds.write),
    }
}

/// The fewest and most statements that an event of a log may have, and their mean.
struct PerEvent {
    fewest: f64,
    mean: f64,
    most: f64,
}

/// Widest span of a number of statements per event that still tells whether it is a whole one.
const WIDEST_SPAN: f64 = 0.25;

impl PerEvent {
    /// Whether all events may have one number of statements, as a script without chance has.
    fn is_fixed(&self) -> bool {
        self.most - self.fewest < WIDEST_SPAN
            && self.fewest.ceil() <= self.most + f64::EPSILON * self.most
    }
}

/// Events that failed or were under way at the end have statements and are no events; events that were under way
/// when counting began lack some.
fn statements(log: &Log, what: &str) -> Option<PerEvent> {
    let (n_events, _) = log.events.filter(|(n, _)| *n > 0)?;
    let n = count(log, what)?;
    let threads = log.threads.unwrap_or(1);
    let besides = [log.ignored_errors, log.reconnects, Some(u64::from(threads))];
    let besides: u64 = besides.into_iter().flatten().sum();
    let whole = n_events.saturating_sub(u64::from(threads)).max(1);
    Some(PerEvent {
        fewest: n / (n_events as f64 + besides as f64),
        mean: n / n_events as f64,
        most: n / whole as f64,
    })
}

fn per_event(what: &'static str, own: &Log, reference: &Log, slack: f64) -> Option<Difference> {
    let (a, b) = statements(own, what).zip(statements(reference, what))?;
    let n = Both { own: a.mean, reference: b.mean };
    let (lower, upper) = if a.mean < b.mean { (a, b) } else { (b, a) };
    let is_fixed = lower.is_fixed() && upper.is_fixed() && upper.fewest.ceil() > lower.most;
    let gap = upper.fewest - lower.most * slack;
    (gap > 0.0 || is_fixed).then(|| {
        let share = gap.max(0.0) / upper.fewest;
        Difference::PerEvent { what, n, share, is_fixed }
    })
}

/// Writes per event, where both have as many statements.
fn writes(own: &Log, reference: &Log) -> Option<Difference> {
    let (a, b) = statements(own, "writes").zip(statements(reference, "writes"))?;
    let is_other = share(a.mean, b.mean) > OTHER_WRITES_SHARE
        && per_event("writes", own, reference, 1.0).is_some();
    is_other.then_some(Difference::Writes(Both { own: a.mean, reference: b.mean }))
}

/// By which share of the larger two values differ.
fn share(a: f64, b: f64) -> f64 {
    let larger = a.max(b);
    if larger > 0.0 { (a - b).abs() / larger } else { 0.0 }
}

/// Whether both values switch an option on, or both off, in sysbench's words for it.
fn is_one_switch(a: &str, b: &str) -> bool {
    let words = [["on", "true", "1", "yes"], ["off", "false", "0", "no"]];
    words.iter().any(|words| words.contains(&a) && words.contains(&b))
}

/// Options of what is measured that differ: the size of tables, ranges, distributions. Those of two scripts have the
/// size of tables in common alone.
fn options(own: &Log, reference: &Log, is_one_script: bool) -> Vec<Difference> {
    let mut names: Vec<&String> = own.options.keys().chain(reference.options.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let is_told = |name: &str| {
        (is_one_script || name.contains("table"))
            && !OF_THE_HOST.contains(&name)
            && !OF_THE_SERVER.iter().any(|start| name.starts_with(start))
            && !["pass", "secret", "token", "user"].iter().any(|word| name.contains(word))
    };
    let names = names.into_iter().filter(|name| is_told(name));
    names
        .filter_map(|name| {
            let value = Both {
                own: own.options.get(name).cloned(),
                reference: reference.options.get(name).cloned(),
            };
            let values = value.own.as_deref().zip(value.reference.as_deref());
            let is_same =
                value.own == value.reference || values.is_some_and(|(a, b)| is_one_switch(a, b));
            (!is_same).then(|| Difference::Option { name: name.clone(), value })
        })
        .collect()
}
