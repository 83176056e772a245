//! Looks at a run: what it tells of itself, and what it has stored since.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rqps_analysis::Bar;
use rqps_analysis::under_way::UnderWay;
use rqps_model::{Block, Estimate, RunStatus, StepKind, StepOutcome};
use rqps_store::outline::{Outline, OutlineStep};
use rqps_store::unix_ms;
use rqps_store::{Error, Live, RunRef, Store};

/// How often what is stored is read although the run tells of nothing new.
const READ_EVERY: Duration = Duration::from_secs(5);

/// Steps that are over whose results are computed at one look.
const MOST_RESULTS: usize = 8;

/// What is seen of a run at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// The run without its slices.
    pub(crate) outline: Outline,
    /// Whether a process works on it.
    pub(crate) is_held: bool,
    /// What that tells.
    pub(crate) live: Option<Live>,
    /// When this is, milliseconds since 1970.
    pub(crate) now_unix_ms: i64,
    /// The step that is shown in detail: the one under way, else the last that has blocks.
    pub(crate) step_idx: Option<usize>,
    /// Its blocks, for each system.
    pub(crate) blocks: Vec<Vec<Block>>,
    /// What came out of the steps that are over, by step and system.
    pub(crate) results: Arc<Results>,
}

/// What came out of steps that are over, by step: of each system.
pub(crate) type Results = BTreeMap<usize, Vec<CellResult>>;

/// What came out of a step on a system, on one start of the servers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct CellResult {
    /// Operations over time.
    pub(crate) mean: Option<f64>,
    /// Relative to the base; none for the base itself.
    pub(crate) rqps: Option<Estimate>,
    /// What keeps it from a verdict.
    pub(crate) bar: Option<Bar>,
}

impl Seen {
    /// Whether nothing more will come of it: it has ended, or was ended.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_held
    }

    /// What is measured of the step, all systems together, milliseconds.
    pub(crate) fn measured_ms(&self) -> u64 {
        self.blocks.iter().flatten().map(|block| block.duration_ns / 1_000_000).sum()
    }

    /// The step on a system beside the base, as its ratio rests on it; `None` for the base itself, where
    /// the step has failed on either, and for steps that only warm caches, which no report has.
    pub(crate) fn beside_base(&self, system_idx: usize) -> Option<UnderWay<'_>> {
        beside_base(&self.outline, self.step()?, &self.blocks, system_idx)
    }

    /// The step that is shown in detail.
    pub(crate) fn step(&self) -> Option<&OutlineStep> {
        self.outline.steps.get(self.step_idx?)
    }

    /// Its blocks on a system.
    pub(crate) fn blocks_of(&self, system_idx: usize) -> &[Block] {
        self.blocks.get(system_idx).map(Vec::as_slice).unwrap_or_default()
    }
}

/// A step on a system beside the base; `None` as [`Seen::beside_base`] says.
fn beside_base<'a>(
    outline: &Outline,
    step: &'a OutlineStep,
    blocks: &'a [Vec<Block>],
    system_idx: usize,
) -> Option<UnderWay<'a>> {
    let base_idx = outline.brief.base;
    let has_failed =
        |idx: usize| matches!(step.outcomes.get(idx), Some(StepOutcome::Failed { .. }));
    if step.info.kind == StepKind::WarmUp {
        return None;
    }
    if system_idx == base_idx || has_failed(base_idx) || has_failed(system_idx) {
        return None;
    }
    let blocks_of = |idx: usize| blocks.get(idx).map(Vec::as_slice).unwrap_or_default();
    Some(UnderWay {
        info: &step.info,
        is_interleaved: outline.schedule.is_interleaved(),
        base: blocks_of(base_idx),
        candidate: blocks_of(system_idx),
    })
}

/// Operations over time.
pub(crate) fn mean(blocks: &[Block]) -> Option<f64> {
    let ns: f64 = blocks.iter().map(|block| block.duration_ns as f64).sum();
    let n: f64 = blocks.iter().map(|block| block.figure() * block.duration_ns as f64).sum();
    (ns > 0.0).then(|| n / ns)
}

/// Follows one run.
#[derive(Debug)]
pub(crate) struct Watcher {
    results_dir: PathBuf,
    run_id: String,
    store: Option<Store>,
    known: Option<LastRead>,
    results: Arc<Results>,
}

/// What was read of the store, and what it goes with.
#[derive(Debug)]
struct LastRead {
    outline: Outline,
    step_idx: Option<usize>,
    blocks: Vec<Vec<Block>>,
    /// What the run told of step and block then, and whether it was held.
    at: (Option<(usize, Option<u32>, u64)>, bool),
    read: Instant,
}

impl Watcher {
    pub(crate) fn new(results_dir: PathBuf, run_id: String) -> Self {
        Self { results_dir, run_id, store: None, known: None, results: Arc::default() }
    }

    /// Looks once.
    pub(crate) fn look(&mut self) -> Result<Seen, Error> {
        let store = match self.store.take() {
            Some(store) => store,
            None => Store::open_existing(&self.results_dir)?,
        };
        // In this order: what is told after the run ended would be of nobody.
        let live = store.read_live(&self.run_id)?;
        let is_held = store.is_held(&self.run_id)?;
        let live = live.filter(|_| is_held);
        let step = live.as_ref().and_then(|live| live.step.as_ref());
        let n_done = live.as_ref().map_or(0, |live| live.n_done);
        let at = (step.map(|step| (step.step_idx, step.block, n_done)), is_held);
        let known = self.known.take();
        let known = known.filter(|known| known.at == at && known.read.elapsed() < READ_EVERY);
        let known = match known {
            Some(known) => known,
            None => self.read(&store, at)?,
        };
        self.look_at_results(&store, &known.outline)?;
        let seen = Seen {
            outline: known.outline.clone(),
            is_held,
            live,
            now_unix_ms: unix_ms(),
            step_idx: known.step_idx,
            blocks: known.blocks.clone(),
            results: Arc::clone(&self.results),
        };
        (self.known, self.store) = (Some(known), Some(store));
        Ok(seen)
    }

    /// Adds what came out of steps that are over since; a few at a time, as this may be the host that measures.
    fn look_at_results(&mut self, store: &Store, outline: &Outline) -> Result<(), Error> {
        let is_over = |step: &OutlineStep| {
            step.outcomes.iter().all(|outcome| *outcome != StepOutcome::Pending)
        };
        let steps = outline.steps.iter().enumerate();
        let new: Vec<(usize, &OutlineStep)> = steps
            .filter(|(idx, step)| is_over(step) && !self.results.contains_key(idx))
            .take(MOST_RESULTS)
            .collect();
        for (step_idx, step) in new {
            let n_systems = outline.brief.systems.len();
            let blocks = store.select_blocks(&self.run_id, step_idx, n_systems)?;
            let result = |idx: usize| {
                let under_way = beside_base(outline, step, &blocks, idx);
                let rqps = under_way.and_then(|under_way| under_way.ratio());
                CellResult {
                    mean: mean(&blocks[idx]),
                    rqps,
                    bar: under_way.and_then(|it| it.bar()),
                }
            };
            let cells = (0..n_systems).map(result).collect();
            Arc::make_mut(&mut self.results).insert(step_idx, cells);
        }
        Ok(())
    }

    fn read(
        &self,
        store: &Store,
        at: (Option<(usize, Option<u32>, u64)>, bool),
    ) -> Result<LastRead, Error> {
        let outline = store.select_outline(&RunRef::Id(self.run_id.clone()))?;
        let has_blocks = |n: &Vec<u64>| n.iter().any(|&n| n > 0);
        let last = || outline.steps.iter().rposition(|step| has_blocks(&step.n_slices));
        let step_idx = at.0.map(|(step_idx, ..)| step_idx).or_else(last);
        let step_idx = step_idx.filter(|&idx| idx < outline.steps.len());
        let n_systems = outline.brief.systems.len();
        let blocks = match step_idx {
            Some(step_idx) => store.select_blocks(&self.run_id, step_idx, n_systems)?,
            None => vec![Vec::new(); n_systems],
        };
        Ok(LastRead { outline, step_idx, blocks, at, read: Instant::now() })
    }
}

/// How a run that is over stands, in words.
pub(crate) fn end_of(outline: &Outline) -> &'static str {
    match outline.brief.status {
        RunStatus::Finished => "finished",
        RunStatus::Interrupted => "was interrupted",
        RunStatus::Failed => "failed",
        // Killed, or the host went down.
        RunStatus::Running => "ended unexpectedly",
    }
}

/// How many steps on systems have an outcome.
pub(crate) fn n_ended(outline: &Outline) -> u64 {
    let outcomes = outline.steps.iter().flat_map(|step| &step.outcomes);
    outcomes.filter(|outcome| **outcome != StepOutcome::Pending).count() as u64
}
