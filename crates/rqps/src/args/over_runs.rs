//! What is typed after the commands that judge a run or look at several: gate, compare, history.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Format, JudgingArgs};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Runs, two or more: their ids, the start of them, their names, or `latest`; or files that `rqps runs export` wrote
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,

    /// The system that others are compared with: its label, or RUN:LABEL [default: the base of the
    /// first run]
    #[arg(long, value_name = "LABEL|RUN:LABEL")]
    pub(crate) base: Option<String>,

    /// Format; text has a pair of columns, QPS and ratio, for each run, relative to its own base [default: by the
    /// name of the output file, else terminal]
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

/// Formats of the gate's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// A table for a terminal or the log of a job
    Text,
    /// A comment of a merge request
    Markdown,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Run: its id, the start of its id, its name, or `latest`; or the file that `rqps runs export` wrote
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,

    /// The smallest slowdown that is not allowed: the bound of the verdict `slower`
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub(crate) max_slowdown: String,

    /// Steps to judge, by name or glob; may be given more than once [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) steps: Vec<String>,

    /// Format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: GateFormat,

    /// File for the answer as JUnit XML, beside what is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Judge steps during which other programs had the CPUs, too, in place of ending with 2
    #[arg(long)]
    pub(crate) allow_busy_host: bool,

    /// Judge what there is of a run that is not finished, in place of ending with 2
    #[arg(long)]
    pub(crate) allow_unfinished: bool,
}

/// Formats of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    /// Tables for a terminal
    Text,
    /// One self-contained page with a chart per series
    Html,
    /// Everything, for programs
    Json,
    /// One row per point
    Csv,
}

/// What the points of a history follow one another by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryOrder {
    /// The servers' versions, by number
    Version,
    /// The start of the run
    Time,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Runs: their ids, the start of them, their names, or `latest` [default: all]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,

    /// Steps to show, by name or glob; may be given more than once [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) steps: Vec<String>,

    /// Systems to show, by label or as DBMS@VERSION, or a glob of these; may be given more than once
    /// [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) system: Vec<String>,

    /// Order of the points [default: version, where systems of one kind have several; else time]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) by: Option<HistoryOrder>,

    /// Take in runs of other hosts than that of the latest
    #[arg(long)]
    pub(crate) all_hosts: bool,

    /// Format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: HistoryFormat,

    /// File to write; standard output when absent
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
