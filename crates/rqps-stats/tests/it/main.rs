//! Coverage, false alarms and power by simulation; the tables of docs/reference/simulations.md are made here.

#![expect(clippy::unwrap_used, reason = "what a simulation draws is never refused")]

mod comparison;
mod coverage;
mod runs;
mod series;
mod simulate;
mod starts;
mod totals;
mod windows;

/// Fails with the table as it should be when docs/reference/simulations.md does not have these rows.
fn assert_documented(rows: &[String]) {
    let docs = include_str!("../../../../docs/reference/simulations.md");
    let is_there = rows.iter().all(|row| docs.contains(row));
    assert!(is_there, "docs/reference/simulations.md lacks its rows:\n{}", rows.join("\n"));
}

/// A share in percent, one digit.
fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}
