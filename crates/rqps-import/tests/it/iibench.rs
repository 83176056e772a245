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
            let stated = cell.slices[0].stated.as_ref().unwrap();
            let columns = stated.columns.iter().map(|(head, value)| format!(" {head} {value}"));
            text.push_str(&format!(
                "{name} {label}: {:?}, target {:?}, rss {:?},{}\n",
                cell.sizes,
                stated.target_inserts_per_s,
                stated.server_rss_bytes,
                columns.collect::<String>()
            ));
        }
    }
    expect_file!["../data/iibench.told"].assert_eq(&text);
}

#[test]
fn refusals() {
    let refusal = |(name, text): (&str, &str)| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), text).unwrap();
        let options = rqps_import::Options { clients: Some(1), ..options("d") };
        let error = iibench::import(dir.path(), &options).unwrap_err();
        error.to_string().replace(&dir.path().display().to_string(), "DIR")
    };
    let all = [
        ("mrg.l.i0", "1\t2\n"),
        ("mrg.l.i0", "ips\tp99\ttag\n1\tx\tmy80\n"),
        ("mrg.l.i0", "ips\ttag\n1\tmy8043\n2\tmy8043\n"),
        ("mrg.l.i0", "ips,p99,tag\n1,,my8043\n"),
        ("mrg.l.i0", "ips\ttag\n-\n"),
        ("mrg.l.i0", "ips\tp99\tp99\ttag\n"),
        ("mrg.qr100.L1", "ips\tp99\ttag\n100\t90\tmy8043\n"),
        ("mrg.l.i0.rt.insert", "nothing\n"),
    ];
    expect_test::expect![[r#"
        DIR/mrg.l.i0, line 1: 2 fields and no headings above: begin with a line of them that ends in tag
        DIR/mrg.l.i0, line 2: p99 of my80: "x" is no number from 0 on; write NA where there is none
        DIR/mrg.l.i0, line 3: system my8043 comes twice: give each line a tag of its own
        DIR/mrg.l.i0, line 2: 2 fields below 3 headings: an empty field is none, so write NA where there is no value
        DIR/mrg.l.i0: it has no line of a system: merge its step again, or move it away
        DIR/mrg.l.i0, line 1: heading p99 comes twice: take one of the columns out
        DIR/mrg.qr100.L1, line 1: no heading qps, whose column has the step's figures: merge its step again
        DIR has nothing to import: there is no table of a step such as mrg.l.i0 or mrg.qr100.L1 in it"#]]
    .assert_eq(&all.map(refusal).join("\n"));
}
