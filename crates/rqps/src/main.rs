//! rqps finds performance regressions in database servers and says how sure that is.
//!
//! This crate alone prints, reads the environment and decides exit codes: 0 fine, 1 a regression
//! (gate), 2 an error, 130 interrupted.

mod args;
mod bisect;
mod builds;
mod calibrate;
mod catalogue;
mod charts;
mod commit_plans;
mod compare;
mod doctor;
mod fit;
mod gate;
mod history;
mod import;
mod live;
mod opened;
mod output;
mod patterns;
mod profile;
mod progress;
mod report;
mod run;
mod runs;
mod serve;
mod servers;
mod signals;
mod stack_pages;
mod steps;
mod suites;
mod sysbench;
mod tables;
mod track;
mod trial;
mod typed;
mod warnings;

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use clap::Parser as _;
use rqps_runner::Suspension;
use rqps_server::{Catalogue, Patience, Trial};
use rqps_store::Store;

use crate::args::{BuildsCommand, Cli, Command, RunsCommand, TablesCommand};

/// What the commands need to know of the surroundings.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The results directory as given.
    pub(crate) results: PathBuf,
    /// The cache directory: given, or the user's.
    pub(crate) cache: PathBuf,
    /// The servers that can be fetched.
    pub(crate) catalogue: Arc<Catalogue>,
    /// Directory for files that need not outlive the command.
    pub(crate) temp: PathBuf,
    /// Set by the first SIGINT, SIGTERM or SIGHUP.
    pub(crate) interrupt: Arc<AtomicBool>,
    /// Why it is set, when it was not by a signal.
    pub(crate) stopped_by: Arc<OnceLock<String>>,
    /// Whether SIGTSTP stops rqps at once, and whether it came.
    pub(crate) suspension: Suspension,
    /// The words of the command as typed.
    pub(crate) command_line: Vec<String>,
    /// Whether colours may be used on standard output.
    pub(crate) colour: bool,
    /// What a trial switches off.
    pub(crate) trial: Trial,
    /// Where new data directories that are made alike are kept and copied from, in tests.
    pub(crate) templates: Option<PathBuf>,
    /// How long servers are waited for.
    pub(crate) patience: Patience,
}

impl Surroundings {
    /// Ends a command between two of its steps, once a signal came.
    pub(crate) fn go_on(&self) -> Result<()> {
        anyhow::ensure!(!self.interrupt.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }

    /// What the runner needs of them.
    pub(crate) fn environment(&self) -> rqps_runner::Environment {
        rqps_runner::Environment {
            results: self.results.clone(),
            cache: self.cache.clone(),
            catalogue: Arc::clone(&self.catalogue),
            temp: self.temp.clone(),
            interrupt: Arc::clone(&self.interrupt),
            stopped_by: Arc::clone(&self.stopped_by),
            suspension: self.suspension.clone(),
            variables: variable,
            command_line: self.command_line.clone(),
            rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
            new_run: false,
            allow_settings: false,
            drawn_seed: 0,
            // Whatever becomes of the file meanwhile, this is the program that runs.
            watchdog: vec!["/proc/self/exe".into(), "watchdog".into()],
            trial: self.trial,
            templates: self.templates.clone(),
            patience: self.patience,
            wait_for_quiet: None,
        }
    }
}

fn main() -> ExitCode {
    if let Some(args) = sysbench::args() {
        return sysbench::run(&args);
    }
    let cli = Cli::parse();
    let interrupt = Arc::new(AtomicBool::new(false));
    let stopped_by: Arc<OnceLock<String>> = Arc::default();
    let suspension = Suspension::default();
    let result = if matches!(cli.command, Command::Watchdog) {
        watch_servers()
    } else {
        let has_to_end = has_something_to_end(&cli.command);
        let heard = if has_to_end { signals::listen(&interrupt, &suspension) } else { Ok(()) };
        heard.and_then(|()| {
            let around =
                surroundings(&cli, Arc::clone(&interrupt), Arc::clone(&stopped_by), suspension)
                    .inspect_err(|error| gate::refused(&cli, error))?;
            dispatch(&cli, &around)
        })
    };
    match result {
        Ok(code) => code,
        Err(_) if interrupt.load(Ordering::Relaxed) => {
            let can_resume = matches!(
                cli.command,
                Command::Run(_) | Command::Profile(_) | Command::Bisect(_) | Command::Track(_)
            );
            let next = if can_resume { "; run the same command again to resume" } else { "" };
            let why = stopped_by.get().map_or("interrupted", String::as_str);
            complain(&format!("{why}{next}"));
            ExitCode::from(130)
        }
        Err(error) => {
            complain(&format!("error: {error:#}{}", next_step(&error)));
            ExitCode::from(2)
        }
    }
}

/// What to do about an error that ends in one of the operating system; empty where it says so itself.
fn next_step(error: &anyhow::Error) -> &'static str {
    let Some(cause) = error.root_cause().downcast_ref::<io::Error>() else { return "" };
    // What rqps says of a file in words of its own has its remedy with it.
    if cause.raw_os_error().is_none() {
        return "";
    }
    match cause.kind() {
        ErrorKind::NotFound => "; check the path",
        ErrorKind::NotADirectory => "; name a directory",
        ErrorKind::IsADirectory => "; name a file",
        ErrorKind::PermissionDenied => "; check who may read and write there",
        ErrorKind::ReadOnlyFilesystem => "; name a place that can be written to",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; free space there",
        ErrorKind::ConnectionRefused => "; check that the server runs and listens there",
        _ => "",
    }
}

/// One line, or a few, on stderr. Words of servers, of plans and of files are in them.
pub(crate) fn complain(text: &str) {
    use std::io::Write as _;
    let text = fit::lines(text);
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "rqps: {text}");
}

/// A prompt on stderr, without a line's end.
pub(crate) fn prompt(text: &str) {
    use std::io::Write as _;
    let mut out = std::io::stderr();
    let _ = out.write_all(fit::lines(text).as_bytes()).and_then(|()| out.flush());
}

fn dispatch(cli: &Cli, around: &Surroundings) -> Result<ExitCode> {
    match &cli.command {
        Command::Run(args) => return run::run(args, around),
        Command::Bisect(args) => return bisect::run(args, around),
        Command::Track(args) => return track::run(args, around),
        Command::Profile(args) => return profile::run(args, around),
        Command::Report(args) => report::write(args, around)?,
        Command::Compare(args) => compare::run(args, around)?,
        Command::Gate(args) => return gate::run(args, around),
        Command::History(args) => history::run(args, around)?,
        Command::Serve(args) => serve::run(args, token_of_environment().as_deref(), around)?,
        Command::Import(command) => import::run(command, around)?,
        Command::Runs(command @ RunsCommand::Import { .. }) => {
            runs::run(&Store::open(&around.results)?, command, around)?;
        }
        Command::Runs(command) => {
            runs::run(&Store::open_existing(&around.results)?, command, around)?;
        }
        Command::Tables(command) => tables::run(command, around)?,
        Command::Builds(command) => builds::run(command, around)?,
        Command::Servers(command) => servers::run(command, around)?,
        Command::Suites(command) => suites::run(command)?,
        Command::Calibrate(args) => calibrate::run(args, around)?,
        Command::Watchdog => return watch_servers(),
        Command::Sysbench { args } => return Ok(sysbench::run(args)),
        Command::Warnings { names } => warnings::run(names)?,
        Command::Doctor { json } => return doctor::run(*json, around),
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a command has something to bring to an end itself: servers, downloads, connections, a removal, an
/// archive that is unpacked for it. A signal ends any other at once, as it ends most programs: they read, or
/// write in transactions and to files that the next one replaces or removes.
fn has_something_to_end(command: &Command) -> bool {
    let is_archive = |run: &String| run.ends_with(opened::ENDING);
    match command {
        Command::Run(_)
        | Command::Bisect(_)
        | Command::Track(_)
        | Command::Profile(_)
        | Command::Serve(_)
        | Command::Servers(_)
        | Command::Calibrate(_)
        | Command::Runs(RunsCommand::Rm { .. })
        | Command::Tables(TablesCommand::Rm { .. })
        | Command::Builds(BuildsCommand::Rm { .. })
        | Command::Doctor { .. } => true,
        Command::Report(args) => is_archive(&args.run),
        Command::Gate(args) => is_archive(&args.run),
        Command::Compare(args) => args.runs.iter().any(is_archive),
        Command::History(_)
        | Command::Import(_)
        | Command::Runs(_)
        | Command::Tables(_)
        | Command::Builds(_)
        | Command::Suites(_)
        | Command::Warnings { .. }
        | Command::Watchdog
        | Command::Sysbench { .. } => false,
    }
}

/// The watchdog of stopped servers. It needs nothing of its surroundings, which may have changed since
/// the run began, and lives as long as rqps does: signals do not end it.
fn watch_servers() -> Result<ExitCode> {
    signals::pass_over()?;
    rqps_server::watchdog::watch(std::io::stdin().lock(), std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// The command line. Names of files need not be UTF-8.
pub(crate) fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn surroundings(
    cli: &Cli,
    interrupt: Arc<AtomicBool>,
    stopped_by: Arc<OnceLock<String>>,
    suspension: Suspension,
) -> Result<Surroundings> {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let cache_home = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute())
        .or_else(|| Some(home()?.join(".cache")));
    let cache = match (&cli.cache, cache_home) {
        (Some(dir), _) => std::path::absolute(dir).context("find the cache directory")?,
        (None, Some(dir)) => dir.join("rqps"),
        (None, None) => anyhow::bail!("neither HOME nor XDG_CACHE_HOME is set; give --cache DIR"),
    };
    if cache.is_file() {
        anyhow::bail!("{} is a file, not a directory; name another with --cache", cache.display());
    }
    let config_home = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute())
        .or_else(|| Some(home()?.join(".config")));
    let words: Vec<String> = words().collect();
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    use std::io::IsTerminal as _;
    Ok(Surroundings {
        results: std::path::absolute(&cli.results).context("find the results directory")?,
        cache,
        catalogue: Arc::new(catalogue::read(config_home.as_deref(), cli.catalogue.as_deref())?),
        temp: std::env::temp_dir(),
        interrupt,
        stopped_by,
        suspension,
        command_line: redact(&words),
        colour: std::io::stdout().is_terminal() && !no_colour,
        trial: trial::switches(variable)?,
        templates: std::env::var_os("RQPS_TEMPLATES").map(PathBuf::from),
        patience: patience_of_environment()?,
    })
}

/// A variable of the environment, of those that addresses name or a terminal sets.
#[expect(clippy::disallowed_methods, reason = "read here with the rest of the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    // The standard library panics at names that no variable can have.
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    is_name.then(|| std::env::var(name).ok()).flatten()
}

/// How long servers are waited for: `RQPS_PATIENCE` is a factor.
#[expect(clippy::disallowed_methods, reason = "read here with the rest of the environment")]
fn patience_of_environment() -> Result<Patience> {
    let Some(word) = std::env::var_os("RQPS_PATIENCE") else { return Ok(Patience::default()) };
    word.to_string_lossy().parse().context("RQPS_PATIENCE")
}

/// The token of `rqps serve`, where it is not in a file.
#[expect(clippy::disallowed_methods, reason = "read here with the rest of the environment")]
fn token_of_environment() -> Option<String> {
    std::env::var("RQPS_TOKEN").ok().filter(|token| !token.is_empty())
}

/// The words as typed, without the passwords of addresses.
fn redact(words: &[String]) -> Vec<String> {
    let redacted =
        words.iter().enumerate().map(|(idx, word)| match rqps_server::Dsn::parse(word) {
            _ if idx == 0 => "rqps".to_owned(),
            Ok(dsn) => dsn.to_string(),
            Err(_) if rqps_server::Dsn::looks_like(word) => "ADDRESS".to_owned(),
            Err(_) => word.clone(),
        });
    redacted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_what_only_reads() {
        let has_to_end = |line: &str| {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            has_something_to_end(&cli.command)
        };
        for line in [
            "rqps report",
            "rqps compare 1 2",
            "rqps gate",
            "rqps history",
            "rqps runs list",
            "rqps runs export 1",
            "rqps runs import run.tar.zst",
            "rqps import sysbench a.log",
            "rqps suites list",
        ] {
            assert!(!has_to_end(line), "{line}");
        }
        for line in [
            "rqps run plan.toml",
            "rqps serve",
            "rqps servers fetch pg@17.4",
            "rqps calibrate",
            "rqps doctor",
            "rqps runs rm 1",
            "rqps report run.tar.zst",
            "rqps gate run.tar.zst",
            "rqps compare 1 run.tar.zst",
        ] {
            assert!(has_to_end(line), "{line}");
        }
    }
}
