//! Whole outputs of every format, kept as files: `UPDATE_EXPECT=1 cargo test` rewrites them.

use expect_test::expect_file;
use rqps_report::{Analysis, Detail, TextOptions, text};

use crate::fixture;

#[test]
fn text_in_full() {
    let run = fixture::demo();
    let options = TextOptions { colour: false, detail: Detail::Full };
    let out = text::render(&Analysis::of(&run, 0.05), options);
    assert!(out.lines().all(|l| l.chars().count() <= text::WIDTH), "a line is too wide");
    expect_file!["../data/demo.txt"].assert_eq(&out);
}
