//! Sentences of the warnings of a whole report, with the names of its systems.

use rqps_model::calibration::Floor;
use rqps_model::warning::{
    AssumedStartSd, ConfinedBy, FailedCheck, HalfWidth, ImportedSource, MetricsPart, OfSystem,
    Severity, Share, StartSpread, StepClass,
};
use rqps_model::{Calibrated, Estimate, RunStatus, Wall, WarningKind};

use super::sentence;
use crate::conditions::of_runs;
use rqps_analysis::Analysis;
use rqps_text::number::{count, small_percent, utc};
use rqps_text::words::{capital, clip, list, list_in_short, one_line};

/// Columns that a statement is given.
const SQL_COLUMNS: usize = 60;

/// All warnings of a report in sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InWords {
    /// Severe warnings: ratios are not those of the servers alone.
    pub severe: Vec<String>,
    /// Other warnings to read before the results.
    pub others: Vec<String>,
    /// How sure the results are.
    pub certainty: Vec<String>,
    /// What was not measured, and why.
    pub not_measured: Vec<String>,
    /// What happened during the run.
    pub happened: Vec<String>,
}

impl InWords {
    /// The warnings of an analysis.
    #[must_use]
    pub fn of(analysis: &Analysis<'_>) -> Self {
        let (severe, others) = analysis.warnings_by_weight();
        Self {
            severe: sentences(analysis, severe),
            others: sentences(analysis, others),
            certainty: sentences(analysis, &analysis.certainty),
            not_measured: sentences(analysis, &analysis.not_measured),
            happened: super::happened(analysis.run),
        }
    }

    /// All warnings to read before the results, the severe ones first.
    #[must_use]
    pub fn before_reading(&self) -> Vec<String> {
        self.severe.iter().chain(&self.others).cloned().collect()
    }
}

/// The sentences of several warnings.
#[must_use]
pub fn sentences(analysis: &Analysis<'_>, warnings: &[WarningKind]) -> Vec<String> {
    warnings.iter().map(|kind| of_report(analysis, kind)).collect()
}

/// A warning of the whole report, in one or more sentences.
fn of_report(analysis: &Analysis<'_>, kind: &WarningKind) -> String {
    let labels = |systems: &[usize]| labels(analysis, systems);
    match kind {
        WarningKind::Difference { severity: Severity::Severe, text, .. } => {
            format!("Severe: {text}")
        }
        WarningKind::Difference { text, .. } => text.clone(),
        WarningKind::SeveralRuns { n, base } => format!(
            "The systems are of {n} runs. Intervals of ratios between runs include the spread within \
             each run, but not drift of the host between runs. The base is of run {base}; results of \
             other runs are marked."
        ),
        WarningKind::RowsDiffer { runs, sizes } => format!(
            "Severe: The runs have tables with different rows: {}. Larger tables have deeper indexes \
             and fit less into caches. Measure all systems with the same tables and rows.",
            one_line(&of_runs(runs, sizes))
        ),
        WarningKind::RunsDiffer { runs, conditions } => {
            format!("The runs differ in their conditions: {}.", of_runs(runs, conditions))
        }
        WarningKind::PageCache { systems, past } => page_cache(&labels(systems), &labels(past)),
        WarningKind::NotConfined { systems, reasons } => {
            let all = labels(systems);
            let who = match all.as_slice() {
                [one] => one.clone(),
                all => format!("each of {}", list_in_short(all)),
            };
            format!(
                "The kernel did not confine {who} to its own files: {}. Such a server can reach all that \
                 its user can.",
                reasons.join("; ")
            )
        }
        WarningKind::SlowedDown { systems } => {
            let one = |OfSystem { system, fact }: &OfSystem<f64>| {
                format!("{} for {fact}% of its measured time", analysis.label(*system))
            };
            let all: Vec<String> = systems.iter().map(one).collect();
            format!(
                "Injected slowdown: rqps stopped connection threads on purpose, of {}.",
                list_in_short(&all)
            )
        }
        WarningKind::TablesAltered { systems } => {
            let one = |OfSystem { system, fact }: &OfSystem<Vec<String>>| {
                let statements: Vec<String> =
                    fact.iter().map(|sql| clip(sql, SQL_COLUMNS)).collect();
                format!("{} ({})", analysis.label(*system), statements.join("; "))
            };
            let all: Vec<String> = systems.iter().map(one).collect();
            format!(
                "The plan changed tables after the load (sql_after_load), those of {}.",
                list_in_short(&all)
            )
        }
        WarningKind::ChecksFailed { checks } => {
            let one = |FailedCheck { step, system, name, found }: &FailedCheck| {
                one_line(&format!("{step} on {}: {name}, {found}", analysis.label(*system)))
            };
            let all: Vec<String> = checks.iter().map(one).collect();
            format!(
                "Checks failed: steps did other work than intended: {}.",
                list_in_short(&all)
            )
        }
        WarningKind::Imported { systems, sources } => imported(&labels(systems), sources),
        WarningKind::ImportNote { source, text } => {
            let of = source.as_ref().map_or_else(String::new, |s| format!("{}: ", one_line(s)));
            format!("{of}{}", one_line(text))
        }
        WarningKind::Sequential => {
            "The systems were measured one after the other. Intervals include the spread between \
             slices of a system, but not drift of the host between systems."
                .to_owned()
        }
        WarningKind::Interleaved { slice_ms, insert_steps, external, are_stopped } => {
            let slices = slices_in_words(*slice_ms, *insert_steps);
            interleaved(&slices, &labels(external), *are_stopped)
        }
        WarningKind::OrderOfRuns { interleaved, sequential } => order(interleaved, sequential),
        WarningKind::StartedOnce { was_resumed, assumed } => {
            let again = if *was_resumed { ", and again when the run was resumed" } else { "" };
            let widened = assumed.as_ref().map(|found| format!(" {}", widened(found)));
            format!(
                "Each server was started once{again}. Each start has another memory layout, which alone \
                 can change QPS by 1 to 2%.{}",
                widened.unwrap_or_default()
            )
        }
        WarningKind::SeveralStarts {
            n,
            n_loads,
            is_most,
            n_so_far,
            spread,
            n_without,
            assumed,
        } => {
            let starts = count(usize::try_from(*n).unwrap_or(usize::MAX), "start");
            let mut out = match n_so_far {
                _ if *is_most => format!("Steps were measured on up to {starts} of the servers"),
                Some(seen) => format!(
                    "Each step is measured on {starts} of the servers (ratios are of {seen} so far)"
                ),
                None => format!("Each step was measured on {starts} of the servers"),
            };
            if *n_loads > 1 {
                let times = count(usize::try_from(*n_loads).unwrap_or(usize::MAX), "time");
                out.push_str(&format!(
                    "; tables were filled {times}, and each time counts as one observation"
                ));
            }
            out.push_str(&several_starts(spread.as_ref(), *n_without, assumed.as_ref()));
            out
        }
        WarningKind::NullArm { system, n, outside, called } => {
            let [base, arm] =
                [analysis.base, *system].map(|idx| analysis.run.systems[idx].spec.label.as_str());
            null_arm(arm, base, *n, outside, called)
        }
        WarningKind::HalfWidths { medians } => half_widths(medians),
        WarningKind::SeveralIntervals { n } => format!(
            "Each of the {n} intervals is a 95% interval on its own: about one in twenty \
             misses its true value. Verdicts are adjusted for their number, intervals are not."
        ),
        WarningKind::RateSet => {
            "The plan sets a rate. QPS and ratios say whether a system held the rate, not what it can \
             do. Compare response times and CPU per operation."
                .to_owned()
        }
        WarningKind::Calibrated { found, other_host, other_kernel } => {
            calibrated(found, other_host.as_deref(), other_kernel.as_deref())
        }
        WarningKind::NotStarted { systems } => {
            let all = labels(systems);
            let (its, it) = if all.len() == 1 { ("its", "it") } else { ("their", "them") };
            format!(
                "rqps did not start {}: {its} CPU time is not known, so other programs that disturbed {it} would \
                 leave no warning.",
                list_in_short(&all)
            )
        }
        WarningKind::UnequalLimits { cpus, memory } => {
            let what = [(*cpus, "CPUs"), (*memory, "memory")];
            let what = what.iter().filter(|(is_it, _)| *is_it).map(|(_, what)| (*what).to_owned());
            format!(
                "The plan limits the systems' {} differently. Ratios include that difference.",
                list(&what.collect::<Vec<_>>())
            )
        }
        WarningKind::UnequalAllocators { systems } => {
            let one = |OfSystem { system, fact }: &OfSystem<String>| {
                format!("{} has {}", analysis.label(*system), one_line(fact))
            };
            let all: Vec<String> = systems.iter().map(one).collect();
            format!(
                "The builds have different allocators: {}. Set `malloc` for all systems.",
                list_in_short(&all)
            )
        }
        WarningKind::OptionsChanged { systems } => {
            let one = |OfSystem { system, fact }: &OfSystem<String>| {
                format!("{} ({})", analysis.label(*system), one_line(fact))
            };
            let all: Vec<String> = systems.iter().map(one).collect();
            format!("rqps changed options of your configuration: {}.", list_in_short(&all))
        }
        WarningKind::Confined { walls, has_external } => confined(analysis, walls, *has_external),
        WarningKind::VirtualMachine => {
            "The host is a virtual machine. Its neighbours can slow it down without a trace in its \
             counters."
                .to_owned()
        }
        WarningKind::Interrupted { n } => {
            let times = count(usize::try_from(*n).unwrap_or(usize::MAX), "time");
            format!("The run was interrupted and resumed {times}.")
        }
        gap => gap_in_words(analysis, gap),
    }
}

/// What has no figure.
fn gap_in_words(analysis: &Analysis<'_>, kind: &WarningKind) -> String {
    match kind {
        WarningKind::NotFinished { status } => match status {
            RunStatus::Finished => String::new(),
            RunStatus::Running => "The run had not finished when this report was made.".to_owned(),
            RunStatus::Interrupted => "The run was interrupted.".to_owned(),
            RunStatus::Failed => "An error ended the run.".to_owned(),
        },
        WarningKind::StepsFailed { system, steps } => {
            format!("Failed on {}: {}.", analysis.label(*system), list_in_short(steps))
        }
        WarningKind::StepsNotReached { system, steps } => {
            format!("Not reached on {}: {}.", analysis.label(*system), list_in_short(steps))
        }
        WarningKind::StepsAbsent { system, run, steps } => format!(
            "Not measured on {}, because run {run} lacks these steps: {}.",
            analysis.label(*system),
            list_in_short(steps)
        ),
        WarningKind::MetricsMissing { system, part, steps } => {
            let because = match part {
                MetricsPart::ServerCpu => "rqps does not know the server's processes",
                MetricsPart::Storage => "the data directory has no block device that rqps can read",
                _ => "a histogram is missing or cannot be read",
            };
            let scope = if steps.is_empty() {
                String::new()
            } else {
                format!(" on {}", list_in_short(steps))
            };
            let (what, label) = (capital(part_name(*part)), analysis.label(*system));
            format!("{what} of {label} was not measured{scope}: {because}.")
        }
        WarningKind::NotImported { systems, lacking } => {
            let of = if systems.is_empty() {
                "these systems".to_owned()
            } else {
                list_in_short(&labels(analysis, systems))
            };
            let mut parts = vec!["separate CPU of server and client".to_owned()];
            parts.extend(lacking.iter().map(|part| part_name(*part).to_owned()));
            format!("The imported files of {of} lack {}.", list(&parts))
        }
        WarningKind::SingleSlices { steps } => format!(
            "No interval (n=1) for {}: single slices do not show how noisy a ratio is.",
            list_in_short(steps)
        ),
        WarningKind::NoOperations { steps } => {
            format!("No ratio where a slice finished no operation: {}.", list_in_short(steps))
        }
        WarningKind::WarmUpFailed { step, system, reason } => format!(
            "{}, which warms caches, failed on {}: {reason}. Later steps may have begun with colder \
             caches.",
            one_line(step),
            analysis.label(*system)
        ),
        WarningKind::HostBusy { steps, n_steps, others_pct, stolen_pct, is_barred } => {
            let pct = |(least, most): (u32, u32)| match least == most {
                true => format!("{most}%"),
                false => format!("{least} to {most}%"),
            };
            let others = others_pct.map(|range| format!("other programs used {}", pct(range)));
            let stolen = stolen_pct.map(|range| format!("the hypervisor took {}", pct(range)));
            let who: Vec<String> = others.into_iter().chain(stolen).collect();
            let who = match who.is_empty() {
                true => "other programs or the hypervisor used a part".to_owned(),
                false => list(&who),
            };
            let on = match (steps.len(), n_steps) {
                (_, 1) => String::new(),
                (n, all) if n == *all => format!(" on all {all} steps"),
                (n, all) => format!(" on {n} of {all} steps ({})", list_in_short(steps)),
            };
            let verdicts = match is_barred {
                true => "These steps have no verdict. Repeat the run when the host is quiet.",
                false => "--allow-busy-host keeps the verdicts.",
            };
            format!("Unreliable{on}: {who} of this host's CPU. {verdicts}")
        }
        WarningKind::WarmUps { steps } => format!(
            "Not in the tables, because these steps only warm caches: {}.",
            list_in_short(steps)
        ),
        other => format!("{}.", capital(&sentence(other))),
    }
}

fn labels(analysis: &Analysis<'_>, systems: &[usize]) -> Vec<String> {
    systems.iter().map(|&idx| one_line(analysis.label(idx))).collect()
}

fn page_cache(cached: &[String], past: &[String]) -> String {
    let reads = |n: usize| if n == 1 { "reads" } else { "read" };
    let them = if cached.len() == 1 { "it" } else { "them" };
    let unlike = if past.is_empty() {
        String::new()
    } else {
        format!(
            " {} {} from storage, past the page cache: ratios to such systems compare memory with \
             storage.",
            list_in_short(past),
            reads(past.len())
        )
    };
    format!(
        "{} {} through the page cache, which has no limit. Pages that the server's own cache lacks \
         came from memory, not from storage, so this is no IO-bound measurement. Give {them} \
         `memory`, or direct IO.{unlike}",
        list_in_short(cached),
        reads(cached.len())
    )
}

/// Imported results, of all systems where no labels are given.
fn imported(labels: &[String], sources: &[ImportedSource]) -> String {
    let source = |it: &ImportedSource| format!("{} ({})", one_line(&it.source), it.tool);
    let sources: Vec<String> = sources.iter().map(source).collect();
    let from = if sources.is_empty() { String::new() } else { format!(" from {}", list(&sources)) };
    let whose = if labels.is_empty() {
        "The results".to_owned()
    } else {
        format!("The results of {}", list_in_short(labels))
    };
    format!(
        "{whose} were imported{from}, not measured by rqps. There is one of each (n=1), so no ratio \
         has an interval or a verdict. The noise of the host and differences in settings, sessions \
         and builds are not known."
    )
}

/// How long the slices of an interleaved run are. Those of the Insert Benchmark are of its own length: rates
/// are held by the second, and inserts are cut by their number.
#[must_use]
pub fn slices_in_words(slice_ms: u32, insert_steps: Share) -> String {
    let own = "one second, or a part of the work where the work is fixed";
    match insert_steps {
        Share::None => format!("slices of {slice_ms} ms (loads: equal numbers of rows)"),
        Share::All => format!("slices of {own}"),
        Share::Some => {
            format!("slices of {slice_ms} ms (loads and the Insert Benchmark: {own})")
        }
    }
}

fn interleaved(slices: &str, external: &[String], are_stopped: bool) -> String {
    let stopped = if are_stopped { " Waiting servers were stopped." } else { "" };
    let but = if external.is_empty() {
        String::new()
    } else {
        format!(
            " rqps did not start {} and did not stop {}: work that {} while waiting affects the others.",
            list_in_short(external),
            if external.len() == 1 { "it" } else { "them" },
            if external.len() == 1 { "it did" } else { "they did" }
        )
    };
    format!(
        "The systems were interleaved: {slices}, in random order. Intervals are of ratios of blocks \
         measured in the same seconds, so a change of the host affects all systems equally. Indexes \
         were created one system after the other, in random order.{stopped}{but}"
    )
}

fn order(interleaved: &[String], sequential: &[String]) -> String {
    let said: Vec<String> = [
        (interleaved, "the systems were interleaved, and intervals are of ratios of blocks"),
        (sequential, "the systems were measured one after the other"),
    ]
    .iter()
    .filter(|(ids, _)| !ids.is_empty())
    .map(|(ids, how)| format!("in {} {how}", list_in_short(ids)))
    .collect();
    format!(
        "Within runs: {}. Ratios between runs compare two samples (Welch's t): their intervals do \
         not include drift of the host between the runs.",
        list(&said)
    )
}

/// What the base against itself says of the intervals.
fn null_arm(arm: &str, base: &str, n: usize, outside: &[String], called: &[String]) -> String {
    let intervals = count(n, "interval");
    let mut out = format!("{arm} is {base} again, as a separate server. ");
    match outside {
        [] => out.push_str(&format!("All of its {intervals} contain 1.")),
        some => out.push_str(&format!(
            "Of its {intervals}, {} do not contain 1 ({}). About one in twenty does not by chance.",
            some.len(),
            list(some)
        )),
    }
    if !called.is_empty() {
        out.push_str(&format!(" Verdicts of slower or faster on {} are false.", list(called)));
    }
    out
}

/// What follows the number of starts.
fn several_starts(
    spread: Option<&StartSpread>,
    n_without: usize,
    assumed: Option<&AssumedStartSd>,
) -> String {
    let mut out = match spread {
        Some(spread) if spread.most <= 0.0 => {
            ". The intervals include differences between starts. Starts differed no more than their \
             blocks explain."
                .to_owned()
        }
        Some(StartSpread { median, most, step }) => format!(
            ". The intervals include differences between starts: rQPS had a standard deviation of {} \
             between starts (median over the steps), at most {} ({step}).",
            small_percent(*median),
            small_percent(*most),
        ),
        None => ".".to_owned(),
    };
    if n_without > 0 {
        let ratios = count(n_without, "ratio");
        out.push_str(&match assumed {
            Some(found) if n_without == 1 => {
                format!(" One ratio is of one start. {}", widened(found))
            }
            Some(found) => format!(" {ratios} are of one start. {}", widened(found)),
            None => {
                format!(
                    " The intervals of {ratios} are of one start and do not include differences \
                     between starts."
                )
            }
        });
    }
    out
}

/// What intervals of one start are widened by.
fn widened(AssumedStartSd { least, most, is_calibrated }: &AssumedStartSd) -> String {
    let source = match is_calibrated {
        true => "measured on this host by `rqps calibrate`",
        false => "measured on another host; `rqps calibrate` measures it on this one",
    };
    let sd = match least < most {
        true => format!("{} to {} (by step)", small_percent(*least), small_percent(*most)),
        false => small_percent(*most),
    };
    format!(
        "Intervals of one start are wider: they assume a standard deviation between starts of {sd}, \
         {source}."
    )
}

/// `Median half-width of the intervals of rQPS: 0.9% on read steps, 2.8% on write steps.`
fn half_widths(medians: &[HalfWidth]) -> String {
    let one = |HalfWidth { kind, median }: &HalfWidth| {
        let name = match kind {
            StepClass::Reads => "read steps",
            StepClass::Writes => "write steps",
            StepClass::Others => "others",
        };
        format!("{} on {name}", small_percent(*median))
    };
    let all: Vec<String> = medians.iter().map(one).collect();
    format!("Median half-width of the intervals of rQPS: {}.", list(&all))
}

/// How far a system differs from itself here, and what is seen; that the calibration was made
/// elsewhere, where it was.
fn calibrated(found: &Calibrated, other_host: Option<&str>, other_kernel: Option<&str>) -> String {
    let when = utc(found.made_unix_ms);
    let day = when.split(' ').next().unwrap_or(&when);
    let elsewhere = [
        other_host.map(|now| ("the host", found.host.hostname.as_str(), now)),
        other_kernel.map(|now| ("kernel", found.host.kernel.as_str(), now)),
    ];
    let one = |(what, then, now)| format!("{what} {} (this is {})", one_line(then), one_line(now));
    let elsewhere: Vec<String> = elsewhere.into_iter().flatten().map(one).collect();
    let but = if elsewhere.is_empty() {
        String::new()
    } else {
        format!(
            " It was made on {}: calibrate again before you trust small differences.",
            list(&elsewhere)
        )
    };
    let seen = found.visible.map_or_else(String::new, |visible| {
        format!(
            "; differences of {:.1}% or more are then found four times in five on every step tried",
            visible * 100.0
        )
    });
    let alarms = found.false_alarms.map_or_else(String::new, |(n_found, n)| {
        format!("; {n_found} of {n} A/A intervals did not contain 1")
    });
    format!(
        "Calibrated on {day} with {} on one start of each server: A/A differs by at most {:.1}%{} after \
         {} s on each side{seen}{alarms}.{but}",
        one_line(&found.system),
        found.apart * 100.0,
        worst(found),
        found.seconds
    )
}

/// The step with the largest difference, and its interval.
fn worst(found: &Calibrated) -> String {
    let Some(Floor { step, clients, ratio, .. }) = &found.worst else { return String::new() };
    let interval = interval(ratio);
    format!(
        " ({}, {}: {:.3} {interval})",
        one_line(step),
        count(usize::try_from(*clients).unwrap_or(usize::MAX), "client"),
        ratio.point
    )
}

fn interval(ratio: &Estimate) -> String {
    match ratio.interval {
        Some((low, high)) => format!("[{low:.3}, {high:.3}]"),
        None => "n=1".to_owned(),
    }
}

fn confined(analysis: &Analysis<'_>, walls: &[ConfinedBy], has_external: bool) -> String {
    let [ConfinedBy { wall, .. }] = walls else {
        let one = |ConfinedBy { wall, systems }: &ConfinedBy| {
            let own: Vec<String> =
                systems.iter().map(|&idx| analysis.label(idx).to_owned()).collect();
            format!("{} by {}", list_in_short(&own), wall.name())
        };
        let all: Vec<String> = walls.iter().map(one).collect();
        return format!("The kernel confined the servers differently: {}.", list(&all));
    };
    let name = wall.name();
    let servers = if has_external { "rqps's own servers" } else { "the servers" };
    match wall {
        Wall::Namespaces { .. } => {
            format!("The kernel let {servers} write only to their own files ({name}).")
        }
        _ if wall.has_tcp() => {
            format!("The kernel confined {servers} to their own files and TCP ports ({name}).")
        }
        _ => format!("The kernel confined {servers} to their own files ({name})."),
    }
}

fn part_name(part: MetricsPart) -> &'static str {
    match part {
        MetricsPart::ServerCpu => "server CPU",
        MetricsPart::Storage => "storage",
        MetricsPart::ResponseTimes => "response times",
        MetricsPart::Memory => "memory",
        MetricsPart::PerOperation => "metrics per operation",
        MetricsPart::Sizes => "sizes",
    }
}

#[cfg(test)]
mod tests {
    use rqps_model::Host;

    use super::*;

    #[test]
    fn another_kernel_is_told() {
        let found = Calibrated {
            made_unix_ms: 0,
            host: Host { kernel: "6.1".to_owned(), ..Host::default() },
            system: "null".to_owned(),
            seconds: 10.0,
            apart: 0.01,
            worst: None,
            visible: None,
            false_alarms: None,
            starts: Vec::new(),
        };
        let told = calibrated(&found, None, Some("6.2"));
        assert!(told.contains("It was made on kernel 6.1 (this is 6.2): calibrate"), "{told}");
        assert!(!calibrated(&found, None, None).contains("It was made on"));
    }
}
