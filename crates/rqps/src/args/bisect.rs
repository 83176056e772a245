//! Arguments of `rqps bisect`.

use std::path::PathBuf;

use clap::Args;

use super::{JudgingArgs, RunArgs};

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
    #[arg(long, value_name = "PERCENT", default_value = "2%")]
    pub(crate) min_change: String,

    /// sysbench, insert (the Insert Benchmark), or the path of a suite file
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

    /// Time of measuring one commit, such as 2m, builds excluded; steps share it
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,

    /// Starts of the servers for each commit; the time of a step is divided among them [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) starts: Option<u32>,

    /// CPUs of clients and server threads: auto, free, split or paired
    #[arg(long, value_name = "PLACEMENT")]
    pub(crate) placement: Option<String>,

    /// Seed of all randomness [default: drawn, and recorded]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

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
    /// What the runs that measure commits are told.
    pub(crate) fn run(&self) -> RunArgs {
        RunArgs {
            plan: None,
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
            slices: None,
            time: self.time.clone(),
            starts: self.starts,
            null: false,
            placement: self.placement.clone(),
            seed: self.seed,
            new: self.new,
            allow_settings: false,
            stop_after: None,
            no_html: self.no_html,
            audit: None,
            wait_for_quiet: self.wait_for_quiet.clone(),
            judging: self.judging.clone(),
        }
    }
}
