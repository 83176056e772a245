//! The results store from outside: whole runs in, whole runs out, and all that can go wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails by panicking")]

mod generate;
mod interrupted;
mod lifecycle;
mod refusals;
mod round_trip;
mod schema;
mod stack_profiles;
mod tags;
mod verify;
