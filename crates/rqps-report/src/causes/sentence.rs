//! A cause in a sentence with the numbers that carry it: `0.68: server CPU per query 1.53x (+31 µs of
//! +34 µs), IO unchanged: new CPU overhead`.

use rqps_analysis::{Cell, Differing, Evidence, Hint, Moves, OffCpu};
use rqps_explain::whose_cpu::{UNCHANGED, is_same_traffic};
use rqps_explain::{Cause, Change, Kind, Quantity, Reason, Split, TimePart};
use rqps_model::{Estimate, Metric};
use rqps_stacks::time;
use rqps_text::number::{self, count};
use rqps_text::words::clip;

use super::short_number::{digits, percent, signed_us, us_text};
use crate::stacks::place;

/// A part that makes up less of the change is not told where no single one explains it.
const WORTH_TELLING: f64 = 0.1;

/// Columns that a sentence gives to the value of a setting.
const VALUE_COLUMNS: usize = 20;

/// Columns that it gives to the name of a setting.
const NAME_COLUMNS: usize = 40;

/// Columns that it gives to a query plan.
const PLAN_COLUMNS: usize = 60;

/// Columns that it gives to a place where threads were.
const PLACE_COLUMNS: usize = 60;

/// Settings that a sentence names; more are counted.
const MOST_HINTS: usize = 3;

/// The cause of a cell's verdict; `None` where there is none.
#[must_use]
pub fn of_cell(cell: &Cell) -> Option<String> {
    let against = cell.against.as_ref()?;
    let (cause, split) = (against.cause.as_deref()?, against.split.as_deref());
    let server_cpu = cell.server_cpu_ratio();
    Some(sentence(cause, against.rqps?, split, &against.evidence, server_cpu))
}

/// A cause with the step that it explains.
#[derive(Debug, Clone, Copy)]
struct Told<'a> {
    cause: &'a Cause,
    split: &'a Split,
    evidence: &'a Evidence,
    /// The server's CPU per operation relative to the base, as the tables have it.
    server_cpu: Option<Estimate>,
}

/// The cause of a ratio; `server_cpu` is that of all of the server's threads per operation, relative to the base, as
/// tables have it.
#[must_use]
pub fn sentence(
    cause: &Cause,
    rqps: Estimate,
    split: Option<&Split>,
    evidence: &Evidence,
    server_cpu: Option<Estimate>,
) -> String {
    let told = |split| numbers(Told { cause, split, evidence, server_cpu });
    let told = split.map_or_else(Vec::new, told);
    let mut sentence = format!("{}: ", number::ratio(&rqps));
    if !told.is_empty() {
        sentence.push_str(&told.join(", "));
        sentence.push_str(": ");
    }
    sentence.push_str(cause.kind.words(cause.direction));
    if let Some(why) = cause.reason {
        sentence.push_str(&format!(": {}", reason(why)));
    }
    sentence
}

/// Why a verdict is not explained.
pub(crate) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::OtherHosts => "measured on different hosts",
        Reason::OtherKernels => "measured on different kernels",
        Reason::HeldRate => "the clients worked at a set rate",
        Reason::OthersAtRate => {
            "other clients worked at a set rate beside the measured ones, and it is not known which \
             threads serve which clients"
        }
        Reason::UnknownServer => "rqps does not know the server's processes",
        Reason::TakenUnequally => {
            "other processes took more CPU from the slower system than in proportion to its own CPU"
        }
        Reason::UnequalSlices => {
            "the time per operation varies too much between slices to explain its change"
        }
        Reason::OtherProcesses => {
            "other processes used more of the host's CPUs during the slower system's slices"
        }
    }
}

/// The numbers that carry a cause.
fn numbers(told: Told<'_>) -> Vec<String> {
    let Told { cause, split, evidence, server_cpu: _ } = told;
    let op = cause.figure.operation();
    let whole_us = whole_us(cause, split);
    let of = |parts: &[TimePart]| {
        let part = split.change_us(parts).unwrap_or(0.0);
        format!("{} of {}", signed_us(part), signed_us(whole_us))
    };
    let server = || format!("{} {}", server_words(split, &cause.parts), cpu_times(told));
    let mut out = Vec::new();
    match cause.kind {
        Kind::CpuOverhead | Kind::MoreWork => {
            out.extend(cause.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            let what = cpu_words(split, &cause.parts);
            out.push(format!("{what} per {op} {} ({})", cpu_times(told), of(&cause.parts)));
            out.extend(io(split, op));
        }
        Kind::PlanChange => {
            out.extend(evidence.plan.as_ref().map(|plan| {
                let [own, base] = [&plan.vs, &plan.base].map(|text| clip(text, PLAN_COLUMNS));
                format!("{own} instead of {base}")
            }));
            out.extend(cause.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            let what = server_words(split, &cause.parts);
            out.push(format!("{what} per {op} {}", cpu_times(told)));
            out.push(format!("{} in total", signed_us(split.total.difference.point)));
        }
        Kind::Waiting => {
            out.push(format!("waiting {} per {op}", of(&cause.parts)));
            out.push(server());
            out.extend(io(split, op));
            out.extend(cause.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            out.extend(evidence.off_cpu.as_ref().map(off_cpu));
        }
        Kind::StorageReads | Kind::StorageWrites => {
            out.extend(cause.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            out.extend(of_storage(cause, split));
            out.push(server());
        }
        Kind::BackgroundWork => {
            out.extend(cause.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            let what = match cause.parts.contains(&TimePart::Background) {
                true if split.others_beside => "CPU of the server's other threads",
                true => "CPU of background threads",
                false => "waiting",
            };
            out.push(format!("{what} {} per {op}", of(&cause.parts)));
        }
        Kind::HostLimited | Kind::ClientLimited if cause.parts.contains(&TimePart::Taken) => {
            out.extend(of_taken(cause, split));
        }
        Kind::HostLimited | Kind::ClientLimited => {
            let whose = TimePart::Client.words(split.basis);
            out.push(format!("{whose} {} per {op}", of(&cause.parts)));
            out.push(server());
        }
        Kind::Several | Kind::NotExplained => out.extend(largest_parts(split, op)),
    }
    let taken = split.part(TimePart::Taken).map_or(0.0, |change| change.difference.point);
    if cause.is_interleaved
        && cause.reason.is_none()
        && taken.abs() >= WORTH_TELLING * whole_us.abs()
    {
        out.push(format!("excluding {} of CPU that others took", signed_us(taken)));
    }
    out.extend(hints(&evidence.hints, cause.kind));
    out
}

/// The change of the time per operation that is explained.
fn whole_us(cause: &Cause, split: &Split) -> f64 {
    cause.explained_us.unwrap_or(split.total.difference.point)
}

/// CPU that others took, and who waited for it.
fn of_taken(cause: &Cause, split: &Split) -> Vec<String> {
    let shares = cause.others.map(|shares| {
        let (own, other) = (percent(shares.candidate), percent(shares.base));
        format!("other processes used {own} of the host's CPUs, {other} in the base's slices")
    });
    let who = if cause.kind == Kind::ClientLimited { "client threads" } else { "threads" };
    let waited = signed_us(split.change_us(&cause.parts).unwrap_or(0.0));
    let (whole, op) = (signed_us(whole_us(cause, split)), cause.figure.operation());
    let waited = format!("{who} waited {waited} of {whole} per {op} for a CPU");
    shares.into_iter().chain([waited]).collect()
}

/// The waiting for storage, with the CPU that the kernel needs for it; or that CPU alone.
fn of_storage(cause: &Cause, split: &Split) -> Vec<String> {
    let (whole_us, op) = (whole_us(cause, split), cause.figure.operation());
    let kernel = split.quantity(Quantity::Metric(Metric::ServerCpuSystem));
    // Of the whole server, and so of the others beside as well.
    let kernel = kernel.filter(|_| !split.others_beside);
    let kernel_us = kernel.map_or(0.0, |change| change.difference.point);
    let (kernel, whole) = (signed_us(kernel_us), signed_us(whole_us));
    if cause.parts.contains(&TimePart::Server) {
        return vec![format!("server CPU in the kernel {kernel} of {whole} per {op}")];
    }
    let waiting = signed_us(split.change_us(&cause.parts).unwrap_or(0.0));
    let is_told = kernel_us.abs() >= WORTH_TELLING * whole_us.abs();
    let kernel = is_told.then(|| format!("server CPU in the kernel {kernel}"));
    [format!("waiting {waiting} of {whole} per {op}")].into_iter().chain(kernel).collect()
}

/// Whose CPU is meant by that of the server: not all of it where others work beside.
fn server_words(split: &Split, parts: &[TimePart]) -> &'static str {
    match split.others_beside {
        true => "CPU of these clients' connection threads",
        false if split.is_told_apart(parts) => "CPU of connection threads",
        false => "server CPU",
    }
}

/// `server CPU`, or what else is in it.
fn cpu_words(split: &Split, parts: &[TimePart]) -> &'static str {
    match (parts.contains(&TimePart::Client), parts.contains(&TimePart::Background)) {
        (false, _) => server_words(split, parts),
        (true, false) => "server and client CPU",
        (true, true) => "CPU of server, background and client",
    }
}

/// How many times the CPU of the parts named is the base's; of the server alone by its own clock.
fn cpu_times(Told { cause, split, server_cpu, .. }: Told<'_>) -> String {
    let of_split = split.server_cpu(&cause.parts).and_then(Change::times);
    let of_split = of_split.map(|ratio| (ratio, number::plain_ratio(ratio)));
    let in_tables = server_cpu.filter(|_| !split.is_of_serving(&cause.parts));
    let in_tables = in_tables.map(|ratio| (ratio.point, number::ratio(&ratio)));
    let own = in_tables.or(of_split);
    let is_both =
        cause.parts.contains(&TimePart::Client) && cause.parts.contains(&TimePart::Server);
    let sum = |side: fn(&Change) -> f64| -> f64 {
        cause.parts.iter().filter_map(|part| split.part(*part)).map(side).sum()
    };
    let (base, candidate) = (sum(|c| c.base), sum(|c| c.candidate));
    let is_cause = matches!(cause.kind, Kind::CpuOverhead | Kind::MoreWork);
    let both = candidate / base;
    let ratio = if is_both && base > 0.0 { Some((both, number::plain_ratio(both))) } else { own };
    match ratio {
        // Where it is the cause, it has changed.
        Some((ratio, _)) if !is_cause && (ratio - 1.0).abs() < UNCHANGED / 2.0 => {
            "unchanged".to_owned()
        }
        Some((_, text)) => format!("{text}x"),
        None => "not known".to_owned(),
    }
}

/// `rows read per query 1.0 to 12`; nothing where there is none on either side.
fn amounts(split: &Split, quantity: Quantity, op: &str) -> Option<String> {
    let change = split.quantity(quantity)?;
    let (base, candidate) = (digits(change.base), digits(change.candidate));
    if base == candidate {
        return None;
    }
    Some(format!("{} per {op} {base} to {candidate}", quantity.words()))
}

/// Storage traffic: `IO unchanged`, or what changed of it beyond chance; `None` where it was not
/// measured, or where chance can make the change and it is too large to be called none.
fn io(split: &Split, op: &str) -> Option<String> {
    if split.is_io_unchanged()? {
        return Some("IO unchanged".to_owned());
    }
    let is_told =
        |change: &Change| !is_same_traffic(change) && (change.has_grown() || change.has_shrunk());
    let told = split.traffic().into_iter().filter(|(_, change)| is_told(change));
    let words: Vec<String> = told.filter_map(|(q, _)| amounts(split, q, op)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The time and the parts that changed most.
fn largest_parts(split: &Split, op: &str) -> Vec<String> {
    let total = &split.total;
    let mut parts: Vec<(TimePart, f64)> =
        split.parts.iter().map(|(part, change)| (*part, change.difference.point)).collect();
    parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let least = WORTH_TELLING * total.difference.point.abs();
    let told = parts.iter().filter(|(_, us)| us.abs() >= least && us.abs() > 0.0).take(3);
    let told: Vec<String> =
        told.map(|(part, us)| format!("{} {}", part.words(split.basis), signed_us(*us))).collect();
    let (change, base) = (signed_us(total.difference.point), us_text(total.base));
    let mut out = vec![format!("{change} per {op} (base {base})")];
    out.extend((!told.is_empty()).then(|| told.join(", ")));
    out
}

/// `threads +21 µs asleep: futex, futex_wait in extra slices`.
fn off_cpu(of: &OffCpu) -> String {
    let change_us = time::signed_us(of.change_us);
    format!("threads {change_us} µs {} in extra slices", clip(&place(&of.place), PLACE_COLUMNS))
}

/// Severe differences in settings that can move what the cause is about; of many the first.
fn hints(hints: &[Hint], kind: Kind) -> Option<String> {
    let can_move = |moves: Moves| match kind {
        Kind::CpuOverhead | Kind::MoreWork | Kind::ClientLimited | Kind::StorageReads => {
            moves == Moves::All
        }
        Kind::StorageWrites
        | Kind::Waiting
        | Kind::BackgroundWork
        | Kind::PlanChange
        | Kind::Several
        | Kind::NotExplained => true,
        Kind::HostLimited => false,
    };
    let all: Vec<(Moves, String)> =
        hints.iter().filter_map(|of| Some((of.moves, hint(of)?))).collect();
    let n_more = all.len().saturating_sub(MOST_HINTS);
    let named = all.into_iter().take(MOST_HINTS).filter(|(moves, _)| can_move(*moves));
    let mut told: Vec<String> = named.map(|(_, text)| text).collect();
    if n_more > 0 && can_move(Moves::All) {
        told.push(format!("{} more", count(n_more, "difference")));
    }
    (!told.is_empty()).then(|| format!("with {}", told.join(" and ")))
}

/// `tls TLSv1.3 against off`; nothing where both look alike.
fn hint(Hint { what, base, own, .. }: &Hint) -> Option<String> {
    let (name, absent) = match what {
        Differing::Setting(name) => (name.clone(), "none"),
        Differing::Build(fact) => (format!("build with {fact}"), "off"),
    };
    let value = |value: &Option<String>| {
        let text = clip(value.as_deref().unwrap_or(absent), VALUE_COLUMNS);
        if text.is_empty() { "none".to_owned() } else { text }
    };
    let (own, base) = (value(own), value(base));
    let name = clip(&name, NAME_COLUMNS);
    (own != base).then(|| format!("{name} {own} against {base}"))
}
