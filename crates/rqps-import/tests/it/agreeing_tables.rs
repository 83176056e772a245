//! Tables of one group that say different things, and files that end within a line.

use rqps_model::Metric;

use crate::folders::{Folder, notes};

const LABELS: [&str; 3] = ["x.my8043_a", "x.my8044_a", "x.my8406_ab"];

/// A table of QPS.
fn qps(rows: &[&str]) -> String {
    let legends = LABELS.iter().zip(1..).map(|(label, n)| format!("col-{n} : {label}\n"));
    format!("{}\ncol-1\tcol-2\tcol-3\n{}", legends.collect::<String>(), lines(rows))
}

fn lines(rows: &[&str]) -> String {
    rows.iter().map(|row| format!("{}\n", row.replace(' ', "\t"))).collect()
}

/// Metrics of steps by the rates of the systems. The context switches of all are 2.
fn met(steps: &[(&str, [&str; 3])]) -> String {
    let step = |(step, rates): &(&str, [&str; 3])| {
        let systems = LABELS.iter().zip(rates).map(|(label, rate)| format!("2\t{rate}\t{label}\n"));
        let systems: String = systems.collect();
        format!("sb.met.{step}.range100.pk1.dop8\n--- absolute\ncs/o\to/s\tdbms\n{systems}")
    };
    steps.iter().map(step).collect()
}

/// Figures and context switches of the steps by system, and the notes.
fn told(files: &[(&str, &str)]) -> String {
    let folder = Folder::new("in.8u", files);
    let run = folder.import().runs.remove(0);
    let mut out = String::new();
    for step in &run.steps {
        let cells = run.systems.iter().zip(&step.systems).map(|(system, cell)| {
            let Some(slice) = cell.slices.first() else { return "not run".to_owned() };
            let switches = slice.stated.as_ref().unwrap().get(Metric::ContextSwitches);
            let switches = switches.map_or(String::new(), |value| format!(" ({value})"));
            format!("{} {}{switches}", system.spec.label, slice.figure())
        });
        out += &format!("{}: {}\n", step.info.name, cells.collect::<Vec<_>>().join(", "));
    }
    out + &folder.shortened(&notes(&run).join("\n"))
}

const ROWS: [&str; 2] = ["1000 990 1010 point-query_range=100", "400 410 420 insert_range=100"];

#[test]
fn metrics_of_another_run_than_the_qps() {
    let table = qps(&ROWS);
    let with = |steps: &[(&str, [&str; 3])]| {
        told(&[("qps.abs.all.tsv", &table), ("o.met.all", &met(steps))])
    };
    let insert = ("insert", ["400", "410", "420"]);
    let same = with(&[("point-query", ["1000", "991.5", "1009"]), insert]);
    assert!(same.ends_with("(2)\n"), "{same}");
    let all = [
        with(&[("point-query", ["1000", "1990", "1010"]), insert]),
        // Two labels changed places.
        with(&[("point-query", ["1000", "1010", "990"]), ("insert", ["400", "420", "410"])]),
        // All of another run, with a step that the QPS lack.
        with(&[
            ("point-query", ["500", "490", "510"]),
            ("insert", ["200", "210", "420"]),
            ("scan.warm", ["1", "2", "3"]),
        ]),
    ];
    expect_test::expect![[r#"
        point-query: x.my8043_a 1000 (2), x.my8044_a 990, x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), x.my8406_ab 420 (2)
        Not imported: in.8u/o.met.all: step point-query_range=100 of x.my8044_a has 990 QPS, but o/s 1990: these metrics are from another run.

        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410, x.my8406_ab 420
        Not imported: in.8u/o.met.all: step insert_range=100 of x.my8044_a has 410 QPS, but o/s 420: these metrics are from another run.
        Not imported: in.8u/o.met.all: step insert_range=100 of x.my8406_ab has 420 QPS, but o/s 410: these metrics are from another run.

        point-query: x.my8043_a 1000, x.my8044_a 990, x.my8406_ab 1010
        insert: x.my8043_a 400, x.my8044_a 410, x.my8406_ab 420
        Not imported: in.8u/o.met.all: it is from another run than the QPS: 5 of 6 rates differ, for example step point-query_range=100 of x.my8043_a has 1000 QPS, but o/s 500; make it again."#]].assert_eq(&all.join("\n\n"));
}

/// Of scans the tables have rows, thousands or millions of them.
#[test]
fn the_unit_of_a_scan_is_that_of_all_systems() {
    let with = |qps_of_scan: &str, rates: [&str; 3]| {
        let table = qps(&[&format!("{qps_of_scan} scan_range=100")]);
        let said = told(&[("qps.abs.all.tsv", &table), ("o.met.all", &met(&[("scan", rates)]))]);
        said.lines().skip(1).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(with("2.269 3.138 2", ["2269495", "3138404", "2000100"]), "");
    assert_eq!(with("2 3 2", ["2269495", "3138404", "2000100"]), "");
    assert_eq!(with("22 31 20", ["2269495", "3138404", "2000100"]), "");
    expect_test::expect!["Not imported: in.8u/o.met.all: step scan_range=100 of x.my8044_a has 3.138 QPS, but o/s 2000100: these metrics are from another run."]
        .assert_eq(&with("2.269 3.138 2", ["2269495", "2000100", "2000100"]));
}

#[test]
fn systems_that_one_table_alone_has() {
    let table = "col-1 : x.my8043_a\ncol-2 : x.my8044_a\n1000\t990\tpoint-query_range=100\n";
    let met = met(&[("point-query", ["1000", "990", "1010"])]);
    expect_test::expect![[r#"
        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        Not imported: in.8u/o.met.all: system x.my8406_ab is not in the table of QPS (x.my8043_a, x.my8044_a): its QPS are the rates of its metrics (o/s)."#]]
        .assert_eq(&told(&[("qps.abs.all.tsv", table), ("o.met.all", &met)]));
}

#[test]
fn ratios_that_are_not_those_of_the_qps() {
    let table = qps(&ROWS);
    let with = |base: &str, rows: &[&str]| {
        let rel = format!(
            "Relative to: {base}\ncol-1 : {}\ncol-2 : {}\n\ncol-1\tcol-2\n{}",
            LABELS[1],
            LABELS[2],
            lines(rows)
        );
        let said = told(&[("qps.abs.all.tsv", &table), ("qps.rel.all.tsv", &rel)]);
        said.lines().skip(2).collect::<Vec<_>>().join("\n")
    };
    let good = ["0.99 1.01 point-query_range=100", "1.02 1.05 insert_range=100"];
    assert_eq!(with(LABELS[0], &good), "");
    // Digits that were cut off, and ratios with more of them.
    assert_eq!(
        with(LABELS[0], &["0.99 1.01 point-query_range=100", "1.02 1.04 insert_range=100"]),
        ""
    );
    assert_eq!(with(LABELS[0], &["0.9900 1.0100 point-query_range=100"]), "");
    assert_eq!(with(LABELS[0], &["NA inf point-query_range=100"]), "");
    let all = [
        with(LABELS[0], &["0.99 1.01 point-query_range=100", "1.02 1.50 insert_range=100"]),
        with(LABELS[1], &["0.99 1.01 point-query_range=100", "1.02 1.05 insert_range=100"]),
        with(LABELS[0], &["0.90 0.80 point-query_range=100", "1.20 1.30 insert_range=100"]),
        with(LABELS[0], &["1 1 update-one_range=100"]),
    ];
    expect_test::expect![[r#"
        Not imported: in.8u/qps.rel.all.tsv: 1 of its 4 ratios differ from the QPS: step insert_range=100 of x.my8406_ab has 1.5, but the QPS give 1.0500; ratios are computed from the QPS.

        Not imported: in.8u/qps.rel.all.tsv: its ratios are relative to x.my8043_a, but its first line says x.my8044_a, which is the base; ratios are computed from the QPS.

        Not imported: in.8u/qps.rel.all.tsv: 3 of its 4 ratios differ from the QPS: step point-query_range=100 of x.my8406_ab has 0.8, but the QPS give 1.0100; ratios are computed from the QPS.

        Not imported: in.8u/qps.rel.all.tsv: its step update-one_range=100 is not in the table of QPS; ratios are computed from the QPS."#]].assert_eq(&all.join("\n\n"));
    let other = "Relative to: x.my8043_a\ncol-1 : x.pg174_a\n1.0\tinsert_range=100\n";
    let said = told(&[("qps.abs.all.tsv", &table), ("qps.rel.all.tsv", other)]);
    assert!(said.contains("its system x.pg174_a is not in the table of QPS"), "{said}");
}

#[test]
fn files_that_end_within_a_name() {
    let table = qps(&ROWS);
    let both = [("point-query", ["1000", "990", "1010"]), ("insert", ["400", "410", "420"])];
    let met = met(&both);
    let cut = |text: &str, n: usize| text[..text.len() - n].to_owned();
    let without = |n: usize| told(&[("qps.abs.all.tsv", &table), ("o.met.all", &cut(&met, n))]);
    // The end of the line alone lacks.
    assert!(without(1).ends_with("(2)\n"), "{}", without(1));
    let alone = |text: &str| told(&[("o.met.all", text)]);
    let all = [
        without(2),
        without("my8406_ab\n".len()),
        without("x.my8406_ab\n".len()),
        without("420\tx.my8406_ab\n".len()),
        // Without QPS the other steps know the label.
        alone(&cut(&met, 2)),
        alone(&format!("{met}sb.met.scan.range100.pk1.do")),
        told(&[("qps.abs.all.tsv", &cut(&table, "nge=100\n".len()))]),
        told(&[("qps.abs.all.tsv", &cut(&table, "0\n".len())), ("o.met.all", &met)]),
        told(&[("qps.abs.all.tsv", &cut(&table, "0\n".len()))]),
        told(&[("qps.abs.all.csv", "col-1 : my8043\nscan_range=100,5\ninsert_range=100,40")]),
    ];
    expect_test::expect![[r#"
        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), x.my8406_ab 420
        Not imported: in.8u/o.met.all, line 12: the file ends within this line: x.my8406_a is the beginning of x.my8406_ab; copy the file again.

        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), x.my8406_ab 420
        Not imported: in.8u/o.met.all, line 12: the file ends within this line: x. is the beginning of x.my8043_a; copy the file again.

        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), x.my8406_ab 420
        Not imported: in.8u/o.met.all, line 12: 2 fields in 3 columns.

        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), x.my8406_ab 420
        Not imported: in.8u/o.met.all, line 12: 1 fields in 3 columns.

        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), not run
        Not imported: in.8u/o.met.all, line 12: the file ends within this line: x.my8406_a is the beginning of x.my8406_ab; copy the file again.

        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), x.my8406_ab 420 (2)
        Not imported: in.8u/o.met.all, line 13: the file ends within this line; copy the file again.

        point-query: x.my8043_a 1000, x.my8044_a 990, x.my8406_ab 1010
        Not imported: in.8u/qps.abs.all.tsv, line 7: the file ends within this line; copy the file again.

        point-query: x.my8043_a 1000 (2), x.my8044_a 990 (2), x.my8406_ab 1010 (2)
        insert: x.my8043_a 400 (2), x.my8044_a 410 (2), x.my8406_ab 420 (2)
        Not imported: in.8u/qps.abs.all.tsv, line 7: the file ends within this line: insert_range=10 is the beginning of insert_range=100; copy the file again.

        point-query: x.my8043_a 1000, x.my8044_a 990, x.my8406_ab 1010
        insert: x.my8043_a 400, x.my8044_a 410, x.my8406_ab 420
        in.8u/qps.abs.all.tsv, line 7: its line has no end, so insert_range=10 may lack digits or letters.

        scan_range=100: my8043 5
        insert: my8043 40
        in.8u/qps.abs.all.csv, line 3: its line has no end, so the last value of insert_range=100 may lack digits."#]].assert_eq(&all.join("\n\n"));
    // A whole label that is the beginning of another, and a whole step.
    let whole = "col-1 : my8043\ncol-2 : my8043_b\n5\t6\tscan_range=100\n7\t8\tscan_range=10";
    let met = "sb.met.scan.range100.pk1.dop8\n--- absolute\ncs/o\to/s\tdbms\n2\t6\tmy8043_b\n2\t5\tmy8043";
    let said = told(&[("qps.abs.all.tsv", whole), ("o.met.all", met)]);
    assert!(!said.contains("Not taken"), "{said}");
    // Nothing is left.
    let one = "col-1 : my8043\n5\tscan_range=1";
    let csv = ("qps.abs.all.csv", "col-1 : my8043\nscan_range=100,5\n");
    let said = told(&[("qps.abs.all.tsv", one), csv]);
    assert!(said.starts_with("scan_range=100: my8043 5\n"), "{said}");
}

/// The author's scripts print both parts from the same values.
#[test]
fn a_file_of_metrics_that_contradicts_itself() {
    let with = |absolute: &str, relative: &str| {
        let text = format!(
            "sb.met.insert.range100.pk1.dop8\n--- absolute\ncpu/o\tcs/o\tr/o\to/s\tdbms\n\
             0.05\t3.826\t0\t1000\tx.my8043_a\n{absolute}\n--- relative to first result\n{relative}\n"
        );
        told(&[("o.met.all", &text)])
    };
    let good = "0.06\t4.515\t2\t1000\tx.my8044_a";
    for relative in ["1.20\t1.18\tinf\t1.00\tx.my8044_a", "1.2\t1.17\t1\t0.99\tx.my8044_a", "note"]
    {
        let said = with(good, relative);
        assert!(!said.contains("relative"), "{said}");
    }
    expect_test::expect![[r#"
        insert: x.my8043_a 1000 (3.826), x.my8044_a 1000 (4.515)
        Not imported: in.8u/o.met.all: 2 of its 3 relative values differ from the absolute ones, which are used: step insert_range=100 of x.my8044_a has cs/o 4.515 over 3.826, but relative 11.8."#]]
        .assert_eq(&with(good, "1.20\t11.8\tinf\t0.50\tx.my8044_a"));
    // More than all CPUs, and as much as rounding explains.
    expect_test::expect![[r#"
        insert: x.my8043_a 1000 (3.826), x.my8044_a 1000 (4.515)
        Not imported: in.8u/o.met.all, line 5: x.my8044_a: cpu/o 0.2 at o/s 1000 are 200% of all CPUs: cpu/o is excluded."#]]
        .assert_eq(&with("0.200\t4.515\t2\t1000\tx.my8044_a", ""));
    assert!(!with("0.11\t4.515\t2\t1000\tx.my8044_a", "").contains("CPUs"));
}
