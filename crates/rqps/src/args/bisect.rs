//! Arguments of `rqps bisect`.

use std::path::PathBuf;

use clap::Args;

use super::{JudgingArgs, RunArgs, WorkArgs};

#[derive(Debug, Args)]
pub(crate) struct BisectArgs {
    /// Plan whose only system, without a version, has what all builds share: configuration, options, compiler
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,

    /// Git repository with the source of the server; it is only read
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) repo: PathBuf,

    /// Commit before the change, an ancestor of the other one
    #[arg(long, value_name = "COMMIT")]
    pub(crate) good: String,

    /// Commit after the change
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    pub(crate) bad: String,

    /// Step whose speed changed, by name or glob; repeatable
    #[arg(long = "step", value_name = "GLOB", value_delimiter = ',', required = true)]
    pub(crate) steps: Vec<String>,

    /// mysql, mariadb or postgres [default: as the files of the commit say]
    #[arg(long, value_name = "DBMS")]
    pub(crate) dbms: Option<String>,

    /// Probability that the answer needs, 50% to 99.9%
    #[arg(long, value_name = "PERCENT", default_value = "95%")]
    pub(crate) confidence: String,

    /// Smallest change that is searched for
    #[arg(long, value_name = "PERCENT", default_value = Self::MIN_CHANGE)]
    pub(crate) min_change: String,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Time of measuring one commit, such as 2m, builds excluded; steps share it
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,

    /// Starts of the servers for each commit; the time of a step is divided among them [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) starts: Option<u32>,

    /// Measure again what earlier searches measured
    #[arg(long)]
    pub(crate) new: bool,

    /// Write no HTML report
    #[arg(long)]
    pub(crate) no_html: bool,

    /// Wait up to this time, such as 10m, until other programs leave the CPUs; end with an error if they do not
    #[arg(long, value_name = "TIME")]
    pub(crate) wait_for_quiet: Option<String>,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

impl BisectArgs {
    /// The smallest change that is searched for, unless another one is typed.
    pub(crate) const MIN_CHANGE: &str = "2%";

    /// What the runs that measure commits are told.
    pub(crate) fn run(&self) -> RunArgs {
        RunArgs {
            plan: self.plan.clone(),
            work: self.work.clone(),
            steps: self.steps.clone(),
            time: self.time.clone(),
            starts: self.starts,
            no_html: self.no_html,
            wait_for_quiet: self.wait_for_quiet.clone(),
            judging: self.judging.clone(),
            ..RunArgs::default()
        }
    }
}
