//! The page of a history.

use crate::markup::markup;
use expect_test::expect_file;
use rqps_analysis::history::{Choice, History};
use rqps_fixtures::versions::{versions, versions_with_warnings};

/// All that there is.
pub(crate) fn choice<'c>() -> Choice<'c> {
    Choice { order: None, all_hosts: false, step: &|_| true, system: &|_| true }
}

/// A history with a change in it.
pub(crate) fn changed() -> History {
    History::of(versions(), choice()).unwrap()
}

#[test]
fn page_of_a_history_by_version() {
    let history = History::of(versions_with_warnings(), choice()).unwrap();
    expect_file!["../data/history.html"].assert_eq(&markup(&rqps_html::history::render(&history)));
}
