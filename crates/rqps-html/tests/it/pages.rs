//! Pages as a whole: goldens, size, and that they refer to nothing outside themselves.

use expect_test::expect_file;
use rqps_analysis::Analysis;

use crate::hostile::assert_no_outside;
use crate::markup::markup;
use crate::readable::readable;

#[test]
fn html_of_several_candidates() {
    let run = rqps_fixtures::demo();
    expect_file!["../data/demo.html"]
        .assert_eq(&markup(&rqps_html::render(&Analysis::of(&run, 0.05))));
}

#[test]
fn html_of_one_candidate() {
    let run = rqps_fixtures::pair();
    expect_file!["../data/pair.html"]
        .assert_eq(&markup(&rqps_html::render(&Analysis::of(&run, 0.05))));
}

#[test]
fn the_page_refers_to_nothing_outside_itself() {
    let run = rqps_fixtures::demo();
    let page = readable(&rqps_html::render(&Analysis::of(&run, 0.05)));
    assert_no_outside(&page);
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|t| t.split('"').next()).collect();
    for target in page.split("href=\"#").skip(1).filter_map(|t| t.split('"').next()) {
        assert!(ids.contains(&target), "#{target} leads nowhere");
    }
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "an id is used twice");
}

#[test]
fn a_whole_suite_stays_small() {
    let run = rqps_fixtures::suite();
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    assert!(page.len() <= 1_500_000, "{} bytes", page.len());
    // Beside its code and its data.
    let text = readable(&page);
    assert!(text.len() < 750_000, "{} bytes", text.len());
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let run = rqps_fixtures::demo();
    let once = rqps_html::render(&Analysis::of(&run, 0.05));
    assert_eq!(once, rqps_html::render(&Analysis::of(&run.clone(), 0.05)));
}
