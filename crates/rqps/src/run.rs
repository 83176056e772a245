//! `rqps run`: measures, then reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rqps_analysis::Judging;
use rqps_model::{Run, StepOutcome};
use rqps_report::{Detail, TextOptions};
use rqps_runner::{Carried, Environment, Event, Plan};
use rqps_store::{RunRef, Store};
use rqps_text::number;

use crate::args::{Format, RunArgs};
use crate::live::Teller;
use crate::output::{print, text_width};
use crate::progress::{Lines, Progress, taken};
use crate::typed::plan_of;
use crate::{Surroundings, complain, report, stack_pages};

/// Carries out `rqps run ...`.
pub(crate) fn run(args: &RunArgs, around: &Surroundings) -> Result<ExitCode> {
    let plan = plan_of(args, around)?;
    Ok(carry_out(plan, args, around)?.code())
}

/// A run that has ended, with its report.
pub(crate) struct Ended {
    pub(crate) run: Run,
    /// Whether all was measured, and told.
    pub(crate) is_whole: bool,
}

impl Ended {
    /// 0 when all was measured, else 2.
    pub(crate) fn code(&self) -> ExitCode {
        if self.is_whole { ExitCode::SUCCESS } else { ExitCode::from(2) }
    }
}

/// Carries out a plan, with what `args` say beside it, and reports.
pub(crate) fn carry_out(plan: Plan, args: &RunArgs, around: &Surroundings) -> Result<Ended> {
    let judging = report::judging_of(&args.judging)?;
    let is_armed = args.stop_after.as_ref().map(|time| stop_after(time, around)).transpose()?;
    let began = Instant::now();
    let mut progress = Progress::new();
    let measured = measured(plan, args, args.new, around, &mut progress);
    // What is left takes seconds, and is no part of the time that was given.
    if let Some(is_armed) = is_armed {
        is_armed.store(false, Ordering::Relaxed);
    }
    let Carried { id, missing, measured_share } = measured?;
    let store = Store::open(&around.results)?;
    let of = id.parse::<RunRef>().unwrap_or_default();
    let (run, profiles) = (store.select_run(&of)?, store.select_stack_profiles(&of)?);
    let found = report::Found { run: &run, base: run.base, profiles: &profiles };
    let untold = tell(found, args, judging, around, &store);
    report::keep_verdicts(&store, &run);
    let (took, share) = (taken(began.elapsed()), 100.0 * measured_share.clamp(0.0, 1.0));
    progress.line(&format!(
        "run {id} took {took}; {share:.0}% of the time after fetching was measured"
    ));
    let mut failed: Vec<&str> = run
        .steps
        .iter()
        .filter(|s| s.systems.iter().any(|x| matches!(x.outcome, StepOutcome::Failed { .. })))
        .map(|s| s.info.name.as_str())
        .collect();
    // A step can fail on each start of the servers.
    let mut seen = std::collections::BTreeSet::new();
    failed.retain(|name| seen.insert(*name));
    if !failed.is_empty() {
        let n = number::count(failed.len(), "step");
        complain(&format!("error: {n} failed: {}", failed.join(", ")));
    }
    if !missing.is_empty() {
        let of = number::count(run.systems.len(), "system");
        let causes =
            missing.iter().map(|(_, error)| format!("  {}", format!("{error:#}").trim_end()));
        let causes = causes.collect::<Vec<_>>().join("\n");
        complain(&format!(
            "error: {} of {of} not measured in all steps:\n{causes}\n\
             run the same command again to measure the rest",
            missing.len()
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
    Ok(Ended { run, is_whole })
}

/// Measures a plan, or resumes it unless it is to be a new run. What was measured is kept where that ends early.
pub(crate) fn measured(
    plan: Plan,
    args: &RunArgs,
    new_run: bool,
    around: &Surroundings,
    progress: &mut Progress,
) -> Result<Carried> {
    let wait_for_quiet = args.wait_for_quiet.as_deref().map(quiet_time).transpose()?;
    let context = Environment {
        new_run,
        allow_settings: args.allow_settings,
        drawn_seed: drawn_seed(),
        wait_for_quiet,
        ..around.environment()
    };
    let store = Store::open(&around.results)?;
    let (interrupt, path) = (Arc::clone(&around.interrupt), store.path().to_owned());
    let locked = around.patience.locked();
    let waits = waits_for_the_store(progress.lines(), interrupt, path, locked);
    let store = store.waiting_while(waits);
    let mut teller = Teller::new(&store);
    let mut listen = |event: Event<'_>| {
        progress.show(&event);
        teller.tell(&event);
    };
    let (plan, decided) = rqps_runner::on_this_host(plan, &store, &context, &mut listen)?;
    for sentence in decided {
        listen(Event::Note(&sentence));
    }
    let result = rqps_runner::run(&plan, &store, &context, &mut listen);
    drop(teller);
    progress.clear();
    result.map_err(|error| {
        keep_unfinished(&store, &plan);
        with_next_step(error, &store, &plan)
    })
}

/// Writes the pages of a run that has ended and prints its report; gives what could not be done. Whatever that
/// is, the rest is done: a terminal that is gone is no reason to leave nothing behind.
fn tell(
    found: report::Found<'_>,
    args: &RunArgs,
    judging: Judging,
    around: &Surroundings,
    store: &Store,
) -> Vec<anyhow::Error> {
    let options =
        TextOptions { colour: around.colour, detail: Detail::Screen, width: text_width() };
    let (mut untold, mut places) = (Vec::new(), String::new());
    if !args.no_html {
        match stack_pages::write(found, judging, store) {
            Ok(paths) => {
                places.extend(paths.iter().map(|path| format!("\nstacks: {}", shown(path))));
            }
            Err(error) => untold.push(error),
        }
        let path = around.results.join(format!("{}.html", found.run.id));
        let html = report::render(found, Format::Html, judging, options);
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
    let text = report::render(found, Format::Terminal, judging, options);
    untold.extend(text.and_then(|text| print(&format!("{text}{places}"))).err());
    untold
}

/// Notes for whom a lock on the store keeps waiting for `locked`; gives whether to wait on.
fn waits_for_the_store(
    lines: Lines,
    interrupt: Arc<AtomicBool>,
    path: PathBuf,
    locked: Duration,
) -> impl Fn(Duration) -> bool + Send + 'static {
    let is_told = AtomicBool::new(false);
    move |waited| {
        if waited < locked {
            is_told.store(false, Ordering::Relaxed);
            return true;
        }
        if interrupt.load(Ordering::Relaxed) {
            return false;
        }
        if !is_told.swap(true, Ordering::Relaxed) {
            let (path, s) = (path.display(), locked.as_secs_f64());
            lines.line(&format!(
                "another process has locked {path} for {s} s; the run resumes when the lock is free"
            ));
        }
        true
    }
}

/// How long a run waits for a quiet host.
pub(crate) fn quiet_time(text: &str) -> Result<Duration> {
    rqps_runner::plan::parse_duration(text)
        .map_err(|(problem, remedy)| anyhow::anyhow!("--wait-for-quiet {problem}; {remedy}"))
}

/// Interrupts the run when its time is over, while what is given back is true.
fn stop_after(text: &str, around: &Surroundings) -> Result<Arc<AtomicBool>> {
    let time = rqps_runner::plan::parse_duration(text)
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

/// Keeps how a run came out that did not end well, as far as it went.
fn keep_unfinished(store: &Store, plan: &Plan) {
    if let Ok(Some(run)) = store.select_latest_unfinished(&plan.to_toml()) {
        report::keep_verdicts(store, &run);
    }
}

/// A path as one would type it from here.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
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
                "{}\nrun {} keeps what was measured; run the same command again to resume",
                text.trim_end(),
                run.id
            )
        }
        _ => error,
    }
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
    use super::*;

    #[test]
    fn a_locked_store_is_waited_for_until_the_user_interrupts() {
        let interrupt = Arc::new(AtomicBool::new(false));
        let (lines, path) = (Progress::new().lines(), PathBuf::from("/r/rqps.db"));
        let locked = Duration::from_secs(30);
        let goes_on = waits_for_the_store(lines, Arc::clone(&interrupt), path, locked);
        assert!(goes_on(Duration::from_secs(1)) && goes_on(locked) && goes_on(locked * 1000));
        interrupt.store(true, Ordering::Relaxed);
        // Whatever a run that ends has to store is still stored where a slow disk takes its time.
        assert!(goes_on(Duration::from_secs(1)) && !goes_on(locked));
    }
}
