//! `rqps servers`: the catalogue, fetching, audits, and a shell on a fresh server.

mod list;
mod statements;

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rqps_audit::sheet;
use rqps_client::{Connection, ResultSet};
use rqps_model::SystemSource;
use rqps_runner::plan::{COMMAND_LINE, OptionValue, SystemFile};
use rqps_runner::{Event, Listener, PlanFile};

use crate::args::{AuditArgs, ServersCommand};
use crate::output::{columns, print, say};
use crate::progress::Progress;
use crate::typed::{read_plan, system_of};
use crate::{Surroundings, complain};

/// Carries out `rqps servers ...`.
pub(crate) fn run(command: &ServersCommand, around: &Surroundings) -> Result<()> {
    match command {
        ServersCommand::List { available, json } => list::run(*available, *json, around),
        ServersCommand::Fetch { systems } => fetch_all(systems, around),
        ServersCommand::Audit(args) => audit(args, around),
        ServersCommand::Shell { system } => shell(system, around),
    }
}

fn fetch_all(systems: &[String], around: &Surroundings) -> Result<()> {
    let file = PlanFile {
        system: systems.iter().map(|s| system_of(s)).collect::<Result<_>>()?,
        ..PlanFile::default()
    };
    let plan = file.resolve(COMMAND_LINE, &around.catalogue)?;
    let mut progress = Progress::new();
    let mut listen = |event: Event<'_>| progress.show(&event);
    let fetched = fetch_plan(&plan, around, &mut listen);
    progress.clear();
    for line in fetched? {
        say(&line)?;
    }
    Ok(())
}

fn fetch_plan(
    plan: &rqps_runner::Plan,
    around: &Surroundings,
    listen: &mut Listener<'_>,
) -> Result<Vec<String>> {
    let context = around.environment();
    let mut lines = Vec::new();
    for (idx, spec) in plan.systems.iter().enumerate() {
        if !matches!(spec.source, SystemSource::Catalogue { .. }) {
            bail!("{} cannot be fetched; name DBMS@VERSION (see `rqps servers list`)", spec.label);
        }
        if let Some(installed) = rqps_runner::fetch(plan, idx, &context, listen)? {
            lines.push(format!("{}  {}\n", installed.name(), installed.prefix.display()));
        }
    }
    Ok(lines)
}

/// Shows what systems run with and how that differs.
fn audit(args: &AuditArgs, around: &Surroundings) -> Result<()> {
    let (file, origin) = match &args.plan {
        Some(path) => read_plan(path, "")?,
        None => {
            let systems = args.systems.iter().map(|text| audited(text, args));
            let system = systems.collect::<Result<Vec<_>>>()?;
            (PlanFile { system, ..PlanFile::default() }, COMMAND_LINE.to_owned())
        }
    };
    let plan = file.resolve(&origin, &around.catalogue)?;
    let mut progress = Progress::new();
    let mut listen = |event: Event<'_>| progress.show(&event);
    let context = around.environment();
    let systems = rqps_runner::identify_systems(plan, &context, &mut listen)
        .and_then(|plan| rqps_runner::audit(&plan, &context, &mut listen));
    progress.clear();
    let systems = systems?;
    let extent = if args.all { sheet::Extent::All } else { sheet::Extent::Short };
    if args.json { print(&sheet::json(&systems)) } else { say(&sheet::text(&systems, extent)) }
}

/// A system as typed, with the configuration and options of the command line where it is started.
fn audited(text: &str, args: &AuditArgs) -> Result<SystemFile> {
    let mut system = system_of(text)?;
    if system.dsn.is_some() {
        return Ok(system);
    }
    system.config.clone_from(&args.config);
    for option in &args.options {
        let Some((name, value)) = option.split_once('=') else {
            bail!("option {option:?} is not NAME=VALUE (such as innodb_flush_method=fsync)");
        };
        system.options.insert(name.to_owned(), OptionValue::Text(value.to_owned()));
    }
    Ok(system)
}

fn shell(system: &str, around: &Surroundings) -> Result<()> {
    let file = PlanFile { system: vec![system_of(system)?], ..PlanFile::default() };
    let plan = file.resolve(COMMAND_LINE, &around.catalogue)?;
    let mut progress = Progress::new();
    let mut listen = |event: Event<'_>| progress.show(&event);
    let context = around.environment();
    let plan = rqps_runner::identify_systems(plan, &context, &mut listen)?;
    let mut session = rqps_runner::Sandbox::start(&plan, &context, &mut listen)?;
    progress.clear();
    let pid = session.pid().map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
    let mut text = format!("{} is up (process {pid})", session.name());
    let addresses = session.addresses();
    if !addresses.is_empty() {
        // Its own user's password is nowhere to be read.
        text.push_str(&format!(
            " at {}; other clients need a user of their own: CREATE USER",
            addresses.join(" and ")
        ));
    }
    complain(&format!("{text}; end statements with `;`, end with `quit` or the end of input"));
    let result = converse(session.admin(), around);
    session.stop()?;
    result
}

/// How long an interrupt may stay unseen while nothing is typed.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Reads statements from standard input, each ended by `;`.
fn converse(connection: &mut dyn Connection, around: &Surroundings) -> Result<()> {
    let prompt = std::io::stdin().is_terminal();
    let mut statement = String::new();
    let lines = typed_lines();
    loop {
        if prompt {
            crate::prompt(if statement.is_empty() { "rqps> " } else { "   -> " });
        }
        let Some(line) = next_line(&lines, around)? else { break };
        if statement.is_empty() && matches!(line.trim(), "quit" | "exit" | "\\q") {
            return Ok(());
        }
        statement.push_str(&line);
        statement.push('\n');
        for whole in statements::take_whole(&mut statement) {
            answer(connection, &whole)?;
        }
    }
    if !statement.trim().is_empty() {
        answer(connection, &statement)?;
    }
    Ok(())
}

/// The lines of standard input, read by a thread of their own: a read cannot be interrupted.
fn typed_lines() -> Receiver<std::io::Result<String>> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The next line; `None` at the end of the input.
fn next_line(
    lines: &Receiver<std::io::Result<String>>,
    around: &Surroundings,
) -> Result<Option<String>> {
    loop {
        ensure!(!around.interrupt.load(Ordering::Relaxed), "interrupted");
        match lines.recv_timeout(LOOK_EVERY) {
            Ok(line) => return line.map(Some).context("read standard input"),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Carries out one statement. A server's refusal is shown and is no reason to stop; a lost
/// connection is.
fn answer(connection: &mut dyn Connection, statement: &str) -> Result<()> {
    match connection.query(statement.trim()) {
        Ok(result) => say(&shown(&result)),
        Err(rqps_client::Error::Server(error)) => {
            complain(&error.to_string());
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Texts of several lines, such as InnoDB's status, stay so.
fn shown(result: &ResultSet) -> String {
    if result.columns.is_empty() {
        return format!("{} affected\n", n_rows(result.affected));
    }
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let rows: Vec<Vec<String>> =
        result.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let headings: Vec<&str> = result.columns.iter().map(String::as_str).collect();
    format!("{}{}\n", columns(&headings, &rows), n_rows(result.rows.len() as u64))
}

fn n_rows(n: u64) -> String {
    format!("{n} row{}", if n == 1 { "" } else { "s" })
}
