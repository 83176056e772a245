//! How numbers, names and lists are written, whatever is said with them.

pub mod number;
pub mod values;
pub mod words;
