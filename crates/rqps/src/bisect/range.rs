//! The commits that are searched, and the plan that measures some of them side by side.

use anyhow::{Context as _, Result, bail};
use rqps_build::{Commit, Repository};
use rqps_model::{Dbms, Run, RunSystem};
use rqps_runner::plan::{ProfilingFile, SystemFile};
use rqps_runner::{Plan, PlanFile};

use crate::Surroundings;
use crate::args::BisectArgs;
use crate::typed::{apply, read_plan};

/// The commits from the good end, at place 0, to the bad end.
pub(super) struct Range {
    /// All commits, both ends among them.
    pub(super) commits: Vec<Commit>,
    name: String,
    /// The plan without systems, and what all of them share.
    file: PlanFile,
    shared: SystemFile,
    origin: String,
}

impl Range {
    pub(super) fn of(args: &BisectArgs) -> Result<Self> {
        let repo = std::path::absolute(&args.repo).context("find the repository")?;
        let repository = Repository::open(&repo)?;
        let (good, bad) = (repository.commit(&args.good)?, repository.commit(&args.bad)?);
        let after = repository.between(&good, &bad)?;
        if after.last() != Some(&bad) {
            bail!(
                "{} does not lie on the first parents of {}; name commits of one branch",
                good.short(),
                bad.short()
            );
        }
        let (mut file, origin) = match &args.plan {
            Some(path) => read_plan(path, "")?,
            None => (PlanFile::default(), "command line".to_owned()),
        };
        let mut systems = std::mem::take(&mut file.system).into_iter();
        let shared = systems.next().unwrap_or_default();
        if systems.next().is_some() {
            bail!(
                "{origin}: a plan of `rqps bisect` has one [[system]] at most: what all builds share"
            );
        }
        for (key, given) in [
            ("version", shared.version.is_some()),
            ("basedir", shared.basedir.is_some()),
            ("dsn", shared.dsn.is_some()),
            ("repo", shared.repo.is_some()),
            ("commit", shared.commit.is_some()),
            ("source", shared.source.is_some()),
        ] {
            if given {
                bail!("{origin}: `rqps bisect` chooses what is built; leave out {key}");
            }
        }
        let dbms = match args.dbms.as_ref().or(shared.dbms.as_ref()) {
            Some(dbms) => dbms.clone(),
            None => dbms_of(&repository, &bad)?.to_string(),
        };
        apply(&args.run(), &mut file)?;
        let name = format!("bisect-{}-{}", good.short(), bad.short());
        file.name = Some(name.clone());
        let shared = SystemFile { dbms: Some(dbms), repo: Some(repo), ..shared };
        let commits = std::iter::once(good).chain(after).collect();
        Ok(Self { commits, name, file, shared, origin })
    }

    /// The name of all plans.
    pub(super) fn name(&self) -> &str {
        &self.name
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
        Ok(self.file_of(places).resolve(&self.origin, &around.catalogue)?)
    }

    /// The same, which records stacks too.
    pub(super) fn profiled(&self, places: &[usize], around: &Surroundings) -> Result<Plan> {
        let file = PlanFile { profile: Some(ProfilingFile::Switch(true)), ..self.file_of(places) };
        Ok(file.resolve(&self.origin, &around.catalogue)?)
    }

    fn file_of(&self, places: &[usize]) -> PlanFile {
        let system = places.iter().map(|&place| self.system(place)).collect();
        PlanFile { system, ..self.file.clone() }
    }

    fn system(&self, place: usize) -> SystemFile {
        let commit = &self.commits[place];
        let label = match place {
            0 => format!("good-{}", commit.short()),
            _ if place == self.last() => format!("bad-{}", commit.short()),
            _ => commit.short().to_owned(),
        };
        SystemFile { label: Some(label), commit: Some(commit.hash.clone()), ..self.shared.clone() }
    }
}

/// The DBMS that the files of a commit are of.
fn dbms_of(repository: &Repository, commit: &Commit) -> Result<Dbms> {
    rqps_build::dbms_of(repository, &commit.tree).with_context(|| {
        format!("the files of {} do not tell the DBMS; write --dbms", commit.short())
    })
}
