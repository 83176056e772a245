//! Histories for a terminal, a spreadsheet and programs.

pub mod csv;
pub mod json;
pub mod names;
pub mod text;
pub mod words;
