//! The commits that are searched, and the plan that measures some of them side by side.

use anyhow::{Result, bail};
use rqps_build::Commit;
use rqps_model::{Run, RunSystem};
use rqps_runner::Plan;

use crate::Surroundings;
use crate::args::BisectArgs;
use crate::commit_plans::{CommitPlans, Labelled, open_repository};

/// The commits from the good end, at place 0, to the bad end.
pub(super) struct Range {
    /// All commits, both ends among them.
    pub(super) commits: Vec<Commit>,
    name: String,
    repository: String,
    plans: CommitPlans,
}

impl Range {
    pub(super) fn of(args: &BisectArgs) -> Result<Self> {
        let repository = open_repository(&args.commits.repo)?;
        let (good, bad) = (repository.commit(&args.good)?, repository.commit(&args.bad)?);
        if good.hash == bad.hash {
            bail!("--good and --bad are both {}; name an earlier commit with --good", good.short());
        }
        let after = repository.between(&good, &bad)?;
        if !repository.first_parents(&bad)?.contains(&good.hash) {
            bail!(
                "{} does not lie on the first parents of {}; name commits of one branch",
                good.short(),
                bad.short()
            );
        }
        let mut plans = CommitPlans::of(&args.run(), "rqps bisect")?;
        plans.set_source(&repository, &bad, args.commits.dbms.as_ref())?;
        let name = name(&good, &bad);
        plans.set_name(&name);
        let commits = std::iter::once(good).chain(after).collect();
        // Of `..` the name is that of the directory.
        let dir = repository.dir().canonicalize().unwrap_or_else(|_| repository.dir().to_owned());
        let repository = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { commits, name, repository, plans })
    }

    /// The name of all plans.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The name of the repository's directory.
    pub(super) fn repository(&self) -> &str {
        &self.repository
    }

    /// Which commits a run of such a plan measured; `None` where another one is among them.
    pub(super) fn places_of(&self, run: &Run) -> Option<Vec<usize>> {
        let place = |system: &RunSystem| {
            let hash = system.build.get("commit")?;
            self.commits.iter().position(|commit| commit.hash == *hash)
        };
        run.systems.iter().map(place).collect()
    }

    /// The place of the bad end.
    pub(super) fn last(&self) -> usize {
        self.commits.len() - 1
    }

    /// A plan that measures commits side by side; the first one is the base.
    pub(super) fn plan(&self, places: &[usize], around: &Surroundings) -> Result<Plan> {
        self.plans.plan(&self.labelled(places), around)
    }

    /// The same, which records stacks too.
    pub(super) fn profiled(&self, places: &[usize], around: &Surroundings) -> Result<Plan> {
        self.plans.profiled(&self.labelled(places), around)
    }

    fn labelled(&self, places: &[usize]) -> Vec<Labelled<'_>> {
        let one = |&place: &usize| {
            let commit = &self.commits[place];
            let label = match place {
                0 => format!("good-{}", commit.short()),
                _ if place == self.last() => format!("bad-{}", commit.short()),
                _ => commit.short().to_owned(),
            };
            Labelled { commit, label }
        };
        places.iter().map(one).collect()
    }
}

/// What the runs of a search are named.
pub(super) fn name(good: &Commit, bad: &Commit) -> String {
    format!("bisect-{}-{}", good.short(), bad.short())
}
