//! The sentences of warnings.

mod entry;
mod of_report;

use rqps_model::warning::{
    BackgroundWork, ChangedSetting, HeldRate, LastSlice, PlanOfStarts, RateLevels, ServerFault,
    StallCause, StopWay, TakenBy, TakenTime,
};
use rqps_model::{
    ErrorCount, Estimate, Run, Scope, TableDifference, TableFact, Warning, WarningKind,
};

pub use entry::{Entry, advice, entries, what_to_do};
pub use of_report::InWords;
pub use of_report::{sentences, slices_in_words};

use crate::conditions::step_difference;
use crate::plans;
use rqps_analysis::{CellWarning, SomeSlices};
use rqps_text::number::{self, count, utc};
use rqps_text::words::{clip, list_in_short, one_line};

/// Settings that a sentence names; more are counted.
const MAX_NAMED: usize = 8;

/// Columns that a statement is given.
const SQL_COLUMNS: usize = 100;

/// What a kind of warning means, in words without a full stop.
#[must_use]
pub fn meaning(kind: &WarningKind) -> String {
    match kind {
        WarningKind::Errors { .. } => "events failed and were retried".to_owned(),
        WarningKind::ClientBound { .. } => {
            "the client's threads used nearly all of their CPUs, so the server may not be the limit".to_owned()
        }
        WarningKind::NotSettled { .. } => {
            "background work may have been unfinished when the step began".to_owned()
        }
        WarningKind::RateMissed { .. } => "the set rate was not held".to_owned(),
        WarningKind::Steal { .. } => "the hypervisor took CPU from this host".to_owned(),
        WarningKind::OtherProcesses { .. } => {
            "other processes or the kernel's own work used this host's CPUs".to_owned()
        }
        WarningKind::BlocksExcluded { .. } => {
            "ratios of QPS, CPU and response times exclude blocks in which the hypervisor or other \
             processes took a fifth or more of the CPU time that this system and the base each wanted"
                .to_owned()
        }
        WarningKind::Swapped { .. } => "the host swapped".to_owned(),
        WarningKind::Throttled { .. } => "CPUs were too hot and slowed down".to_owned(),
        WarningKind::FrequencyChanged { .. } => "the CPU frequency changed within the step".to_owned(),
        WarningKind::Colder { .. } => {
            "the server read from storage after a block without reads: caches became colder within \
             the step".to_owned()
        }
        WarningKind::Paused { .. } => {
            "rqps was stopped, or the host was paused, for a part of the measured time. The rate \
             includes that time. Ratios of interleaved systems exclude such blocks, except ratios of \
             totals".to_owned()
        }
        WarningKind::HostSuspended { .. } => "the host was suspended".to_owned(),
        WarningKind::ClockSet { .. } => "the host's clock was set".to_owned(),
        WarningKind::InjectedSlowdown { .. } => {
            "the server was stopped on purpose (injected slowdown)".to_owned()
        }
        WarningKind::StartedAgain => {
            "the run was interrupted, and the server was started again on its data".to_owned()
        }
        WarningKind::BulkLoad { .. } => {
            "MyRocks was loaded in bulk, each table by one connection".to_owned()
        }
        WarningKind::ImportedFault { .. } => "the imported file has a fault".to_owned(),
        WarningKind::Incomplete { .. } => "fewer slices than planned".to_owned(),
        WarningKind::Developed { .. } => {
            "the rate changed within the slices, so the average depends on their length".to_owned()
        }
        WarningKind::SlaFailed { .. } => {
            "SLA failed: inserts reached less than 95% of their rate, so the step did less work and \
             has no verdict".to_owned()
        }
        WarningKind::SlaFailedOnBase { .. } => {
            "the base failed its SLA: it did not hold the insert rate, so there is no verdict".to_owned()
        }
        WarningKind::Trend { .. } => {
            "the rate changed between the halves of the step: the step was too short, or the server \
             had not settled".to_owned()
        }
        WarningKind::CheckFailed { .. } => {
            "a check failed: the step did other work than intended".to_owned()
        }
        WarningKind::OtherRun => {
            "measured in another run than the base: the interval does not include drift of the host \
             between the runs".to_owned()
        }
        WarningKind::UnlikeRun { .. } => {
            "measured in another run than the base and under other conditions, which affect the ratio"
                .to_owned()
        }
        WarningKind::TwoLevels { .. } => {
            "the rate alternates between two levels, and the average describes neither".to_owned()
        }
        WarningKind::HostLevels { .. } => {
            "the host alternated between two speeds. All interleaved systems were affected equally; \
             their rates lie between the two".to_owned()
        }
        WarningKind::Drift { .. } => {
            "the rate, or its ratio to the base, changed steadily within the step".to_owned()
        }
        WarningKind::Stalls { .. } => {
            "one side stalled more, so the ratio of averages differs from the ratio of steady rates"
                .to_owned()
        }
        WarningKind::BackgroundBegan { .. } => {
            "background work of the server began within the step: only some blocks or slices have it"
                .to_owned()
        }
        WarningKind::PlanVaries { .. } => {
            "starts or sessions of the server ran different query plans: the average mixes them, and there \
             is no verdict".to_owned()
        }
        WarningKind::TablesDiffer { .. } => {
            "the tables of system and base differ in state, so earlier work on them affects the ratio"
                .to_owned()
        }
        WarningKind::Failed { reason } | WarningKind::NotStopped { reason } => reason.clone(),
        WarningKind::MeasuredAgain => {
            "a block or slice was measured again, because rqps was stopped or the host was paused"
                .to_owned()
        }
        WarningKind::WaitingNotStopped => {
            "slices took so long that waiting servers were not stopped".to_owned()
        }
        WarningKind::Resumed => {
            "the run was interrupted; the step was measured on tables filled again, without earlier \
             writes"
                .to_owned()
        }
        WarningKind::StartedOnNewData => {
            "the server had failed and was started again; the step was measured on tables filled \
             again, without earlier writes"
                .to_owned()
        }
        WarningKind::WithoutBase => {
            "the base was measured before this system, so there is no ratio".to_owned()
        }
        WarningKind::OneAfterTheOther => {
            "the systems do not fit into memory together and were measured one after the other".to_owned()
        }
        WarningKind::RunResumed { last } => {
            format!("the run was resumed after an interruption; {}", last_slice(last.as_ref()))
        }
        WarningKind::UnfinishedArchive => {
            "the run was imported before it had finished; rqps does not resume it here".to_owned()
        }
        WarningKind::RunEnded { reason } => format!("the run ended: {reason}"),
        WarningKind::Excluded { reason } => format!("excluded: {reason}"),
        WarningKind::SettingsChanged { settings } => changed(settings),
        WarningKind::CountersMissing { reason } => format!(
            "the server's own counters cannot be read and are missing in reports: {reason}"
        ),
        WarningKind::KilledAtStart { fault: ServerFault { n, n_tolerated, reason } } => format!(
            "the server was killed before it answered and is started again (failure {n} of at most \
             {n_tolerated}): {reason}"
        ),
        WarningKind::ServerFailed { fault: ServerFault { n, n_tolerated, reason } } => format!(
            "the server failed and is started again (failure {n} of at most {n_tolerated}): {reason}"
        ),
        WarningKind::DataNotUsed { reason } => {
            format!("the data of the earlier attempt are not used: {reason}")
        }
        WarningKind::TablesReused { run, filled_unix_ms } => format!(
            "the tables are copies of tables that run {run} filled ({}); the load was not measured",
            utc(*filled_unix_ms)
        ),
        WarningKind::StoredTablesNotUsed { reason } => {
            format!("stored tables are not used, so the system fills its own: {reason}")
        }
        WarningKind::TablesNotStored { reason } => {
            format!("the tables are not stored for later runs: {reason}")
        }
        WarningKind::NewTables => {
            "the system has new tables, because those of another system could not be used".to_owned()
        }
        WarningKind::NotLookedAt { reason } => {
            format!("the audit could not reach the system before the run: {reason}")
        }
        // Of a whole report: they need the names of its systems ([`of_report`]).
        WarningKind::Difference { .. }
        | WarningKind::SeveralRuns { .. }
        | WarningKind::RowsDiffer { .. }
        | WarningKind::RunsDiffer { .. }
        | WarningKind::PageCache { .. }
        | WarningKind::NotConfined { .. }
        | WarningKind::SlowedDown { .. }
        | WarningKind::TablesAltered { .. }
        | WarningKind::ChecksFailed { .. }
        | WarningKind::Imported { .. }
        | WarningKind::ImportNote { .. }
        | WarningKind::Sequential
        | WarningKind::Interleaved { .. }
        | WarningKind::OrderOfRuns { .. }
        | WarningKind::StartedOnce { .. }
        | WarningKind::SeveralStarts { .. }
        | WarningKind::NullArm { .. }
        | WarningKind::HalfWidths { .. }
        | WarningKind::SeveralIntervals { .. }
        | WarningKind::RateSet
        | WarningKind::Calibrated { .. }
        | WarningKind::NotStarted { .. }
        | WarningKind::UnequalLimits { .. }
        | WarningKind::UnequalAllocators { .. }
        | WarningKind::OptionsChanged { .. }
        | WarningKind::Confined { .. }
        | WarningKind::VirtualMachine
        | WarningKind::Interrupted { .. }
        | WarningKind::NotFinished { .. }
        | WarningKind::StepsFailed { .. }
        | WarningKind::StepsNotReached { .. }
        | WarningKind::StepsAbsent { .. }
        | WarningKind::MetricsMissing { .. }
        | WarningKind::NotImported { .. }
        | WarningKind::SingleSlices { .. }
        | WarningKind::NoOperations { .. }
        | WarningKind::HostBusy { .. }
        | WarningKind::WarmUpFailed { .. }
        | WarningKind::WarmUps { .. } => String::new(),
    }
}

/// The facts of a cell's warning: `94% of their CPUs`; empty when there are none beside the
/// meaning.
#[must_use]
pub fn detail(warning: &CellWarning) -> String {
    let (facts, reason) = facts_and_reason(warning);
    with_reason(&facts, &reason)
}

/// Facts and the reason behind them: `0.8 on average: stalls of the base`.
pub(crate) fn with_reason(facts: &str, reason: &str) -> String {
    if reason.is_empty() { facts.to_owned() } else { format!("{facts}: {reason}") }
}

/// The facts of a cell's warning, and their reason where one has its own place in a sentence.
pub(crate) fn facts_and_reason(warning: &CellWarning) -> (String, String) {
    if let WarningKind::Stalls { average, steady, is_own, cause } = &warning.kind {
        let [average, steady] = [average, steady].map(number::ratio);
        let whose = if *is_own { "this system" } else { "the base" };
        let reason = format!("stalls of {whose}; {}", stall_cause(cause));
        return (format!("{average} with stalls, {steady} without"), reason);
    }
    (facts(warning), String::new())
}

fn facts(CellWarning { kind, slices, .. }: &CellWarning) -> String {
    match kind {
        WarningKind::Errors { n, by_code } => errors(*n, by_code),
        WarningKind::ClientBound { pct } => format!("{pct}% of their CPUs"),
        WarningKind::NotSettled { left } => left.clone(),
        WarningKind::RateMissed { n_missed } => count(whole(*n_missed), "start") + " missed",
        WarningKind::Steal { pct } | WarningKind::OtherProcesses { pct } => match slices {
            None => format!("{pct}% of all CPU time"),
            Some(some) => format!("up to {pct}% of all CPU time in {}", some_slices(*some)),
        },
        WarningKind::BlocksExcluded { n, n_blocks, max_lacking } => format!(
            "{n} of {}, which lacked up to {} of the CPU time wanted",
            count(*n_blocks, "block"),
            number::percent(*max_lacking)
        ),
        WarningKind::Swapped { pages } => format!("{pages} pages"),
        WarningKind::Throttled { n } => format!("{n} times"),
        WarningKind::FrequencyChanged { pct } => format!("down to {pct}% of the highest"),
        WarningKind::Colder { bytes } => format!("{:.1} MB", mb(*bytes as f64)),
        WarningKind::Paused { seconds } => match slices {
            None => format!("up to {seconds} s"),
            Some(some) => format!("{}, up to {seconds} s", some_slices(*some)),
        },
        WarningKind::HostSuspended { ms } => format!("for {:.1} s", *ms as f64 / 1e3),
        WarningKind::ClockSet { by_ms } => clock_set(*by_ms),
        WarningKind::InjectedSlowdown { share_bp, way } => {
            let percent = f64::from(*share_bp) / 100.0;
            format!("{}, {percent:.2}% of the counted time", stop_way(*way))
        }
        WarningKind::BulkLoad { n_loaders, n_clients } => {
            format!("by {n_loaders} of {n_clients} clients")
        }
        WarningKind::ImportedFault { text } => text.clone(),
        WarningKind::Incomplete { n, n_planned: Some(planned) } => format!("{n} of {planned}"),
        WarningKind::Incomplete { n, n_planned: None } => count(*n, "block"),
        WarningKind::Developed { second_half } => {
            format!("second half {second_half:.2} of the first")
        }
        WarningKind::Trend { second_half } => {
            format!("second half {} of the first", number::plain_ratio(*second_half))
        }
        WarningKind::SlaFailed { rate } | WarningKind::SlaFailedOnBase { rate } => held(rate),
        WarningKind::CheckFailed { checks } => checks.join(", "),
        WarningKind::UnlikeRun { differences } => {
            let words: Vec<String> = differences.iter().map(step_difference).collect();
            format!("other {}", list_in_short(&words))
        }
        WarningKind::TwoLevels { levels: RateLevels { low_per_s, high_per_s, low_share } } => {
            let [low, high] = [*low_per_s, *high_per_s].map(number::plain_figure);
            format!("{low} and {high}/s, {:.0}% of the windows at the lower", low_share * 100.0)
        }
        WarningKind::HostLevels { levels: RateLevels { low_per_s, high_per_s, low_share } } => {
            let (lower, times) = (low_share * 100.0, high_per_s / low_per_s);
            format!(
                "{lower:.0}% of the windows at the lower, {times:.2} times as fast at the higher"
            )
        }
        WarningKind::Drift { rate, ratio } => {
            let of_rate = rate.iter().map(|found| drifted("rate", found));
            let of_ratio = ratio.iter().map(|found| drifted("rQPS", found));
            of_rate.chain(of_ratio).collect::<Vec<_>>().join("; ")
        }
        WarningKind::BackgroundBegan { cpu, written, n_slices, are_blocks } => {
            let of_all = count(*n_slices, if *are_blocks { "block" } else { "slice" });
            let of_cpu = cpu.iter().map(|BackgroundWork { most, n }| {
                let most = number::percent(*most);
                format!("up to {most} of the host's CPU time in {n} of {of_all}")
            });
            let of_bytes = written.iter().map(|BackgroundWork { most, n }| {
                format!("up to {:.1} MB written in {n} of {of_all}", mb(*most))
            });
            of_cpu.chain(of_bytes).collect::<Vec<_>>().join("; ")
        }
        WarningKind::PlanVaries { plans, sql, n_more } => plan_varies(plans, sql, *n_more),
        WarningKind::TablesDiffer { differences } => {
            differences.iter().map(table_difference).collect::<Vec<_>>().join("; ")
        }
        // Said in full by their meaning.
        _ => String::new(),
    }
}

fn some_slices(SomeSlices { n, n_all }: SomeSlices) -> String {
    format!("{n} of {}", count(n_all, "slice"))
}

fn mb(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

/// `12 errors: 1213 x11, 1205 x1`.
fn errors(n: u64, by_code: &[ErrorCount]) -> String {
    let total = count(whole(n), "error");
    if by_code.is_empty() {
        return total;
    }
    let codes: Vec<String> =
        by_code.iter().map(|ErrorCount { code, n }| format!("{code} x{n}")).collect();
    format!("{total}: {}", codes.join(", "))
}

/// `812 of 1000 inserts/s`.
fn held(HeldRate { average_per_s, target_per_s }: &HeldRate) -> String {
    let [average, target] = [*average_per_s, *target_per_s].map(number::plain_figure);
    format!("{average} of {target} inserts/s")
}

/// `rate 0.83 [0.79, 0.88] from the first block to the last`.
fn drifted(what: &str, found: &Estimate) -> String {
    format!("{what} {} from the first block to the last", number::ratio_with_interval(found))
}

/// What the host's counters say of stalls.
fn stall_cause(StallCause { taken, is_of_blocks }: &StallCause) -> String {
    let Some(TakenTime { by, own_share, other_share }) = taken else {
        return "the host's counters show no cause: the server itself stalled, or something that \
                leaves no trace in them"
            .to_owned();
    };
    let by = match by {
        TakenBy::Steal => "caused by the host: steal took",
        TakenBy::OtherProcesses => "caused by the host: other processes took",
        TakenBy::IoWait => "caused by storage: waiting for storage took",
    };
    let [worst, others] = if *is_of_blocks {
        ["in the worst blocks", "in the other side's slices of these blocks"]
    } else {
        ["in the worst slices", "in the other side's slices"]
    };
    let (own, other) = (number::percent(*own_share), number::percent(*other_share));
    format!("{by} {own} of the host's CPU time {worst}, {other} {others}")
}

/// `lookup on PRIMARY (9 starts) against full scan (1 start), SELECT ...`.
fn plan_varies(plans: &[PlanOfStarts], sql: &str, n_more: usize) -> String {
    let plan = |PlanOfStarts { shape, starts }: &PlanOfStarts| {
        format!("{} ({})", one_line(&shape.words()), plans::starts(starts))
    };
    let plans: Vec<String> = plans.iter().map(plan).collect();
    let more = match n_more {
        0 => String::new(),
        n => format!(", and {} more", count(n, "statement")),
    };
    format!("{}, {}{more}", plans.join(" against "), clip(sql, SQL_COLUMNS))
}

/// `dead rows 31000, base 1200, on 2 starts`.
fn table_difference(found: &TableDifference) -> String {
    let TableDifference { fact, base, own, n_starts } = *found;
    let value = |n: u64| match fact {
        TableFact::TableBytes | TableFact::IndexBytes | TableFact::CompactionBytes => {
            format!("{:.1} MB", mb(n as f64))
        }
        _ => n.to_string(),
    };
    let starts = if n_starts > 1 { format!(", on {n_starts} starts") } else { String::new() };
    format!("{} {}, base {}{starts}", table_fact(fact), value(own), value(base))
}

fn table_fact(fact: TableFact) -> &'static str {
    match fact {
        TableFact::Writes => "write events",
        TableFact::IndexLevels => "index levels",
        TableFact::Rows => "rows",
        TableFact::DeadRows => "dead rows",
        TableFact::Updates => "updates",
        TableFact::HotUpdates => "HOT updates",
        TableFact::Autovacuums => "autovacuums",
        TableFact::TableBytes => "tables",
        TableFact::IndexBytes => "indexes",
        TableFact::SnapshotAge => "age of the oldest snapshot",
        TableFact::HistoryList => "history list length",
        TableFact::ChangeBufferPages => "change buffer pages",
        TableFact::CompactionBytes => "compaction debt",
    }
}

fn clock_set(by_ms: i64) -> String {
    let (way, by_s) = (if by_ms < 0 { "back" } else { "forward" }, by_ms as f64 / 1e3);
    format!("{way} by {:.1} s", by_s.abs())
}

/// A warning with its facts, in words without a full stop.
#[must_use]
pub fn sentence(kind: &WarningKind) -> String {
    let warning = CellWarning { footnote_idx: 0, kind: kind.clone(), slices: None };
    match detail(&warning) {
        facts if facts.is_empty() => meaning(kind),
        facts => format!("{} ({facts})", meaning(kind)),
    }
}

/// The same, with the run where several are compared.
#[must_use]
pub fn in_scope(warning: &Warning) -> String {
    let text = sentence(&warning.kind);
    match &warning.scope {
        Scope::OneOfRuns(id) => format!("run {id}: {text}"),
        Scope::Run | Scope::System(_) => text,
    }
}

/// Columns that a warning of the run is given: a server's last lines may be many.
const MAX_COLUMNS: usize = 1000;

/// Lines as one: a semicolon between them, but behind a colon.
fn lines_as_one(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if !out.is_empty() {
            out.push_str(if out.ends_with(':') { " " } else { "; " });
        }
        out.push_str(line.trim());
    }
    out
}

/// What happened during the run: when, to which system, what.
#[must_use]
pub fn happened(run: &Run) -> Vec<String> {
    let sentence = |warning: &Warning| {
        let system = warning.scope.system().and_then(|idx| run.systems.get(idx));
        let of = system.map_or_else(String::new, |system| {
            format!("{}: ", one_line(system.spec.label.as_str()))
        });
        let at = warning.at_unix_ms.map_or_else(String::new, |at| format!("{}, ", utc(at)));
        format!("{at}{of}{}", clip(&lines_as_one(&in_scope(warning)), MAX_COLUMNS))
    };
    run.warnings.iter().map(sentence).collect()
}

fn whole(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn stop_way(way: StopWay) -> &'static str {
    match way {
        StopWay::Tracing => "by tracing",
        StopWay::Signals => "by signals",
    }
}

/// What was stored last before an interruption.
fn last_slice(last: Option<&LastSlice>) -> String {
    let Some(LastSlice { step, n_clients, system, until_unix_ms }) = last else {
        return "nothing had been measured".to_owned();
    };
    let clients = count(usize::try_from(*n_clients).unwrap_or(usize::MAX), "client");
    let on =
        system.as_ref().map_or_else(|| "interleaved".to_owned(), |label| format!("on {label}"));
    format!("the last slice was of {step}, {clients}, {on}, until {}", utc(*until_unix_ms))
}

/// Settings that are not what they were: `a 1 / 2, b 3 / absent`.
fn changed(settings: &[ChangedSetting]) -> String {
    let named = settings.iter().take(MAX_NAMED).map(|ChangedSetting { name, before, after }| {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
        format!("{name} {} / {}", shown(before), shown(after))
    });
    let mut told: Vec<String> = named.collect();
    if settings.len() > MAX_NAMED {
        told.push(format!("and {} more", settings.len() - MAX_NAMED));
    }
    format!("the server's settings changed (before / now): {}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/warnings.md");
        let text = std::fs::read_to_string(path).unwrap();
        let key = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
        let documented: BTreeSet<String> = text.lines().filter_map(key).collect();
        let known: BTreeSet<String> =
            WarningKind::keys().iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(documented, known);
    }

    #[test]
    fn facts_stand_behind_the_meaning() {
        let slept = sentence(&WarningKind::HostSuspended { ms: 90_000 });
        assert_eq!(slept, "the host was suspended (for 90.0 s)");
        let back = sentence(&WarningKind::ClockSet { by_ms: -60_000 });
        assert_eq!(back, "the host's clock was set (back by 60.0 s)");
        let setting = |name: &str| ChangedSetting {
            name: name.to_owned(),
            before: Some("1".to_owned()),
            after: None,
        };
        let settings = (0..10).map(|n| setting(&format!("s{n}"))).collect();
        let changed = sentence(&WarningKind::SettingsChanged { settings });
        assert!(changed.ends_with("s7 1 / absent, and 2 more"), "{changed}");
    }
}
