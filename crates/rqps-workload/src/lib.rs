//! Workloads: suites as data, the sysbench suite, and the events that client threads run.

pub mod worker;

pub use worker::{EventError, Worker};
