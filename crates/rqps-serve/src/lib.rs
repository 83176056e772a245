//! `rqps serve`: stored runs, and those under way, in a browser.
//!
//! HTTP by hyper on a tokio runtime of one thread; everything that reads the store or renders a page is
//! plain blocking code on a few threads beside it. Pages work without script; scripts and styles are
//! files of this program, and no page makes a request to any other host.
//!
//! What it deliberately does not do: measure, change anything, keep a copy of results or a session, speak TLS.

mod access;
mod asked;
mod desk;
mod error;
mod live;
mod page;
mod patient;
mod reply;
mod route;
mod server;
mod token;
pub mod verdicts;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use error::Error;
pub use server::serve;
pub use token::Token;

/// What is served, to whom.
#[derive(Debug)]
pub struct Options {
    /// The results directory.
    pub results: PathBuf,
    /// The address to listen at.
    pub listen: SocketAddr,
    /// Names besides numbers and `localhost` by which browsers may address this server.
    pub names: Vec<String>,
    /// What a request must show; needed on every address but loopback.
    pub token: Option<Token>,
    /// Version of rqps.
    pub rqps_version: String,
    /// Set when the server is to stop.
    pub stop: Arc<AtomicBool>,
}
