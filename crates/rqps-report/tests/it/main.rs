//! Whole reports of runs made by hand: goldens of every format, properties, hostile text.

#![expect(clippy::unwrap_used, reason = "fixtures are test code outside of test functions")]

mod causes;
mod compare;
mod figures;
mod gate;
mod goldens;
mod guards;
mod history;
mod insert;
mod insert_blocks;
mod many;
mod properties;
mod query_plans;
mod schema;
mod severe;
mod stacks;
mod verdicts;
