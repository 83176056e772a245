//! The protocols as bytes: messages to bytes and bytes to meaning. No sockets, no clock.
//!
//! Public so that fuzz targets and benchmarks can reach the decoders; connections are the interface
//! for everything else.

pub mod mysql;
pub mod postgres;
