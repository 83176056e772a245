//! What can be typed after `rqps profile`.

use std::path::PathBuf;

use clap::Args;
use rqps_runner::plan::{PROFILE_SECONDS, SLICES};

use super::{RunArgs, WorkArgs, value};

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
    #[arg(long, value_name = "N", value_parser = value::number(PROFILE_SECONDS))]
    pub(crate) seconds: Option<f64>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Measured time of a step on each system, as a multiple of the suite's seconds
    #[arg(long, value_name = "N", value_parser = value::whole(SLICES))]
    pub(crate) slices: Option<u32>,

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
            work: self.work.clone(),
            steps: self.steps.clone(),
            slices: self.slices,
            new: self.new,
            allow_settings: self.allow_settings,
            no_html: self.no_html,
            ..RunArgs::default()
        }
    }
}
