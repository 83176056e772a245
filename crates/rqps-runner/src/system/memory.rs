//! Whether the servers that are up together fit into this host's memory.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rqps_model::{Label, Schedule, SystemSource, SystemSpec, Version};
use rqps_server::Places;
use rqps_server::dbms::connection_bytes;
use rqps_server::profile::cache_bytes;

use crate::Plan;
use crate::environment::Environment;
use crate::event::Listener;
use crate::plan::descriptors::most_clients_of_steps;
use crate::system::builds;
use crate::system::installation::{Installation, places, render_config};

/// What a server takes beside its cache and the clients' connections, bytes: code, dictionaries. MySQL 8.0
/// with nothing cached takes about 400 MB, the others less.
const BESIDE_CACHE: u64 = 400 << 20;

/// Slices of a step that a budget is cut into, and the time that each has at least where there is enough.
const SLICES: (u32, u32) = (2, 6);
const SLICE_MS: u32 = 2000;

/// What a system needs, bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Need {
    label: Label,
    caches: u64,
    connections: u64,
}

impl Need {
    fn of(plan: &Plan, spec: &SystemSpec, caches: u64) -> Self {
        let connections = most_clients_of_steps(plan).saturating_mul(connection_bytes(spec.dbms));
        Self { label: spec.label.clone(), caches, connections }
    }

    fn all(&self) -> u64 {
        self.caches.saturating_add(self.connections).saturating_add(BESIDE_CACHE)
    }
}

/// The plan as it can be carried out on this host: interleaved systems and do not fit into memory
/// together are measured one after the other instead, each on several starts; with a sentence that
/// says so.
///
/// # Errors
/// When a configuration cannot be had, or one system does not fit by itself.
pub(crate) fn fitted(
    plan: Plan,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<(Plan, Option<String>)> {
    if !plan.schedule.is_interleaved() || plan.systems_up() < 2 {
        return Ok((plan, None));
    }
    let mut ours = Vec::new();
    for idx in 0..plan.systems.len() {
        if let Some((version, places)) = version_of(&plan, idx, environment, listen)? {
            ours.push((idx, version, places));
        }
    }
    let needs = |plan: &Plan| -> Result<Vec<Need>> {
        let need = |(idx, version, places): &(usize, Version, Places)| {
            let spec = &plan.systems[*idx];
            let config = render_config(plan, spec, version, places)?;
            Ok(Need::of(plan, spec, cache_bytes(spec.dbms, &config)?))
        };
        ours.iter().map(need).collect()
    };
    let memory = rqps_sample::host_info(&environment.results)?.memory_bytes;
    fitted_to(plan, &needs, memory)
}

/// The version that a system of the plan will run, without fetching it; `None` for one that rqps does
/// not run.
fn version_of(
    plan: &Plan,
    idx: usize,
    environment: &Environment,
    listen: &mut Listener<'_>,
) -> Result<Option<(Version, Places)>> {
    let spec = &plan.systems[idx];
    let version = match &spec.source {
        SystemSource::Catalogue { version, build } => {
            environment.catalogue.find(spec.dbms, version, build.as_deref())?.version.clone()
        }
        SystemSource::Basedir { .. } => {
            let installation = Installation::of(plan, idx, environment, listen);
            match installation.with_context(|| format!("get {}", spec.label))? {
                Installation::Local(installed, ..) => installed.version,
                Installation::External(_) | Installation::Null => return Ok(None),
            }
        }
        SystemSource::Built(how) => builds::version_of(spec, how)?,
        SystemSource::External { .. } | SystemSource::Builtin | SystemSource::Imported => {
            return Ok(None);
        }
    };
    Ok(Some((version, places(environment)?)))
}

/// As [`fitted`], with what the systems of a plan need and the host's memory, bytes.
fn fitted_to(
    plan: Plan,
    needs: &dyn Fn(&Plan) -> Result<Vec<Need>>,
    memory: u64,
) -> Result<(Plan, Option<String>)> {
    let together = needs(&plan)?;
    let sum: u64 = together.iter().fold(0, |sum, need| sum.saturating_add(need.all()));
    if sum <= memory {
        return Ok((plan, None));
    }
    let (plan, time) = one_after_the_other(plan);
    // A profile that divides its share among the systems that are up gives each one more now.
    let alone = needs(&plan)?;
    if let Some(need) = alone.iter().find(|need| need.all() > memory) {
        bail!(
            "{} does not fit into memory: caches of {} MB, {} MB for {} and {} MB for the rest of the server \
             exceed {} MB; make its caches smaller, or use fewer clients",
            need.label,
            need.caches >> 20,
            need.connections >> 20,
            clients(&plan),
            BESIDE_CACHE >> 20,
            memory >> 20
        );
    }
    let now = if alone == together {
        String::new()
    } else {
        format!("; alone they have caches of {}", written(&alone))
    };
    let starts = match plan.starts {
        1 => String::new(),
        n => format!(", with {n} starts each, in a new random order"),
    };
    let sentence = format!(
        "the systems do not fit into memory together (caches of {}, {} MB for {} to each, {} MB for the rest \
         of each server; rqps may use {} MB): they are measured one after the other{starts}{now}{time}; \
         smaller caches would let them be interleaved",
        written(&together),
        together.iter().map(|need| need.connections).max().unwrap_or(0) >> 20,
        clients(&plan),
        BESIDE_CACHE >> 20,
        memory >> 20
    );
    Ok((plan, Some(sentence)))
}

/// `1 connection`, `64 connections`.
fn clients(plan: &Plan) -> String {
    match most_clients_of_steps(plan) {
        1 => "1 connection".to_owned(),
        n => format!("{n} connections"),
    }
}

/// `a 700 MB, b 700 MB`
fn written(needs: &[Need]) -> String {
    let parts: Vec<String> =
        needs.iter().map(|need| format!("{} {} MB", need.label, need.caches >> 20)).collect();
    parts.join(", ")
}

/// The plan with one system after the other, and what becomes of the time that it asked for: a budget is shared out
/// among starts and slices.
fn one_after_the_other(plan: Plan) -> (Plan, String) {
    let mut time = String::new();
    let (mut slices, mut suites) = (plan.schedule.slices(), plan.suites.clone());
    if let Schedule::Interleaved { budget_ms: Some(budget_ms), .. } = plan.schedule {
        let of_start = u64::from(budget_ms) / u64::from(plan.starts);
        let (least, most) = SLICES;
        let by_time = u32::try_from(of_start / u64::from(SLICE_MS)).unwrap_or(u32::MAX);
        let on_each = by_time.clamp(least, most);
        slices = on_each * plan.starts;
        let slice = Duration::from_millis(of_start) / on_each;
        suites.iter_mut().for_each(|suite| suite.work.take_slices_of(slice));
        time.push_str(&format!(
            "; the budget is {on_each} slices of {} s on each start",
            slice.as_secs_f64()
        ));
    }
    if plan.schedule.half_width().is_some() {
        time.push_str("; no step ends early: precision needs interleaved systems");
    }
    let schedule = Schedule::Sequential { slices };
    (Plan { schedule, suites, is_sequential_to_fit: true, ..plan }, time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;
    use crate::plan::SuiteWork;
    use rqps_model::Dbms;

    fn two(rest: &str) -> Plan {
        let text = format!(
            "[[system]]\nlabel = 'a'\ndbms = 'postgres'\nversion = '17.4'\n\
             [[system]]\nlabel = 'b'\ndbms = 'postgres'\nversion = '17.4'\n{rest}"
        );
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap()
    }

    /// With caches of so many MB, whatever the plan.
    fn fit(plan: Plan, mb: [u64; 2]) -> Result<(Plan, Option<String>)> {
        let needs = |plan: &Plan| {
            let systems = plan.systems.iter().zip(mb);
            Ok(systems.map(|(spec, mb)| Need::of(plan, spec, mb << 20)).collect())
        };
        fitted_to(plan, &needs, 2 << 30)
    }

    #[test]
    fn systems_that_do_not_fit_together_are_measured_sequentially() {
        let plan = two("");
        assert_eq!(fit(plan.clone(), [600, 600]).unwrap(), (plan.clone(), None));
        let (fits, sentence) = fit(plan.clone(), [700, 700]).unwrap();
        assert_eq!((fits.schedule, fits.starts), (Schedule::Sequential { slices: 6 }, 4));
        assert_eq!(fits.suites, plan.suites);
        expect_test::expect!["the systems do not fit into memory together (caches of a 700 MB, b 700 MB, 12 MB for 1 connection to each, 400 MB for the rest of each server; rqps may use 2048 MB): they are measured one after the other, with 4 starts each, in a new random order; smaller caches would let them be interleaved"].assert_eq(&sentence.unwrap());
        // What is stored says what was carried out, with the starts that the plan asks for.
        assert!(fits.to_toml().contains("mode = \"sequential\""));
        let more = Plan { starts: 5, ..plan.clone() };
        assert_eq!(fit(more, [700, 700]).unwrap().0.starts, 5);
        let error = fit(plan, [700, 1700]).unwrap_err().to_string();
        assert!(error.starts_with("b does not fit into memory: caches of 1700 MB"), "{error}");
    }

    #[test]
    fn a_budget_stays_what_a_step_takes_at_most() {
        let plan = two("[schedule]\nbudget = '60s'\nprecision = '1%'\n");
        let (fits, sentence) = fit(plan, [700, 700]).unwrap();
        let SuiteWork::File { args, .. } = &fits.suites[0].work else { panic!("{fits:?}") };
        let times = [args.times.read, args.times.write, args.times.insert];
        assert_eq!(
            (fits.schedule, times),
            (Schedule::Sequential { slices: 24 }, [Duration::from_millis(2500); 3])
        );
        let of_step = fits.schedule.at_most(args.times.read);
        assert_eq!(of_step, Duration::from_secs(60));
        expect_test::expect!["the systems do not fit into memory together (caches of a 700 MB, b 700 MB, 12 MB for 1 connection to each, 400 MB for the rest of each server; rqps may use 2048 MB): they are measured one after the other, with 4 starts each, in a new random order; the budget is 6 slices of 2.5 s on each start; no step ends early: precision needs interleaved systems; smaller caches would let them be interleaved"].assert_eq(&sentence.unwrap());
        // It is that of all starts together.
        let (fits, _) = fit(two("[schedule]\nbudget = '18s'\nstarts = 3\n"), [700, 700]).unwrap();
        let SuiteWork::File { args, .. } = &fits.suites[0].work else { panic!("{fits:?}") };
        assert_eq!((fits.schedule.slices(), args.times.write), (9, Duration::from_secs(2)));
        let (fits, _) = fit(two("[schedule]\nbudget = '1s'\n"), [700, 700]).unwrap();
        assert_eq!(fits.schedule.slices(), 8);
    }

    #[test]
    fn sizes_are_told_and_checked_as_they_are_used() {
        // As the profile `small`: a share of the memory for all that are up.
        let shared = |plan: &Plan| {
            let cache = (1400_u64 << 20) / u64::from(plan.systems_up());
            Ok(plan.systems.iter().map(|spec| Need::of(plan, spec, cache)).collect())
        };
        let (_, sentence) = fitted_to(two(""), &shared, 2 << 30).unwrap();
        let sentence = sentence.unwrap();
        let caches = "(caches of a 700 MB, b 700 MB, 12 MB for 1 connection";
        assert!(sentence.contains(caches), "{sentence}");
        assert!(
            sentence.contains("; alone they have caches of a 1400 MB, b 1400 MB;"),
            "{sentence}"
        );
        let error = fitted_to(two(""), &shared, 1700 << 20).unwrap_err().to_string();
        assert!(error.starts_with("a does not fit into memory: caches of 1400 MB"), "{error}");
    }

    #[test]
    fn connections_of_many_clients_take_memory_by_their_server() {
        let suite = "[[suite]]\nclients = [1, 64]\n";
        let few = two("[[suite]]\nclients = [1]\n");
        assert!(fit(few, [300, 300]).unwrap().1.is_none());
        let (fits, sentence) = fit(two(suite), [300, 300]).unwrap();
        assert!(!fits.schedule.is_interleaved());
        let told =
            "(caches of a 300 MB, b 300 MB, 768 MB for 64 connections to each, 400 MB for the rest";
        assert!(sentence.unwrap().contains(told));
        let error = fit(two(suite), [300, 900]).unwrap_err().to_string();
        expect_test::expect!["b does not fit into memory: caches of 900 MB, 768 MB for 64 connections and 400 MB for the rest of the server exceed 2048 MB; make its caches smaller, or use fewer clients"].assert_eq(&error);
        // Threads take less than processes.
        let mut threads = two(suite);
        threads.systems.iter_mut().for_each(|spec| spec.dbms = Dbms::Mariadb);
        assert!(fit(threads, [300, 300]).unwrap().1.is_none());
    }

    #[test]
    fn what_cannot_be_started_is_measured_on_one_start() {
        let mut plan =
            two("[[system]]\ndsn = 'postgres://u@h/d'\n[schedule]\nmode = 'interleaved'\n");
        plan = fit(plan, [700, 700]).unwrap().0;
        assert_eq!((plan.schedule.is_interleaved(), plan.starts), (false, 1));
    }
}
