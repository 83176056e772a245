//! `rqps run`: from what was typed to a plan, then the lab, then the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rqps_lab::plan::{ScheduleFile, SuiteFile, SystemFile};
use rqps_lab::{Carried, Context, Event, Plan, PlanFile};
use rqps_model::StepOutcome;
use rqps_report::{Detail, TextOptions};
use rqps_sample::given_file;
use rqps_store::{RunRef, Store};

use crate::args::{Format, RunArgs};
use crate::live::Teller;
use crate::output::{print, text_width};
use crate::progress::{Lines, Progress, taken};
use crate::{Surroundings, complain, profile, report, steps};

/// A lock on the store that is held for longer is told, and an interrupt ends the wait.
const LOCKED: Duration = Duration::from_secs(30);

/// Most bytes of a plan: thousands of systems.
const MOST_OF_PLAN: u64 = 16 << 20;

/// Carries out `rqps run ...`.
pub(crate) fn run(args: &RunArgs, around: &Surroundings) -> Result<ExitCode> {
    let plan = plan_of(args, around)?;
    carry_out(plan, args, around)
}

/// Carries out a plan, with what `args` say beside it, and reports.
pub(crate) fn carry_out(plan: Plan, args: &RunArgs, around: &Surroundings) -> Result<ExitCode> {
    let bound = report::parse_percent("--bound", &args.bound)?;
    let is_armed = args.stop_after.as_ref().map(|time| stop_after(time, around)).transpose()?;
    let context = Context { anew: args.new, drawn_seed: drawn_seed(), ..around.lab() };
    let began = Instant::now();
    let store = Store::open(&around.results)?;
    let mut progress = Progress::new();
    let (interrupt, path) = (Arc::clone(&around.interrupt), store.path().to_owned());
    let store = store.waiting_while(waits_for_the_store(progress.lines(), interrupt, path));
    let mut teller = Teller::new(&store);
    let mut listen = |event: Event<'_>| {
        progress.show(&event);
        teller.tell(&event);
    };
    let (plan, decided) = rqps_lab::on_this_host(plan, &store, &context, &mut listen)?;
    for sentence in decided {
        listen(Event::Note(&sentence));
    }
    let result = rqps_lab::run(&plan, &store, &context, &mut listen);
    // What is left takes seconds, and is no part of the time that was given.
    if let Some(is_armed) = is_armed {
        is_armed.store(false, Ordering::Relaxed);
    }
    drop(teller);
    progress.clear();
    let Carried { id, missing } = match result {
        Ok(carried) => carried,
        Err(error) => return Err(with_next_step(error, &store, &plan)),
    };
    let of = id.parse::<RunRef>().unwrap_or_default();
    let (run, profiles) = (store.select_run(&of)?, store.select_stack_profiles(&of)?);
    let found = report::Found { run: &run, base: run.base, profiles: &profiles };
    let untold = tell(found, (args, bound), around, &store);
    progress.line(&format!("run {id} took {}", taken(began.elapsed())));
    let failed: Vec<&str> = run
        .steps
        .iter()
        .filter(|s| s.systems.iter().any(|x| matches!(x.outcome, StepOutcome::Failed { .. })))
        .map(|s| s.info.name.as_str())
        .collect();
    if !failed.is_empty() {
        complain(&format!("error: {} steps failed: {}", failed.len(), failed.join(", ")));
    }
    if !missing.is_empty() {
        let (n, of) = (missing.len(), run.systems.len());
        let causes =
            missing.iter().map(|(_, error)| format!("  {}", format!("{error:#}").trim_end()));
        let causes = causes.collect::<Vec<_>>().join("\n");
        complain(&format!(
            "error: {n} of {of} systems were not measured in all steps:\n{causes}\n\
             run the same command again to try them once more"
        ));
    }
    if !untold.is_empty() {
        let causes: Vec<String> = untold.iter().map(|error| format!("{error:#}")).collect();
        let state = if missing.is_empty() { "finished" } else { "stored" };
        complain(&format!(
            "error: {}\nrun {id} is {state}; `rqps report {id}` shows it",
            causes.join("\n")
        ));
    }
    let is_whole = failed.is_empty() && missing.is_empty() && untold.is_empty();
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Writes the pages of a run that has ended and prints its report; gives what could not be done. Whatever that
/// is, the rest is done: a terminal that is gone is no reason to leave nothing behind.
fn tell(
    found: report::Found<'_>,
    (args, bound): (&RunArgs, f64),
    around: &Surroundings,
    store: &Store,
) -> Vec<anyhow::Error> {
    let options =
        TextOptions { colour: around.colour, detail: Detail::Summary, width: text_width() };
    let (mut untold, mut places) = (Vec::new(), String::new());
    if !args.no_html {
        match profile::write_pages(found, bound, store) {
            Ok(paths) => {
                places.extend(paths.iter().map(|path| format!("\nstacks: {}", shown(path))));
            }
            Err(error) => untold.push(error),
        }
        let path = around.results.join(format!("{}.html", found.run.id));
        let html = report::render(found, Format::Html, bound, options);
        let written = html.and_then(|html| {
            fs::write(&path, html).with_context(|| format!("write {}", path.display()))
        });
        match written {
            Ok(()) => places.push_str(&format!("\nreport: {}", shown(&path))),
            Err(error) => untold.push(error),
        }
    }
    if !places.is_empty() {
        places.push('\n');
    }
    let text = report::render(found, Format::Terminal, bound, options);
    untold.extend(text.and_then(|text| print(&format!("{text}{places}"))).err());
    untold
}

/// Notes for whom a lock on the store keeps waiting; gives whether to wait on.
fn waits_for_the_store(
    lines: Lines,
    interrupt: Arc<AtomicBool>,
    path: PathBuf,
) -> impl Fn(Duration) -> bool + Send + 'static {
    let is_told = AtomicBool::new(false);
    move |waited| {
        if waited < LOCKED {
            is_told.store(false, Ordering::Relaxed);
            return true;
        }
        if interrupt.load(Ordering::Relaxed) {
            return false;
        }
        if !is_told.swap(true, Ordering::Relaxed) {
            let (path, s) = (path.display(), LOCKED.as_secs());
            lines.line(&format!(
                "another process has locked {path} for {s} s; the run goes on when it is free"
            ));
        }
        true
    }
}

/// Interrupts the run when its time is over, while what is given back is true.
fn stop_after(text: &str, around: &Surroundings) -> Result<Arc<AtomicBool>> {
    let time = rqps_lab::plan::parse_stop_after(text)
        .map_err(|(problem, remedy)| anyhow::anyhow!("--stop-after {problem}; {remedy}"))?;
    let (interrupt, stopped_by) = (Arc::clone(&around.interrupt), Arc::clone(&around.stopped_by));
    let why = format!("stopped after {text}, as --stop-after says");
    let until = Instant::now() + time;
    let is_armed = Arc::new(AtomicBool::new(true));
    let is_wanted = Arc::clone(&is_armed);
    let clock = move || {
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(left);
        }
        // A user who was faster is the one who stopped it.
        let is_wanted = is_wanted.load(Ordering::Relaxed) && !interrupt.load(Ordering::Relaxed);
        if is_wanted && stopped_by.set(why).is_ok() {
            interrupt.store(true, Ordering::Relaxed);
        }
    };
    std::thread::Builder::new()
        .name("stop-after".to_owned())
        .spawn(clock)
        .context("start a thread")?;
    Ok(is_armed)
}

/// A path as one would type it from here.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// The plan that was named or described, with what the command line says on top.
fn plan_of(args: &RunArgs, around: &Surroundings) -> Result<Plan> {
    let (mut file, origin) = match (&args.plan, &args.base) {
        (Some(path), _) => {
            let origin = path.display().to_string();
            let text = read_plan(path).with_context(|| {
                format!("read the plan {origin} (or name systems with --base and --vs)")
            })?;
            (PlanFile::parse(&text, &origin)?, origin)
        }
        (None, Some(base)) => {
            if args.candidates.is_empty() {
                bail!("--base needs at least one --vs SYSTEM to compare it with");
            }
            let systems = std::iter::once(base).chain(&args.candidates);
            let system = systems.map(|text| system_of(text)).collect::<Result<Vec<_>>>()?;
            (PlanFile { system, ..PlanFile::default() }, "command line".to_owned())
        }
        (None, None) => bail!("name a PLAN.toml, or --base SYSTEM and --vs SYSTEM"),
    };
    apply(args, &mut file)?;
    Ok(file.resolve(&origin, &around.catalogue)?)
}

/// The text of a plan.
pub(crate) fn read_plan(path: &Path) -> std::io::Result<String> {
    given_file::read_text(path, MOST_OF_PLAN)
}

/// An error after something was measured, with what to do about it.
fn with_next_step(error: anyhow::Error, store: &Store, plan: &Plan) -> anyhow::Error {
    // The store's own errors say it themselves.
    if error.downcast_ref::<rqps_store::Error>().is_some() {
        return error;
    }
    match store.select_latest_unfinished(&plan.to_toml()) {
        Ok(Some(run))
            if run.steps.iter().any(|s| s.systems.iter().any(|x| !x.slices.is_empty())) =>
        {
            let text = format!("{error:#}");
            anyhow::anyhow!(
                "{}\nrun {} keeps what was measured; run the same command again to go on",
                text.trim_end(),
                run.id
            )
        }
        _ => error,
    }
}

/// Lays what was typed over what the plan says.
///
/// # Errors
/// When `--steps` names a suite that the plan does not have.
pub(crate) fn apply(args: &RunArgs, file: &mut PlanFile) -> Result<()> {
    if file.suite.is_empty() {
        file.suite.push(SuiteFile::default());
    }
    for suite in &mut file.suite {
        if let Some(kind) = &args.suite {
            suite.kind = Some(kind.clone());
        }
        if let Some(size) = &args.size {
            // A size replaces what the plan says of tables and seconds.
            suite.size = Some(size.clone());
            (suite.tables, suite.rows) = (None, None);
            suite.seconds = rqps_lab::plan::SecondsFile::default();
        }
        if let Some(form) = &args.form {
            suite.form = Some(form.clone());
        }
        suite.rate = args.rate.or(suite.rate);
        if !args.clients.is_empty() {
            suite.clients = Some(args.clients.clone());
        }
    }
    steps::choose(&args.steps, &mut file.suite)?;
    if let Some(audit) = &args.audit {
        file.audit = Some(audit.clone());
    }
    // What is typed replaces what contradicts it.
    let schedule: &mut ScheduleFile = &mut file.schedule;
    if let Some(slices) = args.slices {
        schedule.slices = Some(slices);
        schedule.budget = None;
    }
    schedule.seed = args.seed.or(schedule.seed);
    if let Some(mode) = &args.schedule {
        schedule.mode = Some(mode.clone());
        if mode == "sequential" {
            (schedule.slice, schedule.budget, schedule.precision) = (None, None, None);
        }
    }
    if let Some(placement) = &args.placement {
        schedule.placement = Some(placement.clone());
    }
    Ok(())
}

/// A system as typed: `mysql@8.0.33`, `postgres@18.6+debian`, `mysql@/opt/mysql`, `mysql://user@host/db`.
pub(crate) fn system_of(text: &str) -> Result<SystemFile> {
    if text.contains("://") {
        // Not shown: everybody on the host has seen it in the list of processes by now.
        if rqps_server::Dsn::parse(text).is_ok_and(|dsn| dsn.has_password()) {
            bail!(
                "an address on the command line holds a password, which every user of this host can \
                 read there; write mysql://USER@HOST/DATABASE?password_env=NAME or ?password_file=PATH, \
                 or put the address into a plan"
            );
        }
        return Ok(SystemFile { dsn: Some(text.to_owned()), ..SystemFile::default() });
    }
    if text == "null" {
        return Ok(SystemFile { dbms: Some(text.to_owned()), ..SystemFile::default() });
    }
    // Not shown: there may be a password in it.
    if text.split_once('@').is_some_and(|(before, _)| before.contains(':')) {
        bail!("a system looks like an address without \"://\"; write mysql://USER@HOST/DATABASE");
    }
    let Some((dbms, place)) = text.split_once('@') else {
        bail!(
            "system {text:?} is not DBMS@VERSION (such as mysql@8.0.33), DBMS@DIRECTORY or an address"
        );
    };
    let mut system = SystemFile { dbms: Some(dbms.to_owned()), ..SystemFile::default() };
    if place.contains('/') {
        let path = std::path::absolute(PathBuf::from(place)).context("find the directory")?;
        system.basedir = Some(path);
    } else {
        let (version, build) =
            place.split_once('+').map_or((place, None), |(version, build)| (version, Some(build)));
        system.version = Some(version.to_owned());
        system.build = build.map(ToOwned::to_owned);
    }
    Ok(system)
}

/// A seed nobody chose: the clock and the process id, mixed. Recorded with the run.
pub(crate) fn drawn_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    // The standard library seeds its hash maps from the system's random source.
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    // Short enough to be typed, and exact in JSON's numbers.
    hasher.finish() >> 32
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    /// The schedule of a plan with these keys after `rqps run plan.toml ARGUMENTS`.
    fn typed_over(keys: &str, arguments: &str) -> Result<rqps_model::Schedule, String> {
        let words = format!("rqps run plan.toml {arguments}");
        let cli = Cli::try_parse_from(words.split_whitespace()).unwrap();
        let Command::Run(args) = cli.command else { panic!("{words}") };
        let system = |label| format!("[[system]]\ndbms = 'null'\nlabel = '{label}'\n");
        let text = format!("{}{}[schedule]\n{keys}\n", system("a"), system("b"));
        let mut file = PlanFile::parse(&text, "test").unwrap();
        apply(&args, &mut file).unwrap();
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        file.resolve("test", &catalogue).map(|plan| plan.schedule).map_err(|e| e.to_string())
    }

    #[test]
    fn a_locked_store_is_waited_for_until_the_user_interrupts() {
        let interrupt = Arc::new(AtomicBool::new(false));
        let (lines, path) = (Progress::new().lines(), PathBuf::from("/r/rqps.db"));
        let goes_on = waits_for_the_store(lines, Arc::clone(&interrupt), path);
        assert!(goes_on(Duration::from_secs(1)) && goes_on(LOCKED) && goes_on(LOCKED * 1000));
        interrupt.store(true, Ordering::Relaxed);
        // Whatever a run that ends has to store is still stored where a slow disk takes its time.
        assert!(goes_on(Duration::from_secs(1)) && !goes_on(LOCKED));
    }

    #[test]
    fn what_is_typed_replaces_what_contradicts_it() {
        let all = "budget = '60s'\nprecision = '1%'\nslice = '50ms'";
        let sequential = |slices| Ok(rqps_model::Schedule::Sequential { slices });
        assert_eq!(typed_over(all, "--schedule sequential"), sequential(6));
        assert_eq!(typed_over(all, "--schedule sequential --slices 2"), sequential(2));
        let schedule = typed_over(all, "--slices 3").unwrap();
        assert_eq!((schedule.slices(), schedule.half_width()), (3, Some(0.01)));
        assert_eq!(schedule.at_most(Duration::from_secs(5)), Duration::from_secs(15));
        let kept = typed_over(all, "--schedule interleaved").unwrap();
        assert_eq!(kept.at_most(Duration::from_secs(5)), Duration::from_secs(60));
        // What contradicts itself in the plan is still refused.
        assert!(typed_over("budget = '60s'\nslices = 2", "").is_err());
    }

    #[test]
    fn systems_as_typed() {
        let system = system_of("pg@17.4").unwrap();
        assert_eq!((system.dbms.as_deref(), system.version.as_deref()), (Some("pg"), Some("17.4")));
        let system = system_of("pg@18.6+debian").unwrap();
        let typed = (system.version.as_deref(), system.build.as_deref());
        assert_eq!(typed, (Some("18.6"), Some("debian")));
        let system = system_of("mysql@/opt/my").unwrap();
        assert_eq!(system.basedir.as_deref(), Some(Path::new("/opt/my")));
        assert!(system_of("postgres://u@h/d").unwrap().dsn.is_some());
        let error = system_of("mysql:/bob:secret@host/db").unwrap_err().to_string();
        assert!(error.contains("without \"://\"") && !error.contains("secret"), "{error}");
        assert!(system_of("17.4").unwrap_err().to_string().contains("DBMS@VERSION"));
    }
}
