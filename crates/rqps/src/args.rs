//! What can be typed: the command line as clap reads it. What it means is decided elsewhere.
//! It is long as every option stands here.

mod import;
mod over_runs;
mod profile;
mod serve;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use import::{ImportCommand, ImportOptions};
pub(crate) use over_runs::{
    CompareArgs, GateArgs, GateFormat, HistoryArgs, HistoryFormat, HistoryOrder,
};
pub(crate) use profile::ProfileArgs;
pub(crate) use serve::ServeArgs;

/// Finds performance regressions in database servers, and says how sure that is.
#[derive(Debug, Parser)]
#[command(name = "rqps", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Directory of the results store
    #[arg(long, global = true, value_name = "DIR", default_value = "rqps-results")]
    pub(crate) results: PathBuf,

    /// Directory where fetched servers are kept [default: the user's cache directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,

    /// File of servers of your own, beside the built-in ones [default: rqps/servers.toml in the
    /// user's configuration directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,

    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure what a plan says, or a base against candidates; resumes after an interruption
    Run(Box<RunArgs>),
    /// Measure steps and show in which functions of the servers their CPU time goes: flame graphs, and
    /// how they differ
    Profile(Box<ProfileArgs>),
    /// Write the report of a run
    Report(ReportArgs),
    /// Write one report of the systems of several runs
    Compare(CompareArgs),
    /// For CI: end with 1 when a step is slower than allowed, with 2 when that cannot be said
    Gate(GateArgs),
    /// Show figures over runs or versions, and where they changed
    History(HistoryArgs),
    /// Show runs, reports, comparisons and histories in a browser, and follow runs that are under way
    Serve(ServeArgs),
    /// Take over other tools' results as runs: figures without intervals
    #[command(subcommand)]
    Import(ImportCommand),
    /// The results store
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Filled tables that runs with reuse_tables have stored
    #[command(subcommand)]
    Tables(TablesCommand),
    /// The servers that can be had
    #[command(subcommand)]
    Servers(ServersCommand),
    /// The suites of steps
    #[command(subcommand)]
    Suites(SuitesCommand),
    /// Measure how noisy this host is: the same server against itself; used by plans and reports
    Calibrate(CalibrateArgs),
    /// In place of the program sysbench: its options, its scripts, its output (docs/sysbench.md)
    #[command(disable_help_flag = true)]
    Sysbench {
        /// What sysbench takes
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<String>,
    },
    /// Ends the servers named on standard input when that ends; started by runs themselves
    #[command(hide = true)]
    Watchdog,
    /// What warnings of reports mean, and what to do about them
    Warnings {
        /// Their names, such as client-bound [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// What this host lacks for a run, and what disturbs one, with the command that mends it
    Doctor {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Plan to carry out
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,

    /// The system that others are compared with: DBMS@VERSION, DBMS@DIRECTORY or an address such as
    /// mysql://user@host:3306/db?password_env=NAME
    #[arg(long, value_name = "SYSTEM", conflicts_with = "plan")]
    pub(crate) base: Option<String>,

    /// A system to compare with the base, such as patched=pg@/build/pg, with its label before it; may be given
    /// more than once
    #[arg(long = "vs", value_name = "SYSTEM", conflicts_with = "plan")]
    pub(crate) candidates: Vec<String>,

    /// Suite: sysbench, insert (the Insert Benchmark), or the path of a suite file
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,

    /// Size of tables and length of slices: tiny, small or medium
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,

    /// short (32 figures, as published by the Small Datum blog) or full (all steps)
    #[arg(long, value_name = "FORM")]
    pub(crate) form: Option<String>,

    /// Steps to run, by name or glob; may be given more than once
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) steps: Vec<String>,

    /// Numbers of clients, separated by commas; every step runs with each
    #[arg(long, value_name = "N,N...", value_delimiter = ',')]
    pub(crate) clients: Vec<u32>,

    /// Copy the tables that an earlier run filled alike; else fill them, and store them for later runs
    #[arg(long)]
    pub(crate) reuse_tables: bool,

    /// Events per second, all clients together; response times then count from the intended start
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<f64>,

    /// Whether systems alternate in slices of milliseconds (interleaved) or come one after the other
    /// (sequential) [default: interleaved, for several systems that rqps runs itself]
    #[arg(long, value_name = "MODE")]
    pub(crate) schedule: Option<String>,

    /// Slices per step and system; interleaved, the time of so many slices
    #[arg(long, value_name = "N")]
    pub(crate) slices: Option<u32>,

    /// Time of the whole run once its servers are there, divided among the steps: 20m
    #[arg(long, value_name = "TIME", conflicts_with = "slices")]
    pub(crate) time: Option<String>,

    /// Starts of the servers among which the time of a step is divided [default: 4 where rqps starts them]
    #[arg(long, value_name = "N")]
    pub(crate) starts: Option<u32>,

    /// Measure the base once more, as a server of its own: what it differs by from itself is noise
    #[arg(long)]
    pub(crate) null: bool,

    /// Where client and server threads run: auto, free, split or paired
    #[arg(long, value_name = "PLACEMENT")]
    pub(crate) placement: Option<String>,

    /// Seed of all randomness [default: drawn, and recorded]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Refuse systems that differ severely: strict [default: warn]
    #[arg(long, value_name = "RULE")]
    pub(crate) audit: Option<String>,

    /// Start a new run, even where an unfinished run of the same plan could be resumed
    #[arg(long)]
    pub(crate) new: bool,

    /// Let settling change settings of servers given by their address; they are restored after it
    #[arg(long)]
    pub(crate) allow_settings: bool,

    /// Stop after this long, such as 36h, as an interrupt would; the same command resumes the run
    #[arg(long, value_name = "TIME")]
    pub(crate) stop_after: Option<String>,

    /// Write no HTML report at the end
    #[arg(long)]
    pub(crate) no_html: bool,

    /// Wait this long, such as 10m, for other programs to leave the CPUs; end with an error if they do not
    #[arg(long, value_name = "TIME")]
    pub(crate) wait_for_quiet: Option<String>,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

/// How a report reaches its verdicts.
#[derive(Debug, Clone, Args)]
pub(crate) struct JudgingArgs {
    /// Difference that matters, such as 5%
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub(crate) bound: String,

    /// Give verdicts on steps during which other programs had the CPUs, too
    #[arg(long)]
    pub(crate) allow_busy_host: bool,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Verdicts, tables with intervals, causes: to be read on a terminal
    Terminal,
    /// Only the field's tables, to be pasted into a post: QPS, ratio, system
    Text,
    /// Tables for a merge request
    Markdown,
    /// One row per step, number of clients and system
    Csv,
    /// Everything, by a published schema
    Json,
    /// One self-contained page
    Html,
}

impl Format {
    /// What was typed, else what a file of this name holds, else the terminal's.
    pub(crate) fn of(typed: Option<Self>, output: Option<&Path>) -> Self {
        let extension = output.and_then(Path::extension).and_then(OsStr::to_str);
        let by_name = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Some(Self::Html),
            Some("md") => Some(Self::Markdown),
            Some("csv") => Some(Self::Csv),
            Some("json") => Some(Self::Json),
            _ => None,
        };
        typed.or(by_name).unwrap_or(Self::Terminal)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Run: its id, the start of its id, its name, or `latest`; or the file that `rqps runs export` wrote
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,

    /// The system that others are compared with [default: the run's own base]
    #[arg(long, value_name = "LABEL")]
    pub(crate) base: Option<String>,

    /// Format [default: by the name of the output file, else terminal]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// All steps in tables, and what differs between the systems
    #[arg(long, conflicts_with = "full")]
    pub(crate) summary: bool,

    /// Everything: each step with its metrics, causes and warnings
    #[arg(long)]
    pub(crate) full: bool,

    /// Write charts of relative QPS into this directory, an SVG and a PNG file per group of steps, in place of the
    /// report
    #[arg(long, value_name = "DIR", conflicts_with_all = ["summary", "full", "format", "output"])]
    pub(crate) charts: Option<PathBuf>,

    /// File to write; standard output when absent
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Server as DBMS@VERSION or DBMS@DIRECTORY [default: the newest PostgreSQL that is in the cache,
    /// else MariaDB]
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: Option<String>,

    /// Measured time of each trial on each side, seconds: there are about thirty. Below 4 only averages
    /// are compared
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    pub(crate) seconds: f64,

    /// Also measure how often injected slowdowns of 2, 5 and 10 percent are found
    #[arg(long)]
    pub(crate) power: bool,

    /// How often each injected slowdown is measured
    #[arg(long, value_name = "N", default_value_t = 10, requires = "power",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) looks: u32,

    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// All runs, newest first
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// What a run is made of
    Show {
        /// Run: its id, the start of its id, its name, or `latest`
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a run into a file: an archive for another host, or its tables for other programs
    Export {
        /// Run: its id, the start of its id, its name, or `latest`; with .tar.zst behind it the archive's file, too
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// File, or directory of tables [default: the run's id with the format's ending]
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,
        /// Format
        #[arg(long, value_enum, default_value = "archive")]
        format: ExportFormat,
        /// An archive of a third of the size or less: without the samples, and with the response times of a step's
        /// blocks in one histogram, so that their percentiles have no ratio
        #[arg(long, conflicts_with = "format")]
        small: bool,
    },
    /// Take in runs that another host exported
    Import {
        /// Archives
        #[arg(value_name = "FILE.tar.zst", required = true)]
        files: Vec<PathBuf>,
    },
    /// Give runs tags to find them by, and a note
    Tag {
        /// Run: its id, the start of its id, its name, or `latest`
        #[arg(value_name = "RUN")]
        run: String,
        /// Tags to add
        #[arg(value_name = "TAG")]
        tags: Vec<String>,
        /// A tag to take away; may be given more than once
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
        /// A note in place of the one that is there; an empty one removes it
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Read the whole store and check that nothing is damaged or missing
    Verify {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a run and its artifacts
    Rm {
        /// Runs: their ids, or the start of them
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
}

/// Formats of an exported run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Everything, for `rqps runs import` on another host
    Archive,
    /// A directory with a CSV file for each table
    Csv,
    /// One JSON file with all tables
    Json,
    /// A directory with a Parquet file for each table (a binary of make dist)
    Parquet,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TablesCommand {
    /// All stored tables, with their size and the run that filled them
    List {
        /// As JSON, with all that the tables depend on
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
pub(crate) enum ServersCommand {
    /// The catalogue: versions, sources, sizes, and which are here already
    List {
        /// Ask every source: which of them this host can get now, and from where
        #[arg(long)]
        available: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch servers into the cache
    Fetch {
        /// Servers as DBMS@VERSION
        #[arg(value_name = "SYSTEM", required = true)]
        systems: Vec<String>,
    },
    /// Show what servers run with (build, session, settings) and, of several, which differences can
    /// move a figure and why
    Audit(AuditArgs),
    /// Start a server with a new, empty data directory and read SQL from standard input; it is
    /// removed at the end
    Shell {
        /// Server as DBMS@VERSION or DBMS@DIRECTORY
        #[arg(value_name = "SYSTEM")]
        system: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Servers as DBMS@VERSION, DBMS@DIRECTORY or an address such as
    /// mysql://user@host/db?password_env=NAME
    #[arg(value_name = "SYSTEM", required_unless_present = "plan")]
    pub(crate) systems: Vec<String>,

    /// Plan whose systems are looked at, in place of SYSTEM
    #[arg(long, value_name = "PLAN.toml", conflicts_with = "systems")]
    pub(crate) plan: Option<PathBuf>,

    /// Configuration of the servers that are started: a built-in profile or a file [default: small]
    #[arg(long, value_name = "CONFIG", conflicts_with = "plan")]
    pub(crate) config: Option<String>,

    /// A setting on top of the configuration; may be given more than once
    #[arg(long = "option", value_name = "NAME=VALUE", conflicts_with = "plan")]
    pub(crate) options: Vec<String>,

    /// Show every setting that differs or that was configured
    #[arg(long)]
    pub(crate) all: bool,

    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuitesCommand {
    /// The built-in suites
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// A suite: sysbench as a file to edit, insert as a table of its steps
    Show {
        /// Suite
        #[arg(value_name = "SUITE", default_value = "sysbench")]
        suite: String,
        /// Its steps, one a line, in place of the file
        #[arg(long)]
        steps: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_decides_the_format_where_none_is_typed() {
        let of = |typed, name: &str| Format::of(typed, Some(Path::new(name)));
        assert_eq!(of(None, "a/report.html"), Format::Html);
        assert_eq!(of(None, "R.CSV"), Format::Csv);
        assert_eq!(of(None, "comment.md"), Format::Markdown);
        assert_eq!(of(None, "all.json"), Format::Json);
        assert_eq!(of(None, "report.txt"), Format::Terminal);
        assert_eq!(of(None, ".html"), Format::Terminal);
        assert_eq!(of(Some(Format::Json), "report.html"), Format::Json);
        assert_eq!(Format::of(None, None), Format::Terminal);
    }
}
