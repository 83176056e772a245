//! Tables of the Insert Benchmark as a run.

use expect_test::expect_file;
use rqps_import::iibench;

use crate::{data, options, told};

#[test]
fn a_directory_of_tables() {
    let runs = iibench::import(&data("iibench.2u"), &options("iibench.2u")).unwrap().runs;
    let mut text: String = runs.iter().map(told).collect();
    for (run, step) in runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))) {
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
        ("mrg.l.i0", "ips,p99,tag\n1,my8043\n"),
        ("mrg.l.i0", "ips\ttag\n-\n"),
        ("mrg.l.i0", "ips\tp99\tp99\ttag\n"),
        ("mrg.qr100.L1", "ips\tp99\ttag\n100\t90\tmy8043\n"),
        ("mrg.l.i0.rt.insert", "nothing\n"),
        ("mrg.l.y", "ips\ttag\n1\tmy8043\n"),
        ("mrg.l.i0", "ips\tqps\tp99\ttag\n5,041\t\t30\tmy8043\n"),
        ("mrg.l.i0", "ips\tp99\ttag\n1\t3,5\tmy8043\n"),
        ("mrg.l.i0", "ips  p99  tag\n1  2  my8043\n"),
    ];
    expect_test::expect![[r#"
        DIR/mrg.l.i0, line 1: 2 fields with no headings above: begin with a line of headings that ends in tag
        DIR/mrg.l.i0, line 2: p99 of my80: "x" is not a number from 0 on; write NA where there is none
        DIR/mrg.l.i0, line 3: system my8043 occurs twice: give each line its own tag
        DIR/mrg.l.i0, line 2: 2 fields below 3 headings: write NA where there is no value
        DIR/mrg.l.i0: it has no line of a system: merge its step again, or remove it
        DIR/mrg.l.i0, line 1: heading p99 occurs twice: remove one of the columns
        DIR/mrg.qr100.L1, line 1: no heading qps, whose column has the step's rates: merge its step again
        DIR has nothing to import: it has no table of a step such as mrg.l.i0, and no folder of a step such as l.i0 with o.ib.dop1.1; name the directory that has them
        DIR/mrg.l.y: its name is not that of a step: l.i0, l.x, l.i1, q100.1, qr100.L1, qp100.L2
        DIR/mrg.l.i0, line 2: ips of my8043: "5,041" is not a number from 0 on; write NA where there is none
        DIR/mrg.l.i0, line 2: p99 of my8043: "3,5" is not a number from 0 on; write NA where there is none
        DIR/mrg.l.i0, line 1: its fields are separated by spaces: separate them by tabs"#]]
    .assert_eq(&all.map(refusal).join("\n"));
}

/// A table of steps' figures with the lines of some systems, `-` between groups.
fn folder(tables: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, lines) in tables {
        let text = format!("ips\tqps\ttag\n{lines}");
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// The runs of a folder: base and systems with the ratio of the first step.
fn groups(dir: &tempfile::TempDir, base: Option<&str>) -> Vec<String> {
    let options = rqps_import::Options {
        clients: Some(1),
        name: Some("ib".to_owned()),
        base: base.map(str::to_owned),
        ..options("d")
    };
    let runs = iibench::import(dir.path(), &options).unwrap().runs;
    let told = runs.iter().map(|run| {
        let labels: Vec<&str> = run.systems.iter().map(|s| s.spec.label.as_str()).collect();
        format!("{}: {} of {}", run.name, run.base_label(), labels.join(" "))
    });
    told.collect()
}

const TWO_GROUPS: &str =
    "100\t0\tmy5649.c6\n90\t0\tmy8022.c6\n-\n50\t0\tpg110.c5\n60\t0\tpg131.c5\n";

#[test]
fn each_group_has_a_base() {
    let dir = folder(&[("mrg.l.i0", TWO_GROUPS), ("mrg.l.x", TWO_GROUPS)]);
    let of_two = [
        "ib.my5649.c6: my5649.c6 of my5649.c6 my8022.c6",
        "ib.pg110.c5: pg110.c5 of pg110.c5 pg131.c5",
    ];
    assert_eq!(groups(&dir, None), of_two);
    // The base of the second was not run in one step.
    let dir =
        folder(&[("mrg.l.i0", TWO_GROUPS), ("mrg.l.x", "100\t0\tmy5649.c6\n-\n60\t0\tpg131.c5\n")]);
    assert_eq!(groups(&dir, None), of_two);
    let dir =
        folder(&[("mrg.l.i0", "100\t0\tmy5649.c6\n-\n60\t0\tpg131.c5\n"), ("mrg.l.x", TWO_GROUPS)]);
    assert_eq!(groups(&dir, None), of_two);
    // Two groups share a system, or the second begins where the first ends.
    let chained = "100\t0\tmy5649.c6\n90\t0\tmy8022.c6\n-\n90\t0\tmy8022.c6\n80\t0\tmy9100.c6\n";
    assert_eq!(
        groups(&folder(&[("mrg.l.i0", chained), ("mrg.l.x", chained)]), None),
        [
            "ib.my5649.c6: my5649.c6 of my5649.c6 my8022.c6",
            "ib.my8022.c6: my8022.c6 of my8022.c6 my9100.c6",
        ]
    );
    let shared = "100\t0\tmy5649.c6\n90\t0\tmy8022.c6\n-\n80\t0\tmy5735.c6\n90\t0\tmy8022.c6\n";
    let dir = folder(&[("mrg.l.i0", shared), ("mrg.l.x", shared)]);
    assert_eq!(
        groups(&dir, None),
        [
            "ib.my5649.c6: my5649.c6 of my5649.c6 my8022.c6",
            "ib.my5735.c6: my5735.c6 of my5735.c6 my8022.c6",
        ]
    );
}

/// A table that lacks the `-` of the others would give all systems one base.
#[test]
fn a_table_with_other_groups_than_the_others() {
    let merged = TWO_GROUPS.replace("-\n", "");
    let told = |tables: &[(&str, &str)]| {
        let dir = folder(tables);
        let options = rqps_import::Options { clients: Some(1), ..options("d") };
        let imports = iibench::import(dir.path(), &options).unwrap();
        let path = format!("{}/", dir.path().display());
        let skipped = imports.skipped.iter().map(|problem| problem.to_string().replace(&path, ""));
        let runs = imports
            .runs
            .iter()
            .map(|run| format!("{} of {} steps", run.base_label(), run.steps.len()));
        runs.chain(skipped).collect::<Vec<_>>().join("\n")
    };
    let all = [
        told(&[("mrg.l.i0", TWO_GROUPS), ("mrg.l.x", &merged), ("mrg.l.i1", TWO_GROUPS)]),
        told(&[("mrg.l.i0", &merged), ("mrg.l.x", TWO_GROUPS)]),
        told(&[("mrg.l.i0", &merged), ("mrg.l.x", TWO_GROUPS), ("mrg.l.i1", &merged)]),
    ];
    expect_test::expect![[r#"
        my5649.c6 of 2 steps
        pg110.c5 of 2 steps
        mrg.l.x: it has my5649.c6 and pg110.c5 in one group, but mrg.l.i0, mrg.l.i1 has them in two: put a line - between the groups

        my5649.c6 of 1 steps
        pg110.c5 of 1 steps
        mrg.l.i0: it has my5649.c6 and pg110.c5 in one group, but mrg.l.x has them in two: put a line - between the groups

        my5649.c6 of 2 steps
        mrg.l.x: it has my5649.c6 and pg110.c5 in two groups, but mrg.l.i0, mrg.l.i1 has them in one: remove the line - between them"#]].assert_eq(&all.join("\n\n"));
}

/// Numbers that no store can hold cost their table alone.
#[test]
fn numbers_that_cannot_be() {
    let problem = |line: &str| {
        let dir = folder(&[("mrg.l.i0", "100\t0\tmy5649.c6\n")]);
        let text = format!("ips\tdbgb1\ttag\n{line}\tmy5649.c6\n");
        std::fs::write(dir.path().join("mrg.l.x"), text).unwrap();
        let options = rqps_import::Options { clients: Some(1), ..options("d") };
        let imports = iibench::import(dir.path(), &options).unwrap();
        assert_eq!(imports.runs[0].steps.len(), 1);
        let said = imports.skipped[0].to_string();
        said.replace(&format!("{}/", dir.path().display()), "")
    };
    let all = ["100\t1e300", "100\t1e12", "1e308\t1", "1e-320\t1", "inf\t1"].map(problem);
    expect_test::expect![[r#"
        mrg.l.x, line 2: dbgb1 of my5649.c6: "1e300" is not a number from 1e-12 to 1e15; write NA where there is none
        mrg.l.x, line 2: dbgb1 of my5649.c6: 1e12 are too many gigabytes; write NA where there is none
        mrg.l.x, line 2: ips of my5649.c6: "1e308" is not a number from 1e-12 to 1e15; write NA where there is none
        mrg.l.x, line 2: ips of my5649.c6: "1e-320" is not a number from 1e-12 to 1e15; write NA where there is none
        mrg.l.x, line 2: ips of my5649.c6: "inf" is not a number from 0 on; write NA where there is none"#]].assert_eq(&all.join("\n"));
}

#[test]
fn groups_that_are_one_run() {
    let dir = folder(&[("mrg.l.i0", TWO_GROUPS)]);
    let one = ["ib: pg131.c5 of my5649.c6 my8022.c6 pg110.c5 pg131.c5"];
    assert_eq!(groups(&dir, Some("pg131.c5")), one);
    // A separator after every system separates nothing.
    let dir = folder(&[("mrg.l.i0", "100\t0\tmy5649.c6\n-\n90\t0\tmy8022.c6\n")]);
    assert_eq!(groups(&dir, None), ["ib: my5649.c6 of my5649.c6 my8022.c6"]);
}

#[test]
fn steps_of_all_versions_and_tables_beside_them() {
    let lines = "100\t5000\tmy5649.c6\n100\t4500\tmy8022.c6\n";
    let dir = folder(&[
        ("mrg.l.i0", lines),
        ("mrg.q100.1", lines),
        ("mrg.q1000.1", lines),
        ("mrg.q100.2", lines),
        ("mrg.q.L3.ips200", lines),
        ("mrg.qr100.L1.rt.query", "99.9\t0.1\tmy5649.c6\n"),
        ("mrg.qr100.L1.rate.insert", "99\t99\tt1:my5649.c6\n"),
        ("mrg.sum", lines),
    ]);
    std::fs::write(dir.path().join("mrg.l.x"), "rows\ttag\n1\tmy5649.c6\n").unwrap();
    let options = rqps_import::Options { clients: Some(1), ..options("d") };
    let imports = iibench::import(dir.path(), &options).unwrap();
    let run = &imports.runs[0];
    let steps: Vec<&str> = run.steps.iter().map(|step| step.info.name.as_str()).collect();
    assert_eq!(steps, ["l.i0", "q100.1", "q1000.1", "q100.2", "q.L3.ips200"]);
    let stated = run.steps[2].systems[0].slices[0].stated.as_ref().unwrap();
    assert_eq!((stated.figure, stated.target_inserts_per_s), (Some(5000.0), Some(1000.0)));
    let skipped: Vec<String> = imports
        .skipped
        .iter()
        .map(|problem| problem.to_string().replace(&dir.path().display().to_string(), "DIR"))
        .collect();
    assert_eq!(
        skipped,
        [
            "DIR/mrg.l.x, line 1: no heading ips, whose column has the step's rates: merge its step again",
            "DIR/mrg.sum: its name is not that of a step: l.i0, l.x, l.i1, q100.1, qr100.L1, qp100.L2",
        ]
    );
}

/// What separates headings separates values, and an empty value is none.
#[test]
fn columns_without_a_value() {
    let told = |text: &str| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mrg.l.i0"), text).unwrap();
        let options = rqps_import::Options { clients: Some(1), ..options("d") };
        let run = iibench::import(dir.path(), &options).unwrap().runs.remove(0);
        run.steps[0].systems[0].slices[0].stated.clone().unwrap().columns
    };
    let columns = [("ips".to_owned(), 5041.0), ("p99".to_owned(), 30.0)];
    assert_eq!(told("ips\tqps\tp99\ttag\n5041\t\t30\tmy8043\n"), columns);
    assert_eq!(told("ips,qps,p99,tag\n5041,,30,my8043\n"), columns);
    // Two separators in a row between columns.
    assert_eq!(told("ips\tp99\ttag\n5041\t\t30\tmy8043\n"), columns);
    assert_eq!(told("ips\t\tp99\ttag\t\n5041\t30\tmy8043\t\n"), columns);
}
