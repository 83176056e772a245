//! Raw files of the client, of vmstat and of iostat.

use expect_test::expect_file;
use rqps_import::{Options, mytools};

use crate::{data, options, told};

#[test]
fn a_folder_of_raw_files() {
    let runs = mytools::import(&data("raw"), &options("raw")).unwrap().runs;
    let [run] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    expect_file!["../data/raw.told"].assert_eq(&told(run));
}

#[test]
fn the_device_is_the_users_to_name() {
    let options = Options { device: Some("nvme0n1".to_owned()), ..options("raw") };
    let runs = mytools::import(&data("raw"), &options).unwrap().runs;
    let text = told(&runs[0]);
    assert!(text.contains("rKB/o 0.62"), "{text}");
    assert!(!text.contains("several devices"), "{text}");
}

/// One system's directory is a run of one system.
#[test]
fn a_single_directory() {
    let dir = data("raw").join("x.my5651_rel.z12a");
    let runs = mytools::import(&dir, &options("one")).unwrap().runs;
    assert_eq!(runs[0].systems.len(), 1);
    assert_eq!(runs[0].base_label().as_str(), "x.my5651_rel.z12a");
}
