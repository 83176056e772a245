//! `rqps calibrate`: how noisy this host is, as tables; stored for plans and reports.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rqps_model::calibration::{CalibratedStarts, Floor, Narrowest, Power, Trial};
use rqps_model::{Calibration, Dbms, Estimate};
use rqps_runner::calibrate::{STEPS, Wish, calibrate, disturbed};
use rqps_runner::plan::{COMMAND_LINE, ScheduleFile, SecondsFile, SuiteFile, SystemFile};
use rqps_runner::{Environment, Event, Plan, PlanFile};
use rqps_server::fetch;
use rqps_store::Store;

use crate::Surroundings;
use crate::args::CalibrateArgs;
use crate::output::{print, say, table};
use crate::progress::{Progress, duration};
use crate::run::drawn_seed;
use crate::typed::system_of;

/// Rows of the table: cached in whatever memory a host has.
const ROWS: u64 = 100_000;

/// Longest slice where one side comes after the other, and longest warm-up of a trial, seconds.
const LONGEST: (f64, f64) = (1.0, 0.3);

/// Carries out `rqps calibrate ...`.
pub(crate) fn run(args: &CalibrateArgs, around: &Surroundings) -> Result<()> {
    let context = Environment { drawn_seed: drawn_seed(), ..around.environment() };
    let mut progress = Progress::new();
    let system = match &args.system {
        Some(text) => text.clone(),
        None => {
            let system = newest_cached(around)?;
            progress.line(&format!("calibrating with {system}, the newest server in the cache"));
            system
        }
    };
    let plan = plan_of(&system, args.seconds, around)?;
    let store = Store::open(&around.results)?;
    let began = std::time::Instant::now();
    let mut listen = |event: Event<'_>| progress.show(&event);
    let n_looks = if args.power { args.looks } else { 0 };
    let wish = Wish { time: Duration::from_secs_f64(args.seconds), n_looks };
    let found = rqps_runner::identify_systems(plan, &context, &mut listen)
        .and_then(|plan| calibrate(&plan, wish, &context, &mut listen));
    progress.clear();
    let found = found?;
    // What was found is told, whether or not it can be kept.
    let kept = store.insert_calibration(&found);
    progress.line(&format!("the calibration took {}", duration(began.elapsed())));
    if args.json {
        let text = serde_json::to_string_pretty(&found).context("write the calibration")?;
        print(&format!("{text}\n"))?;
    } else {
        say(&as_text(&found))?;
    }
    kept.context("keep the calibration")
}

/// The newest PostgreSQL or MariaDB of the cache; of versions of one age PostgreSQL.
fn newest_cached(around: &Surroundings) -> Result<String> {
    let places = rqps_runner::places(&around.environment())?;
    for dbms in [Dbms::Postgres, Dbms::Mariadb] {
        let entries = around.catalogue.servers().iter().filter(|entry| entry.dbms == dbms);
        let cached = entries.filter(|entry| fetch::is_cached(entry, &places.cache));
        if let Some(entry) = cached.max_by(|a, b| a.version.cmp(&b.version)) {
            return Ok(entry.selector());
        }
    }
    bail!(
        "the cache has no PostgreSQL and no MariaDB; name a server, such as \
         `rqps calibrate postgres@17.4`"
    )
}

/// The system under two labels.
fn plan_of(system: &str, seconds: f64, around: &Surroundings) -> Result<Plan> {
    let one = system_of(system)?;
    ensure!(one.dsn.is_none(), "a calibration starts its own server; name DBMS@VERSION");
    let side = |label: &str| SystemFile { label: Some(label.to_owned()), ..one.clone() };
    let n_cpus = u32::try_from(rqps_runner::placement::usable_cpus()?.len()).unwrap_or(1);
    let mut clients = vec![1, n_cpus];
    clients.dedup();
    let suite = SuiteFile {
        size: Some("tiny".to_owned()),
        rows: Some(ROWS),
        clients: Some(clients),
        steps: Some(STEPS.map(ToOwned::to_owned).to_vec()),
        seconds: SecondsFile {
            read: Some(LONGEST.0.min(seconds / 2.0)),
            write: Some(LONGEST.0.min(seconds / 2.0)),
            warm_up: Some(LONGEST.1.min(seconds / 10.0)),
            ..SecondsFile::default()
        },
        ..SuiteFile::default()
    };
    let schedule = ScheduleFile {
        mode: Some("interleaved".to_owned()),
        starts: Some(1),
        ..ScheduleFile::default()
    };
    let system = vec![side("a"), side("b")];
    let file = PlanFile { system, suite: vec![suite], schedule, ..PlanFile::default() };
    Ok(file.resolve(COMMAND_LINE, &around.catalogue)?)
}

fn as_text(found: &Calibration) -> String {
    let Calibration { system, seconds, host, .. } = found;
    let best: Vec<String> =
        found.best.iter().map(|b| format!("{} for {}", b.placement, clients(b.clients))).collect();
    let mut text = format!(
        "{system} against itself on {} ({} CPUs, kernel {}), {seconds} s per side and trial.\n\
         Half-width of the 95% interval of rQPS on point queries, by estimator of QPS:\n\n{}\n\
         {}Best, or the default where none is clearly better: {}; slices of {} ms. Plans with \"auto\" use \
         them.\n\
         {}\n{}",
        host.hostname,
        host.n_cpus,
        host.kernel,
        trials(&found.trials),
        quiet_or_not(found),
        best.join(", "),
        found.slice_ms,
        narrowest(found.narrowest.as_ref()),
        floors(&found.floors)
    );
    if !found.starts.is_empty() {
        text.push('\n');
        text.push_str(&starts(&found.starts));
        text.push_str(START_WORDS);
    }
    if !found.power.is_empty() {
        text.push('\n');
        text.push_str(&powers(&found.power));
        text.push_str(POWER_WORDS);
    }
    text
}

/// What the spread of starts is for.
const START_WORDS: &str = "\
    sd: standard deviation of rQPS (A/A) between starts. Ratios of a single start get intervals \
    that are wider by it.\n";

/// What the counts of injected slowdowns are.
const POWER_WORDS: &str = "\
    beyond chance: the whole interval is below 1, however near (at 0%: the interval does not contain 1).\n\
    slower: verdict of a single step with the default bound of 5%; less than 5% is `same`.\n\
    at half: the same verdict with half the injected slowdown as bound (--bound). At 0%, each is false.\n";

/// What disturbed it so often that the findings may be that.
fn quiet_or_not(found: &Calibration) -> String {
    match disturbed(found) {
        Some(what) => {
            format!("The host was disturbed: {what}. Calibrate again when it is quiet.\n")
        }
        None => String::new(),
    }
}

fn narrowest(found: Option<&Narrowest>) -> String {
    match found {
        Some(Narrowest { location, share, n_trials }) => format!(
            "Narrowest here: {location}, {share:.2} of the average's width over {n_trials} trials. Verdicts \
             use the average.\n"
        ),
        None => String::new(),
    }
}

fn trials(trials: &[Trial]) -> String {
    const LOCATIONS: [&str; 5] = ["average", "median", "midmean", "p90", "p80-95"];
    let headings = [&["clients", "placement", "slices", "QPS", "rQPS"][..], &LOCATIONS].concat();
    let row = |trial: &Trial| {
        let slices = trial.slice_ms.map_or_else(|| "none".to_owned(), |ms| format!("{ms} ms"));
        let first = trial.located.first().map(|first| format!("{:.3}", first.ratio.point));
        let mut row = vec![
            trial.clients.to_string(),
            trial.placement.to_string(),
            slices,
            format!("{:.0}", trial.figure_per_s),
            first.unwrap_or_else(|| "-".to_owned()),
        ];
        row.extend(LOCATIONS.map(|location| {
            let at = trial.located.iter().find(|located| located.location == location);
            at.map_or_else(|| "-".to_owned(), |at| width(&at.ratio))
        }));
        row
    };
    table(&headings, &trials.iter().map(row).collect::<Vec<_>>())
}

fn floors(floors: &[Floor]) -> String {
    let row = |floor: &Floor| {
        let seen = floor.visible().map(|visible| format!("{:.1}%", visible * 100.0));
        vec![
            floor.step.clone(),
            floor.clients.to_string(),
            floor.seconds.to_string(),
            with_interval(&floor.ratio),
            width(&floor.ratio),
            seen.unwrap_or_else(|| "-".to_owned()),
        ]
    };
    let headings =
        ["noise floor", "clients", "seconds", "rQPS (A/A)", "half-width", "seen 4 times in 5"];
    table(&headings, &floors.iter().map(row).collect::<Vec<_>>())
}

fn starts(starts: &[CalibratedStarts]) -> String {
    let row = |found: &CalibratedStarts| {
        vec![found.step.clone(), found.n_starts.to_string(), format!("{:.1}%", found.sd * 100.0)]
    };
    let headings = ["starts of the servers", "starts", "sd"];
    table(&headings, &starts.iter().map(row).collect::<Vec<_>>())
}

fn powers(powers: &[Power]) -> String {
    let row = |power: &Power| {
        let called =
            |n: Option<u32>| n.map_or_else(|| "-".to_owned(), |n| format!("{n} of {}", power.n));
        vec![
            format!("{}%", power.injected_slowdown_pct),
            power.step.clone(),
            power.clients.to_string(),
            format!("{} of {}", power.n_found, power.n),
            called(power.n_judged),
            called(power.n_judged_at_half),
            with_interval(&power.ratio),
        ]
    };
    let headings = [
        "injected slowdown",
        "step",
        "clients",
        "beyond chance",
        "slower",
        "at half",
        "rQPS over all",
    ];
    table(&headings, &powers.iter().map(row).collect::<Vec<_>>())
}

fn clients(n: u32) -> String {
    if n == 1 { "1 client".to_owned() } else { format!("{n} clients") }
}

fn width(ratio: &Estimate) -> String {
    ratio.half_width().map_or_else(|| "-".to_owned(), |half| format!("{:.1}%", half * 100.0))
}

fn with_interval(ratio: &Estimate) -> String {
    match ratio.interval {
        Some((low, high)) => format!("{:.3} [{low:.3}, {high:.3}]", ratio.point),
        None => format!("{:.3} (n=1)", ratio.point),
    }
}
