//! Logs of sysbench 1.0 and 1.1: what one run of it printed.

mod histogram;
mod log;

pub use log::{Interval, Latency, Log};
