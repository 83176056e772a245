//! Lines of merged tables that contradict themselves, and tables that end within a line.

use rqps_import::{Options, iibench};

use crate::folders::{Folder, notes};
use crate::options;

const HEADS: &str = "ips qps rps rmbps wps wmbps rpq rkbpq wpi wkbpi csps cspq dbgb1 dbgb2 tag";

/// Of the field: inserts with what was written beside them, and range queries.
const LOAD: &str = "500000 0 1 0.0 900 120.5 0.000 0.000 0.002 0.247 18387 0.037 6.5 8.0 my5651_a";
const QUERY: &str = "200 5041 300 4.7 12 0.5 0.060 0.952 0.060 2.560 18387 3.647 7.5 9.0 my5651_a";

fn table(heads: &str, lines: &[&str]) -> String {
    let all = std::iter::once(heads).chain(lines.iter().copied());
    all.map(|line| format!("{}\n", line.replace(' ', "\t"))).collect()
}

/// Figures with the columns per operation, notes and what was skipped.
fn told(tables: &[(&str, &str)]) -> String {
    let folder = Folder::new("ib", tables);
    let clients = Options { clients: Some(2), ..options("ib") };
    let imports = match iibench::import(&folder.path, &clients) {
        Ok(imports) => imports,
        Err(problem) => return folder.shortened(&problem.to_string()),
    };
    let mut out = Vec::new();
    for run in &imports.runs {
        for step in &run.steps {
            for (system, cell) in run.systems.iter().zip(&step.systems) {
                let Some(slice) = cell.slices.first() else { continue };
                let stated = slice.stated.as_ref().unwrap();
                let columns: Vec<String> =
                    stated.columns.iter().map(|(head, value)| format!("{head} {value}")).collect();
                let label = &system.spec.label;
                out.push(format!("{} {label}: {}", step.info.name, columns.join(", ")));
            }
        }
        out.extend(notes(run).iter().map(|note| folder.shortened(note)));
    }
    out.extend(folder.skipped(&imports).into_iter().map(|said| format!("skipped: {said}")));
    out.join("\n")
}

#[test]
fn lines_that_contradict_themselves() {
    let load =
        |line: &str| told(&[("mrg.l.i0", &table(HEADS, &[line, &LOAD.replace("_a", "_b")]))]);
    let query = |heads: &str, line: &str| told(&[("mrg.qr100.L1", &table(heads, &[line]))]);
    assert!(!load(LOAD).contains("Not taken") && !query(HEADS, QUERY).contains("Not taken"));
    let all = [
        // The rate lacks a digit: all else is of ten times as many.
        load(&LOAD.replace("500000", "50000")),
        query(HEADS, &QUERY.replace("5041", "504")),
        query(HEADS, &QUERY.replace("200 ", "2000 ")),
        // One column is of another step.
        load(&LOAD.replace("0.037", "0.370")),
        query(HEADS, &QUERY.replace("2.560", "3.560").replace("3.647", "3.147")),
        // Headings changed places.
        load(&LOAD.replace("500000 0 ", "0 500000 ")),
        query(&HEADS.replace("ips qps", "qps ips"), QUERY),
        query(&HEADS.replace("csps cspq", "cspq csps"), QUERY),
        // The directory holds the tables.
        load(&LOAD.replace("6.5 8.0", "8.0 6.5")),
    ];
    expect_test::expect![[r#"
        l.i0 my5651_b: ips 500000, qps 0, rps 1, rmbps 0, wps 900, wmbps 120.5, rpq 0, rkbpq 0, wpi 0.002, wkbpi 0.247, csps 18387, cspq 0.037, dbgb1 6.5, dbgb2 8
        skipped: ib/mrg.l.i0, line 2: my5651_a: csps 18387 and cspq 0.037 (a rate of 483842 to 510778); wps 900 and wpi 0.002 (a rate of 299667 to 901000); wmbps 120.5 and wkbpi 0.247 (a rate of 485484 to 502010) contradict ips 50000: merge it again

        ib/mrg.qr100.L1, line 2: my5651_a: csps 18387 and cspq 3.647 (a rate of 5040.02 to 5043.34); rps 300 and rpq 0.06 (a rate of 4901.64 to 5101.69); rmbps 4.7 and rkbpq 0.952 (a rate of 4826.86 to 5168.45) contradict qps 504: merge it again

        qr100.L1 my5651_a: ips 2000, qps 5041, rps 300, rmbps 4.7, wps 12, wmbps 0.5, rpq 0.06, rkbpq 0.952, csps 18387, cspq 3.647, dbgb1 7.5, dbgb2 9
        Not imported: ib/mrg.qr100.L1, line 2: my5651_a: wps 12 and wpi 0.06 (a rate of 180.328 to 220.339); wmbps 0.5 and wkbpi 2.56 (a rate of 156.189 to 240.094) contradict ips 2000: excluded are wpi, wkbpi; merge it again.

        l.i0 my5651_a: ips 500000, qps 0, rps 1, rmbps 0, wps 900, wmbps 120.5, rpq 0, rkbpq 0, wpi 0.002, wkbpi 0.247, csps 18387, dbgb1 6.5, dbgb2 8
        l.i0 my5651_b: ips 500000, qps 0, rps 1, rmbps 0, wps 900, wmbps 120.5, rpq 0, rkbpq 0, wpi 0.002, wkbpi 0.247, csps 18387, cspq 0.037, dbgb1 6.5, dbgb2 8
        Not imported: ib/mrg.l.i0, line 2: my5651_a: csps 18387 and cspq 0.37 (a rate of 49558 to 49832) contradict ips 500000: excluded are cspq; merge it again.

        qr100.L1 my5651_a: ips 200, qps 5041, rps 300, rmbps 4.7, wps 12, wmbps 0.5, rpq 0.06, rkbpq 0.952, wpi 0.06, csps 18387, dbgb1 7.5, dbgb2 9
        Not imported: ib/mrg.qr100.L1, line 2: my5651_a: csps 18387 and cspq 3.147 (a rate of 5840.53 to 5844.88) contradict qps 5041: excluded are cspq; merge it again.
        Not imported: ib/mrg.qr100.L1, line 2: my5651_a: wmbps 0.5 and wkbpi 3.56 (a rate of 112.328 to 172.633) contradict ips 200: excluded are wkbpi; merge it again.

        l.i0 my5651_b: ips 500000, qps 0, rps 1, rmbps 0, wps 900, wmbps 120.5, rpq 0, rkbpq 0, wpi 0.002, wkbpi 0.247, csps 18387, cspq 0.037, dbgb1 6.5, dbgb2 8
        skipped: ib/mrg.l.i0, line 2: my5651_a: ips 0 and qps 500000 in a step without queries: its headings ips and qps are swapped; merge it again

        ib/mrg.qr100.L1, line 2: my5651_a: csps 18387 and cspq 3.647 (a rate of 5040.02 to 5043.34); rps 300 and rpq 0.06 (a rate of 4901.64 to 5101.69); rmbps 4.7 and rkbpq 0.952 (a rate of 4826.86 to 5168.45) contradict qps 200, but match the other rate: ips and qps are swapped: merge it again

        qr100.L1 my5651_a: ips 200, qps 5041, rps 300, rmbps 4.7, wps 12, wmbps 0.5, rpq 0.06, rkbpq 0.952, wpi 0.06, wkbpi 2.56, csps 3.647, dbgb1 7.5, dbgb2 9
        Not imported: ib/mrg.qr100.L1, line 2: my5651_a: csps 3.647 and cspq 18387 (a rate of 0.000198281 to 0.000198412) contradict qps 5041: excluded are cspq; merge it again.

        l.i0 my5651_a: ips 500000, qps 0, rps 1, rmbps 0, wps 900, wmbps 120.5, rpq 0, rkbpq 0, wpi 0.002, wkbpi 0.247, csps 18387, cspq 0.037
        l.i0 my5651_b: ips 500000, qps 0, rps 1, rmbps 0, wps 900, wmbps 120.5, rpq 0, rkbpq 0, wpi 0.002, wkbpi 0.247, csps 18387, cspq 0.037, dbgb1 6.5, dbgb2 8
        Not imported: ib/mrg.l.i0, line 2: my5651_a: dbgb1 8 is more than dbgb2 6.5, the directory that holds them: both are excluded; merge it again."#]].assert_eq(&all.join("\n\n"));
}

/// Seconds reach the 99th percentile more often than the 50th, and no host has more than all CPUs.
#[test]
fn rates_reached_and_cpu_that_cannot_be() {
    let heads = "ips qps cpups cpupq p50 p99 tag";
    let load =
        |values: &str| told(&[("mrg.l.i0", &table(heads, &[&format!("{values} my5651_a")]))]);
    let query =
        |values: &str| told(&[("mrg.qr100.L1", &table(heads, &[&format!("{values} my5651_a")]))]);
    for right in [
        "100000 0 46.7 17 110582 95295",
        "109721 0 46.7 17 95295 95295",
        // Few digits, hardly any CPU, or a rate that was not measured.
        "278056 0 24.0 3 NA 95295",
        "500 0 0.1 8 500 490",
        "500 0 0.0 0 500 NA",
        "100 0 101.0 40000 100 100",
    ] {
        let said = load(right);
        assert!(!said.contains("Not taken") && !said.contains("skipped"), "{said}");
    }
    let all = [
        load("109721 0 46.7 17 95295 110582"),
        query("100 5041 71.1 1128 3050 5100"),
        load("109721 0 467 17 110582 95295"),
        query("100 5041 711.0 1128 5100 3050"),
        // A tenth of the CPU, and the CPU of the other rate.
        load("109721 0 46.7 1.7 110582 95295"),
        query("100 7675 28.3 3.7 7700 7000"),
    ];
    expect_test::expect![[r#"
        l.i0 my5651_a: ips 109721, qps 0, cpups 46.7, cpupq 17
        Not imported: ib/mrg.l.i0, line 2: my5651_a: p99 110582 is more than p50 95295, the rate that fewer seconds reach: both are excluded; merge it again.

        qr100.L1 my5651_a: ips 100, qps 5041, cpups 71.1, cpupq 1128
        Not imported: ib/mrg.qr100.L1, line 2: my5651_a: p99 5100 is more than p50 3050, the rate that fewer seconds reach: both are excluded; merge it again.

        l.i0 my5651_a: ips 109721, qps 0, p50 110582, p99 95295
        Not imported: ib/mrg.l.i0, line 2: my5651_a: cpups 467 is more than 100 percent of all CPUs: cpups and cpupq are excluded; merge it again.

        qr100.L1 my5651_a: ips 100, qps 5041, p50 5100, p99 3050
        Not imported: ib/mrg.qr100.L1, line 2: my5651_a: cpups 711 is more than 100 percent of all CPUs: cpups and cpupq are excluded; merge it again.

        l.i0 my5651_a: ips 109721, qps 0, cpups 46.7, p50 110582, p99 95295
        Not imported: ib/mrg.l.i0, line 2: my5651_a: cpupq 1.7 at a rate of 109721 and cpups 46.7 give no whole number of CPUs: cpupq is excluded; merge it again.

        qr100.L1 my5651_a: ips 100, qps 7675, cpups 28.3, p50 7700, p99 7000
        Not imported: ib/mrg.qr100.L1, line 2: my5651_a: cpupq 3.7 at a rate of 7675 and cpups 28.3 give no whole number of CPUs: cpupq is excluded; merge it again."#]].assert_eq(&all.join("\n\n"));
}

#[test]
fn digits_that_a_line_lacks_contradict_nothing() {
    for line in [
        "5 0 0 0.0 0 0.0 0.000 0.000 0.000 0.000 38 7.5 0.1 0.1 my5651_a",
        "1500000 0 9 0.3 400 64.5 0.000 0.000 0.000 0.044 12000 0.008 6.5 6.5 my5651_a",
        "NA 0 9 0.3 400 64.5 0.000 0.000 0.000 0.044 12000 0.008 NA 6.5 my5651_a",
        // An MB of 1000 KB.
        "500000 0 1 0.0 900 120.5 0 0 0.002 0.241 18387 0.037 6.5 8.0 my5651_a",
    ] {
        let said = told(&[("mrg.l.i0", &table(HEADS, &[line]))]);
        assert!(!said.contains("Not taken") && !said.contains("skipped"), "{said}");
    }
}

/// Nothing tells which value is right where each pair is of a rate of its own.
#[test]
fn columns_of_many_rates_leave_the_figure() {
    let line = "100000 0 10 0.1 5.0 0.2 0.01 0.1 0.02 0.3 1000 1.0 1.0 2.0 my5649.c6";
    let said = told(&[("mrg.l.i0", &table(HEADS, &[line]))]);
    let (figures, note) = said.split_once('\n').unwrap();
    assert!(figures.starts_with("l.i0 my5649.c6: ips 100000,"), "{said}");
    assert!(!figures.contains("cspq") && figures.contains("rpq 0.01"), "{said}");
    assert!(note.ends_with("excluded are cspq, wpi, wkbpi; merge it again."), "{said}");
}

#[test]
fn tables_that_end_within_a_line() {
    let lines = ["100 my5649.c6", "90 my8022.c6"];
    let text = table("ips tag", &lines);
    let other = ("mrg.l.x", &*text);
    let with = |n: usize| told(&[("mrg.l.i0", &text[..text.len() - n]), other]);
    let all = [
        with(1),
        with(2),
        with("8022.c6\n".len()),
        with("my8022.c6\n".len()),
        told(&[("mrg.l.i0", &text[..text.len() - 2])]),
        told(&[("mrg.l.i0", "ips\ttag\n100\tmy5649.c6\n90\tmy56")]),
        told(&[("mrg.l.i0", "ips\ttag\n100\tmy56"), other]),
    ];
    expect_test::expect![[r#"
        l.i0 my5649.c6: ips 100
        l.i0 my8022.c6: ips 90
        l.x my5649.c6: ips 100
        l.x my8022.c6: ips 90

        l.i0 my5649.c6: ips 100
        l.x my5649.c6: ips 100
        l.x my8022.c6: ips 90
        skipped: ib/mrg.l.i0, line 3: the file ends within this line: my8022.c is the beginning of my8022.c6; copy the file again

        l.i0 my5649.c6: ips 100
        l.x my5649.c6: ips 100
        l.x my8022.c6: ips 90
        skipped: ib/mrg.l.i0, line 3: the file ends within this line: my is the beginning of my5649.c6; copy the file again

        l.i0 my5649.c6: ips 100
        l.x my5649.c6: ips 100
        l.x my8022.c6: ips 90
        skipped: ib/mrg.l.i0, line 3: the file ends within this line; copy the file again

        l.i0 my5649.c6: ips 100
        l.i0 my8022.c: ips 90

        l.i0 my5649.c6: ips 100
        skipped: ib/mrg.l.i0, line 3: the file ends within this line: my56 is the beginning of my5649.c6; copy the file again

        l.x my5649.c6: ips 100
        l.x my8022.c6: ips 90
        skipped: ib/mrg.l.i0, line 2: the file ends within this line: my56 is the beginning of my5649.c6; copy the file again"#]].assert_eq(&all.join("\n\n"));
}

/// A step's table under the name of another, and a system's line under the tag of another.
#[test]
fn copied_tables_and_lines() {
    let (other, same) =
        (LOAD.replace("_a", "_b").replace("500000", "499000"), LOAD.replace("_a", "_c"));
    let whole = table(HEADS, &[LOAD, &other]);
    let all = [
        told(&[("mrg.l.i0", &whole), ("mrg.l.i1", &whole)]),
        told(&[("mrg.l.i0", &table(HEADS, &[LOAD, &other, "-", &same]))]),
    ];
    let copies: Vec<&str> =
        all.iter().flat_map(|said| said.lines()).filter(|line| line.contains("copy")).collect();
    expect_test::expect![[r#"
        mrg.l.i1 is the same as mrg.l.i0, byte for byte: one of them is a copy.
        mrg.l.i0: the lines of my5651_a and my5651_c are the same: one of them is a copy.
        mrg.l.i0: the lines of my5651_a and my5651_c are the same: one of them is a copy."#]]
    .assert_eq(&copies.join("\n"));
    // Few values may be the same, and a system may be in two groups.
    for few in ["5041 0 my5651_a\n5041 0 my5651_b", "5041 0 my5651_a\n5041 0 my5651_a"] {
        let lines: Vec<&str> = few.lines().collect();
        assert!(
            !told(&[("mrg.l.i0", &table("ips qps tag", &[lines[0], "-", lines[1]]))])
                .contains("copy")
        );
    }
    let again = told(&[("mrg.l.i0", &table(HEADS, &[LOAD, "-", LOAD]))]);
    assert!(!again.contains("copy"), "{again}");
}
