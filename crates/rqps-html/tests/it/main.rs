//! Whole pages of runs made by hand: goldens, what they carry, what they refuse, and how they work in a browser.

#![expect(clippy::unwrap_used, reason = "helpers are test code outside of test functions")]

mod bases;
mod browser;
mod charts;
mod compare;
mod history;
mod hostile;
mod inserts;
mod markup;
mod page;
mod pages;
mod policy;
mod readable;
mod stacks;
mod told;
