//! `rqps import`: other tools' results into the store.

use anyhow::{Context as _, Result, anyhow, ensure};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rqps_import::sysbench::LogFile;
use rqps_import::{Imports, Options};
use rqps_model::{Dbms, Run, StepOutcome};
use rqps_store::Store;
use rqps_text::number;

use crate::Surroundings;
use crate::args::{ImportCommand, ImportOptions};
use crate::output::say;

/// Carries out `rqps import ...`.
pub(crate) fn run(command: &ImportCommand, around: &Surroundings) -> Result<()> {
    let Imports { runs, skipped } = match command {
        ImportCommand::Mytools { dir, options, device } => {
            let source = dir.display().to_string();
            let options = Options { device: device.clone(), ..resolve(options, source, around)? };
            rqps_import::mytools::import(dir, &options)?
        }
        ImportCommand::Sysbench { logs, options } => {
            let files: Vec<LogFile> = logs.iter().map(|log| LogFile::parse(log)).collect();
            let names: Vec<String> = files.iter().map(|f| f.path.display().to_string()).collect();
            let options = resolve(options, names.join(", "), around)?;
            rqps_import::sysbench::import(&files, &options)?
        }
        ImportCommand::Iibench { dir, options, device } => {
            let source = dir.display().to_string();
            let options = Options { device: device.clone(), ..resolve(options, source, around)? };
            rqps_import::iibench::import(dir, &options)?
        }
    };
    let store = Store::open(&around.results)?;
    let last = keep(runs, &store)?;
    for problem in skipped {
        crate::complain(&format!("note: Not imported: {}.", problem.sentence()));
    }
    if let Some(id) = last {
        say(&format!("report: rqps report {id}\n"))?;
    }
    Ok(())
}

/// Stores runs, all or none, and says what is in them. The result is the id of the last one.
fn keep(runs: Vec<Run>, store: &Store) -> Result<Option<String>> {
    let told: Vec<Told> = runs.iter().map(Told::of).collect();
    let ids = rqps_runner::keep_imported(runs, store)?;
    for (id, Told { contents, notes }) in ids.iter().zip(told) {
        say(&format!("imported {id}: {contents}\n"))?;
        for note in notes {
            crate::complain(&format!("note: {note}"));
        }
    }
    Ok(ids.last().cloned())
}

/// What is said of an imported run.
struct Told {
    contents: String,
    notes: Vec<String>,
}

impl Told {
    fn of(run: &Run) -> Self {
        let cells = || run.steps.iter().flat_map(|step| &step.systems);
        let n_missing = cells().filter(|cell| cell.outcome == StepOutcome::Pending).count();
        let mut contents = format!(
            "{}, {}, {}",
            number::count(run.systems.len(), "system"),
            number::count(run.steps.len(), "step"),
            number::count(cells().count() - n_missing, "rate")
        );
        if n_missing > 0 {
            contents.push_str(&format!(", {n_missing} not run"));
        }
        let notes = run.imported.as_ref().map_or_else(Vec::new, |imported| imported.notes.clone());
        Self { contents, notes }
    }
}

fn resolve(options: &ImportOptions, source: String, around: &Surroundings) -> Result<Options> {
    let ImportOptions { name, base, host, clients, dbms, date } = options;
    let read = |dbms: &String| {
        dbms.parse::<Dbms>().map_err(|error| anyhow!("--dbms: {error}; {}", error.remedy()))
    };
    let dbms = dbms.as_ref().map(read).transpose()?;
    let at_unix_ms = match date {
        Some(date) => past_ms_of(date, rqps_store::unix_ms())?,
        None => rqps_store::unix_ms(),
    };
    Ok(Options {
        source,
        name: name.clone(),
        base: base.clone(),
        host: host.clone(),
        clients: *clients,
        dbms,
        device: None,
        at_unix_ms,
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: around.command_line.clone(),
    })
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Midnight of a day that has begun somewhere.
fn past_ms_of(date: &str, now_unix_ms: i64) -> Result<i64> {
    let unix_ms = unix_ms_of(date)?;
    ensure!(
        unix_ms <= now_unix_ms.saturating_add(DAY_MS),
        "--date {date} is in the future; write the day of the measurement, from 1970-01-01 to today"
    );
    Ok(unix_ms)
}

/// Midnight in UTC of a day that is written as 2025-08-31, from 1970 on.
fn unix_ms_of(date: &str) -> Result<i64> {
    let day = date.parse::<Date>().ok().filter(|day| day.to_string() == date);
    let midnight = day.and_then(|day| TimeZone::UTC.to_timestamp(day.into()).ok());
    let midnight =
        midnight.with_context(|| format!("--date {date} is not a date; write it as 2025-08-31"))?;
    let unix_ms = midnight.as_millisecond();
    ensure!(
        unix_ms >= 0,
        "--date {date} is before 1970-01-01; write the day of the measurement, from 1970-01-01 to today"
    );
    Ok(unix_ms)
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, past_ms_of, unix_ms_of};

    #[test]
    fn days_by_the_calendar() {
        assert_eq!(unix_ms_of("1970-01-01").unwrap(), 0);
        assert_eq!(unix_ms_of("2024-02-29").unwrap(), 1_709_164_800_000);
        for wrong in [
            "2025-02-29",
            "2025-04-31",
            "2024-13-01",
            "24-1-1",
            "2024/01/01",
            "yesterday",
            "20240101",
            "2024-01-01T00:00",
            "+2024-1-01",
            "1969-12-31",
            "",
        ] {
            assert!(unix_ms_of(wrong).is_err(), "{wrong}");
        }
        for early in ["1960-01-01", "1969-12-31", "0001-01-01"] {
            let problem = unix_ms_of(early).unwrap_err().to_string();
            let wanted =
                format!("--date {early} is before 1970-01-01; write the day of the measurement, ");
            assert_eq!(problem, wanted + "from 1970-01-01 to today");
        }
    }

    #[test]
    fn days_that_have_not_begun() {
        let now = unix_ms_of("2026-03-01").unwrap() + DAY_MS / 2;
        // Tomorrow may be today elsewhere.
        assert!(past_ms_of("2026-03-02", now).is_ok());
        let problem = past_ms_of("2026-03-03", now).unwrap_err().to_string();
        assert!(problem.starts_with("--date 2026-03-03 is in the future"), "{problem}");
    }
}
