//! Carrying out a command: prepare, run, cleanup and the like.

mod commands;
pub(crate) mod control;
mod locate;
mod progress;
mod threads;

pub(crate) use commands::{banner, carry_out};
