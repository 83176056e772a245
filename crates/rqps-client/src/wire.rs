//! The protocols as bytes: messages to bytes and bytes to meaning. No sockets, no clock.

pub mod mysql;
