//! Looks at a run: what it tells of itself, and what it has stored since.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rqps_model::{Estimate, RunStatus, StepOutcome};
use rqps_store::outline::{Block, Outline};
use rqps_store::{Error, Live, RunRef, Store};

/// How often what is stored is read although the run tells of nothing new.
const READ_EVERY: Duration = Duration::from_secs(5);

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
    /// The step that is shown in detail: the one under way, else the last that has figures.
    pub(crate) step_idx: Option<usize>,
    /// Its figures, for each system.
    pub(crate) figures: Vec<Vec<Block>>,
}

impl Seen {
    /// Whether nothing more will come of it: it has ended, or was ended.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_held
    }

    /// What is measured of the step, all systems together, milliseconds.
    pub(crate) fn measured_ms(&self) -> u64 {
        self.figures.iter().flatten().map(|block| block.duration_ns / 1_000_000).sum()
    }

    /// How the ratio of a system to the base went from block to block; empty for the base itself.
    /// Blocks of systems that took turns are partners.
    pub(crate) fn ratios(&self, system_idx: usize) -> Vec<Estimate> {
        let base = self.outline.brief.base;
        let figures = |idx: usize| self.figures.get(idx).map(Vec::as_slice).unwrap_or_default();
        if system_idx == base {
            return Vec::new();
        }
        let is_paired = self.outline.schedule.is_interleaved();
        let (base, own) = (figures(base), figures(system_idx));
        if !is_paired {
            // One system comes after the other: the base's figures are all there before.
            let values = |blocks: &[Block]| blocks.iter().map(|b| b.figure).collect::<Vec<f64>>();
            let (base, own) = (values(base), values(own));
            return (1..=own.len()).filter_map(|n| rqps_stats::ratio(&base, &own[..n])).collect();
        }
        let partner = |block: &Block| base.iter().find(|b| b.idx == block.idx).map(|b| b.figure);
        let pairs = own.iter().filter_map(|block| Some((partner(block)?, block.figure)));
        let (base, own): (Vec<f64>, Vec<f64>) = pairs.unzip();
        (1..=own.len()).filter_map(|n| rqps_stats::paired_ratio(&base[..n], &own[..n])).collect()
    }
}

/// Follows one run.
#[derive(Debug)]
pub(crate) struct Watcher {
    results: PathBuf,
    run_id: String,
    store: Option<Store>,
    known: Option<Known>,
}

/// What was read of the store, and what it goes with.
#[derive(Debug)]
struct Known {
    outline: Outline,
    step_idx: Option<usize>,
    figures: Vec<Vec<Block>>,
    /// What the run told of step and block then, and whether it was held.
    at: (Option<(usize, Option<u32>, u64)>, bool),
    read: Instant,
}

impl Watcher {
    pub(crate) fn new(results: PathBuf, run_id: String) -> Self {
        Self { results, run_id, store: None, known: None }
    }

    /// Looks once.
    pub(crate) fn look(&mut self) -> Result<Seen, Error> {
        let store = match self.store.take() {
            Some(store) => store,
            None => Store::open_existing(&self.results)?,
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
        let seen = Seen {
            outline: known.outline.clone(),
            is_held,
            live,
            now_unix_ms: unix_ms(),
            step_idx: known.step_idx,
            figures: known.figures.clone(),
        };
        (self.known, self.store) = (Some(known), Some(store));
        Ok(seen)
    }

    fn read(
        &self,
        store: &Store,
        at: (Option<(usize, Option<u32>, u64)>, bool),
    ) -> Result<Known, Error> {
        let outline = store.select_outline(&RunRef::Id(self.run_id.clone()))?;
        let has_figures = |n: &Vec<u64>| n.iter().any(|&n| n > 0);
        let last = || outline.steps.iter().rposition(|step| has_figures(&step.n_slices));
        let step_idx = at.0.map(|(step_idx, ..)| step_idx).or_else(last);
        let step_idx = step_idx.filter(|&idx| idx < outline.steps.len());
        let n_systems = outline.brief.systems.len();
        let figures = match step_idx {
            Some(step_idx) => store.select_figures(&self.run_id, (step_idx, n_systems))?,
            None => vec![Vec::new(); n_systems],
        };
        Ok(Known { outline, step_idx, figures, at, read: Instant::now() })
    }
}

/// How a run that is over stands, in words.
pub(crate) fn end_of(outline: &Outline) -> &'static str {
    match outline.brief.status {
        RunStatus::Finished => "finished",
        RunStatus::Interrupted => "was interrupted",
        RunStatus::Failed => "failed",
        // Killed, or the host went down.
        RunStatus::Running => "ended without saying so",
    }
}

/// How many steps on systems have an outcome.
pub(crate) fn n_ended(outline: &Outline) -> u64 {
    let outcomes = outline.steps.iter().flat_map(|step| &step.outcomes);
    outcomes.filter(|outcome| **outcome != StepOutcome::Pending).count() as u64
}

fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
