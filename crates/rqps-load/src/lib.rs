//! The load generator: client threads that run events, and what they counted.
//!
//! A [`Crew`] holds one thread per client, each with its open connection and its worker. The crew
//! runs [`Order`]s: slices with a common start, a pace and an end. Connecting, preparing and
//! pinning server threads happen before a crew is made; storing and judging, after.

pub mod clock;
pub mod crew;
mod event_loop;
pub mod order;
pub mod short_slice;
pub mod tally;

pub use crew::{Control, Crew, CrewError, Edge, Live, Member};
pub use order::{Order, Pace, Stop, Turn};
pub use tally::Tally;
