//! What can be typed behind `rqps import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value;

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// A directory of the Small Datum blog's sysbench scripts: qps.abs.*.tsv or .csv with o.met.*, or one
    /// directory of raw files (sb.o.*, sb.vm.*, sb.io.*) per system
    Mytools {
        /// The folder
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        options: ImportOptions,
        /// Block device of the data directory, of those that sb.io.* list
        #[arg(long, value_name = "DEVICE")]
        device: Option<String>,
    },
    /// Logs of sysbench 0.4, 0.5, 1.0 or 1.1, with their report intervals and histograms
    Sysbench {
        /// A log: FILE, LABEL=FILE or LABEL:STEP=FILE [default: the label is the file's name, the step the
        /// script that the log names]. Labels such as my8043, ma110405 and pg17.4 state DBMS and version.
        /// Others need --dbms, unless a command line in the log has --db-driver
        #[arg(value_name = "LOG", required = true)]
        logs: Vec<String>,
        #[command(flatten)]
        options: ImportOptions,
    },
    /// A directory of the Insert Benchmark's scripts: merged tables (mrg.l.i0, mrg.qr100.L1 and so on), or one
    /// directory of raw files (l.i0/o.ib.dop1.1 and so on) per system
    Iibench {
        /// The folder
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        options: ImportOptions,
        /// Block device of the data directory, of those that o.io.* list
        #[arg(long, value_name = "DEVICE")]
        device: Option<String>,
    },
}

/// What files of other tools do not tell.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// Name of the run [default: that of the directory; for logs, sysbench]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Label of the base [default: the one that the files name, else the first]
    #[arg(long, value_name = "LABEL")]
    pub(crate) base: Option<String>,

    /// Name of the measured host; runs of one host form one history
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// Number of clients, where no file states it
    #[arg(long, value_name = "N", value_parser = value::whole::<u32>(1..=u32::MAX))]
    pub(crate) clients: Option<u32>,

    /// DBMS, where labels do not state it: mysql, mariadb or postgres
    #[arg(long, value_name = "DBMS")]
    pub(crate) dbms: Option<String>,

    /// Date of the measurement, in UTC [default: now]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
}
