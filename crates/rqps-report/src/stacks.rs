//! Tables and sentences about stack profiles, the same in every format.

use rqps_model::{StepKind, StepOutcome};
use rqps_stacks::counter_text::{instructions_per_cycle, value_of};
use rqps_stacks::function::{By, FunctionChange, FunctionTime, Presence, grown_most, shrunk_most};
use rqps_stacks::profile::{COMPLETE_ENOUGH, NotHad};
use rqps_stacks::time::{signed_us, us};
use rqps_stacks::{StackProfile, ThreadPlace};

use crate::grid::{Grid, GridCell, Side, plain, toned};
use crate::tone::Tone;
use rqps_analysis::join::suite_of;
use rqps_analysis::stacks::{PairStacks, StepStacks};
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_text::number::{self, NOTHING, count};

/// Functions that a table lists.
pub(crate) const TOP: usize = 12;

/// Places that a table of threads lists for each kind.
const PLACES: usize = 6;

/// A place in which threads were for less than this share of the longest time is not listed.
const LEAST_PLACE: f64 = 0.01;

/// Samples that stand for less than this share of the server's CPU time are told to be few.
const FEW_SAMPLES: f64 = 0.85;

/// Share of the whole from which on a function is not listed by its inclusive time.
const TRUNK: f64 = 0.97;

/// The step that takes rows off tables and puts none back.
const DELETE: &str = "delete";

/// Frames without a name, from which on it is said.
const MANY_UNKNOWN: f64 = 0.2;

/// Which functions a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Functions whose own time grew most.
    GrownOwn,
    /// Functions of both sides whose inclusive time grew most.
    GrownAll,
    /// Functions of the candidate alone.
    New,
    /// Functions of the base alone.
    Vanished,
    /// Functions of both sides whose own time shrank most.
    ShrunkOwn,
}

impl Table {
    /// In the order of reports.
    pub const ALL: [Self; 5] =
        [Self::GrownOwn, Self::GrownAll, Self::New, Self::Vanished, Self::ShrunkOwn];

    /// Its title.
    #[must_use]
    pub fn title(self, operation: &str) -> String {
        match self {
            Self::GrownOwn => format!("functions whose own CPU per {operation} grew most"),
            Self::GrownAll => {
                format!("functions of both systems whose inclusive CPU per {operation} grew most")
            }
            Self::New => format!("new functions, by inclusive CPU per {operation}"),
            Self::Vanished => {
                format!("vanished functions, by inclusive CPU per {operation}")
            }
            Self::ShrunkOwn => {
                format!("functions of both systems whose own CPU per {operation} shrank most")
            }
        }
    }

    /// Its functions, the largest difference first.
    pub(crate) fn functions(self, pair: &PairStacks) -> Vec<&FunctionChange> {
        let n = pair.changes.len();
        let found = match self {
            Self::GrownOwn => grown_most(&pair.changes, By::Own, TOP),
            Self::GrownAll | Self::New => grown_most(&pair.changes, By::All, n),
            Self::Vanished => shrunk_most(&pair.changes, By::All, n),
            Self::ShrunkOwn => shrunk_most(&pair.changes, By::Own, n),
        };
        let is_meant = |function: &&FunctionChange| match self {
            Self::GrownOwn => true,
            Self::GrownAll => function.presence == Presence::Both && !is_trunk(function, pair),
            Self::New => function.presence == Presence::New,
            Self::Vanished => function.presence == Presence::Vanished,
            Self::ShrunkOwn => function.presence == Presence::Both,
        };
        let most = if matches!(self, Self::GrownOwn | Self::GrownAll) { TOP } else { TOP / 2 };
        found.into_iter().filter(is_meant).take(most).collect()
    }

    /// Whether it shows times with all that functions call.
    fn is_inclusive(self) -> bool {
        matches!(self, Self::GrownAll | Self::New | Self::Vanished)
    }
}

/// Whether a function holds all there is on both sides, as those do that begin every stack: what it
/// gained says no more than the whole.
fn is_trunk(function: &FunctionChange, pair: &PairStacks) -> bool {
    let holds = |own: f64, total: f64| own >= TRUNK * total;
    holds(function.all.base_us, pair.total.base_us)
        && holds(function.all.candidate_us, pair.total.candidate_us)
}

/// Functions of a candidate beside the base's, µs per operation.
#[must_use]
pub fn functions(analysis: &Analysis<'_>, pair: &PairStacks, table: Table) -> Option<Grid> {
    let found = table.functions(pair);
    if found.is_empty() {
        return None;
    }
    let (base, candidate) =
        (analysis.short_label(analysis.base), analysis.short_label(pair.system_idx));
    let mut grid = Grid::new(&[
        (base, Side::Point),
        (candidate, Side::Point),
        ("differs", Side::Point),
        ("±", Side::Point),
        ("", Side::Left),
        ("function", Side::Left),
    ]);
    for function in found {
        let change = if table.is_inclusive() { function.all } else { function.own };
        let tone = if change.difference_us() > 0.0 { Tone::Lower } else { Tone::Higher };
        grid.row(vec![
            plain(us(change.base_us)),
            plain(us(change.candidate_us)),
            toned(signed_us(change.difference_us()), tone),
            plain(us(change.half_width_us)),
            plain(function.presence.word()),
            plain(&function.name),
        ]);
    }
    Some(grid)
}

/// The functions of one system, by their own time, µs per operation.
#[must_use]
pub fn times(times: &[FunctionTime]) -> Option<Grid> {
    if times.is_empty() {
        return None;
    }
    let mut grid = Grid::new(&[
        ("own", Side::Point),
        ("±", Side::Point),
        ("with callees", Side::Point),
        ("function", Side::Left),
    ]);
    for time in times.iter().filter(|time| time.own_us > 0.0).take(TOP) {
        grid.row(vec![
            plain(us(time.own_us)),
            plain(us(time.own_half_width_us)),
            plain(us(time.all_us)),
            plain(&time.name),
        ]);
    }
    Some(grid)
}

/// Where threads were, µs per operation and, in brackets, threads on average.
#[must_use]
pub fn waits(analysis: &Analysis<'_>, stacks: &StepStacks<'_>) -> Option<Grid> {
    if stacks.waits.is_empty() {
        return None;
    }
    let names: Vec<&str> =
        (0..analysis.run.systems.len()).map(|idx| analysis.short_label(idx)).collect();
    let mut heads: Vec<(&str, Side)> = Vec::new();
    for name in &names {
        heads.extend([(*name, Side::Point), ("threads", Side::Point)]);
    }
    heads.push(("where they were", Side::Left));
    let mut grid = Grid::new(&heads);
    let mut kinds: Vec<&str> = stacks.waits.iter().map(|wait| wait.kind.as_str()).collect();
    kinds.dedup();
    for kind in kinds {
        let of_kind = || stacks.waits.iter().filter(|wait| wait.kind == kind);
        let longest = |us: &[Option<f64>]| us.iter().flatten().copied().fold(0.0, f64::max);
        let most = of_kind().map(|wait| longest(&wait.us)).fold(0.0, f64::max);
        for wait in of_kind().filter(|w| longest(&w.us) >= most * LEAST_PLACE).take(PLACES) {
            let mut row: Vec<GridCell> = Vec::new();
            for (time, threads) in wait.us.iter().zip(&wait.threads) {
                row.push(plain(time.map_or_else(|| NOTHING.to_owned(), us)));
                row.push(plain(threads.map_or_else(|| NOTHING.to_owned(), |n| format!("{n:.2}"))));
            }
            row.push(plain(format!("{kind}, {}", place(&wait.place))));
            grid.row(row);
        }
    }
    Some(grid)
}

/// Events of the CPU per operation, where it counts any.
#[must_use]
pub fn counters(analysis: &Analysis<'_>, stacks: &StepStacks<'_>) -> Option<Grid> {
    let profiles = || stacks.profiles.iter().flatten();
    let events: Vec<&str> = rqps_stacks::counter_text::EVENTS
        .into_iter()
        .filter(|event| profiles().any(|p| value_of(&p.facts.counters, event).is_some()))
        .collect();
    if events.is_empty() {
        return None;
    }
    let mut heads = vec![("IPC", Side::Right)];
    heads.extend(events.iter().map(|event| (*event, Side::Right)));
    heads.push(("system", Side::Left));
    let mut grid = Grid::new(&heads);
    for (idx, profile) in stacks.profiles.iter().enumerate() {
        let Some(profile) = profile else { continue };
        let (counters, n) = (&profile.facts.counters, profile.facts.n_operations);
        let ipc = instructions_per_cycle(counters);
        let mut row = vec![plain(ipc.map_or_else(|| NOTHING.to_owned(), |v| format!("{v:.2}")))];
        row.extend(events.iter().map(|event| {
            let value = value_of(counters, event).filter(|_| n > 0).map(|v| v / n as f64);
            plain(value.map_or_else(|| NOTHING.to_owned(), number::per_operation))
        }));
        row.push(plain(analysis.short_label(idx)));
        grid.row(row);
    }
    Some(grid)
}

/// What was recorded of a step and how well, in sentences; what was not recorded, with its remedy.
#[must_use]
pub fn notes(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    stacks: &StepStacks<'_>,
) -> Vec<String> {
    let operation = step.step.info.figure.operation();
    let mut notes: Vec<String> =
        stacks.unlike.iter().map(|unlike| not_compared(analysis, *unlike)).collect();
    for (idx, profile) in stacks.profiles.iter().enumerate() {
        let Some(profile) = profile else { continue };
        if let Some(sentence) = quality(profile, operation) {
            notes.push(format!("{}: {sentence}", analysis.label(idx)));
        }
        if let Some(measured) = step.cells.get(idx).and_then(|cell| {
            cell.per_operation(rqps_model::Metric::ServerCpu).filter(|us| *us > 0.0)
        }) && let Some(clock) = profile.clock_us()
        {
            notes.push(format!(
                "{}: {} µs of server CPU per {operation} in the extra slices, {} in the measured \
                 slices, without the profiler",
                analysis.label(idx),
                us(clock),
                us(measured)
            ));
        }
    }
    notes.extend(after_delete(analysis, step, stacks));
    // What every system lacks alike is said once.
    let mut told: Vec<(&NotHad, Vec<&str>)> = Vec::new();
    for (idx, profile) in stacks.profiles.iter().enumerate() {
        for missing in profile.iter().flat_map(|p| &p.facts.missing) {
            match told.iter_mut().find(|(other, _)| *other == missing) {
                Some((_, labels)) => labels.push(analysis.label(idx)),
                None => told.push((missing, vec![analysis.label(idx)])),
            }
        }
    }
    for (missing, labels) in told {
        let NotHad { what, reason, remedy } = missing;
        let of = if labels.len() == stacks.profiles.len() {
            String::new()
        } else {
            format!(" of {}", labels.join(", "))
        };
        let remedy = if remedy.is_empty() { String::new() } else { format!("; remedy: {remedy}") };
        notes.push(format!("not recorded{of}: {what} ({reason}{remedy})"));
    }
    notes
}

/// That statements of a step that writes may have met rows that were gone: it is recorded when the last step on
/// its tables has been measured, and for a set time the faster system deletes more of them.
fn after_delete(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    stacks: &StepStacks<'_>,
) -> Option<String> {
    // Other suites have tables of their own.
    let own = suite_of(&step.step.info.name);
    let is_recorded = stacks.profiles.iter().flatten().any(|profile| profile.facts.cpu.is_some());
    let is_write = step.step.info.kind == StepKind::Write && is_recorded;
    let deletes = analysis.run.steps.iter().any(|other| {
        let is_one = other.info.family == DELETE && suite_of(&other.info.name) == own;
        is_one && other.systems.iter().any(|system| system.outcome == StepOutcome::Done)
    });
    (is_write && deletes).then(|| {
        format!(
            "recorded after the step {DELETE}, which removed more rows on a faster system. Statements that \
             find no row cost less, so a difference may come from missing rows"
        )
    })
}

/// Why the functions of a candidate are not beside the base's.
fn not_compared(analysis: &Analysis<'_>, (idx, [base, candidate]): (usize, [f64; 2])) -> String {
    format!(
        "{} and {} are not compared by function: their samples cover {} and {} of the CPU time, and \
         missing samples look like a difference",
        analysis.base_label(),
        analysis.label(idx),
        number::percent(base),
        number::percent(candidate)
    )
}

/// How the stacks of one system were found and how far they can be trusted.
fn quality(profile: &StackProfile, operation: &str) -> Option<String> {
    let cpu = profile.facts.cpu.as_ref()?;
    let seconds = profile.facts.duration_ns as f64 / 1e9;
    let several = |n: u64, noun| count(usize::try_from(n).unwrap_or(usize::MAX), noun);
    let mut text = format!(
        "{} of {} in {seconds:.1} s, found by {}",
        several(cpu.n_samples, "sample"),
        several(profile.facts.n_operations, operation),
        cpu.unwind.words()
    );
    if let Some(share) = cpu.complete_share() {
        text.push_str(&format!("; {} of the stacks are complete", number::percent(share)));
        if share < COMPLETE_ENOUGH {
            text.push_str(" (the others are below [cut off]: do not trust inner frames)");
        }
    }
    text.push_str(&format!("; symbols: {}", cpu.symbols));
    if let Some(share) = cpu.unknown_share().filter(|share| *share >= MANY_UNKNOWN) {
        text.push_str(&format!("; {} of the frames have no name", number::percent(share)));
    }
    if let Some(share) = profile.sampled_share().filter(|share| *share < FEW_SAMPLES) {
        let share = number::percent(share);
        text.push_str(&format!("; the samples cover only {share} of the server's CPU time"));
    }
    let cost_ns = cpu.cost_ns + profile.facts.waits.as_ref().map_or(0, |waits| waits.cost_ns);
    let cost = cost_ns as f64 / profile.facts.duration_ns.max(1) as f64;
    text.push_str(&format!("; recording took {} of a CPU", number::percent(cost)));
    Some(text)
}

/// A place where threads were: `asleep: fsync, do_fsync … jbd2_wait`.
#[must_use]
pub fn place(place: &ThreadPlace) -> String {
    let ThreadPlace { state, system_call, outermost, innermost } = place;
    let call = system_call.iter().map(|call| format!(": {call}"));
    let functions = outermost.iter().map(|first| format!(", {first}"));
    let last = innermost.iter().map(|last| format!(" … {last}"));
    std::iter::once(state.clone()).chain(call).chain(functions).chain(last).collect()
}

/// The CPU of a pair in a sentence: its change, and how many functions are new and vanished.
#[must_use]
pub fn sentence(analysis: &Analysis<'_>, step: &StepAnalysis<'_>, pair: &PairStacks) -> String {
    let operation = step.step.info.figure.operation();
    // Beyond chance: of hundreds of functions that both have, some are seen on one side alone.
    let all = |find: fn(&[FunctionChange], By, usize) -> Vec<&FunctionChange>, of: Presence| {
        let found = find(&pair.changes, By::All, pair.changes.len());
        found.iter().filter(|change| change.presence == of).count()
    };
    let (new, gone) = (all(grown_most, Presence::New), all(shrunk_most, Presence::Vanished));
    format!(
        "{} against {}: {} → {} µs of CPU per {operation} ({} ± {}); {} new, {} vanished",
        analysis.label(pair.system_idx),
        analysis.base_label(),
        us(pair.total.base_us),
        us(pair.total.candidate_us),
        signed_us(pair.total.difference_us()),
        us(pair.total.half_width_us),
        count(new, "function"),
        gone
    )
}

/// The legend of all tables of stacks.
pub const LEGEND: &str = "Stacks were sampled in extra slices after the measured ones; no rate \
    includes them. ±: half the 95% interval, from the number of samples alone, without differences \
    between slices (n=1). new, vanished: not seen on the other side as a function of its own; a \
    compiler may have inlined it there.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_its_first_and_its_last_function() {
        let of = |text: &str| place(&ThreadPlace::of(&text.split(';').collect::<Vec<_>>()));
        assert_eq!(of("on a CPU"), "on a CPU");
        assert_eq!(of("asleep;futex"), "asleep: futex");
        assert_eq!(of("asleep;futex;futex_wait"), "asleep: futex, futex_wait");
        assert_eq!(
            of("asleep;fsync;do_fsync;ext4_sync;jbd2_wait"),
            "asleep: fsync, do_fsync … jbd2_wait"
        );
    }
}
