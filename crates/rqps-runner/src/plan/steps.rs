//! From a plan to the list of steps that a run consists of.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rqps_model::{Placement, RunStep, Schedule, StepInfo, StepKind, SystemStep, nearest};
use rqps_sample::given_file;
use rqps_workload::insert::{self, InsertStep, Work};
use rqps_workload::vector::{self, VectorArgs, VectorStep, VectorWork};
use rqps_workload::{InsertArgs, Step, Suite, SuiteArgs};

use crate::Plan;
use crate::plan::SuiteWork;
use crate::plan::{limits, placement};

/// A suite of a thousand steps takes less, bytes.
const MOST_OF_SUITE: u64 = 4 << 20;

/// The shortest warm-up of a step that has one: the plans and caches of new sessions.
const LEAST_WARM_UP: Duration = Duration::from_millis(100);

/// What a step does, with its arguments.
#[derive(Debug, Clone)]
pub enum Job {
    /// A step of a suite that is read from a file.
    File {
        /// The suite's step.
        step: Step,
        /// The suite's arguments.
        args: SuiteArgs,
        /// Events per second of all clients together; `None` for as fast as they go.
        rate: Option<f64>,
    },
    /// A step of vector search.
    Vector {
        /// The step.
        step: VectorStep,
        /// The suite's arguments.
        args: VectorArgs,
    },
    /// A step of the Insert Benchmark.
    Insert {
        /// The step.
        step: InsertStep,
        /// The benchmark's arguments.
        args: InsertArgs,
    },
}

/// One step with one number of clients.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// What it does.
    pub job: Job,
    /// The step's facts for reports; the name has the suite's prefix, if any.
    pub info: StepInfo,
    /// Client threads; for the Insert Benchmark, clients, which have up to three threads each.
    pub clients: u32,
    /// Placement, resolved.
    pub placement: Placement,
    /// The start that it is measured on, from 0. Slices are compared within a start.
    pub start: u32,
    /// Number of starts that share the step's time.
    pub n_shares: u32,
    /// Number of restarts of the servers before it in the run.
    pub launch: u32,
    /// Number of times the data were made again before it in the run.
    pub load: u32,
}

impl PlannedStep {
    /// Longest time on one system, without connecting and settling; a guess for a fixed amount of work.
    #[must_use]
    pub fn expected(&self, schedule: Schedule) -> Duration {
        // A few hundred thousand rows a second is what small tables take.
        let fill = |rows: u64| Duration::from_micros(rows.saturating_mul(5) + 1_000_000);
        match &self.job {
            Job::File { .. } if self.makes_tables() => fill(self.rows()),
            // Warms up by itself, once.
            Job::File { step, args, .. } if self.info.kind == StepKind::WarmUp => {
                step.slice_time(args)
            }
            Job::File { args, .. } => self.warm_up(args.times.warm_up) + self.time(schedule),
            Job::Vector { .. } if self.fills() => fill(self.rows() * 10),
            // Each row is searched for in the graph.
            Job::Vector { .. } if self.makes_tables() => {
                Duration::from_micros(self.rows().saturating_mul(500) + 1_000_000)
            }
            Job::Vector { args, .. } => self.warm_up(args.warm_up) + self.time(schedule),
            Job::Insert { step, args } => match step.work {
                Work::Load | Work::Index => fill(args.rows * u64::from(args.tables())),
                // A random insert and its delete cost several times that.
                Work::Churn { rows } => fill(rows * 10 * u64::from(args.tables())),
                Work::Query { .. } => self.time(schedule),
            },
        }
    }

    /// The longest time that it is measured on each system and start.
    pub(crate) fn time(&self, schedule: Schedule) -> Duration {
        let slice = match &self.job {
            Job::File { step, args, .. } => step.slice_time(args),
            Job::Insert { args, .. } => args.query_time,
            Job::Vector { args, .. } => args.read,
        };
        match schedule {
            Schedule::Sequential { slices } => slice * self.n_slices(slices),
            Schedule::Interleaved { .. } => schedule.at_most(slice) / self.n_shares,
        }
    }

    /// How long it warms up before it is measured: its part of what all starts have.
    pub(crate) fn warm_up(&self, whole: Duration) -> Duration {
        (whole / self.n_shares).max(LEAST_WARM_UP.min(whole))
    }

    /// The step, arguments and rate of one that is read from a suite file.
    pub(crate) fn of_file(&self) -> Result<(&Step, &SuiteArgs, Option<f64>)> {
        match &self.job {
            Job::File { step, args, rate } => Ok((step, args, *rate)),
            Job::Insert { .. } | Job::Vector { .. } => {
                bail!("{} is no step of a suite file", self.info.name)
            }
        }
    }

    /// The step and arguments of one of vector search.
    pub(crate) fn of_vector(&self) -> Option<(&VectorStep, &VectorArgs)> {
        match &self.job {
            Job::Vector { step, args } => Some((step, args)),
            Job::File { .. } | Job::Insert { .. } => None,
        }
    }

    /// The step and arguments of one of the Insert Benchmark.
    pub(crate) fn of_insert(&self) -> Option<(&InsertStep, &InsertArgs)> {
        match &self.job {
            Job::Insert { step, args } => Some((step, args)),
            Job::File { .. } | Job::Vector { .. } => None,
        }
    }

    /// Whether the expected time is a guess, as for a fixed amount of work.
    #[must_use]
    pub fn is_guess(&self) -> bool {
        match &self.job {
            Job::File { .. } | Job::Vector { .. } => self.makes_tables(),
            Job::Insert { step, .. } => !matches!(step.work, Work::Query { .. }),
        }
    }

    /// How many slices it has on each start, in a run of so many.
    pub(crate) fn n_slices(&self, slices: u32) -> u32 {
        if self.info.kind == StepKind::WarmUp { 1 } else { slices.div_ceil(self.n_shares) }
    }

    /// Whether the server is settled after it.
    #[must_use]
    pub fn settles(&self) -> bool {
        match &self.job {
            Job::File { step, .. } => step.settle,
            // It settles before it queries.
            Job::Insert { .. } => false,
            Job::Vector { step, .. } => matches!(step.work, VectorWork::Index(_)),
        }
    }

    /// Rows of all tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match &self.job {
            Job::File { args, .. } => args.rows.saturating_mul(u64::from(args.tables)),
            Job::Insert { args, .. } => args.rows.saturating_mul(u64::from(args.tables())),
            Job::Vector { args, .. } => args.rows().saturating_mul(u64::from(args.tables())),
        }
    }

    /// Whether it makes new tables.
    #[must_use]
    pub fn fills(&self) -> bool {
        match &self.job {
            Job::File { .. } | Job::Vector { .. } => self.info.kind == StepKind::Load,
            Job::Insert { step, .. } => step.work == Work::Load,
        }
    }

    /// Whether it is a step of a suite file that changes rows for a set time.
    #[must_use]
    pub(crate) fn changes_rows(&self) -> bool {
        let writes = matches!(self.info.kind, StepKind::Write | StepKind::Insert | StepKind::Mixed);
        writes && matches!(self.job, Job::File { .. })
    }

    /// Whether steps after it need the tables or the indexes that it makes: it is done again after a failure.
    #[must_use]
    pub(crate) fn makes_tables(&self) -> bool {
        self.fills() || self.info.kind == StepKind::Index
    }

    /// Whether it makes tables or changes them by its work: a step of the Insert Benchmark, a load, its indexes.
    #[must_use]
    pub(crate) fn is_work(&self) -> bool {
        self.makes_tables() || self.of_insert().is_some()
    }

    /// The step in a new run: pending on every system.
    #[must_use]
    pub fn pending(&self, n_systems: usize) -> RunStep {
        RunStep {
            info: self.info.clone(),
            clients: self.clients,
            placement: self.placement,
            start: self.start,
            systems: vec![SystemStep::pending(); n_systems],
        }
    }
}

/// The steps of a plan in order, each number of clients on its own, as they are on a single start of the servers.
///
/// # Errors
/// When a suite or a step is unknown, or a placement cannot be had.
pub(super) fn of_one_start(
    plan: &Plan,
    cpus: &[usize],
    all_local: bool,
) -> Result<Vec<PlannedStep>> {
    let mut planned = Vec::new();
    let cpus = &limits::narrowest(plan, cpus);
    for suite_plan in &plan.suites {
        let mut add = |job: Job, mut info: StepInfo, clients: u32| -> Result<()> {
            if let Some(prefix) = &suite_plan.name {
                info.name = format!("{prefix}/{}", info.name);
            }
            let best = plan.calibration.as_ref().and_then(|found| found.placement_for(clients));
            let placement = placement::resolve(plan.placement, clients, cpus, all_local, best)?;
            planned.push(PlannedStep {
                job,
                info,
                clients,
                placement,
                start: 0,
                n_shares: 1,
                launch: 0,
                load: 0,
            });
            Ok(())
        };
        match &suite_plan.work {
            SuiteWork::File { kind, form, args, rate } => {
                let suite = load_suite(kind)?.select(&suite_plan.steps, *form)?;
                for step in &suite.steps {
                    for clients in step.clients(args) {
                        let info = step.info(args);
                        // A warm-up is there to fill caches, which a low rate would leave cold.
                        let rate = rate.filter(|_| info.kind != StepKind::WarmUp);
                        let job = Job::File { step: step.clone(), args: args.clone(), rate };
                        add(job, info, clients)?;
                    }
                }
            }
            SuiteWork::Insert(args) => {
                for step in insert::select(args, &suite_plan.steps)? {
                    let info = step.info(args);
                    add(Job::Insert { step, args: args.clone() }, info, args.clients)?;
                }
            }
            SuiteWork::Vector(args) => {
                for step in vector::select(args, &suite_plan.steps)? {
                    let info = step.info(args);
                    for clients in step.clients(args) {
                        let job = Job::Vector { step: step.clone(), args: args.clone() };
                        add(job, info.clone(), clients)?;
                    }
                }
            }
        }
    }
    Ok(planned)
}

impl Plan {
    /// Refuses suites and steps that there are not, before servers are built or fetched.
    ///
    /// # Errors
    /// When a suite cannot be read, or has no such step.
    pub fn check_steps(&self) -> Result<()> {
        for suite in &self.suites {
            match &suite.work {
                SuiteWork::File { kind, form, .. } => {
                    load_suite(kind)?.select(&suite.steps, *form)?;
                }
                SuiteWork::Insert(args) => {
                    insert::select(args, &suite.steps)?;
                }
                SuiteWork::Vector(args) => {
                    vector::select(args, &suite.steps)?;
                }
            }
        }
        Ok(())
    }
}

fn load_suite(kind: &str) -> Result<Suite> {
    if kind == "sysbench" {
        return Ok(Suite::sysbench()?);
    }
    let path = Path::new(kind);
    let mut known = "write sysbench, insert, vector, or the path of a suite file".to_owned();
    if let Some(name) = nearest(["sysbench", "insert", "vector"].into_iter(), kind) {
        known.push_str(&format!("; did you mean {name}?"));
    }
    let text = given_file::read_text(path, MOST_OF_SUITE)
        .with_context(|| format!("read suite {kind:?} ({known})"))?;
    Ok(Suite::parse(&text, kind)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;

    #[test]
    fn the_load_fills_tables_at_once_also_for_a_single_client() {
        let text = r#"
            [[system]]
            dbms = "postgres"
            version = "17.4"
            [[suite]]
            tables = 3
            clients = [1, 2]
            steps = ["point-query"]
        "#;
        let plan = PlanFile::parse(text, "test")
            .unwrap()
            .resolve("test", &rqps_server::Catalogue::builtin().unwrap())
            .unwrap();
        let steps = of_one_start(&plan, &[0, 1], true).unwrap();
        let clients = |kind| -> Vec<u32> {
            steps.iter().filter(|s| s.info.kind == kind).map(|s| s.clients).collect()
        };
        assert_eq!(clients(StepKind::Load), [3]);
        assert_eq!(clients(StepKind::Read), [1, 2]);
    }

    #[test]
    fn a_budget_is_what_a_step_is_expected_to_take() {
        let expected = |keys: &str| {
            let text = format!(
                "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'b'\n\
                 [[suite]]\nsteps = ['point-query']\nclients = [1]\n\
                 seconds = {{ read = 10, warm_up = 2, fixed_at_most = 3 }}\n[schedule]\n{keys}"
            );
            let catalogue = rqps_server::Catalogue::builtin().unwrap();
            let plan = PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap();
            let steps = of_one_start(&plan, &[0, 1], true).unwrap();
            let of = |kind| -> Vec<u64> {
                let steps = steps.iter().filter(|step| step.info.kind == kind);
                steps.map(|step| step.expected(plan.schedule).as_secs()).collect()
            };
            (of(StepKind::WarmUp), of(StepKind::Read))
        };
        assert_eq!(expected("slices = 6\n").1, [62]);
        assert_eq!(expected("budget = '20s'\n").1, [22]);
        let (warm_ups, read) = expected("mode = 'sequential'\nslices = 3\n");
        assert_eq!(read, [32]);
        // Each once, without one before it: by the time of reads, and by its own.
        assert_eq!(warm_ups, [10, 3]);
    }
}
