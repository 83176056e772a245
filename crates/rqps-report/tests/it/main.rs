//! Whole reports of runs made by hand: goldens of every format, properties, hostile text.

#![expect(clippy::unwrap_used, reason = "fixtures are test code outside of test functions")]

mod bases;
mod blocks_fixture;
mod browser;
mod causes;
mod compare;
mod figures;
mod fixture;
mod gate;
mod goldens;
mod guards;
mod history;
mod insert;
mod insert_blocks;
mod insert_fixture;
mod many;
mod page;
mod policy;
mod properties;
mod query_plans;
mod readable;
mod schema;
mod severe;
mod stacks;
mod stacks_fixture;
mod verdicts;
