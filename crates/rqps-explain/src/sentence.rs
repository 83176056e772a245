//! A cause in a sentence with the numbers that carry it: `0.68: server CPU per query 1.53x (+31 µs of
//! +34 µs), IO unchanged: new CPU overhead`.

use rqps_model::Metric;

use crate::cause::{Cause, Kind};
use crate::evidence::Moves;
use crate::finding::Finding;
use crate::number::{digits, percent, signed_us, times, us_text};
use crate::part::{TimePart, others_in_user_mode};
use crate::quantity::Quantity;
use crate::question::Question;
use crate::split::{Change, Split};

/// Storage traffic below this many KB per operation, and changes below it, are nothing.
const NO_KB: f64 = 0.02;

/// How far storage traffic per operation may differ and count as unchanged.
const UNCHANGED: f64 = 0.1;

/// A part that makes up less of the change is not told where no single one explains it.
const WORTH_TELLING: f64 = 0.1;

/// The cause with its sentence.
pub(crate) fn cause(question: &Question<'_>, finding: &Finding) -> Cause {
    let split = question.split;
    let change_us = split.and_then(|split| changed(split, &finding.parts));
    let told = split.map_or_else(Vec::new, |split| numbers(question, split, finding));
    let mut sentence = format!("{:.2}: ", question.rqps.point);
    if !told.is_empty() {
        sentence.push_str(&told.join(", "));
        sentence.push_str(": ");
    }
    sentence.push_str(finding.kind.words(question.verdict));
    if let Some(why) = finding.why {
        sentence.push_str(&format!(": {why}"));
    }
    let cpu = split.and_then(|split| server_cpu(split, &finding.parts));
    Cause {
        kind: finding.kind,
        direction: question.verdict,
        parts: finding.parts.clone(),
        share: finding.share,
        barred: finding.why.filter(|_| split.is_none()),
        sentence,
        times: cpu.and_then(Change::times),
        is_of_serving: split.is_some_and(|split| is_of_serving(split, &finding.parts)),
        change_us: change_us.filter(|_| !finding.parts.is_empty()),
        is_io_unchanged: split.and_then(io_is_unchanged),
    }
}

/// The change of some parts together, microseconds.
fn changed(split: &Split, parts: &[TimePart]) -> Option<f64> {
    parts.iter().map(|part| Some(split.part(*part)?.difference.point)).sum()
}

/// The numbers that carry a finding.
fn numbers(question: &Question<'_>, split: &Split, finding: &Finding) -> Vec<String> {
    let op = question.operation;
    let whole_us = own_change(question, split);
    let of = |parts: &[TimePart]| {
        let part = changed(split, parts).unwrap_or(0.0);
        format!("{} of {}", signed_us(part), signed_us(whole_us))
    };
    let server =
        || format!("{} {}", server_words(split, &finding.parts), cpu_times(split, finding));
    let mut out = Vec::new();
    match finding.kind {
        Kind::CpuOverhead | Kind::MoreWork => {
            out.extend(finding.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            let what = cpu_words(split, &finding.parts);
            out.push(format!(
                "{what} per {op} {} ({})",
                cpu_times(split, finding),
                of(&finding.parts)
            ));
            out.extend(io(split, op));
        }
        Kind::PlanChange => {
            out.extend(question.evidence.plans.iter().take(1).cloned());
            out.extend(finding.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            let what = server_words(split, &finding.parts);
            out.push(format!("{what} per {op} {}", cpu_times(split, finding)));
            out.push(format!("{} in all", signed_us(split.total.difference.point)));
        }
        Kind::Waiting => {
            out.push(format!("waiting {} per {op}", of(&finding.parts)));
            out.push(server());
            out.extend(io(split, op));
            out.extend(finding.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            out.extend(question.evidence.off_cpu.clone());
        }
        Kind::StorageReads | Kind::StorageWrites => {
            out.extend(finding.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            out.extend(of_storage(split, finding, whole_us, op));
            out.push(server());
        }
        Kind::BackgroundWork => {
            out.extend(finding.quantities.iter().filter_map(|q| amounts(split, *q, op)));
            let what = match finding.parts.contains(&TimePart::Background) {
                true if split.others_beside => "CPU of the server's threads that serve others",
                true => "CPU of the server's threads that serve no client",
                false => "waiting",
            };
            out.push(format!("{what} {} per {op}", of(&finding.parts)));
        }
        Kind::HostLimited | Kind::ClientLimited if finding.parts.contains(&TimePart::Taken) => {
            out.extend(of_taken(question, split, finding, whole_us));
        }
        Kind::HostLimited | Kind::ClientLimited => {
            out.push(format!("client CPU {} per {op}", of(&finding.parts)));
            out.push(server());
        }
        Kind::Several | Kind::NotExplained => out.extend(largest_parts(split, op)),
    }
    let taken = split.part(TimePart::Taken).map_or(0.0, |change| change.difference.point);
    if question.sides.is_interleaved
        && finding.why.is_none()
        && taken.abs() >= WORTH_TELLING * whole_us.abs()
    {
        out.push(format!("without {} of CPU that others took", signed_us(taken)));
    }
    out.extend(hints(question, finding.kind));
    out
}

/// CPU that others took, and who waited for it.
fn of_taken(
    question: &Question<'_>,
    split: &Split,
    finding: &Finding,
    whole_us: f64,
) -> Vec<String> {
    let shares = question.sides.means(&split.weights, others_in_user_mode);
    let shares = shares.map(|(base, candidate)| {
        let (own, other) = (percent(candidate), percent(base));
        format!("other processes had {own} of the host's CPUs, {other} in the base's slices")
    });
    let who = if finding.kind == Kind::ClientLimited { "client threads" } else { "threads" };
    let waited = signed_us(changed(split, &finding.parts).unwrap_or(0.0));
    let (whole, op) = (signed_us(whole_us), question.operation);
    let waited = format!("{who} waited {waited} of {whole} per {op} for a CPU");
    shares.into_iter().chain([waited]).collect()
}

/// The waiting for storage, with the CPU that the kernel needs for it; or that CPU alone.
fn of_storage(split: &Split, finding: &Finding, whole_us: f64, op: &str) -> Vec<String> {
    let kernel = split.quantity(Quantity::Metric(Metric::ServerCpuSystem));
    // Of the whole server, and so of the others beside as well.
    let kernel = kernel.filter(|_| !split.others_beside);
    let kernel_us = kernel.map_or(0.0, |change| change.difference.point);
    let (kernel, whole) = (signed_us(kernel_us), signed_us(whole_us));
    if finding.parts.contains(&TimePart::Server) {
        return vec![format!("server CPU in the kernel {kernel} of {whole} per {op}")];
    }
    let waiting = signed_us(changed(split, &finding.parts).unwrap_or(0.0));
    let is_told = kernel_us.abs() >= WORTH_TELLING * whole_us.abs();
    let kernel = is_told.then(|| format!("server CPU in the kernel {kernel}"));
    [format!("waiting {waiting} of {whole} per {op}")].into_iter().chain(kernel).collect()
}

/// The change of the time per operation that is explained: for interleaved systems without the CPU that
/// others took.
fn own_change(question: &Question<'_>, split: &Split) -> f64 {
    let sides = question.sides;
    let own = Change::of(sides, &split.weights, |slice| split.own_us(sides, slice));
    own.map_or(split.total.difference.point, |change| change.difference.point)
}

/// Whose CPU is told of the server: not all of it where others work beside.
fn server_words(split: &Split, parts: &[TimePart]) -> &'static str {
    match split.others_beside {
        true => "CPU of the threads that serve these clients",
        false if is_told_apart(split, parts) => "CPU of the threads that serve clients",
        false => "server CPU",
    }
}

/// Whether the CPU of all threads is another matter than that of those that serve clients, which is what a
/// finding of these parts is about: background work that became less can hide that it became more.
fn is_told_apart(split: &Split, parts: &[TimePart]) -> bool {
    let all = split.quantity(Quantity::Metric(Metric::ServerCpu)).and_then(Change::times);
    let serving = split.part(TimePart::Server).and_then(Change::times);
    let is_about = parts.contains(&TimePart::Server) && !parts.contains(&TimePart::Background);
    let differs = |(all, serving): (f64, f64)| {
        let is_other_way = (all - 1.0) * (serving - 1.0) < 0.0;
        let hides_it =
            (all - 1.0).abs() < UNCHANGED / 2.0 && (serving - 1.0).abs() > UNCHANGED / 2.0;
        (all / serving - 1.0).abs() > UNCHANGED || is_other_way || hides_it
    };
    is_about && all.zip(serving).is_some_and(differs)
}

/// `server CPU`, or what else is in it.
fn cpu_words(split: &Split, parts: &[TimePart]) -> &'static str {
    match (parts.contains(&TimePart::Client), parts.contains(&TimePart::Background)) {
        (false, _) => server_words(split, parts),
        (true, false) => "server and client CPU",
        (true, true) => "CPU of server, its background and client",
    }
}

/// Whether the sentence has the CPU of the threads that serve the measured clients. Else it has that of the whole
/// server, as the reports' tables do.
fn is_of_serving(split: &Split, parts: &[TimePart]) -> bool {
    split.others_beside || is_told_apart(split, parts)
}

/// The server's CPU per operation; of the threads that serve the measured clients, where others work
/// beside them, and where those are told apart.
fn server_cpu<'a>(split: &'a Split, parts: &[TimePart]) -> Option<&'a Change> {
    if is_of_serving(split, parts) {
        return split.part(TimePart::Server);
    }
    split.quantity(Quantity::Metric(Metric::ServerCpu))
}

/// How many times the CPU of the parts named is the base's; of the server alone by its own clock.
fn cpu_times(split: &Split, finding: &Finding) -> String {
    let own = server_cpu(split, &finding.parts).and_then(Change::times);
    let is_both =
        finding.parts.contains(&TimePart::Client) && finding.parts.contains(&TimePart::Server);
    let sum = |side: fn(&Change) -> f64| -> f64 {
        finding.parts.iter().filter_map(|part| split.part(*part)).map(side).sum()
    };
    let (base, candidate) = (sum(|c| c.base), sum(|c| c.candidate));
    let is_cause = matches!(finding.kind, Kind::CpuOverhead | Kind::MoreWork);
    let ratio = if is_both && base > 0.0 { Some(candidate / base) } else { own };
    match ratio {
        // Where it is the cause, it has changed.
        Some(ratio) if !is_cause && (ratio - 1.0).abs() < UNCHANGED / 2.0 => "unchanged".to_owned(),
        Some(ratio) => times(ratio),
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

/// Storage traffic: `IO unchanged`, or what changed of it beyond chance; nothing where it was not
/// measured, or where chance can make the change and it is too large to be called none.
fn io(split: &Split, op: &str) -> Option<String> {
    let is_unchanged = io_is_unchanged(split)?;
    if is_unchanged {
        return Some("IO unchanged".to_owned());
    }
    let is_told = |change: &Change| !is_same(change) && (change.has_grown() || change.has_shrunk());
    let told = traffic(split).into_iter().filter(|(_, change)| is_told(change));
    let words: Vec<String> = told.filter_map(|(q, _)| amounts(split, q, op)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Whether neither reads nor writes changed; `None` where they were not measured.
fn io_is_unchanged(split: &Split) -> Option<bool> {
    let all = traffic(split);
    (!all.is_empty()).then(|| all.iter().all(|(_, change)| is_same(change)))
}

/// What was read and written per operation; nothing where others beside had a part in it.
fn traffic(split: &Split) -> Vec<(Quantity, Change)> {
    if split.others_beside {
        return Vec::new();
    }
    let device = [Quantity::Metric(Metric::ReadKb), Quantity::Metric(Metric::WrittenKb)];
    let own = [Quantity::ServerReadKb, Quantity::ServerWrittenKb];
    let known = |of: [Quantity; 2]| -> Vec<(Quantity, Change)> {
        of.into_iter().filter_map(|q| Some((q, *split.quantity(q)?))).collect()
    };
    let found = known(device);
    if found.is_empty() { known(own) } else { found }
}

/// Whether it is as it was. A change that may be chance is not: it may as well be none.
fn is_same(change: &Change) -> bool {
    let is_nothing = change.base < NO_KB && change.candidate < NO_KB;
    let is_small = change.difference.point.abs() < NO_KB;
    let is_alike = change.times().is_some_and(|times| (times - 1.0).abs() <= UNCHANGED);
    is_nothing || is_small || is_alike
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
        told.map(|(part, us)| format!("{} {}", part.words(), signed_us(*us))).collect();
    let (change, base) = (signed_us(total.difference.point), us_text(total.base));
    let mut out = vec![format!("{change} to {base} per {op}")];
    out.extend((!told.is_empty()).then(|| told.join(", ")));
    out
}

/// Severe differences in settings that can move what the cause is about.
fn hints(question: &Question<'_>, kind: Kind) -> Option<String> {
    let can_move = |moves: Moves| match kind {
        Kind::CpuOverhead | Kind::MoreWork | Kind::ClientLimited => {
            matches!(moves, Moves::Cpu | Moves::All)
        }
        Kind::StorageReads => matches!(moves, Moves::Reads | Moves::All),
        Kind::StorageWrites | Kind::Waiting | Kind::BackgroundWork => {
            matches!(moves, Moves::Writes | Moves::All)
        }
        Kind::PlanChange | Kind::Several | Kind::NotExplained => true,
        Kind::HostLimited => false,
    };
    let told: Vec<&str> = question
        .evidence
        .audit
        .iter()
        .filter(|hint| can_move(hint.moves))
        .map(|hint| hint.text.as_str())
        .collect();
    (!told.is_empty()).then(|| format!("with {}", told.join(" and ")))
}
