//! Whole reports of runs made by hand: goldens of every format, properties, hostile text.

mod fixture;
mod goldens;
mod properties;
mod schema;
