//! The whole suite: its SQL per DBMS, its events on the null client, and the manual.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod manual;
mod suite;
