//! Other tools' results as runs: files in, runs out. Facts that no file has stay unknown.
//!
//! An imported run has one rate per step and system (n=1) as its file states it, and no interval.
//! Nothing is stored here, and nothing is measured.

pub mod error;
pub mod iibench;
pub mod label;
pub mod mytools;
pub mod options;
pub mod sysbench;

mod clients;
mod copies;
mod cut;
mod derived;
mod folder;
mod imports;
mod iostat;
mod number;
mod recording;
mod sheet;
mod steps;
mod system_dirs;
mod vmstat;

pub use error::Error;
pub use imports::Imports;
pub use options::Options;
