//! Tables of the Insert Benchmark as a run.

use expect_test::expect_file;
use rqps_import::iibench;

use crate::{data, options, told};

#[test]
fn a_directory_of_tables() {
    let run = iibench::import(&data("iibench.2u"), &options("iibench.2u")).unwrap();
    let mut text = told(&run);
    for step in &run.steps {
        for (system, cell) in run.systems.iter().zip(&step.systems) {
            let (label, name) = (&system.spec.label, &step.info.name);
            text.push_str(&format!("{name} {label}: {:?} {:?}\n", cell.sizes, cell.checks));
        }
    }
    expect_file!["../data/iibench.told"].assert_eq(&text);
}

#[test]
fn refusals() {
    let refusal = |text: &str| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mrg.l.i0"), text).unwrap();
        let options = rqps_import::Options { clients: Some(1), ..options("d") };
        let error = iibench::import(dir.path(), &options).unwrap_err();
        error.to_string().replace(&dir.path().display().to_string(), "DIR")
    };
    let all = ["1\t2\n", "ips\ttag\nx\tmy80\n", "ips\ttag\n1\tmy8043\n2\tmy8043\n"].map(refusal);
    expect_test::expect![[r#"
        DIR/mrg.l.i0, line 1: 2 fields below 0 headings
        DIR/mrg.l.i0, line 2: "x" is no number from 0 on
        DIR/mrg.l.i0, line 3: system my8043 comes twice"#]]
    .assert_eq(&all.join("\n"));
}
