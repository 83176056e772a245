//! Whose columns those of a table are, and whose metrics those of a file.

use rqps_model::Metric;

use crate::folders::{Folder, ROW, met, notes, table};

const CSV: &str = "point-query_range=100,100,200,300\nupdate-index_range=100,10,20,30\n";

/// Metrics of steps with `o/s` of some systems.
fn metrics(steps: &[(&str, &[(&str, u32)])]) -> String {
    let step = |(step, systems): &(&str, &[(&str, u32)])| {
        let lines = systems.iter().map(|(label, rate)| format!("0.1\t{rate}\t{label}\n"));
        format!(
            "sb.met.{step}.range100.pk1.dop8\n--- absolute\ncs/o\to/s\tdbms\n{}",
            lines.collect::<String>()
        )
    };
    steps.iter().map(step).collect()
}

const ALL: [(&str, u32); 3] = [("my5651_a", 10), ("my8033_b", 20), ("my8033_c", 30)];

/// Figures of the first step by system.
fn figures(folder: &Folder) -> String {
    let run = folder.import().runs.remove(0);
    let of = |idx: usize| run.steps[0].systems[idx].slices.first().map(|slice| slice.figure());
    let systems = run.systems.iter().enumerate();
    let told = systems.map(|(idx, system)| format!("{} {:?}", system.spec.label, of(idx)));
    told.collect::<Vec<_>>().join(", ")
}

const FIGURES: &str = "my5651_a Some(100.0), my8033_b Some(200.0), my8033_c Some(300.0)";

/// The first step of the metrics lacks the first system.
#[test]
fn columns_are_in_the_order_of_a_step_with_all_systems() {
    let first: (&str, &[(&str, u32)]) = ("point-query", &[("my8033_b", 200), ("my8033_c", 300)]);
    let whole: (&str, &[(&str, u32)]) = ("update-index", &ALL);
    let in_order = metrics(&[first, whole]);
    let folder = Folder::new("csv", &[("qps.abs.g1.csv", CSV), ("o.met.g1", &in_order)]);
    assert_eq!(figures(&folder), FIGURES);
    // No step has all systems, or steps have other orders.
    let none = metrics(&[first, ("update-index", &[("my5651_a", 10), ("my8033_b", 20)])]);
    let turned = metrics(&[("point-query", &[("my8033_c", 300), ("my8033_b", 200)]), whole]);
    for met in [none, turned] {
        let folder = Folder::new("csv", &[("qps.abs.g1.csv", CSV), ("o.met.g1", &met)]);
        assert_eq!(
            folder.problem(),
            "csv/qps.abs.g1.csv: its metrics do not show the order of its columns: write lines \
             `col-1 : LABEL` above its steps, or put the table with tabs (qps.abs.GROUP.tsv) beside it"
        );
    }
}

#[test]
fn columns_with_other_rates_than_their_metrics() {
    let other = metrics(&[("update-index", &[ALL[1], ALL[0], ALL[2]])]);
    let folder = Folder::new("csv", &[("qps.abs.g1.csv", CSV), ("o.met.g1", &other)]);
    let problem = folder.problem();
    assert!(
        problem.contains(
            "update-index_range=100 has 10 in the column of my8033_b, whose metrics say 20"
        ),
        "{problem}"
    );
    let fewer = metrics(&[("update-index", &ALL[..2])]);
    let folder = Folder::new("csv", &[("qps.abs.g1.csv", CSV), ("o.met.g1", &fewer)]);
    assert!(folder.problem().contains("it has 3 columns, but its metrics have 2 systems"));
    // Labels of its own, as the remedy has it.
    let labels = "col-1 : my5651_a\ncol-2 : my8033_b\ncol-3 : my8033_c\n";
    let labelled = format!("{labels}{CSV}");
    let folder = Folder::new("csv", &[("qps.abs.g1.csv", &*labelled), ("o.met.g1", &other)]);
    assert_eq!(figures(&folder), FIGURES);
}

#[test]
fn what_a_table_with_commas_lacks() {
    let problem = |text: &str| Folder::new("in.4u", &[("qps.abs.all.csv", text)]).problem();
    let labels = "col-1 : my5651_a\ncol-2 : my8033_b\n";
    let all = [
        problem("scan_range=100,1,2\n"),
        problem("scan_range=100;1,5;2,5\n"),
        problem("scan_range=100;1;2\n"),
        problem(&format!("{labels}scan_range=100;1;2\n")),
        problem("col-1 :\ncol-2 : my8033_b\nscan_range=100,1,2\n"),
        Folder::new("in.4u", &[("qps.abs.all.tsv", &*format!("{labels}1;2;scan_range=100\n"))])
            .problem(),
        Folder::new("in.4u", &[("qps.abs.all.tsv", "col-1 : \n1\tscan_range=100\n")]).problem(),
    ];
    expect_test::expect![[r#"
        in.4u/qps.abs.all.csv: the systems of its columns are not known: write lines `col-1 : LABEL` above its steps, or put the table with tabs (qps.abs.GROUP.tsv) beside it
        in.4u/qps.abs.all.csv, line 1: its columns are separated by `;`: separate them by commas, and write decimals with a point
        in.4u/qps.abs.all.csv, line 1: its columns are separated by `;`: separate them by commas, and write decimals with a point
        in.4u/qps.abs.all.csv, line 3: its columns are separated by `;`: separate them by commas, and write decimals with a point
        in.4u/qps.abs.all.csv, line 1: col-1 has no label: write one after the colon
        in.4u/qps.abs.all.tsv, line 3: its columns are separated by `;`: separate them by tabs, or by commas in a table *.csv
        in.4u/qps.abs.all.tsv, line 1: col-1 has no label: write one after the colon"#]].assert_eq(&all.join("\n"));
}

/// The same metrics by several names, and others.
#[test]
fn several_files_of_metrics_of_one_group() {
    let (own, other) = (met(8), met(8).replace("0.179", "7.5"));
    let qps = table(ROW);
    let with = |files: &[(&str, &str)]| {
        let folder = Folder::new("in", files);
        let run = folder.import().runs.remove(0);
        let stated = run.steps[0].systems[0].slices[0].stated.as_ref().unwrap();
        let switches = stated.get(Metric::ContextSwitches);
        format!("{switches:?} {}", folder.shortened(&notes(&run).join(" ")))
    };
    let tables = ("qps.abs.g1.dop8.tsv", &*qps);
    let all = [
        with(&[tables, ("o.met.g1.dop8", &own), ("met.g1.dop8.txt", &own)]),
        with(&[tables, ("o.met.g1.dop8", &own), ("met.g1.dop8.txt", &other)]),
        with(&[tables, ("o.met.g1.dop8", &own), ("o.met.g1.dop8.txt", &other)]),
    ];
    expect_test::expect![[r#"
        Some(0.179) Not imported: in/o.met.g1.dop8: it is the same as met.g1.dop8.txt, which is imported.
        None Not imported: in/o.met.g1.dop8: it differs from met.g1.dop8.txt, and both have the metrics of one group: remove one of them.
        None Not imported: in/o.met.g1.dop8.txt: it differs from o.met.g1.dop8, and both have the metrics of one group: remove one of them."#]].assert_eq(&all.join("\n"));
    let two = [("qps.abs.a.tsv", &*qps), ("qps.abs.all.tsv", &*qps), ("o.met", &*own)];
    let folder = Folder::new("in.4u", &two);
    let imports = folder.import();
    assert_eq!(imports.runs.len(), 2);
    assert_eq!(
        folder.skipped(&imports),
        ["in.4u/o.met: its group is not known, one of a, all: name it o.met.GROUP"]
    );
    // The group has metrics of its own.
    let folder = Folder::new("in", &[tables, ("o.met.g1.dop8", &*own), ("o.met", &*other)]);
    let imports = folder.import();
    let stated = imports.runs[0].steps[0].systems[0].slices[0].stated.as_ref().unwrap();
    assert_eq!((imports.runs.len(), stated.get(Metric::ContextSwitches)), (1, Some(0.179)));
    assert_eq!(folder.skipped(&imports).len(), 1);
}
