//! Client CPU of `rqps sysbench` and of the real sysbench, on each of sysbench's own scripts.
//!
//! User and system time are the kernel's own account of each program as a child, its start included,
//! divided by the queries that it reports (rows for `bulk_insert`, whose queries hold thousands).
//! Client and server share one CPU, over a unix socket. The two take turns for some rounds; medians
//! are printed, and ratios are taken round by round.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use rqps_client::{Address, Endpoint};
use rqps_model::Dbms;

use crate::bench_client::{Cost, cost, median, pin_to_one_cpu, sandbox};

/// Rows of the table: all in memory everywhere.
const ROWS: u64 = 100_000;

/// Where Debian's package has the scripts.
const FOLDER: &str = "/usr/share/sysbench";

/// A script, and what rqps may take at most, as shares of sysbench's CPU.
struct Work {
    script: &'static str,
    /// Of user time; all scripts are bound to 1 of user and system time together.
    user_bound: Option<f64>,
    /// Whether its tables are made anew for each turn: it deletes what it needs, or numbers rows from 1.
    fresh: bool,
}

const fn work(script: &'static str) -> Work {
    Work { script, user_bound: None, fresh: false }
}

const WORKS: [Work; 11] = [
    Work { user_bound: Some(0.5), ..work("oltp_point_select") },
    Work { user_bound: Some(0.5), ..work("oltp_read_only") },
    work("oltp_read_write"),
    work("oltp_write_only"),
    work("oltp_update_index"),
    work("oltp_update_non_index"),
    work("oltp_insert"),
    Work { fresh: true, ..work("oltp_delete") },
    work("select_random_points"),
    work("select_random_ranges"),
    Work { fresh: true, ..work("bulk_insert") },
];

/// Options of the task.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Length of each turn.
    pub(crate) turn: Duration,
    /// Rounds of turns.
    pub(crate) rounds: usize,
    /// Scripts to run; all when empty.
    pub(crate) only: Vec<String>,
    /// A binary in place of one that is built.
    pub(crate) rqps: Option<PathBuf>,
    /// Versions in place of the usual ones.
    pub(crate) servers: Vec<(Dbms, String)>,
}

/// Runs the benchmark on both servers and prints a table for each.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let setup = Command::new(root.join("scripts/setup"))
        .arg("sysbench:sysbench")
        .status()
        .context("run scripts/setup")?;
    ensure!(setup.success(), "sysbench is missing and could not be installed");
    let rqps = options.rqps.clone().map_or_else(|| crate::truth::build_rqps(root), Ok)?;
    pin_to_one_cpu()?;
    let mut too_dear = Vec::new();
    for (dbms, version) in &options.servers {
        let sandbox = sandbox(root, (*dbms, version), "bench-sysbench")?;
        let server = connection_options(*dbms, sandbox.endpoint())?;
        let measured = all_works(&rqps, &server, options);
        let name = sandbox.name();
        sandbox.stop()?;
        let rows = measured.with_context(|| format!("measure with {name}"))?;
        let text = table(&name, &rows, options);
        println!("{text}");
        too_dear.extend(rows.iter().filter_map(Row::beyond).map(|what| format!("{name}: {what}")));
    }
    ensure!(too_dear.is_empty(), "beyond their bounds: {}", too_dear.join("; "));
    Ok(())
}

/// What leads either program to a server.
fn connection_options(dbms: Dbms, endpoint: &Endpoint) -> Result<Vec<String>> {
    let Address::Unix(socket) = &endpoint.address else { bail!("the sandbox has no socket") };
    let family = if dbms == Dbms::Postgres { "pgsql" } else { "mysql" };
    let mut options = vec![
        format!("--db-driver={family}"),
        format!("--{family}-user={}", endpoint.user),
        format!("--{family}-password={}", endpoint.password.0),
        format!("--{family}-db={}", endpoint.database),
    ];
    if dbms == Dbms::Postgres {
        let dir = socket.parent().context("socket without a directory")?;
        let port = socket.extension().context("socket without a port")?;
        options.push(format!("--pgsql-host={}", dir.display()));
        options.push(format!("--pgsql-port={}", port.to_string_lossy()));
    } else {
        options.push(format!("--mysql-socket={}", socket.display()));
    }
    Ok(options)
}

/// One row of the table: what both programs cost, round by round.
struct Row {
    work: &'static Work,
    /// Sysbench's, ours.
    rounds: Vec<[Cost; 2]>,
}

impl Row {
    fn ratio(&self, of: fn(&Cost) -> f64) -> f64 {
        median(self.rounds.iter().map(|[theirs, ours]| of(ours) / of(theirs)).collect())
    }

    /// What is dearer than it may be.
    fn beyond(&self) -> Option<String> {
        let all = self.ratio(all_us);
        if all > 1.0 {
            return Some(format!("{} {all:.2} of sysbench's CPU", self.work.script));
        }
        let user = self.ratio(|cost| cost.user_us);
        let bound = self.work.user_bound?;
        let script = self.work.script;
        (user > bound).then(|| format!("{script} {user:.2} of its user CPU, bound {bound}"))
    }
}

fn all_us(cost: &Cost) -> f64 {
    cost.user_us + cost.system_us
}

fn all_works(rqps: &Path, server: &[String], options: &Options) -> Result<Vec<Row>> {
    let wanted = |work: &&Work| {
        options.only.is_empty() || options.only.iter().any(|name| name == work.script)
    };
    let mut rows = Vec::new();
    for work in WORKS.iter().filter(wanted) {
        let call = Call { rqps, server, work, turn: options.turn };
        if !work.fresh {
            call.tables("prepare")?;
        }
        let mut rounds = Vec::new();
        for _ in 0..options.rounds {
            rounds.push([call.turn(false)?, call.turn(true)?]);
        }
        if !work.fresh {
            call.tables("cleanup")?;
        }
        rows.push(Row { work, rounds });
    }
    Ok(rows)
}

/// A script on a server.
struct Call<'a> {
    rqps: &'a Path,
    server: &'a [String],
    work: &'static Work,
    turn: Duration,
}

impl Call<'_> {
    fn command(&self, ours: bool, more: &[String]) -> Result<String> {
        let mut command = Command::new(if ours { self.rqps } else { Path::new("sysbench") });
        if ours {
            command.arg("sysbench");
        }
        command.arg(format!("{FOLDER}/{}.lua", self.work.script)).args(self.server).args(more);
        if self.work.script != "bulk_insert" {
            command.arg(format!("--table-size={ROWS}"));
        }
        let output = command.output().context("run a script")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{} failed:\n{text}{stderr}", self.work.script);
        Ok(text)
    }

    fn tables(&self, command: &str) -> Result<()> {
        self.command(true, &[command.to_owned()]).map(drop)
    }

    /// One turn of one program, with its cost.
    fn turn(&self, ours: bool) -> Result<Cost> {
        if self.work.fresh {
            self.tables("prepare")?;
        }
        let run = [
            "--rand-type=uniform".to_owned(),
            format!("--time={}", self.turn.as_secs().max(1)),
            "run".to_owned(),
        ];
        let before = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let text = self.command(ours, &run)?;
        let after = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        if self.work.fresh {
            self.tables("cleanup")?;
        }
        let n = if self.work.script == "bulk_insert" {
            number(&text, "transactions:")?
        } else {
            number(&text, "queries:")?
        };
        cost(&before, &after, n, n as f64 / self.turn.as_secs_f64())
    }
}

/// The number after a name in a report: `    queries:     123456 (24691.20 per sec.)`.
fn number(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name));
    let word = line.and_then(|rest| rest.split_whitespace().next());
    word.and_then(|word| word.parse().ok()).with_context(|| format!("no {name} in:\n{text}"))
}

fn table(server: &str, rows: &[Row], options: &Options) -> String {
    let mut text = format!(
        "{server}: client CPU per query, microseconds, user + system; medians of {} rounds of {} s; \
         `bulk_insert` per row\n\n\
         | script | sysbench | rqps sysbench | user, ratio | all, ratio |\n|---|---|---|---|---|\n",
        options.rounds,
        options.turn.as_secs()
    );
    for row in rows {
        let of = |which: usize, part: fn(&Cost) -> f64| {
            median(row.rounds.iter().map(|costs| part(&costs[which])).collect())
        };
        let both =
            |which| format!("{:.2} + {:.2}", of(which, |c| c.user_us), of(which, |c| c.system_us));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.2} | {:.2} |",
            row.work.script,
            both(0),
            both(1),
            row.ratio(|cost| cost.user_us),
            row.ratio(all_us)
        );
    }
    text
}
