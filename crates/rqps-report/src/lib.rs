//! Reports: pure functions from an analysis to text, markdown, CSV and JSON. `rqps-html` makes pages.
//!
//! No IO and no clock: the same run and the same version give the same bytes. `docs/tutorial/read-a-report.md`
//! tells users how to read them.

pub mod causes;
pub mod command;
pub mod compare;
pub mod comparison;
pub mod conditions;
pub mod csv;
pub mod gate;
pub mod grid;
pub mod headline;
pub mod history;
pub mod insert;
pub mod json;
pub mod layout;
pub mod many;
pub mod markdown;
pub mod places;
pub mod plans;
pub mod post;
pub mod recall;
pub mod repeat;
pub mod response;
pub mod rule;
pub mod screen;
pub mod settle;
pub mod stacks;
pub mod text;
pub mod tone;
mod unfit;
pub mod warning;

pub use text::{Detail, TextOptions};
