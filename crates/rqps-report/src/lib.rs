//! Reports: pure functions from a run to text, markdown, CSV, JSON and one self-contained HTML page.
//!
//! No IO and no clock: the same run and the same version give the same bytes.

pub mod analysis;
pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
pub mod response;
pub mod text;

mod grid;
mod layout;
mod number;
mod repeat;
mod tone;
mod words;

pub use analysis::Analysis;
pub use text::{Detail, TextOptions};
