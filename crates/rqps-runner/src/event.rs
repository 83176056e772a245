//! What a run tells while it goes: events for whoever shows progress. The runner itself prints nothing.

use std::time::Duration;

use rqps_model::{Label, WarningKind};

use crate::changes::ChangesLeft;

/// How many steps a run measures, on how many systems and starts of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunShape {
    /// Steps with each number of clients, load and warm-ups among them.
    pub n_steps: usize,
    /// Systems.
    pub n_systems: usize,
    /// Starts of the servers.
    pub n_starts: u32,
}

/// A block or slice of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nth {
    /// Its number from 0.
    pub idx: u32,
    /// How many the step has at most: one that is precise enough ends before.
    pub n: u32,
}

/// Something that happened, or progress.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A run began or was resumed.
    RunStarted {
        /// Its id.
        run: &'a str,
        /// What is measured.
        shape: RunShape,
        /// Steps of all systems and starts together: what is reported one by one.
        n_steps: usize,
        /// Of these, done by an earlier attempt.
        n_done: usize,
        /// How long the pending steps take, without starts and settling.
        expected: Duration,
    },
    /// A sentence that deserves its own line: where files are, what was decided.
    Note(&'a str),
    /// A warning that is kept with the run.
    Warning {
        /// Which system.
        label: &'a Label,
        /// What happened.
        kind: &'a WarningKind,
    },
    /// A server is being fetched.
    Fetching {
        /// What is fetched.
        what: &'a str,
        /// Bytes so far.
        bytes: u64,
        /// Bytes in all, where known; 0 otherwise.
        total_bytes: u64,
    },
    /// A server is being made ready.
    Preparing {
        /// Which system.
        label: &'a Label,
        /// `initialise and start`, `start on its data`, `settle`, `stop`.
        doing: &'static str,
    },
    /// Tables are being filled.
    Populating {
        /// Which system.
        label: &'a Label,
        /// Rows so far.
        rows: u64,
        /// Rows in all.
        total_rows: u64,
    },
    /// A step began.
    StepStarted {
        /// Which system.
        label: &'a Label,
        /// Which step.
        step: &'a str,
        /// With how many clients.
        clients: u32,
        /// Its place among all steps of all systems, from 0.
        idx: usize,
        /// Its place among the run's steps.
        step_idx: usize,
        /// The systems that it is measured on, by their places in the run.
        systems: &'a [usize],
        /// How long its warm-up and slices will take.
        expected: Duration,
        /// What follows it, for the display.
        next: Option<&'a str>,
        /// Whether that is a guess, as it does a fixed amount of work.
        is_guess: bool,
        /// Expected time of everything after it.
        left: Duration,
        /// The part of that which is a guess.
        left_guessed: Duration,
        /// Starts and stops of servers that are to come, whose time is not in it.
        changes_left: ChangesLeft,
    },
    /// A slice (or the warm-up) is under way.
    Measuring {
        /// Which system, by its place in the run; absent where the step has one.
        system: Option<usize>,
        /// `None` for the warm-up.
        slice: Option<Nth>,
        /// Time into it.
        elapsed: Duration,
        /// Queries per second so far.
        qps: f64,
    },
    /// A block of interleaved systems is under way.
    Interleaved {
        /// Which one.
        block: Nth,
        /// Rounds of it so far, the one under way included.
        n_rounds: u32,
        /// How fast each is.
        rates: &'a [Rate],
    },
    /// A step ended.
    StepEnded {
        /// Which system.
        label: &'a Label,
        /// Which step.
        step: &'a str,
        /// With how many clients.
        clients: u32,
        /// Mean rate over its slices; `None` when it failed.
        figure: Option<f64>,
        /// Unit of the rate.
        unit: &'static str,
        /// Why it failed, where it did.
        failure: Option<&'a str>,
    },
    /// The run ended and everything is stored.
    RunEnded {
        /// Its id.
        run: &'a str,
    },
}

/// Current rate of a system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The system, by its index in the run.
    pub system: usize,
    /// Measured time of the block so far.
    pub elapsed: Duration,
    /// Queries per second since the last event; for the Insert Benchmark, operations.
    pub per_s: f64,
}

/// Receives events.
pub type Listener<'a> = dyn FnMut(Event<'_>) + 'a;
