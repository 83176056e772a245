//! Arguments of `rqps track`.

use clap::Args;

use super::{BisectArgs, CommitArgs, JudgingArgs, RunArgs};

#[derive(Debug, Args)]
pub(crate) struct TrackArgs {
    #[command(flatten)]
    pub(crate) commits: CommitArgs,

    /// Branch to track, such as origin/main
    #[arg(long, value_name = "BRANCH", default_value = "HEAD")]
    pub(crate) branch: String,

    /// Commit that every run measures too, such as the last release: histories are relative to it
    #[arg(long, value_name = "COMMIT")]
    pub(crate) pin: String,

    /// Steps, by name or glob; repeatable [default: all of the suite]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) steps: Vec<String>,

    /// Smallest slowdown that counts, to the last commit and to the pinned one: the bound of the verdict slower
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub(crate) max_slowdown: String,

    /// Only say between which commits the speed changed
    #[arg(long)]
    pub(crate) no_bisect: bool,

    /// Judge even steps during which other programs used the CPUs, instead of ending with 2
    #[arg(long)]
    pub(crate) allow_busy_host: bool,
}

impl TrackArgs {
    /// The arguments of the runs.
    pub(crate) fn run(&self) -> RunArgs {
        self.commits.run(&self.steps, self.judging())
    }

    /// The arguments of a search for the commit that changed some steps; `time` is that of one probe.
    pub(crate) fn search(
        &self,
        good: &str,
        bad: &str,
        steps: Vec<String>,
        time: Option<String>,
    ) -> BisectArgs {
        BisectArgs {
            commits: CommitArgs { time, ..self.commits.clone() },
            good: good.to_owned(),
            bad: bad.to_owned(),
            steps,
            min_change: self.min_change(),
            new: false,
            judging: self.judging(),
        }
    }

    /// What is slower must be found: a search looks for nothing larger.
    fn min_change(&self) -> String {
        let percent = |text: &str| text.trim_end_matches('%').parse::<f64>().ok();
        match (percent(&self.max_slowdown), percent(BisectArgs::MIN_CHANGE)) {
            (Some(own), Some(usual)) if own < usual => self.max_slowdown.clone(),
            _ => BisectArgs::MIN_CHANGE.to_owned(),
        }
    }

    fn judging(&self) -> JudgingArgs {
        JudgingArgs { bound: self.max_slowdown.clone(), allow_busy_host: self.allow_busy_host }
    }
}
