//! Bytes to meaning and back: the protocols without sockets and clocks.
//!
//! Public so that fuzz targets and benchmarks can reach the decoders; connections are the interface
//! for everything else.

pub mod mysql;
pub mod postgres;
