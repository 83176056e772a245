//! A connection of a client: a socket, or a stand-in for one.

use std::io;

/// A client's connection.
pub(crate) trait Stream: io::Read + io::Write + Send + 'static {}

impl<S: io::Read + io::Write + Send + 'static> Stream for S {}
