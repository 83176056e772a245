//! Plans that measure commits of one repository side by side: those of `rqps bisect` and `rqps track`.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use rqps_build::{Commit, Error as BuildError, Repository};
use rqps_model::{Dbms, Run, RunStatus};
use rqps_runner::plan::{COMMAND_LINE, ProfilingFile, SystemFile};
use rqps_runner::{Event, Plan, PlanFile};
use rqps_store::Store;
use rqps_text::words::one_line;

use crate::Surroundings;
use crate::args::RunArgs;
use crate::history;
use crate::progress::Progress;
use crate::run::quiet_time;
use crate::typed::{apply, read_plan};

/// What the plans of a command have in common.
pub(crate) struct CommitPlans {
    /// The plan without systems, and what all of them share.
    file: PlanFile,
    shared: SystemFile,
    /// How stacks are recorded where they are.
    profile: ProfilingFile,
    origin: String,
}

/// A commit in a plan.
pub(crate) struct Labelled<'c> {
    pub(crate) commit: &'c Commit,
    pub(crate) label: String,
}

impl CommitPlans {
    /// Reads the plan that was named, if one was; `command` is what errors call the command.
    ///
    /// # Errors
    /// When the plan says which servers are measured.
    pub(crate) fn of(args: &RunArgs, command: &str) -> Result<Self> {
        let (mut file, origin) = match &args.plan {
            Some(path) => read_plan(path, "")?,
            None => (PlanFile::default(), COMMAND_LINE.to_owned()),
        };
        let mut systems = std::mem::take(&mut file.system).into_iter();
        let shared = systems.next().unwrap_or_default();
        if systems.next().is_some() {
            bail!(
                "{origin}: a plan of `{command}` has one [[system]] at most: what all builds share"
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
                bail!("{origin}: `{command}` chooses what is built; leave out {key}");
            }
        }
        if file.null == Some(true) {
            bail!("{origin}: `{command}` measures commits alone; leave out null");
        }
        args.wait_for_quiet.as_deref().map(quiet_time).transpose()?;
        apply(args, &mut file)?;
        // Stacks are for the last comparison.
        let profile = file.profile.take().unwrap_or(ProfilingFile::Switch(true));
        Ok(Self { file, shared, profile, origin })
    }

    /// The name that the plan has.
    pub(crate) fn name(&self) -> Option<&str> {
        self.file.name.as_deref()
    }

    /// The time that the plan gives a run.
    pub(crate) fn time(&self) -> Option<&str> {
        self.file.schedule.time.as_deref()
    }

    /// Names all runs.
    pub(crate) fn set_name(&mut self, name: &str) {
        self.file.name = Some(name.to_owned());
    }

    /// Sets the repository, and the DBMS: the one that was typed, else that of the plan, else what the files of
    /// `commit` are of.
    ///
    /// # Errors
    /// When none of them tells the DBMS.
    pub(crate) fn set_source(
        &mut self,
        repository: &Repository,
        commit: &Commit,
        typed_dbms: Option<&String>,
    ) -> Result<()> {
        if let Some(typed) = typed_dbms
            && let Err(error) = typed.parse::<Dbms>()
        {
            bail!("--dbms: {error}; {}", error.remedy());
        }
        let dbms = match typed_dbms.or(self.shared.dbms.as_ref()) {
            Some(dbms) => dbms.clone(),
            None => dbms_of(repository, commit)?.to_string(),
        };
        self.shared.dbms = Some(dbms);
        self.shared.repo = Some(repository.dir().to_owned());
        Ok(())
    }

    /// A plan that measures commits side by side; the first one is the base.
    pub(crate) fn plan(&self, commits: &[Labelled<'_>], around: &Surroundings) -> Result<Plan> {
        let plan = self.file_of(commits).resolve(&self.origin, &around.catalogue)?;
        // Builds take long.
        plan.check_steps()?;
        Ok(plan)
    }

    /// The same, which records stacks too.
    pub(crate) fn profiled(&self, commits: &[Labelled<'_>], around: &Surroundings) -> Result<Plan> {
        let profile = Some(self.profile.clone());
        let file = PlanFile { profile, ..self.file_of(commits) };
        Ok(file.resolve(&self.origin, &around.catalogue)?)
    }

    fn file_of(&self, commits: &[Labelled<'_>]) -> PlanFile {
        let system = commits.iter().map(|one| SystemFile {
            label: Some(one.label.clone()),
            commit: Some(one.commit.hash.clone()),
            ..self.shared.clone()
        });
        PlanFile { system: system.collect(), ..self.file.clone() }
    }
}

/// `1a2b3c4d5e6f Make hash tables smaller`.
pub(crate) fn commit_line(commit: &Commit) -> String {
    format!("{} {}", commit.short(), one_line(&commit.subject))
}

/// The repository of a directory, by its absolute path.
pub(crate) fn open_repository(dir: &Path) -> Result<Repository> {
    let repo = std::path::absolute(dir).context("find the repository")?;
    match Repository::open(&repo) {
        Err(BuildError::NoRepository { repo, said }) => {
            bail!("{} is no git repository ({said}); name one with --repo", repo.display())
        }
        other => Ok(other?),
    }
}

/// The DBMS that the files of a commit are of.
fn dbms_of(repository: &Repository, commit: &Commit) -> Result<Dbms> {
    rqps_build::dbms_of(repository, &commit.tree).with_context(|| {
        format!(
            "the files of {} do not tell the DBMS; write --dbms mysql, mariadb or postgres",
            commit.short()
        )
    })
}

/// The finished runs of a name, the latest first, without samples and response times.
pub(crate) fn finished_runs(store: &Store, name: &str) -> Result<Vec<Run>> {
    finished_runs_where(store, |own| own == name)
}

/// The finished runs of some names, the latest first.
pub(crate) fn finished_runs_where(
    store: &Store,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Run>> {
    let all = store.list_runs()?.into_iter();
    let wanted = all
        .filter(|run| run.status == RunStatus::Finished && is_wanted(&run.name))
        .map(|run| run.id);
    history::read(wanted.collect(), store, true)
}

/// Whether a run is of a plan, as this host carries it out.
pub(crate) fn is_of(run: &Run, plan: Plan, store: &Store, around: &Surroundings) -> Result<bool> {
    let context = around.environment();
    let listen = &mut |_: Event<'_>| {};
    let (plan, _) = rqps_runner::on_this_host(plan, store, &context, listen)?;
    Ok(plan.to_toml() == run.plan)
}

/// A system of a plan that cannot be built.
pub(crate) struct NotBuilt {
    /// Its place in the plan.
    pub(crate) idx: usize,
    pub(crate) error: anyhow::Error,
}

impl NotBuilt {
    /// Whether the commit is the reason, and no full disk or missing compiler.
    pub(crate) fn is_of_commit(&self) -> bool {
        let causes = self.error.chain().filter_map(|cause| cause.downcast_ref::<BuildError>());
        causes.into_iter().any(BuildError::is_of_commit)
    }
}

/// Builds the systems of a plan, so that nothing is built between measurements.
pub(crate) fn build(
    plan: &Plan,
    around: &Surroundings,
    progress: &mut Progress,
) -> Result<(), NotBuilt> {
    let context = around.environment();
    let mut listen = |event: Event<'_>| progress.show(&event);
    for idx in 0..plan.systems.len() {
        rqps_runner::fetch(plan, idx, &context, &mut listen)
            .map_err(|error| NotBuilt { idx, error })?;
    }
    Ok(())
}
