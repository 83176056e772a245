//! Files that cannot be taken over, or not as they are, beside good ones.

use rqps_import::sysbench::{self, LogFile};
use rqps_import::{Options, iibench};
use rqps_model::Metric;

use crate::folders::{Folder, ROW, gzip, log, met, notes, table};
use crate::options;

/// Two systems by their labels with the figures of the first step.
fn figures(folder: &Folder) -> [(String, f64); 2] {
    let run = folder.import().runs.remove(0);
    [0, 1].map(|at| {
        let figure = run.steps[0].systems[at].slices[0].figure();
        (run.systems[at].spec.label.to_string(), figure)
    })
}

fn base(folder: &Folder) -> (String, Vec<String>) {
    let run = folder.import().runs.remove(0);
    let notes = notes(&run).iter().map(|note| folder.shortened(note)).collect();
    (run.base_label().to_string(), notes)
}

/// Headings in another order than the labels are followed, each time that they come.
#[test]
fn headings_of_a_table_in_another_order() {
    let labels = "col-1 : x.my8043_a\ncol-2 : x.my8044_a\n\n";
    let text = format!("{labels}col-2\tcol-1\n990\t1000\tscan_range=100\n");
    let of_a_to_b = [("x.my8043_a".to_owned(), 1000.0), ("x.my8044_a".to_owned(), 990.0)];
    assert_eq!(figures(&Folder::new("in.4u", &[("qps.abs.all.tsv", &text)])), of_a_to_b);
    let above = "col-2\tcol-1\ncol-1 : x.my8043_a\ncol-2 : x.my8044_a\n990\t1000\tscan_range=100\n";
    assert_eq!(figures(&Folder::new("in.4u", &[("qps.abs.all.tsv", above)])), of_a_to_b);
    let twice = format!("{labels}col-2\tcol-1\t\n\ncol-1\tcol-2\n1000\t990\tscan_range=100\n");
    assert_eq!(figures(&Folder::new("in.4u", &[("qps.abs.all.tsv", &twice)])), of_a_to_b);
}

#[test]
fn a_table_of_ratios_that_names_no_base() {
    let with = |rel: &str| {
        Folder::new("in.4u", &[("qps.abs.all.tsv", &*table(ROW)), ("qps.rel.all.tsv", rel)])
    };
    let second = "x.my8044_a".to_owned();
    let first = "x.my8043_a".to_owned();
    // Notes may stand above it.
    let noted = with("# August\n\nRelative to: x.my8044_a\ncol-1 : x.my8043_a\n");
    assert_eq!(base(&noted), (second, Vec::new()));
    let not_taken = |why: &str| vec![format!("Not imported: in.4u/qps.rel.all.tsv: {why}.")];
    let none = not_taken("it has no line `Relative to: LABEL`: the first system is the base");
    assert_eq!(base(&with("col-1 : x.my8043_a\n")), (first.clone(), none.clone()));
    assert_eq!(base(&with("Relative to:\n")), (first.clone(), none));
    let other = "its base my57 is not one of the systems (x.my8043_a, x.my8044_a): the first system is the base";
    assert_eq!(base(&with("Relative to: my57\n")), (first, not_taken(other)));
    // What the user says needs no file.
    let folder = with("nothing\n");
    let said = Options { base: Some("x.my8044_a".to_owned()), ..options("x") };
    let run = rqps_import::mytools::import(&folder.path, &said).unwrap().runs.remove(0);
    assert_eq!((run.base_label().as_str(), notes(&run).len()), ("x.my8044_a", 0));
}

#[test]
fn a_broken_table_with_tabs_beside_one_with_commas() {
    let csv = ("qps.abs.all.csv", "point-query_range=100,1000,990\n");
    let tsv = ("qps.abs.all.tsv", "col-2 : x.my8043_a\n1000\tpoint-query_range=100\n");
    let metrics = met(4);
    let folder = Folder::new("in", &[csv, tsv, ("o.met.all", &metrics)]);
    assert_eq!(
        figures(&folder),
        [("x.my8043_a".to_owned(), 1000.0), ("x.my8044_a".to_owned(), 990.0)]
    );
    let problem = "in/qps.abs.all.tsv, line 1: col-2 in place of col-1";
    assert_eq!(base(&folder).1, [format!("Not imported: {problem}.")]);
    // Without metrics nobody knows whose columns those of the other are.
    assert_eq!(Folder::new("in", &[csv, tsv]).problem(), problem);
}

#[test]
fn a_log_without_a_number_of_clients() {
    let unknown = log(1000).replace("Number of threads: 8\n", "");
    let name = "x.my8043_a/sb.o.scan.range100.pk1";
    let folder = Folder::new(
        "raw",
        &[("x.my8043_a/sb.o.point-query.range100.pk1", &*log(1000)), (name, &*unknown)],
    );
    let run = folder.import().runs.remove(0);
    assert_eq!(run.steps.len(), 1);
    let why = "does not give the number of clients, and no name around it does (4u, dop4); use \
               --clients N";
    assert_eq!(notes(&run), [format!("Not imported: {name} {why}.")]);
    // Logs alone.
    let logs = ["x.my8043_a/sb.o.point-query.range100.pk1", name].map(|name| LogFile {
        path: folder.path.join(name),
        label: Some("my8043".to_owned()),
        step: None,
    });
    let imports = sysbench::import(&logs, &options("logs")).unwrap();
    assert_eq!(imports.runs[0].steps[0].clients, 8);
    assert_eq!(folder.skipped(&imports), [format!("raw/{name} {why}")]);
}

/// Systems that ran a step with other numbers of clients are no pair.
#[test]
fn logs_with_other_numbers_of_clients() {
    let of_16 = log(1980).replace("Number of threads: 8\n", "Number of threads: 16\n");
    for (dop, notes_of_names) in [("", 0), (".dop8", 1)] {
        let name = format!("sb.o.point-query.range100.pk1{dop}");
        let (a, b) = (format!("x.my8043_a/{name}"), format!("x.my9400_a/{name}"));
        let folder = Folder::new("raw", &[(&*a, &*log(990)), (&*b, &*of_16)]);
        let run = folder.import().runs.remove(0);
        let rows: Vec<(u32, Vec<bool>)> = run
            .steps
            .iter()
            .map(|step| {
                let has = |system: &rqps_model::run::SystemStep| !system.slices.is_empty();
                (step.clients, step.systems.iter().map(has).collect())
            })
            .collect();
        assert_eq!(rows, [(8, vec![true, false]), (16, vec![false, true])]);
        let told = notes(&run);
        assert_eq!(told.len(), notes_of_names, "{told:?}");
        assert!(told.iter().all(|note| note.contains("its name says 8 clients, but its log 16")));
    }
}

/// `mrg.l.i0` beside `mrg.l.i0.gz`.
#[test]
fn packed_files_beside_others() {
    let lines = "ips\ttag\n100\tmy5649.c6\n90\tmy8022.c6\n";
    let folder = Folder::new("ib.1u", &[("mrg.l.i0", lines)]);
    let skipped = |folder: &Folder| {
        let imports = iibench::import(&folder.path, &options("ib")).unwrap();
        assert!((imports.runs[0].steps[0].systems[0].slices[0].figure() - 100.0).abs() < 1e-9);
        folder.skipped(&imports)
    };
    folder.write("mrg.l.i0.gz", &gzip(lines));
    assert!(skipped(&folder).is_empty());
    folder.write("mrg.l.i0.gz", &gzip(&lines.replace("100", "200")));
    let differs = |name: &str| {
        format!("{name}.gz: it differs from {}, which is imported: remove one of them", {
            name.rsplit('/').next().unwrap_or(name)
        })
    };
    assert_eq!(skipped(&folder), [differs("ib.1u/mrg.l.i0")]);
    // Half a file is not the same either.
    folder.write("mrg.l.i0.gz", &gzip(lines)[..20]);
    assert_eq!(skipped(&folder), [differs("ib.1u/mrg.l.i0")]);

    let tables = Folder::new("in.4u", &[("qps.abs.all.tsv", &table(ROW))]);
    tables.write("qps.abs.all.tsv.gz", &gzip("other\n"));
    assert_eq!(tables.skipped(&tables.import()), [differs("in.4u/qps.abs.all.tsv")]);

    let name = "x.my8043_a/sb.o.scan.range100.pk1.dop8";
    let raw = Folder::new("raw", &[(name, &log(1000))]);
    raw.write(&format!("{name}.gz"), &gzip(&log(2000)));
    let run = raw.import().runs.remove(0);
    assert_eq!(notes(&run), [format!("Not imported: {}.", differs(name))]);
}

#[test]
fn metrics_of_a_step_with_one_heading_twice() {
    let name = "x.my8043_a/sb.o.scan.range100.pk1.dop8";
    let met = "samp\tr/o\tr/o\n10\t1\t2\n";
    let folder = Folder::new(
        "raw",
        &[(name, &*log(1000)), ("x.my8043_a/sb.met.scan.range100.pk1.dop8", met)],
    );
    let run = folder.import().runs.remove(0);
    let stated = run.steps[0].systems[0].slices[0].stated.as_ref().unwrap();
    assert_eq!(stated.get(Metric::Reads), None);
    assert_eq!(
        notes(&run),
        [
            "Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8, line 2: heading r/o occurs twice: remove one of the columns."
        ]
    );
}

/// Metrics of another run than the log, and a value that lacks.
#[test]
fn metrics_that_do_not_fit_the_log() {
    let told = |met: &str| {
        let name = "x.my8043_a/sb.o.scan.range100.pk1.dop8";
        let met = ("x.my8043_a/sb.met.scan.range100.pk1.dop8", met);
        let run = Folder::new("raw", &[(name, &*log(1000)), met]).import().runs.remove(0);
        let stated = run.steps[0].systems[0].slices[0].stated.as_ref().unwrap();
        format!("{:?} {}", stated.get(Metric::Reads), notes(&run).join(" "))
    };
    assert_eq!(told("samp\tr/o\to/s\n10\t1\t1010\n"), "Some(1.0) ");
    let prefix = "None Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8";
    assert_eq!(
        told("samp\tr/o\to/s\n10\t1\t2000\n"),
        format!(
            "{prefix}: it is from another run than its log: 2000 operations per second (o/s), but the log has 1000: make it again."
        )
    );
    assert_eq!(
        told("samp\tr/s\tr/o\to/s\n10\t1\t1000\n"),
        format!("{prefix}, line 2: 3 fields below 4 headings: make it again.")
    );
}

/// The author's scripts count the rows of a scan, or thousands of them.
#[test]
fn metrics_of_a_scan_count_its_rows() {
    let told = |step: &str, met: &str| {
        let name = format!("x.my8043_a/sb.o.{step}.range100.pk1.dop8");
        let met = (&*format!("x.my8043_a/sb.met.{step}.range100.pk1.dop8"), met);
        let run = Folder::new("raw", &[(&name, &*log(1000)), met]).import().runs.remove(0);
        let stated = run.steps[0].systems[0].slices[0].stated.clone().unwrap();
        format!("{:?} {}", stated.metrics, notes(&run).join(" "))
    };
    let met = "samp\tr/s\trMB/s\tr/o\trKB/o\to/s\n10\t500\t2.0\t0.000\t0.000\t10000000\n\n\
               samp\tcs/s\tcpu/s\tcs/o\tcpu/o\n10\t4000\t50.0\t0.000\t0.000005\n";
    expect_test::expect!["[(HostCpuShare, 0.05), (ContextSwitches, 4.0), (Reads, 0.5), (ReadKb, 2.048), (Rate, 1000.0)] x.my8043_a/sb.met.scan.range100.pk1.dop8: its o/s 10000000 counts rows, but the log has 1000 queries per second: its values per second are divided by the queries."]
    .assert_eq(&told("scan", met));
    assert!(told("scan.warm", met).contains("counts rows"));
    // Other steps have no rows of a scan, and without values per second nothing is of a query.
    assert!(told("point-query", met).contains("it is from another run"));
    let per_row = told("scan", "samp\tr/o\to/s\n10\t0.001\t10000000\n");
    assert!(per_row.starts_with("[] Not imported") && per_row.contains("another run"), "{per_row}");
}

/// As some editors and shells of Windows write files.
#[test]
fn files_with_a_byte_order_mark_and_of_utf_16() {
    let name = "x.my8043_a/sb.o.scan.range100.pk1.dop8";
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let marked = |text: &str| format!("\u{feff}{text}");
    let remedy = "it is UTF-16; run iconv -f UTF-16 -t UTF-8 on it";

    let folder = Folder::new("in.4u", &[("qps.abs.all.tsv", &marked(&table(ROW)))]);
    assert!((figures(&folder)[1].1 - 990.0).abs() < 1e-9);
    folder.write("qps.abs.all.tsv", &utf_16(&table(ROW)));
    assert_eq!(folder.problem(), format!("in.4u/qps.abs.all.tsv: {remedy}"));

    let raw = Folder::new("raw", &[(name, &*marked(&log(1000)))]);
    raw.write("x.my8043_a/sb.o.update.range100.pk1.dop8", &utf_16(&log(1000)));
    let run = raw.import().runs.remove(0);
    assert_eq!(run.steps[0].systems[0].slices.len(), 1);
    let other = "x.my8043_a/sb.o.update.range100.pk1.dop8";
    assert_eq!(notes(&run), [format!("Not imported: {other}: {remedy}.")]);

    let lines = "ips\ttag\n100\tmy5649.c6\n";
    let tables = Folder::new("ib.1u", &[("mrg.l.i0", &marked(lines))]);
    tables.write("mrg.l.x", &utf_16(lines));
    let imports = iibench::import(&tables.path, &options("ib")).unwrap();
    assert_eq!(imports.runs[0].steps.len(), 1);
    assert_eq!(tables.skipped(&imports), [format!("ib.1u/mrg.l.x: {remedy}")]);
}

/// A log or a recording that was copied under two systems or steps.
#[test]
fn copies_of_logs_and_recordings() {
    let of = |label: &str, kind: &str| format!("{label}/sb.{kind}.scan.range100.pk1.dop8");
    let vmstat = "procs memory\n r b us sy id cs\n1 0 9 9 80 9\n1 0 9 9 80 1000\n";
    let (a, b) = ("x.my8043_a", "x.my8044_a");
    let folder = Folder::new(
        "raw",
        &[
            (&of(a, "o"), &*log(1000)),
            (&of(b, "o"), &*log(1000)),
            (&of(a, "vm"), vmstat),
            (&of(b, "vm"), vmstat),
        ],
    );
    let run = folder.import().runs.remove(0);
    let said = notes(&run).join("\n");
    for kind in ["o", "vm"] {
        let wanted = format!("{} is the same as {}, byte for byte", of(b, kind), of(a, kind));
        assert!(said.contains(&wanted), "{said}");
    }
    let logs = ["my8043", "my8044"].map(|label| LogFile {
        path: folder.path.join(of(a, "o")),
        label: Some(label.to_owned()),
        step: None,
    });
    let run = sysbench::import(&logs, &options("logs")).unwrap().runs.remove(0);
    assert!(notes(&run).concat().contains("is the same log as"), "{:?}", notes(&run));
}

/// A log of a driver under a label of another DBMS.
#[test]
fn labels_that_the_drivers_of_raw_logs_contradict() {
    let log = format!("$ sysbench mine --db-driver=mysql --threads=8 run\n{}", log(1000));
    let told = |label: &str| {
        let folder =
            Folder::new("raw", &[(&format!("{label}/sb.o.scan.range100.pk1.dop8"), &*log)]);
        notes(&folder.import().runs.remove(0)).join(" ")
    };
    assert_eq!(
        told("x.pg174_a"),
        "x.pg174_a/sb.o.scan.range100.pk1.dop8: its command has --db-driver=mysql, but label x.pg174_a names another DBMS: check whose log it is."
    );
    for label in ["x.my8043_a", "x.ma110401_a", "mine"] {
        assert_eq!(told(label), "", "{label}");
    }
}

/// The user says another number of clients than the logs.
#[test]
fn clients_that_the_logs_contradict() {
    let name = "x.my8043_a/sb.o.scan.range100.pk1.dop8";
    let folder =
        Folder::new("raw", &[(name, &*log(1000)), (&name.replace("scan", "insert"), &log(900))]);
    let told = |n: u32| {
        let said = Options { clients: Some(n), ..options("x") };
        let raw = rqps_import::mytools::import(&folder.path, &said).unwrap().runs.remove(0);
        let log =
            LogFile { path: folder.path.join(name), label: Some("my8043".to_owned()), step: None };
        let alone = sysbench::import(&[log], &said).unwrap().runs.remove(0);
        [raw, alone].map(|run| folder.shortened(&notes(&run).join(" ")))
    };
    assert_eq!(told(8), [String::new(), String::new()]);
    let note = |log: &str| format!("--clients 4 is used, although {log} has 8 threads.");
    assert_eq!(told(4), [note(&name.replace("scan", "insert")), note(&format!("raw/{name}"))]);
}
