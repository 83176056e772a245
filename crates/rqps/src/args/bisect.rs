//! Arguments of `rqps bisect`.

use clap::Args;

use super::{CommitArgs, JudgingArgs, RunArgs, WorkArgs};

#[derive(Debug, Args)]
pub(crate) struct BisectArgs {
    #[command(flatten)]
    pub(crate) commits: CommitArgs,

    /// Commit before the change, an earlier one of the same branch
    #[arg(long, value_name = "COMMIT")]
    pub(crate) good: String,

    /// Commit after the change
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    pub(crate) bad: String,

    /// Step whose speed changed, by name or glob; repeatable
    #[arg(long = "step", value_name = "GLOB", value_delimiter = ',', required = true)]
    pub(crate) steps: Vec<String>,

    /// Smallest change that is searched for
    #[arg(long, value_name = "PERCENT", default_value = Self::MIN_CHANGE)]
    pub(crate) min_change: String,

    /// Measure again what earlier searches measured
    #[arg(long)]
    pub(crate) new: bool,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

impl BisectArgs {
    /// The smallest change that is searched for, unless another one is typed.
    pub(crate) const MIN_CHANGE: &str = "2%";

    /// The arguments of the runs.
    pub(crate) fn run(&self) -> RunArgs {
        self.commits.run(&self.steps, self.judging.clone())
    }

    /// The options as they are typed, without the directory of results.
    pub(crate) fn words(&self) -> Vec<String> {
        let CommitArgs {
            plan,
            repo,
            dbms,
            confidence,
            work,
            time,
            starts,
            no_html,
            wait_for_quiet,
        } = &self.commits;
        let WorkArgs { suite, size, form, clients, placement, seed } = work;
        let clients: Vec<String> = clients.iter().map(ToString::to_string).collect();
        let unless = |value: &String, usual: &str| (value != usual).then(|| value.clone());
        let mut words: Vec<String> = plan.iter().map(|plan| plan.display().to_string()).collect();
        let steps = self.steps.iter().map(|step| ("step", Some(step.clone())));
        let options = [
            ("repo", Some(repo.display().to_string())),
            ("good", Some(self.good.clone())),
            ("bad", Some(self.bad.clone())),
        ];
        let more = [
            ("suite", suite.clone()),
            ("size", size.clone()),
            ("form", form.clone()),
            ("clients", (!clients.is_empty()).then(|| clients.join(","))),
            ("placement", placement.clone()),
            ("seed", seed.map(|seed| seed.to_string())),
            ("dbms", dbms.clone()),
            ("time", time.clone()),
            ("starts", starts.map(|n| n.to_string())),
            ("confidence", unless(confidence, CommitArgs::CONFIDENCE)),
            ("min-change", unless(&self.min_change, Self::MIN_CHANGE)),
            ("bound", unless(&self.judging.bound, &JudgingArgs::default().bound)),
            ("wait-for-quiet", wait_for_quiet.clone()),
        ];
        for (name, value) in options.into_iter().chain(steps).chain(more) {
            words.extend(value.into_iter().flat_map(|value| [format!("--{name}"), value]));
        }
        let switches = [("no-html", *no_html), ("allow-busy-host", self.judging.allow_busy_host)];
        let given = switches.iter().filter(|(_, given)| *given);
        words.extend(given.map(|(name, _)| format!("--{name}")));
        words
    }
}
