//! Arguments of `rqps track`.

use std::path::PathBuf;

use clap::Args;

use super::{BisectArgs, JudgingArgs, RunArgs, WorkArgs};

#[derive(Debug, Args)]
pub(crate) struct TrackArgs {
    /// Plan whose only system, without a version, has what all builds share: configuration, options, compiler
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,

    /// Git repository with the source of the server; it is only read
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) repo: PathBuf,

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

    /// Probability that the answer of a search needs, 50% to 99.9%
    #[arg(long, value_name = "PERCENT", default_value = "95%")]
    pub(crate) confidence: String,

    /// mysql, mariadb or postgres [default: as the files of the commit say]
    #[arg(long, value_name = "DBMS")]
    pub(crate) dbms: Option<String>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Time of one run, such as 20m, builds excluded; steps share it
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,

    /// Starts of the servers; the time of a step is divided among them [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) starts: Option<u32>,

    /// Write no HTML report
    #[arg(long)]
    pub(crate) no_html: bool,

    /// Wait up to this time, such as 10m, until other programs leave the CPUs; end with an error if they do not
    #[arg(long, value_name = "TIME")]
    pub(crate) wait_for_quiet: Option<String>,

    /// Judge even steps during which other programs used the CPUs, instead of ending with 2
    #[arg(long)]
    pub(crate) allow_busy_host: bool,
}

impl TrackArgs {
    /// The arguments of the runs.
    pub(crate) fn run(&self) -> RunArgs {
        RunArgs {
            plan: self.plan.clone(),
            work: self.work.clone(),
            steps: self.steps.clone(),
            time: self.time.clone(),
            starts: self.starts,
            no_html: self.no_html,
            wait_for_quiet: self.wait_for_quiet.clone(),
            judging: self.judging(),
            ..RunArgs::default()
        }
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
            plan: self.plan.clone(),
            repo: self.repo.clone(),
            good: good.to_owned(),
            bad: bad.to_owned(),
            steps,
            dbms: self.dbms.clone(),
            confidence: self.confidence.clone(),
            min_change: self.min_change(),
            work: self.work.clone(),
            time,
            starts: self.starts,
            new: false,
            no_html: self.no_html,
            wait_for_quiet: self.wait_for_quiet.clone(),
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

    /// The words of a search on the command line.
    pub(crate) fn search_words(&self, search: &BisectArgs) -> Vec<String> {
        let mut words = vec!["rqps".to_owned(), "bisect".to_owned()];
        words.extend(search.plan.iter().map(|plan| plan.display().to_string()));
        let mut add = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [format!("--{name}"), value]));
        };
        add("repo", Some(search.repo.display().to_string()));
        add("good", search.good.get(..12).map(str::to_owned));
        add("bad", search.bad.get(..12).map(str::to_owned));
        for step in &search.steps {
            add("step", Some(step.clone()));
        }
        let WorkArgs { suite, size, form, clients, placement, seed } = &search.work;
        let clients: Vec<String> = clients.iter().map(ToString::to_string).collect();
        for (name, value) in [
            ("suite", suite.clone()),
            ("size", size.clone()),
            ("form", form.clone()),
            ("clients", (!clients.is_empty()).then(|| clients.join(","))),
            ("placement", placement.clone()),
            ("seed", seed.map(|seed| seed.to_string())),
            ("dbms", search.dbms.clone()),
            ("time", search.time.clone()),
            ("starts", search.starts.map(|n| n.to_string())),
        ] {
            add(name, value);
        }
        let defaults = [
            ("confidence", &search.confidence, "95%"),
            ("min-change", &search.min_change, BisectArgs::MIN_CHANGE),
        ];
        for (name, value, usual) in defaults {
            add(name, (value != usual).then(|| value.clone()));
        }
        if search.judging.allow_busy_host {
            words.push("--allow-busy-host".to_owned());
        }
        words
    }

    fn judging(&self) -> JudgingArgs {
        JudgingArgs { bound: self.max_slowdown.clone(), allow_busy_host: self.allow_busy_host }
    }
}
