//! The fields of the JSON report about stacks. The stacks themselves are files of the run.

use rqps_stacks::Counter;
use rqps_stacks::function::{Change, FunctionChange, FunctionTime};
use rqps_stacks::profile::{CpuSampling, NotHad, WaitSampling};
use serde::Serialize;

use crate::stacks::{TOP, Table, place};
use rqps_analysis::{Analysis, PairStacks, StepStacks};

/// One step.
#[derive(Serialize)]
pub(super) struct StacksJson<'a> {
    step: &'a str,
    clients: u32,
    systems: Vec<SystemJson<'a>>,
    candidates: Vec<PairJson<'a>>,
    waits: Vec<WaitJson<'a>>,
}

#[derive(Serialize)]
struct SystemJson<'a> {
    system: &'a str,
    duration_s: f64,
    operations: u64,
    server_cpu_us: Option<f64>,
    sampled_us: Option<f64>,
    cpu: Option<&'a CpuSampling>,
    threads: Option<&'a WaitSampling>,
    counters: &'a [Counter],
    missing: &'a [NotHad],
    functions: Vec<TimeJson<'a>>,
}

#[derive(Serialize)]
struct TimeJson<'a> {
    function: &'a str,
    own_us: f64,
    all_us: f64,
    own_half_width_us: f64,
}

#[derive(Serialize)]
struct PairJson<'a> {
    system: &'a str,
    total: ChangeJson,
    grown_own: Vec<FunctionJson<'a>>,
    grown_all: Vec<FunctionJson<'a>>,
    new: Vec<FunctionJson<'a>>,
    vanished: Vec<FunctionJson<'a>>,
    shrunk_own: Vec<FunctionJson<'a>>,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    function: &'a str,
    /// `new`, `vanished`, or empty.
    presence: &'static str,
    own: ChangeJson,
    all: ChangeJson,
}

#[derive(Serialize)]
struct ChangeJson {
    base_us: f64,
    candidate_us: f64,
    difference_us: f64,
    half_width_us: f64,
}

#[derive(Serialize)]
struct WaitJson<'a> {
    kind: &'a str,
    place: String,
    us: &'a [Option<f64>],
    threads: &'a [Option<f64>],
}

/// All steps with stacks.
pub(super) fn all<'a>(analysis: &'a Analysis<'_>) -> Vec<StacksJson<'a>> {
    analysis.stacks.iter().filter_map(|stacks| of_step(analysis, stacks)).collect()
}

fn of_step<'a>(analysis: &'a Analysis<'_>, stacks: &'a StepStacks<'_>) -> Option<StacksJson<'a>> {
    let step = &analysis.steps.get(stacks.step_at)?.step;
    Some(StacksJson {
        step: &step.info.name,
        clients: step.clients,
        systems: (0..stacks.profiles.len())
            .filter_map(|idx| system(analysis, stacks, idx))
            .collect(),
        candidates: stacks.pairs.iter().map(|pair| candidate(analysis, pair)).collect(),
        waits: stacks
            .waits
            .iter()
            .map(|w| WaitJson {
                kind: &w.kind,
                place: place(&w.place),
                us: &w.us,
                threads: &w.threads,
            })
            .collect(),
    })
}

fn system<'a>(
    analysis: &'a Analysis<'_>,
    stacks: &'a StepStacks<'_>,
    idx: usize,
) -> Option<SystemJson<'a>> {
    let profile = stacks.profiles.get(idx).copied().flatten()?;
    let time = |t: &'a FunctionTime| TimeJson {
        function: &t.name,
        own_us: t.own_us,
        all_us: t.all_us,
        own_half_width_us: t.own_half_width_us,
    };
    Some(SystemJson {
        system: analysis.label(idx),
        duration_s: profile.facts.duration_ns as f64 / 1e9,
        operations: profile.facts.n_operations,
        server_cpu_us: profile.clock_us(),
        sampled_us: profile.sampled_us(),
        cpu: profile.facts.cpu.as_ref(),
        threads: profile.facts.waits.as_ref(),
        counters: &profile.facts.counters,
        missing: &profile.facts.missing,
        functions: stacks.times[idx].iter().take(TOP).map(time).collect(),
    })
}

fn candidate<'a>(analysis: &'a Analysis<'_>, pair: &'a PairStacks) -> PairJson<'a> {
    let table = |table: Table| {
        let functions = table.functions(pair).into_iter();
        functions
            .map(|f: &FunctionChange| FunctionJson {
                function: &f.name,
                presence: f.presence.word(),
                own: change(&f.own),
                all: change(&f.all),
            })
            .collect()
    };
    PairJson {
        system: analysis.label(pair.system_idx),
        total: change(&pair.total),
        grown_own: table(Table::GrownOwn),
        grown_all: table(Table::GrownAll),
        new: table(Table::New),
        vanished: table(Table::Vanished),
        shrunk_own: table(Table::ShrunkOwn),
    }
}

fn change(change: &Change) -> ChangeJson {
    ChangeJson {
        base_us: change.base_us,
        candidate_us: change.candidate_us,
        difference_us: change.difference_us(),
        half_width_us: change.half_width_us,
    }
}
