//! Client CPU of `rqps sysbench` and of the real sysbench, on each of sysbench's own scripts.
//!
//! User and system time are the kernel's own account of each program as a child, its start included,
//! divided by the queries that it reports (rows for `bulk_insert`, whose queries hold thousands).
//! Both run the same file with the same options on the same tables, and must report as many queries
//! per event. Client and server share one CPU, over a unix socket. The two are interleaved, and the
//! order is reversed in each round. Medians are printed, and ratios are those of the rounds, with their
//! 95% interval. A script whose ratio is not shown to be below its bound, interval and all, fails.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use rqps_client::{Address, Endpoint};
use rqps_model::{Dbms, Estimate};

use crate::bench_client::{Cost, cost, median, pin_to_one_cpu, sandbox};

/// Rows of the table: all in memory everywhere.
const ROWS: u64 = 100_000;

/// Rounds and seconds of each slice, where none are asked for: for scripts whose user time alone has a bound, as
/// the kernel tells user from system time by ticks, and for all others, whose time in all it knows to
/// the nanosecond. All of it takes twenty minutes on two servers.
const WITH_USER_BOUND: (usize, u64) = (12, 3);
const OTHERS: (usize, u64) = (10, 2);

/// Where Debian's package has the scripts.
const FOLDER: &str = "/usr/share/sysbench";

/// A script, and what rqps may take at most, as shares of sysbench's CPU.
struct Work {
    script: &'static str,
    /// Of user time; all scripts but `bulk_insert` are bound to 1 of user and system time together.
    user_bound: Option<f64>,
    /// Whether each slice gets new tables: it deletes what it needs, or numbers rows from 1.
    fresh: bool,
}

const fn work(script: &'static str) -> Work {
    Work { script, user_bound: None, fresh: false }
}

impl Work {
    /// Whether it inserts by long statements, so that queries do not say how much it did.
    fn is_bulk(&self) -> bool {
        self.script == "bulk_insert"
    }

    /// Rounds and the length of a slice.
    fn schedule(&self, options: &Options) -> (usize, Duration) {
        let (rounds, seconds) = if self.user_bound.is_some() { WITH_USER_BOUND } else { OTHERS };
        let length = options.slice.unwrap_or(Duration::from_secs(seconds));
        (options.rounds.unwrap_or(rounds), length)
    }
}

const WORKS: [Work; 11] = [
    Work { user_bound: Some(0.5), ..work("oltp_point_select") },
    Work { user_bound: Some(0.5), ..work("oltp_read_only") },
    work("oltp_read_write"),
    work("oltp_write_only"),
    work("oltp_update_index"),
    work("oltp_update_non_index"),
    work("select_random_points"),
    work("select_random_ranges"),
    // Its rows would be found by the reads before it.
    work("oltp_insert"),
    Work { fresh: true, ..work("oltp_delete") },
    Work { fresh: true, ..work("bulk_insert") },
];

/// Options of the task.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Length of each slice, in place of the usual one.
    pub(crate) slice: Option<Duration>,
    /// Rounds, in place of the usual ones; at least two, as there is no interval of one.
    pub(crate) rounds: Option<usize>,
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
        let sandbox = sandbox(root, *dbms, version, "bench-sysbench")?;
        let server = connection_options(*dbms, sandbox.endpoint())?;
        let measured = all_works(&rqps, &server, options);
        let name = sandbox.name();
        sandbox.stop()?;
        let rows = measured.with_context(|| format!("measure with {name}"))?;
        println!("{}", table(&name, &rows));
        too_dear.extend(rows.iter().flat_map(Row::beyond).map(|what| format!("{name}: {what}")));
    }
    ensure!(too_dear.is_empty(), "not shown to be below their bounds: {}", too_dear.join("; "));
    println!("all below their bounds, their intervals too");
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
    /// Ours to theirs, with its interval.
    fn ratio(&self, of: fn(&Cost) -> f64) -> Option<Estimate> {
        let side = |which: usize| -> Vec<f64> {
            self.rounds.iter().map(|costs| of(&costs[which])).collect()
        };
        rqps_stats::paired_ratio(&side(0), &side(1))
    }

    /// What is dearer than it may be, or not shown to be cheaper.
    fn beyond(&self) -> Vec<String> {
        let mut beyond = Vec::new();
        let mut check = |ratio: Option<Estimate>, bound: f64, what: &str| {
            let high = ratio.and_then(|ratio| ratio.interval).map(|(_, high)| high);
            // Without an interval nothing is shown.
            if high.is_none_or(|high| high >= bound) {
                beyond.push(format!(
                    "{} {} of sysbench's {what}, bound {bound}",
                    self.work.script,
                    shown(ratio)
                ));
            }
        };
        // The script itself takes nearly all of its time, making strings: the same in both.
        if !self.work.is_bulk() {
            check(self.ratio(all_us), 1.0, "CPU");
        }
        if let Some(bound) = self.work.user_bound {
            check(self.ratio(|cost| cost.user_us), bound, "user CPU");
        }
        beyond
    }
}

/// `0.42 [0.40, 0.44]`.
fn shown(ratio: Option<Estimate>) -> String {
    match ratio {
        Some(Estimate { point, interval: Some((low, high)), .. }) => {
            format!("{point:.2} [{low:.2}, {high:.2}]")
        }
        Some(Estimate { point, .. }) => format!("{point:.2} (n=1)"),
        None => "no ratio".to_owned(),
    }
}

fn all_us(cost: &Cost) -> f64 {
    cost.user_us + cost.system_us
}

fn all_works(rqps: &Path, server: &[String], options: &Options) -> Result<Vec<Row>> {
    let wanted = |work: &&Work| {
        options.only.is_empty() || options.only.iter().any(|name| name == work.script)
    };
    let call = |work| Call { rqps, server, work };
    // All scripts but those with fresh tables use the same one, which none of them empties.
    let shared = call(WORKS.first().context("no script")?);
    let works: Vec<&Work> = WORKS.iter().filter(wanted).collect();
    let shares = works.iter().any(|work| !work.fresh);
    let mut rows = Vec::new();
    if shares {
        shared.tables("prepare")?;
    }
    // Fresh tables have the same name, so that they come last.
    let (fresh, lasting): (Vec<&Work>, Vec<&Work>) = works.into_iter().partition(|work| work.fresh);
    for work in lasting {
        rows.push(measured(&call(work), options)?);
    }
    if shares {
        shared.tables("cleanup")?;
    }
    for work in fresh {
        rows.push(measured(&call(work), options)?);
    }
    Ok(rows)
}

/// All rounds of a script.
fn measured(call: &Call<'_>, options: &Options) -> Result<Row> {
    let (n_rounds, length) = call.work.schedule(options);
    ensure!(n_rounds > 1, "an interval needs two rounds or more");
    let mut rounds = Vec::new();
    for round in 0..n_rounds {
        let ours_first = round % 2 == 1;
        let first = call.slice(ours_first, length)?;
        let second = call.slice(!ours_first, length)?;
        let (theirs, ours) = if ours_first { (second, first) } else { (first, second) };
        let (expected, found) = (theirs.queries_per_event, ours.queries_per_event);
        // Rows that are inserted, and statements that hold thousands of them, end anywhere.
        let is_alike = (found / expected - 1.0).abs() < 0.001 || call.work.is_bulk();
        let script = call.work.script;
        ensure!(is_alike, "{script}: {found} queries per event, {expected} in sysbench");
        rounds.push([theirs.cost, ours.cost]);
    }
    Ok(Row { work: call.work, rounds })
}

/// A script on a server.
struct Call<'a> {
    rqps: &'a Path,
    server: &'a [String],
    work: &'static Work,
}

/// What a program did in a slice.
struct Slice {
    cost: Cost,
    queries_per_event: f64,
}

impl Call<'_> {
    fn command(&self, ours: bool, more: &[String]) -> Result<String> {
        let mut command = Command::new(if ours { self.rqps } else { Path::new("sysbench") });
        if ours {
            command.arg("sysbench");
        }
        command.arg(format!("{FOLDER}/{}.lua", self.work.script)).args(self.server).args(more);
        if !self.work.is_bulk() {
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

    /// One slice of one program.
    fn slice(&self, ours: bool, length: Duration) -> Result<Slice> {
        if self.work.fresh {
            self.tables("prepare")?;
        }
        let run = [
            "--rand-type=uniform".to_owned(),
            format!("--time={}", length.as_secs().max(1)),
            "run".to_owned(),
        ];
        let before = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let text = self.command(ours, &run)?;
        let after = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        if self.work.fresh {
            self.tables("cleanup")?;
        }
        let (events, queries) = (number(&text, "transactions:")?, number(&text, "queries:")?);
        let n = if self.work.is_bulk() { events } else { queries };
        ensure!(number(&text, "ignored errors:")? == 0, "{} had errors:\n{text}", self.work.script);
        ensure!(events > 0, "{} had no event:\n{text}", self.work.script);
        let cost = cost(&before, &after, n, n as f64 / length.as_secs_f64())?;
        Ok(Slice { cost, queries_per_event: queries as f64 / events as f64 })
    }
}

/// The number after a name in a report: `    queries:     123456 (24691.20 per sec.)`.
fn number(text: &str, name: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name));
    let word = line.and_then(|rest| rest.split_whitespace().next());
    word.and_then(|word| word.parse().ok()).with_context(|| format!("no {name} in:\n{text}"))
}

fn table(server: &str, rows: &[Row]) -> String {
    let mut text = format!(
        "{server}: client CPU per query, microseconds, user + system, medians; ratios with 95% intervals; \
         `bulk_insert` per row, without a bound\n\n\
         | script | sysbench | rqps sysbench | user, ratio | all, ratio | rounds |\n|---|---|---|---|---|---|\n"
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
            "| {} | {} | {} | {} | {} | {} |",
            row.work.script,
            both(0),
            both(1),
            shown(row.ratio(|cost| cost.user_us)),
            shown(row.ratio(all_us)),
            row.rounds.len(),
        );
    }
    text
}
