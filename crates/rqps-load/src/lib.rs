//! The load generator: client threads that run events, and what they counted.
//!
//! A [`ClientPool`] holds one thread per client, each with its open connection and its worker. The client pool
//! runs [`Order`]s: slices with a common start, a pace and an end. Connecting, preparing and
//! pinning server threads happen before a client pool is made; storing and judging, after.

pub mod client_pool;
pub mod clock;
mod event_loop;
pub mod order;
pub mod short_slice;
pub mod tally;

pub use client_pool::{ClientPool, ClientPoolError, Control, Edge, Live, Member};
pub use order::{Order, Pace, PlaceInBlock, Stop};
pub use tally::Tally;
