//! What can be typed: the command line as clap reads it. What it means is decided elsewhere.
//! It is long as every option stands here.

mod bisect;
mod commits;
mod import;
#[cfg(test)]
mod manual;
mod over_runs;
mod profile;
mod serve;
mod track;
mod value;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rqps_runner::plan::{RATES, SLICES, STARTS};
use rqps_workload::MAX_CLIENTS;

pub(crate) use bisect::BisectArgs;
pub(crate) use commits::CommitArgs;
pub(crate) use import::{ImportCommand, ImportOptions};
pub(crate) use over_runs::{
    CompareArgs, GateArgs, GateFormat, HistoryArgs, HistoryFormat, HistoryOrder,
};
pub(crate) use profile::ProfileArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use track::TrackArgs;

/// Measured time of a trial of a calibration, seconds. Below four seconds blocks have too few windows for another
/// location than the average.
const CALIBRATE_SECONDS: std::ops::RangeInclusive<f64> = 0.2..=600.0;

/// Compares database servers: finds performance regressions, with intervals, verdicts and causes
#[derive(Debug, Parser)]
#[command(name = "rqps", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Directory of stored results
    #[arg(
        long,
        global = true,
        help_heading = "Directories and files",
        value_name = "DIR",
        default_value = "rqps-results"
    )]
    pub(crate) results: PathBuf,

    /// Directory of fetched servers [default: rqps in the user's cache directory]
    #[arg(long, global = true, help_heading = "Directories and files", value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,

    /// File with your own servers, in addition to the built-in ones [default: rqps/servers.toml in the user's
    /// configuration directory]
    #[arg(long, global = true, help_heading = "Directories and files", value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,

    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a plan, or a base against candidates; the same command resumes an interrupted run
    Run(Box<RunArgs>),
    /// Find the commit that changed the speed of a step; the same command resumes an interrupted search
    Bisect(Box<BisectArgs>),
    /// Measure what is new on a branch, beside the last and a pinned commit, and search what changed; for cron and
    /// CI
    Track(Box<TrackArgs>),
    /// Measure steps and record stack profiles: flame graphs, and differences between systems
    Profile(Box<ProfileArgs>),
    /// Show the report of a run
    Report(ReportArgs),
    /// Show one report of systems from several runs
    Compare(CompareArgs),
    /// For CI: exit with 1 if a step is slower than allowed, with 2 if there is no answer
    Gate(GateArgs),
    /// Show rates over runs or versions, and where they changed
    History(HistoryArgs),
    /// Show reports, comparisons and histories in a browser, and follow runs live
    Serve(ServeArgs),
    /// Import results of other tools as runs, without intervals
    #[command(subcommand)]
    Import(ImportCommand),
    /// List, show, export, import, tag, verify and remove stored runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// List and remove tables that runs with reuse_tables stored
    #[command(subcommand)]
    Tables(TablesCommand),
    /// List and remove servers that were built from source, and show how they were built
    #[command(subcommand)]
    Builds(BuildsCommand),
    /// List and fetch servers, compare their settings, and run SQL on them
    #[command(subcommand)]
    Servers(ServersCommand),
    /// Show suites and their steps
    #[command(subcommand)]
    Suites(SuitesCommand),
    /// Measure the noise of this host; plans and reports use it
    Calibrate(CalibrateArgs),
    /// Run sysbench's scripts, with the options and the output of sysbench
    #[command(disable_help_flag = true)]
    Sysbench {
        /// Options and arguments of sysbench
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<String>,
    },
    /// Ends the servers named on standard input when that ends; started by runs themselves
    #[command(hide = true)]
    Watchdog,
    /// Explain the warnings of reports: meaning and remedy
    Warnings {
        /// Names of warnings, such as client-bound [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Check this host: missing programs and sources of noise, each with a remedy
    Doctor {
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
}

/// What is measured, and where: options of all commands that measure.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WorkArgs {
    /// sysbench, insert (the Insert Benchmark), or the path of a suite file
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,

    /// Size of tables and times of steps: tiny, small or medium
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,

    /// short (the 32 steps of the Small Datum blog) or full (all steps)
    #[arg(long, value_name = "FORM")]
    pub(crate) form: Option<String>,

    /// Numbers of clients; every step runs with each number
    #[arg(long, value_name = "N,N...", value_delimiter = ',', value_parser = value::whole(1..=MAX_CLIENTS))]
    pub(crate) clients: Vec<u32>,

    /// CPUs of clients and server threads: auto, free, split or paired
    #[arg(long, value_name = "PLACEMENT")]
    pub(crate) placement: Option<String>,

    /// Seed of all randomness [default: drawn, and recorded]
    #[arg(long, value_name = "N", value_parser = value::whole::<u64>(0..=(1 << 63) - 1))]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// Plan to measure
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,

    /// The base: DBMS@VERSION, DBMS@DIRECTORY, DBMS@git:REPOSITORY#COMMIT, or an address such as
    /// mysql://user@host:3306/db?password_env=NAME; LABEL= may stand before it
    #[arg(long, value_name = "SYSTEM", conflicts_with = "plan")]
    pub(crate) base: Option<String>,

    /// A candidate, in the same form, such as patched=pg@/build/pg; repeatable
    #[arg(long = "vs", value_name = "SYSTEM", conflicts_with = "plan")]
    pub(crate) candidates: Vec<String>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Steps, by name or glob; repeatable
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) steps: Vec<String>,

    /// Copy the tables that an earlier run filled in the same way, or store them for later runs
    #[arg(long)]
    pub(crate) reuse_tables: bool,

    /// Events per second of all clients together; response times then count from the intended start
    #[arg(long, value_name = "N", value_parser = value::number(RATES))]
    pub(crate) rate: Option<f64>,

    /// interleaved (systems alternate in slices of milliseconds) or sequential (one after the other) [default:
    /// interleaved, for several systems that rqps starts]
    #[arg(long, value_name = "MODE")]
    pub(crate) schedule: Option<String>,

    /// Measured time of a step on each system, as a multiple of the suite's seconds
    #[arg(long, value_name = "N", value_parser = value::whole(SLICES))]
    pub(crate) slices: Option<u32>,

    /// Time of the whole run, downloads excluded, such as 20m; steps share it
    #[arg(long, value_name = "TIME", conflicts_with = "slices")]
    pub(crate) time: Option<String>,

    /// Starts of the servers; the time of a step is divided among them [default: 4 where rqps starts all
    /// servers]
    #[arg(long, value_name = "N", value_parser = value::whole(STARTS))]
    pub(crate) starts: Option<u32>,

    /// Measure the base twice, as two servers (null arm); their difference is noise
    #[arg(long)]
    pub(crate) null: bool,

    /// strict: refuse systems with a severe difference [default: warn]
    #[arg(long, value_name = "RULE")]
    pub(crate) audit: Option<String>,

    /// Start a new run even if an unfinished run of the same plan exists
    #[arg(long)]
    pub(crate) new: bool,

    /// Allow rqps to change settings of servers given by address between steps; rqps restores them
    #[arg(long)]
    pub(crate) allow_settings: bool,

    /// Stop after this time, such as 36h; the same command resumes the run
    #[arg(long, value_name = "TIME")]
    pub(crate) stop_after: Option<String>,

    /// Write no HTML report
    #[arg(long)]
    pub(crate) no_html: bool,

    /// Wait up to this time, such as 10m, until other programs leave the CPUs; end with an error if they do not
    #[arg(long, value_name = "TIME")]
    pub(crate) wait_for_quiet: Option<String>,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

/// How a report reaches its verdicts.
#[derive(Debug, Clone, Args)]
pub(crate) struct JudgingArgs {
    /// Smallest difference that matters
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub(crate) bound: String,

    /// Give verdicts even on steps during which other programs used the CPUs
    #[arg(long)]
    pub(crate) allow_busy_host: bool,
}

impl Default for JudgingArgs {
    fn default() -> Self {
        Self { bound: "5%".to_owned(), allow_busy_host: false }
    }
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Verdicts, worst and best steps, causes: for a terminal
    Terminal,
    /// QPS and ratios as in the Small Datum posts
    Text,
    /// Tables for a merge request
    Markdown,
    /// One row per step, number of clients and system
    Csv,
    /// Everything; docs/reference/report.schema.json describes it
    Json,
    /// One self-contained page
    Html,
}

/// Formats of files, by the endings of their names.
type Endings<F> = &'static [(&'static str, F)];

/// The format that was typed, else that of the file's name, else that of a terminal.
///
/// # Errors
/// When the name ends as those of other files do: the file would not be what its name says.
fn format_of<F: ValueEnum + Copy + PartialEq>(
    typed: Option<F>,
    output: Option<&Path>,
    endings: Endings<F>,
    terminal: F,
) -> Result<F> {
    let Some(output) = output else { return Ok(typed.unwrap_or(terminal)) };
    let ending = output.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    let by_name = endings.iter().find(|(known, _)| Some(*known) == ending.as_deref());
    let by_name = by_name.map(|(_, format)| *format);
    let shown = output.display();
    match (typed, by_name, ending) {
        (Some(typed), Some(other), _) if typed != other => {
            let format = typed.to_possible_value();
            let format = format.as_ref().map_or("", |value| value.get_name());
            bail!(
                "--format {format} contradicts the name of {shown}; leave out --format, or name another file"
            )
        }
        (None, None, Some(ending)) if ending != "txt" => {
            let known: Vec<String> = endings.iter().map(|(known, _)| format!(".{known}")).collect();
            bail!(
                "no format has the ending .{ending} of {shown}; write {} or .txt, or give --format",
                known.join(", ")
            )
        }
        _ => Ok(typed.or(by_name).unwrap_or(terminal)),
    }
}

impl Format {
    /// The endings of its files.
    const ENDINGS: Endings<Self> = &[
        ("html", Self::Html),
        ("htm", Self::Html),
        ("md", Self::Markdown),
        ("csv", Self::Csv),
        ("json", Self::Json),
    ];

    /// What was typed, else what a file of this name holds, else the terminal's.
    ///
    /// # Errors
    /// When the name says otherwise.
    pub(crate) fn of(typed: Option<Self>, output: Option<&Path>) -> Result<Self> {
        format_of(typed, output, Self::ENDINGS, Self::Terminal)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Run: its id, its name, the beginning of either, or `latest`; or a file that `rqps runs export` wrote
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,

    /// The base: the label of a system [default: the base of the run]
    #[arg(long, value_name = "LABEL")]
    pub(crate) base: Option<String>,

    /// Format [default: by the name of the output file, else terminal]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// All steps in tables, and the differences between the systems
    #[arg(long, conflicts_with = "full")]
    pub(crate) summary: bool,

    /// Everything: metrics, causes and warnings of each step
    #[arg(long)]
    pub(crate) full: bool,

    /// Write charts of relative QPS into this directory instead: an SVG and a PNG file per group of steps
    #[arg(long, value_name = "DIR", conflicts_with_all = ["summary", "full", "format", "output"])]
    pub(crate) charts: Option<PathBuf>,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Server as DBMS@VERSION or DBMS@DIRECTORY [default: the newest PostgreSQL in the cache, else MariaDB]
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: Option<String>,

    /// Measured seconds of each trial on each side; there are about thirty trials. Below 4, only averages are
    /// compared
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = value::number(CALIBRATE_SECONDS))]
    pub(crate) seconds: f64,

    /// Also measure how often injected slowdowns of 2, 5 and 10% are found
    #[arg(long)]
    pub(crate) power: bool,

    /// Repetitions of each injected slowdown
    #[arg(long, value_name = "N", default_value_t = 10, requires = "power",
        value_parser = value::whole::<u32>(1..=1000))]
    pub(crate) looks: u32,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List all runs, newest first
    List {
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the contents of a run
    Show {
        /// Run: its id, its name, the beginning of either, or `latest`
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a run to a file: an archive for another host, or tables for other programs
    Export {
        /// Run: its id, its name, the beginning of either, or `latest`
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// File, or directory of tables [default: the run's id with the format's ending]
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,
        /// Format
        #[arg(long, value_enum, default_value = "archive")]
        format: ExportFormat,
        /// An archive of a third of the size or less: without samples, and with one histogram of response times per
        /// step, so that percentiles have no ratio
        #[arg(long, conflicts_with = "format")]
        small: bool,
    },
    /// Import runs that another host exported
    Import {
        /// Archives
        #[arg(value_name = "FILE.tar.zst", required = true)]
        files: Vec<PathBuf>,
    },
    /// Add tags and a note to runs
    Tag {
        /// Run: its id, its name, the beginning of either, or `latest`
        #[arg(value_name = "RUN")]
        run: String,
        /// Tags to add
        #[arg(value_name = "TAG")]
        tags: Vec<String>,
        /// Tag to remove; repeatable
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
        /// Note, in place of the present one; an empty note removes it
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Read the whole store and check it for damage
    Verify {
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove runs and their artifacts
    Rm {
        /// Runs: their ids, the beginning of these, or their whole names
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
}

/// Formats of an exported run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Everything, for `rqps runs import` on another host
    Archive,
    /// A directory with a CSV file per table
    Csv,
    /// One JSON file with all tables
    Json,
    /// A directory with a Parquet file per table (needs a binary of make dist)
    Parquet,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TablesCommand {
    /// List stored tables, with their size and the run that filled them
    List {
        /// Write JSON, with everything that the tables depend on
        #[arg(long)]
        json: bool,
    },
    /// Remove stored tables
    Rm {
        /// Names, as `rqps tables list` shows them
        #[arg(value_name = "NAME", required_unless_present = "all")]
        names: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BuildsCommand {
    /// List builds, the last used first, with commit, compiler options and size
    List {
        /// Write JSON, with everything that is known of each build
        #[arg(long)]
        json: bool,
    },
    /// Remove builds
    Rm {
        /// Keys, or their first digits, as `rqps builds list` shows them
        #[arg(value_name = "KEY", required_unless_present = "all")]
        keys: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with = "keys")]
        all: bool,
    },
    /// Show what the commands of a build wrote
    Log {
        /// Key, or its first digits
        #[arg(value_name = "KEY")]
        key: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// List the versions that can be fetched, with source, size, and whether they are in the cache
    List {
        /// Ask every source which versions this host can get now
        #[arg(long)]
        available: bool,
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch servers into the cache
    Fetch {
        /// Servers as DBMS@VERSION
        #[arg(value_name = "SYSTEM", required = true)]
        systems: Vec<String>,
    },
    /// Show build, session and settings of servers; of several, which differences can change results and why
    Audit(AuditArgs),
    /// Start a server with a new data directory, run SQL from standard input, and remove the server
    Shell {
        /// Server as DBMS@VERSION or DBMS@DIRECTORY
        #[arg(value_name = "SYSTEM")]
        system: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Servers as DBMS@VERSION, DBMS@DIRECTORY or an address such as mysql://user@host/db?password_env=NAME
    #[arg(value_name = "SYSTEM", required_unless_present = "plan")]
    pub(crate) systems: Vec<String>,

    /// Plan whose systems are audited, instead of SYSTEM
    #[arg(long, value_name = "PLAN.toml", conflicts_with = "systems")]
    pub(crate) plan: Option<PathBuf>,

    /// Configuration of servers that rqps starts: a profile or a file [default: small]
    #[arg(long, value_name = "CONFIG", conflicts_with = "plan")]
    pub(crate) config: Option<String>,

    /// A setting in addition to the configuration; repeatable
    #[arg(long = "option", value_name = "NAME=VALUE", conflicts_with = "plan")]
    pub(crate) options: Vec<String>,

    /// Show every setting that differs or that was configured
    #[arg(long)]
    pub(crate) all: bool,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuitesCommand {
    /// List the built-in suites
    List {
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a suite: sysbench as a file to edit, insert as a table of steps
    Show {
        /// Suite
        #[arg(value_name = "SUITE", default_value = "sysbench")]
        suite: String,
        /// A table of the steps, instead of the file
        #[arg(long)]
        steps: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_decides_the_format_where_none_is_typed() {
        let of = |typed, name: &str| {
            Format::of(typed, Some(Path::new(name))).map_err(|error| error.to_string())
        };
        assert_eq!(of(None, "a/report.html"), Ok(Format::Html));
        assert_eq!(of(None, "R.CSV"), Ok(Format::Csv));
        assert_eq!(of(None, "comment.md"), Ok(Format::Markdown));
        assert_eq!(of(None, "all.json"), Ok(Format::Json));
        assert_eq!(of(None, "report.txt"), Ok(Format::Terminal));
        assert_eq!(of(None, ".html"), Ok(Format::Terminal));
        assert_eq!(of(None, "/dev/stdout"), Ok(Format::Terminal));
        assert_eq!(of(Some(Format::Html), "report.htm"), Ok(Format::Html));
        assert_eq!(of(Some(Format::Text), "report.log"), Ok(Format::Text));
        assert_eq!(Format::of(None, None).unwrap(), Format::Terminal);
        let error = of(None, "x.pdf").unwrap_err();
        assert!(error.contains(".html, .htm, .md, .csv, .json or .txt"), "{error}");
        let history = |name: &str| HistoryFormat::of(None, Some(Path::new(name))).ok();
        assert_eq!(history("x.html"), Some(HistoryFormat::Html));
        assert_eq!((history("x.txt"), history("x.md")), (Some(HistoryFormat::Text), None));
        let error = of(Some(Format::Csv), "y.html").unwrap_err();
        assert!(error.starts_with("--format csv contradicts"), "{error}");
    }
}
