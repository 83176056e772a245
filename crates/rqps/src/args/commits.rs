//! What the commands that measure commits have in common: `rqps bisect` and `rqps track`.

use std::path::PathBuf;

use clap::Args;
use rqps_runner::plan::STARTS;

use super::{JudgingArgs, RunArgs, WorkArgs, value};

#[derive(Debug, Clone, Args)]
pub(crate) struct CommitArgs {
    /// Plan whose only system, without a version, has what all builds share: configuration, options, compiler
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,

    /// Git repository with the source of the server; it is only read
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) repo: PathBuf,

    /// mysql, mariadb or postgres [default: as the files of the commit say]
    #[arg(long, value_name = "DBMS")]
    pub(crate) dbms: Option<String>,

    /// Probability that the answer of a search needs, 50% to 99.9%
    #[arg(long, value_name = "PERCENT", default_value = Self::CONFIDENCE)]
    pub(crate) confidence: String,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Time of one run, such as 20m, builds excluded; steps share it
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,

    /// Starts of the servers; the time of a step is divided among them [default: 4]
    #[arg(long, value_name = "N", value_parser = value::whole(STARTS))]
    pub(crate) starts: Option<u32>,

    /// Write no HTML report
    #[arg(long)]
    pub(crate) no_html: bool,

    /// Wait up to this time, such as 10m, until other programs leave the CPUs; end with an error if they do not
    #[arg(long, value_name = "TIME")]
    pub(crate) wait_for_quiet: Option<String>,
}

impl CommitArgs {
    /// The probability that an answer needs, unless another one is typed.
    pub(crate) const CONFIDENCE: &str = "95%";

    /// The arguments of the runs that measure commits.
    pub(crate) fn run(&self, steps: &[String], judging: JudgingArgs) -> RunArgs {
        RunArgs {
            plan: self.plan.clone(),
            work: self.work.clone(),
            steps: steps.to_vec(),
            time: self.time.clone(),
            starts: self.starts,
            no_html: self.no_html,
            wait_for_quiet: self.wait_for_quiet.clone(),
            judging,
            ..RunArgs::default()
        }
    }
}
