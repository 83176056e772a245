//! Tasks for those who work on rqps: `cargo xtask tidy`, `bench-client`, `bench-insert`, `bench-report`, `bench-sysbench`,
//! `bench-serve`, `truth`, `hog`, `crowd`, `causes`, `check-imports`, `faults`, `findings`, `fuzz`, `guest`, `options`,
//! `planted`, `timings`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for developers")]

mod bench_client;
mod bench_insert;
mod bench_report;
mod bench_serve;
mod bench_sysbench;
mod causes;
mod check_imports;
mod crowd;
mod faults;
mod findings;
mod fuzz;
mod guest;
mod hog;
mod options_trial;
mod planted;
mod replay;
mod tidy;
mod timings;
mod truth;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};

const HELP: &str = "\
cargo xtask TASK

  tidy            checks what a machine can check of the house style: crate arrows, file lengths,
                  headers, crates named in ARCHITECTURE.md
  bench-client    client CPU per query of sysbench, rqps and a minimal loop, on MariaDB and PostgreSQL
                  [--seconds N] length of each slice, 5 when absent; [--rounds N] rounds, 3 when absent
  bench-insert    client CPU per inserted row and per query of the Insert Benchmark, on MariaDB and
                  PostgreSQL; [--rounds N] rounds, 3 when absent
  bench-sysbench  client CPU per query of `rqps sysbench` and of the real sysbench on each of its scripts;
                  fails when a ratio is not shown to be below its bound; twenty minutes
                  [--seconds N] length of each slice, [--rounds N] rounds, in place of the usual ones;
                  [--only NAME,NAME]; [--rqps PATH] a binary in place of one that is built;
                  [--servers DBMS@VERSION,...], mariadb@10.11.5,postgres@17.4 when absent
  bench-serve     how long the pages of `rqps serve` take with 200 runs; fails when the list takes 100 ms
                  [--rqps PATH] a binary in place of one that is built; [--results DIR] keeps the store there
  bench-report    time and size of the HTML report of a large run that is made up, and how smoothly it scrolls,
                  filters and sorts in Chromium, where that and node are installed
                  [--systems N] 5 when absent; [--steps N] 47; [--rounds N] slices of each step on each
                  system, 30; [--seconds N] of each slice, 60; [--keep FILE] keeps the page
  truth           verdicts where the truth is known: one server five times, 4 starts of 5 s a step; one server beside
                  four of it that burn 1, 2, 5 and 10% more CPU, 10 starts of 6 s a step; two clients, some two hours for
                  each server; needs cc; resumes from what is there in its results directory, target/truth when absent
                  [--servers DBMS@VERSION,...], mariadb@10.11.5,postgres@17.4,mysql@8.0.33 when absent;
                  [--rqps PATH] a binary in place of one that is built; [--results DIR];
                  [--report] measures nothing. With any of these, one part of another shape:
                  [--pairs N] step pairs of the same server, 200 when absent; [--seconds N] measured
                  on each system and start, 30 when absent; [--starts N] starts of the servers, 1 when absent;
                  [--clients N] of each step, 1 when absent; [--steps NAME,NAME] of its ten, all when absent;
                  [--bound P] percent, half the smallest slowdown when absent;
                  [--slowdowns P,P] percent of a command's CPU, or none, 5,10 when absent; [--twins N] systems that are
                  the same as the base, 1 when absent, may be 0
  causes          the cause that reports give where it is known: servers slowed by an injected slowdown, a log, a small cache,
                  fsync, TLS, a dropped index, a busy host or client, each against itself; a confusion matrix;
                  resumes from what is there in its results directory, target/causes when absent
                  [--trials N] of each, 3 when absent; [--seconds N] measured on each system, 24 when absent;
                  [--only NAME,NAME]; [--rqps PATH] a binary in place of one that is built; [--results DIR];
                  [--report] measures nothing
  crowd           many clients on real servers: memory of the client, its count of statements against the
                  server's, how soon it stops; [--clients N] 256 when absent; [--seconds N] 600
  hog             one server against itself while all CPUs are busy for the middle third, in a sequential
                  run and in an interleaved one
  faults          real runs on two small servers that are hit at random moments: SIGINT and SIGKILL to rqps,
                  SIGKILL and SIGSTOP to a server, memory limit hit, disk full, store read-only, port taken, program
                  replaced, connections refused, a server that hangs (600 s each); after each whether anything was lost or left; resumes from what is there in its results
                  directory, target/faults when absent
                  [--trials N] of each, 10 when absent; [--only FAULT,FAULT]; [--seed N], 1 when absent;
                  [--servers DBMS@VERSION,...], mariadb@10.2.11,postgres@11.22 when absent;
                  [--rqps PATH] a binary in place of one that is built; [--results DIR]; [--report] tries
                  nothing
  findings [NAME...]
                  runs the plans of examples/findings of which no run is kept, or those that are named, and keeps
                  them as exported runs; some eight hours in all; gets all servers first; resumes where it was
                  interrupted
                  [--rqps PATH] a binary in place of one that is built; [--results DIR], target/findings
                  when absent
  fuzz [TARGET...]
                  feeds parsers with bytes that nobody meant, by cargo-fuzz: imports, mysql, perf, plans, postgres, proc,
                  all when absent; inputs that reach new code go to target/fuzz/corpus, findings to fuzz/artifacts
                  [--seconds N] for each, 60 when absent; [--keep] tries nothing new: of target/fuzz/corpus, the inputs
                  that reach code which fuzz/corpus does not reach go into it
  options         every option of a server's own list whose value can be a path or an address, set to a watched
                  place, one start each, without the kernel's wall: what became of it, whether anything outside was touched
                  [--servers DBMS@VERSION,...]; [--only NAME,NAME]; [--wall] with the wall
  guest           runs by address on a server with tables of its owner's, killed at random moments; after each whether
                  the same command ends well, the owner's tables and settings are intact, and no schema is left
                  [--trials N] moments on each server, 10 when absent; [--seed N], 1 when absent;
                  [--servers DBMS@VERSION,...], mariadb@10.11.5,postgres@17.4 when absent;
                  [--rqps PATH] a binary in place of one that is built; [--results DIR], target/guest when absent
  planted         small faults put into the code one at a time: whether the tests catch each, and which does first.
                  Tests of the packages that should see it run first, those of `make test` where they do not; an error
                  where more than 2 of the list in xtask/planted.toml slip through. Run `make test` once before.
                  Resumes from what is there in target/planted/results.toml
                  [--only NAME,NAME] these, tried again; [--packages-only] nothing after the packages' tests
  timings         how long `make build`, `make test` and `make test-all` take on a clean clone, and which tests are
                  slow, into the table of CONTRIBUTING.md; some hours, on a host that has nothing else to do
                  [--only build,test,test-all]
  check-imports DIR
                  imports every folder of DIR with the field's tables (qps.abs.*, qps.rel.*, o.met.*) and compares
                  text and CSV reports with them, cell by cell
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn bench_sysbench(args: &[String]) -> Result<()> {
    let only = value(args, "--only").unwrap_or_default();
    let servers = value(args, "--servers").unwrap_or("mariadb@10.11.5,postgres@17.4");
    // 0 stands for the usual ones, which differ from script to script.
    let seconds = number(args, "--seconds", 0)?;
    let rounds = usize::try_from(number(args, "--rounds", 0)?)?;
    let options = bench_sysbench::Options {
        slice: (seconds > 0).then(|| std::time::Duration::from_secs(seconds)),
        rounds: (rounds > 0).then_some(rounds),
        only: only.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect(),
        rqps: value(args, "--rqps").map(PathBuf::from),
        servers: servers.split(',').map(server).collect::<Result<_>>()?,
    };
    bench_sysbench::run(&root()?, &options)
}

fn guest(args: &[String]) -> Result<()> {
    let servers = value(args, "--servers").unwrap_or("mariadb@10.11.5,postgres@17.4");
    let root = root()?;
    let options = guest::Options {
        trials: usize::try_from(number(args, "--trials", 10)?)?,
        seed: number(args, "--seed", 1)?,
        rqps: value(args, "--rqps").map(PathBuf::from),
        servers: servers.split(',').map(server).collect::<Result<_>>()?,
        results: value(args, "--results").map_or_else(|| root.join("target/guest"), PathBuf::from),
    };
    guest::run(&root, &options)
}

/// `DBMS@VERSION`.
fn server(text: &str) -> Result<(rqps_model::Dbms, String)> {
    let (dbms, version) = text.split_once('@').context("a server is DBMS@VERSION")?;
    Ok((dbms.parse()?, version.to_owned()))
}

fn run(args: &[String]) -> Result<()> {
    match args.first().map(String::as_str) {
        Some("tidy") => tidy(),
        Some(_) if args.iter().any(|a| a == "--help" || a == "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some("guest") => guest(args),
        Some("bench-insert") => {
            bench_insert::run(&root()?, usize::try_from(number(args, "--rounds", 3)?)?)
        }
        Some("bench-client") => {
            let options = bench_client::Options {
                slice: std::time::Duration::from_secs(number(args, "--seconds", 5)?),
                rounds: usize::try_from(number(args, "--rounds", 3)?)?,
            };
            bench_client::run(&root()?, options)
        }
        Some("bench-report") => bench_report(args),
        Some("bench-sysbench") => bench_sysbench(args),
        Some("bench-serve") => {
            let rqps = value(args, "--rqps").map(PathBuf::from);
            let results = value(args, "--results").map(PathBuf::from);
            bench_serve::run(&root()?, &bench_serve::Options { rqps, results })
        }
        Some("hog") => hog::run(&root()?),
        Some("check-imports") => {
            let dir = args.get(1).context("name a directory: check-imports DIR")?;
            check_imports::run(std::path::Path::new(dir))
        }
        Some("causes") => {
            let results =
                value(args, "--results").map_or(root()?.join("target/causes"), PathBuf::from);
            let only = value(args, "--only").unwrap_or_default();
            let options = causes::Options {
                trials: usize::try_from(number(args, "--trials", 3)?)?,
                seconds: number(args, "--seconds", 24)?,
                results,
                only: only.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect(),
                rqps: value(args, "--rqps").map(PathBuf::from),
            };
            if args.iter().any(|a| a == "--report") {
                return causes::report(&options);
            }
            causes::run(&root()?, &options)
        }
        Some("crowd") => {
            let clients = u32::try_from(number(args, "--clients", 256)?)?;
            let time = std::time::Duration::from_secs(number(args, "--seconds", 600)?);
            crowd::run(&root()?, crowd::Options { clients, time })
        }
        Some("findings") => findings_of(args),
        Some("fuzz") => fuzz_target(args),
        Some("options") => options_of(args),
        Some("faults") => faults_of(args),
        Some("planted") => {
            let packages_only = args.iter().any(|a| a == "--packages-only");
            let options = planted::Options { only: list(args, "--only"), packages_only };
            planted::run(&root()?, &options)
        }
        Some("timings") => timings::run(&root()?, &list(args, "--only")),
        Some("truth") => truth_of(args),
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => bail!("unknown task {other:?}\n{HELP}"),
    }
}

/// Verdicts where the truth is known, in the parts of it or in a shape of the caller's own.
fn truth_of(args: &[String]) -> Result<()> {
    let text = |name, default: &str| value(args, name).unwrap_or(default).to_owned();
    let results = value(args, "--results").map_or(root()?.join("target/truth"), PathBuf::from);
    let is_report = args.iter().any(|a| a == "--report");
    let rqps = value(args, "--rqps").map(PathBuf::from);
    let servers = text("--servers", "mariadb@10.11.5,postgres@17.4,mysql@8.0.33");
    let servers: Vec<truth::Server> = servers
        .split(',')
        .map(|word| server(word).map(|(dbms, version)| truth::Server { dbms, version }))
        .collect::<Result<_>>()?;
    let shapes = [
        "--pairs",
        "--seconds",
        "--starts",
        "--clients",
        "--steps",
        "--twins",
        "--slowdowns",
        "--bound",
    ];
    if !args.iter().any(|arg| shapes.contains(&arg.as_str())) {
        let parts = truth::Options::parts(&servers, rqps.as_ref(), &results);
        return truth::all(&root()?, &parts, is_report);
    }
    let slowdowns = text("--slowdowns", "5,10");
    let options = truth::Options {
        servers,
        steps: list(args, "--steps"),
        pairs: usize::try_from(number(args, "--pairs", 200)?)?,
        seconds: number(args, "--seconds", 30)?,
        starts: number(args, "--starts", 1)?,
        clients: value(args, "--clients")
            .map(|text| text.parse().with_context(|| format!("--clients {text}")))
            .transpose()?,
        twins: if value(args, "--twins") == Some("0") { 0 } else { number(args, "--twins", 1)? },
        rqps,
        results,
        slowdowns: slowdowns
            .split(',')
            .filter(|word| *word != "none")
            .map(|word| word.parse().with_context(|| format!("--slowdowns {slowdowns}")))
            .collect::<Result<_>>()?,
        bound: value(args, "--bound")
            .map(|text| text.parse().with_context(|| format!("--bound {text}")))
            .transpose()?,
    };
    if is_report {
        return truth::report(&options);
    }
    truth::run(&root()?, &options)
}

fn findings_of(args: &[String]) -> Result<()> {
    let words = args.iter().skip(1).take_while(|word| !word.starts_with("--"));
    let options = findings::Options {
        names: words.cloned().collect(),
        rqps: value(args, "--rqps").map(std::path::absolute).transpose()?,
        results: value(args, "--results")
            .map_or(Ok(root()?.join("target/findings")), std::path::absolute)?,
    };
    findings::run(&root()?, &options)
}

/// What servers do with options that lead out of them.
fn options_of(args: &[String]) -> Result<()> {
    let servers = value(args, "--servers")
        .unwrap_or("mysql@5.6.14,mysql@8.0.33,mariadb@10.11.5,postgres@17.4");
    let servers = servers.split(',').map(server).collect::<Result<_>>()?;
    let has_wall = args.iter().any(|a| a == "--wall");
    let options = options_trial::Options { servers, only: list(args, "--only"), has_wall };
    options_trial::run(&root()?, &options)
}

fn fuzz_target(args: &[String]) -> Result<()> {
    let words = args.iter().skip(1).take_while(|word| !word.starts_with("--"));
    let options = fuzz::Options {
        targets: words.cloned().collect(),
        seconds: number(args, "--seconds", 60)?,
        is_keeping: args.iter().any(|a| a == "--keep"),
    };
    fuzz::run(&root()?, &options)
}

fn faults_of(args: &[String]) -> Result<()> {
    let servers = value(args, "--servers").unwrap_or("mariadb@10.2.11,postgres@11.22");
    let names = |server: &str| server.split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned()));
    let options = faults::Options {
        trials: usize::try_from(number(args, "--trials", 10)?)?,
        only: list(args, "--only"),
        seed: number(args, "--seed", 1)?,
        rqps: value(args, "--rqps").map(PathBuf::from),
        servers: servers
            .split(',')
            .map(|server| names(server).context("a server is DBMS@VERSION"))
            .collect::<Result<_>>()?,
        results: value(args, "--results").map_or(root()?.join("target/faults"), PathBuf::from),
    };
    if args.iter().any(|a| a == "--report") {
        return faults::report(&options);
    }
    faults::run(&root()?, &options)
}

fn tidy() -> Result<()> {
    let findings = tidy::check(&root()?)?;
    ensure!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    println!("tidy: nothing to mend");
    Ok(())
}

fn bench_report(args: &[String]) -> Result<()> {
    let options = bench_report::Options {
        systems: usize::try_from(number(args, "--systems", 5)?)?,
        steps: usize::try_from(number(args, "--steps", 47)?)?,
        rounds: u32::try_from(number(args, "--rounds", 30)?)?,
        seconds: number(args, "--seconds", 60)?,
        keep: value(args, "--keep").map(PathBuf::from),
    };
    bench_report::run(&root()?, &options)
}

/// The word after `name`.
fn value<'a>(args: &'a [String], name: &str) -> Option<&'a str> {
    let at = args.iter().position(|a| a == name)?;
    args.get(at + 1).map(String::as_str)
}

/// The words after `name`, which commas part.
fn list(args: &[String], name: &str) -> Vec<String> {
    let words = value(args, name).unwrap_or_default().split(',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The number after `name`, at least 1.
fn number(args: &[String], name: &str, default: u64) -> Result<u64> {
    let Some(at) = args.iter().position(|a| a == name) else { return Ok(default) };
    let text = args.get(at + 1).map_or("nothing", String::as_str);
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => bail!("{name} {text} is not a number from 1 on"),
    }
}

/// The workspace's root: the parent of this crate's directory.
fn root() -> Result<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("find the workspace's root")?.to_owned())
}
