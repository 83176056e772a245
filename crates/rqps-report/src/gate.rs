//! The gate's answer for a terminal, a merge request and CI.

pub mod json;
pub mod junit;
pub mod markdown;

mod table;
pub mod text;
mod warnings;
mod words;

pub use words::{errors, reason, sentence};
