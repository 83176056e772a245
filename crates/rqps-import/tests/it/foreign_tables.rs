//! Tables as spreadsheets and editors leave them, and what looks like a table of QPS and is none.

use rqps_import::{Options, mytools};

use crate::folders::{Folder, notes};
use crate::options;

/// Figures of all steps, then what was excluded; the error where nothing was taken.
fn told_with(files: &[(&str, &str)], options: &Options) -> String {
    let folder = Folder::new("in.8u", files);
    let imports = match mytools::import(&folder.path, options) {
        Ok(imports) => imports,
        Err(problem) => return folder.shortened(&problem.sentence()),
    };
    let run = &imports.runs[0];
    let mut out = Vec::new();
    for step in &run.steps {
        let cells = run.systems.iter().zip(&step.systems).map(|(system, cell)| {
            let figure = cell.slices.first().map_or("-".to_owned(), |s| s.figure().to_string());
            format!("{} {figure}", system.spec.label)
        });
        out.push(format!("{}: {}", step.info.name, cells.collect::<Vec<_>>().join(", ")));
    }
    out.extend(notes(run).iter().map(|note| folder.shortened(note)));
    out.extend(folder.skipped(&imports));
    out.join("\n")
}

fn told(files: &[(&str, &str)]) -> String {
    told_with(files, &options("folder"))
}

fn csv(text: &str) -> String {
    told(&[("qps.abs.all.csv", text)])
}

fn tsv(text: &str) -> String {
    told(&[("qps.abs.all.tsv", text)])
}

const BOTH: &str = "insert: my8043_a 1000, pg17.4_b 990\nscan_range=100: my8043_a 5, pg17.4_b -";

#[test]
fn tables_with_commas_as_spreadsheets_write_them() {
    let legends = "\"col-1 : my8043_a\",,,\ncol-2 : pg17.4_b,,,\n,,,\n";
    assert_eq!(
        csv(&format!("{legends}insert_range=100,\"1000\",\"990\",\nscan_range=100,5,,\n")),
        BOTH
    );
    let headed = "step,my8043_a,\"pg17.4_b\"\ninsert_range=100,1000,990\nscan_range=100,5,\n";
    assert_eq!(csv(headed), BOTH);
    assert_eq!(csv(&headed.replace('\n', ",,\r\n")), BOTH);
    let turned =
        format!("{legends}step,col-2,col-1\ninsert_range=100,990,1000\nscan_range=100,,5\n");
    assert_eq!(csv(&turned), BOTH);
    // Two systems of one name, and another order than that of the table with tabs.
    let twice = csv("step,my8043_a,my8043_a\ninsert_range=100,1000,990\n");
    assert!(twice.contains("label my8043_a is also in line 1"), "{twice}");
    let tabs =
        ("qps.abs.all.tsv", "col-1 : my8043_a\ncol-2 : pg17.4_b\n1000\t990\tinsert_range=100\n");
    let other = "step,pg17.4_b,my8043_a\nscan_range=100,6,5\n";
    expect_test::expect![[r#"
        insert: my8043_a 1000, pg17.4_b 990
        Not imported: in.8u/qps.abs.all.csv: its columns are pg17.4_b, my8043_a, but those of the table with tabs are my8043_a, pg17.4_b: write them in one order."#]]
        .assert_eq(&told(&[tabs, ("qps.abs.all.csv", other)]));
}

#[test]
fn commas_between_thousands_are_no_columns() {
    let numbers = Options { dbms: Some(rqps_model::Dbms::Mysql), ..options("folder") };
    let with = |text: &str| told_with(&[("qps.abs.all.csv", text)], &numbers);
    expect_test::expect!["in.8u/qps.abs.all.csv, line 1: it has 4 values, but other lines have 2: remove commas that separate thousands, or write lines `col-1 : LABEL` above the steps"]
        .assert_eq(&with("insert_range=100,1,000,1,010\nscan_range=100,5,6\n"));
    assert!(with("scan_range=100,5,6\ninsert_range=100,1,000,990\n").contains("line 2: it has 3"));
    // A step that one system did not run.
    let lacking = with("insert_range=100,100,990,10\nscan_range=100,5\n");
    assert!(lacking.contains("line 1: it has 3 values"), "{lacking}");
    let lacking = with("insert_range=100,1000,2000,3000\nscan_range=100,5,6\n");
    assert!(lacking.starts_with("insert: col-1 1000"), "{lacking}");
}

#[test]
fn tabs_behind_a_step_and_labels_in_any_order() {
    let labels = "col-2 : pg17.4_b\ncol-1 : my8043_a\n";
    let rows = "1000\t990\tinsert_range=100\t\t\n5\t\tscan_range=100\t\n";
    assert_eq!(tsv(&format!("{labels}\ncol-1\tcol-2\n{rows}")), BOTH);
    // Remarks behind the headings.
    assert_eq!(tsv(&format!("{labels}\ncol-1\tcol-2\t-> writes\n{rows}")), BOTH);
    assert!(
        tsv(&format!("{labels}col-4 : my9\n{rows}")).contains("line 3: col-4 in place of col-3")
    );
    assert!(
        tsv(&format!("{labels}col-2 : my9\n{rows}")).contains("line 3: col-2 in place of col-3")
    );
}

#[test]
fn ratios_by_the_name_of_a_table_of_qps() {
    let ratios = "Relative to: my8043_a\ncol-1 : pg17.4_b\n0.99\tinsert_range=100\n";
    let why = "it has ratios, not QPS (Relative to:): name it qps.rel.GROUP.tsv, and put the QPS in its place";
    assert_eq!(tsv(ratios), format!("in.8u/qps.abs.all.tsv, line 1: {why}"));
    let commas = "Relative to: my8043_a,\ncol-1 : pg17.4_b,\ninsert_range=100,0.99\n";
    assert_eq!(csv(commas), format!("in.8u/qps.abs.all.csv, line 1: {why}"));
}

#[test]
fn ratios_that_cannot_be_read_are_named() {
    let table =
        ("qps.abs.all.tsv", "col-1 : my8043_a\ncol-2 : pg17.4_b\n1000\t990\tinsert_range=100\n");
    let with = |rows: &str| {
        let rel = format!("Relative to: my8043_a\n{rows}");
        told(&[table, ("qps.rel.all.tsv", &rel)]).lines().skip(1).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        with("col-1 : pg17.4_b\n0.99\tinsert_range=100\ninf\tscan_range=100\n").lines().count(),
        1
    );
    expect_test::expect![[r#"
        Not imported: in.8u/qps.rel.all.tsv, line 3: "0,50" is not a number from 0 on.

        Not imported: in.8u/qps.rel.all.tsv: it names no systems: write lines `col-1 : LABEL` above its steps."#]]
    .assert_eq(&[with("col-1 : pg17.4_b\n0,50\tinsert_range=100\n0.99\tinsert_range=100\n"), with("0.50\tinsert_range=100\n")].join("\n\n"));
}

#[test]
fn fields_that_an_editor_put_spaces_between() {
    let why = "its fields are separated by spaces: separate them by tabs";
    let labels = "col-1 : my8043_a\ncol-2 : pg17.4_b\n";
    let problem = format!("in.8u/qps.abs.all.tsv, line 3: {why}");
    assert_eq!(tsv(&format!("{labels}1000    990 insert_range=100\n")), problem);
    assert_eq!(tsv(&format!("{labels}col-1 col-2\n1000 990 insert_range=100\n")), problem);
    let met = "sb.met.insert.range100.pk1.dop8\n--- absolute\ncs/o o/s dbms\n2  1000  my8043_a\n";
    assert_eq!(told(&[("o.met.all", met)]), format!("in.8u/o.met.all, line 4: {why}"));
}
