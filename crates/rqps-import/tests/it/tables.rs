//! Tables of QPS and metrics.

use expect_test::expect_file;
use rqps_import::{Error, mytools};

use crate::{data, options, told};

#[test]
fn a_folder_of_tables() {
    let runs = mytools::import(&data("tables.1u"), &options("tables.1u")).unwrap().runs;
    let [run] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    expect_file!["../data/tables.told"].assert_eq(&told(run));
}

/// What the user says takes the place of what files say.
#[test]
fn options_come_first() {
    let options = rqps_import::Options {
        base: Some("x.pg174.x10a.pk1".to_owned()),
        clients: Some(4),
        host: Some("pn53".to_owned()),
        name: Some("night".to_owned()),
        ..options("tables.1u")
    };
    let runs = mytools::import(&data("tables.1u"), &options).unwrap().runs;
    assert_eq!(runs[0].base_label().as_str(), "x.pg174.x10a.pk1");
    assert_eq!((runs[0].name.as_str(), runs[0].host.hostname.as_str()), ("night", "pn53"));
    let clients: Vec<u32> = runs[0].steps.iter().map(|step| step.clients).collect();
    assert_eq!(clients, [4; 6]);
    let other = rqps_import::Options { base: Some("my57".to_owned()), ..options };
    let problem = mytools::import(&data("tables.1u"), &other).unwrap_err().to_string();
    assert!(
        problem.starts_with("there is no system \"my57\"; the systems are x.my5651"),
        "{problem}"
    );
}

/// Each way in which a folder may be wrong, with the words for it.
#[test]
fn refusals() {
    let refusal = |files: &[(&str, &str)]| {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("aug.1u");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let error = mytools::import(&folder, &options("aug.1u")).unwrap_err();
        error.to_string().replace(&dir.path().display().to_string(), "DIR")
    };
    let table = |rows: &str| format!("col-1 : my5651\ncol-2 : my8043\n\ncol-1\tcol-2\n{rows}");
    let all = [
        refusal(&[]),
        refusal(&[("qps.abs.all.tsv", &table("1\tscan_range=100\n"))]),
        refusal(&[("qps.abs.all.tsv", &table("1\tx\tscan_range=100\n"))]),
        refusal(&[("qps.abs.all.tsv", &table("1\t2\tscan_range=100\n3\t4\tscan_range=100\n"))]),
        refusal(&[("qps.rel.all.tsv", "Relative to: my57\n")]),
        refusal(&[
            ("qps.abs.a.tsv", &table("1\tscan_range=100\n")),
            ("qps.abs.b.tsv", "col-1 : abc\n1\tscan_range=100\n"),
        ]),
        refusal(&[("qps.abs.all.tsv", "col-2 : my5651\n")]),
        refusal(&[("qps.abs.all.tsv", "col-1 : abc\n1\tscan_range=100\n")]),
        refusal(&[
            ("qps.abs.all.tsv", &table("1\t2\tscan_range=100\n")),
            ("qps.abs.all.csv", "scan_range=100,1,3\n"),
        ]),
        refusal(&[("qps.abs.all.tsv", "col-1 : my5651\n\ncol-2 : my5651\n1\t2\tscan_range=100\n")]),
        refusal(&[("qps.abs.all.tsv", &table("1\t2\tscan_range=100\ncol-1\n3\tinsert\n"))]),
        refusal(&[("qps.abs.all.tsv", &table("col-1\tcol-1\n1\t2\tscan_range=100\n"))]),
        refusal(&[(
            "o.met.all",
            "sb.met.scan.range100.pk1.dop1\n--- absolute\ncs/o\tcs/o\tdbms\n1\t2\tmy5651\n",
        )]),
        refusal(&[("o.met.all", "sb.met.scan.range100.pk1.dop1\n--- absolute\ncpu/o dbms\n1\n")]),
        refusal(&[("o.met.all", "sb.met.scan.range100.pk1.dop1\n--- absolute\nspam/o dbms\n")]),
        refusal(&[("o.met.all", "1\t2\n")]),
    ];
    expect_file!["../data/refusals.told"].assert_eq(&(all.join("\n") + "\n"));
}

#[test]
fn the_number_of_clients_is_not_guessed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("qps.abs.a.tsv"), "col-1 : my5651\n1\tscan_range=100\n")
        .unwrap();
    let error = mytools::import(dir.path(), &options("d")).unwrap_err();
    assert!(matches!(error, Error::UnknownClients { .. }), "{error}");
}

/// Each group of tables is a run of its own, with a base of its own.
#[test]
fn several_groups() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("feb.2u");
    std::fs::create_dir(&folder).unwrap();
    for (group, label) in [("my56", "my5651"), ("my80", "my8036")] {
        let text = format!("col-1 : {label}\n1\tscan_range=100\n");
        std::fs::write(folder.join(format!("qps.abs.{group}.tsv")), text).unwrap();
    }
    let runs = mytools::import(&folder, &options("feb.2u")).unwrap().runs;
    let names: Vec<(&str, &str)> =
        runs.iter().map(|run| (run.name.as_str(), run.base_label().as_str())).collect();
    assert_eq!(names, [("feb.2u.my56", "my5651"), ("feb.2u.my80", "my8036")]);
    assert_eq!(runs[0].steps[0].clients, 2);
}
