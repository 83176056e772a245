//! Numbers, names and lists as text.

pub mod number;
pub mod values;
pub mod words;
