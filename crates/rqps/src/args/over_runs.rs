//! What is typed after the commands that judge a run or look at several: gate, compare, history.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{Endings, Format, JudgingArgs, format_of};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Runs, two or more: their ids, their names, the beginnings of either, or `latest`; or files that `rqps runs
    /// export` wrote
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,

    /// The base: a label, or RUN:LABEL [default: the base of the first run]
    #[arg(long, value_name = "LABEL|RUN:LABEL")]
    pub(crate) base: Option<String>,

    /// Format; text shows QPS and ratio of each run, relative to its own base [default: by the name of the
    /// output file, else terminal]
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

/// Formats of the gate's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// A table for a terminal or a log
    Text,
    /// A comment for a merge request
    Markdown,
    /// For programs; docs/reference/gate.schema.json describes it
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Run: its id, its name, the beginning of either, or `latest`; or a file that `rqps runs export` wrote
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,

    /// Smallest slowdown that fails the gate: the bound of the verdict slower
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub(crate) max_slowdown: String,

    /// Steps, by name or glob; repeatable [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) steps: Vec<String>,

    /// Format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: GateFormat,

    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Judge even steps during which other programs used the CPUs, instead of ending with 2
    #[arg(long)]
    pub(crate) allow_busy_host: bool,

    /// Judge the finished part of an unfinished run, instead of ending with 2
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
    /// For programs; docs/reference/history.schema.json describes it
    Json,
    /// One row per point
    Csv,
}

impl HistoryFormat {
    /// The endings of its files.
    const ENDINGS: Endings<Self> =
        &[("html", Self::Html), ("htm", Self::Html), ("csv", Self::Csv), ("json", Self::Json)];

    /// What was typed, else what a file of this name holds, else the terminal's.
    ///
    /// # Errors
    /// When the name says otherwise.
    pub(crate) fn of(typed: Option<Self>, output: Option<&Path>) -> Result<Self> {
        format_of(typed, output, Self::ENDINGS, Self::Text)
    }
}

/// What the points of a history follow one another by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryOrder {
    /// Versions of the servers
    Version,
    /// Start times of the runs
    Time,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Runs: their ids, the beginning of these, their names (all runs of a name), or `latest` [default: all]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,

    /// Steps, by name or glob; repeatable [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) steps: Vec<String>,

    /// Systems, by label, as DBMS@VERSION, or a glob of these; repeatable [default: all]
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) system: Vec<String>,

    /// Order of the points [default: version where a kind of system has several versions, else time]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) by: Option<HistoryOrder>,

    /// Include runs of other hosts than that of the latest run
    #[arg(long)]
    pub(crate) all_hosts: bool,

    /// Format [default: that of the output file's name, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<HistoryFormat>,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
