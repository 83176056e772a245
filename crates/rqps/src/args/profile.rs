//! What can be typed after `rqps profile`.

use std::path::PathBuf;

use clap::Args;

use super::{JudgingArgs, RunArgs};

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    /// Steps, by name or glob
    #[arg(value_name = "STEP", required = true)]
    pub(crate) steps: Vec<String>,

    /// Systems, the base first: DBMS@VERSION or DBMS@DIRECTORY
    #[arg(long, value_name = "SYSTEM,SYSTEM...", value_delimiter = ',', required_unless_present_any = ["base", "plan"], conflicts_with_all = ["base", "plan"])]
    pub(crate) systems: Vec<String>,

    /// The base, instead of --systems
    #[arg(long, value_name = "SYSTEM", conflicts_with = "plan")]
    pub(crate) base: Option<String>,

    /// A candidate; repeatable
    #[arg(long = "vs", value_name = "SYSTEM", requires = "base")]
    pub(crate) candidates: Vec<String>,

    /// Plan whose systems and suites are used
    #[arg(long, value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,

    /// Extra seconds of each step on each system, during which stacks are recorded [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<f64>,

    /// Suite: sysbench, or the path of a suite file
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,

    /// Size of tables and times of steps: tiny, small or medium
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,

    /// short (the 32 steps of the Small Datum blog) or full (all steps)
    #[arg(long, value_name = "FORM")]
    pub(crate) form: Option<String>,

    /// Numbers of clients; every step runs with each number
    #[arg(long, value_name = "N,N...", value_delimiter = ',')]
    pub(crate) clients: Vec<u32>,

    /// Measured time of a step on each system, as a multiple of the suite's seconds
    #[arg(long, value_name = "N")]
    pub(crate) slices: Option<u32>,

    /// CPUs of clients and server threads: auto, free, split or paired
    #[arg(long, value_name = "PLACEMENT")]
    pub(crate) placement: Option<String>,

    /// Seed of all randomness [default: drawn, and recorded]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Start a new run even if an unfinished run of the same plan exists
    #[arg(long)]
    pub(crate) new: bool,

    /// Allow rqps to change settings of servers given by address between steps; rqps restores them
    #[arg(long)]
    pub(crate) allow_settings: bool,

    /// Write no HTML page
    #[arg(long)]
    pub(crate) no_html: bool,
}

impl ProfileArgs {
    /// The systems, the base first; empty with a plan.
    pub(crate) fn systems(&self) -> impl Iterator<Item = &str> {
        self.systems.iter().chain(&self.base).chain(&self.candidates).map(String::as_str)
    }

    /// What the run that measures the steps is told.
    pub(crate) fn run(&self) -> RunArgs {
        RunArgs {
            plan: self.plan.clone(),
            base: None,
            candidates: Vec::new(),
            suite: self.suite.clone(),
            size: self.size.clone(),
            form: self.form.clone(),
            steps: self.steps.clone(),
            clients: self.clients.clone(),
            rate: None,
            reuse_tables: false,
            schedule: None,
            slices: self.slices,
            time: None,
            starts: None,
            null: false,
            placement: self.placement.clone(),
            seed: self.seed,
            new: self.new,
            allow_settings: self.allow_settings,
            stop_after: None,
            no_html: self.no_html,
            audit: None,
            wait_for_quiet: None,
            judging: JudgingArgs { bound: "5%".to_owned(), allow_busy_host: false },
        }
    }
}
