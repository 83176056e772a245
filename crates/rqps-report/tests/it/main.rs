//! Whole reports of runs made by hand: goldens of every format, properties, hostile text.

#![expect(clippy::unwrap_used, reason = "fixtures are test code outside of test functions")]

mod causes;
mod compare;
mod figures;
mod gate;
mod goldens;
mod guards;
mod history;
mod host_busy;
mod insert;
mod insert_blocks;
mod many;
mod properties;
mod query_plans;
mod rules;
mod schema;
mod screen;
mod severe;
mod stacks;
mod verdicts;

use rqps_analysis::Analysis;

/// The details of the verdict on the first candidate.
fn details_of(analysis: &Analysis<'_>) -> Vec<String> {
    rqps_report::headline::details(analysis, &analysis.headlines[0])
}
