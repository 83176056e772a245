//! `rqps serve`: stored runs, and those under way, in a browser.
//!
//! HTTP by hyper on a tokio runtime of one thread; everything that reads the store or renders a page is
//! plain blocking code on a few threads beside it. Pages work without script; scripts and styles are
//! files of this program, and no page makes a request to any other host.
//!
//! What it deliberately does not do: measure, keep a copy of results, speak TLS.

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
mod session;
mod token;
mod write;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use error::Error;
pub use server::serve;
pub use token::Token;

/// Removes a run with all that belongs to it; gives what went wrong in a sentence.
pub type Remove = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// What is served, to whom.
pub struct Options {
    /// The results directory.
    pub results: PathBuf,
    /// The address to listen at.
    pub listen: SocketAddr,
    /// Names besides numbers and `localhost` by which browsers may address this server.
    pub names: Vec<String>,
    /// What a browser must show; needed on every address but loopback.
    pub token: Option<Token>,
    /// Whether tags and notes can be changed and runs removed.
    pub may_write: bool,
    /// How a run is removed.
    pub remove: Box<Remove>,
    /// Version of rqps.
    pub rqps_version: String,
    /// Set when the server is to stop.
    pub stop: Arc<AtomicBool>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { results, listen, may_write, .. } = self;
        let mut shown = f.debug_struct("Options");
        shown.field("results", results).field("listen", listen).field("may_write", may_write);
        shown.finish_non_exhaustive()
    }
}
