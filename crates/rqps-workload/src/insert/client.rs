//! A client of the Insert Benchmark.

use rqps_client::Protocol;

/// How a client sends its statements and what it draws.
#[derive(Debug, Clone, Copy)]
pub struct InsertClient {
    /// How statements are sent.
    pub protocol: Protocol,
    /// Which client: each has a stream of random numbers of its own.
    pub client_idx: u32,
    /// The seed of all streams.
    pub seed: u64,
}
