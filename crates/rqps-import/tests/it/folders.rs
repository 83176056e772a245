//! Folders as their authors leave them: what can be taken over is, and what cannot is named.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rqps_import::{Imports, mytools};
use rqps_model::{Metric, Run, StepOutcome};

use crate::options;

/// A folder below a new directory, with files by their paths.
pub(crate) struct Folder {
    top: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Folder {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join(name);
        let folder = Self { top, path };
        fs::create_dir_all(&folder.path).unwrap();
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn import(&self) -> Imports {
        mytools::import(&self.path, &options("folder")).unwrap()
    }

    /// The error of an import that took nothing.
    pub(crate) fn problem(&self) -> String {
        let problem = mytools::import(&self.path, &options("folder")).unwrap_err();
        self.shortened(&problem.to_string())
    }

    /// A sentence without the directory.
    pub(crate) fn shortened(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.top.path().display()), "")
    }

    pub(crate) fn skipped(&self, imports: &Imports) -> Vec<String> {
        imports.skipped.iter().map(|problem| self.shortened(&problem.sentence())).collect()
    }
}

/// A table of QPS of two systems.
pub(crate) fn table(rows: &str) -> String {
    format!("col-1 : x.my8043_a\ncol-2 : x.my8044_a\n\ncol-1\tcol-2\n{rows}")
}

pub(crate) fn met(dop: u32) -> String {
    format!(
        "sb.met.point-query.range100.pk1.dop{dop}\n--- absolute\ncpu/o\tcs/o\to/s\tdbms\n\
         0.000070\t0.179\t1000\tx.my8043_a\n0.000073\t0.179\t990\tx.my8044_a\n"
    )
}

pub(crate) const ROW: &str = "1000\t990\tpoint-query_range=100\n";

fn clients(run: &Run) -> u32 {
    run.steps[0].clients
}

pub(crate) fn notes(run: &Run) -> &[String] {
    &run.imported.as_ref().unwrap().notes
}

#[test]
fn clients_from_metrics_of_another_group() {
    let files = [("o.met.my.all", &*met(16)), ("qps.abs.my.80.tsv", &*table(ROW))];
    let imports = Folder::new("in", &files).import();
    assert_eq!(imports.runs.iter().map(clients).collect::<Vec<_>>(), [16, 16]);
    // Groups that disagree do not speak for another one.
    let other = [files[0], files[1], ("o.met.b", &*met(8))];
    let folder = Folder::new("in", &other);
    let imports = folder.import();
    assert_eq!(imports.runs.len(), 2);
    let skipped = folder.skipped(&imports);
    assert!(
        skipped[0].starts_with("in/qps.abs.my.80.tsv does not give the number of clients"),
        "{skipped:?}"
    );
}

#[test]
fn clients_from_names() {
    for (folder, group) in [
        ("dop16", "in"),
        ("mar25.dop16", "in"),
        ("run.16u.50m", "in"),
        ("clients-16", "in"),
        ("in", "pgo.dop16.prep1"),
        ("in", "ma.16u"),
    ] {
        let file = format!("qps.abs.{group}.tsv");
        let imports = Folder::new(folder, &[(&file, &table(ROW))]).import();
        assert_eq!(clients(&imports.runs[0]), 16, "{folder} {group}");
    }
    for host in ["dell-2u-rack", "raid-10u"] {
        let folder = Folder::new(host, &[("qps.abs.in.tsv", &table(ROW))]);
        let problem = rqps_import::mytools::import(&folder.path, &options("x")).unwrap_err();
        assert!(problem.to_string().contains("does not give the number of clients"), "{problem}");
    }
    let around = Folder::new("40u.8t.10m/join0", &[("qps.abs.in.tsv", &table(ROW))]);
    assert_eq!(clients(&around.import().runs[0]), 40);
}

#[test]
fn metrics_without_a_group() {
    let files = [("o.met", &*met(8)), ("qps.abs.in.tsv", &*table(ROW))];
    let imports = Folder::new("in", &files).import();
    assert_eq!(imports.runs.len(), 1);
    let stated = imports.runs[0].steps[0].systems[0].slices[0].stated.as_ref().unwrap();
    assert_eq!((clients(&imports.runs[0]), stated.get(Metric::ContextSwitches)), (8, Some(0.179)));
}

#[test]
fn one_bad_table_beside_good_ones() {
    let bad = "col-1 : 24\ncol-2 : x.pg180_a\n\ncol-1\tcol-2\n\t139731\t\n";
    let files = [("qps.abs.all.tsv", &*table(ROW)), ("qps.abs.sb.met.tsv", bad)];
    let folder = Folder::new("in.24u", &files);
    let imports = folder.import();
    assert_eq!(imports.runs.len(), 1);
    assert_eq!(
        folder.skipped(&imports),
        ["in.24u/qps.abs.sb.met.tsv, line 5: \"\" is not the name of a step"]
    );
    // Metrics that cannot be read leave the figures; ratios without figures are named.
    let files = [
        ("qps.abs.all.tsv", &*table(ROW)),
        ("o.met.all", "nothing\n"),
        ("qps.rel.old.tsv", "Relative to: x.my8043_a\n"),
    ];
    let folder = Folder::new("in.24u", &files);
    let imports = folder.import();
    assert_eq!(
        folder.shortened(&notes(&imports.runs[0]).join("\n")),
        "Not imported: in.24u/o.met.all, line 1: neither the name of a step nor `--- absolute`."
    );
    assert_eq!(
        folder.skipped(&imports),
        ["in.24u/qps.rel.old.tsv: it has ratios but no QPS: put qps.abs.old.tsv beside it"]
    );
}

/// A system that only the metrics have.
#[test]
fn metrics_of_a_system_without_qps() {
    let qps = "col-1 : x.my8043_a\n1000\tpoint-query_range=100\n";
    let imports = Folder::new("in", &[("qps.abs.all.tsv", qps), ("o.met.all", &met(4))]).import();
    let systems = &imports.runs[0].steps[0].systems;
    assert!((systems[1].slices[0].figure() - 990.0).abs() < 1e-9);
}

#[test]
fn a_table_with_commas_may_have_more_steps() {
    let csv = "point-query_range=100,1000,990\nscan.warm_range=100,5,6\n";
    let files = [("qps.abs.all.tsv", &*table(ROW)), ("qps.abs.all.csv", csv)];
    let imports = Folder::new("in.4u", &files).import();
    let steps = &imports.runs[0].steps;
    let names: Vec<&str> = steps.iter().map(|step| step.info.name.as_str()).collect();
    assert_eq!(names, ["point-query", "scan.warm_range=100"]);
    // What both have must be the same.
    let other = [files[0], ("qps.abs.all.csv", "point-query_range=100,1000,991\n")];
    let problem = Folder::new("in.4u", &other).problem();
    assert!(
        problem.contains("step point-query_range=100 differs from the table with tabs"),
        "{problem}"
    );
}

#[test]
fn notes_and_headings_between_the_lines_of_a_table() {
    let text = table(&format!("{ROW}\n# after the upgrade\ncol-1\tcol-2\n5\t6\tscan_range=100\n"));
    let files = [("qps.abs.all.tsv", &*text), ("o.met.all", &*format!("see the wiki\n{}", met(4)))];
    let folder = Folder::new("in", &files);
    let imports = folder.import();
    let run = &imports.runs[0];
    assert_eq!(run.steps.len(), 2);
    assert_eq!(
        folder.shortened(&notes(run).join("\n")),
        "Not imported: in/qps.abs.all.tsv, line 7: 0 values for 2 systems.\n\
         Not imported: in/o.met.all, line 1: neither the name of a step nor `--- absolute`."
    );
}

#[test]
fn what_nothing_could_be_taken_of() {
    let bad = "col-1 : abc\n1\tscan_range=100\n";
    let folder = Folder::new("in.1u", &[("qps.abs.a.tsv", bad), ("qps.abs.b.tsv", "hello\n")]);
    let problem = folder.problem();
    assert!(problem.starts_with("nothing in in.1u can be imported:\n  label \"abc\""), "{problem}");
    assert!(problem.contains("\n  in.1u/qps.abs.b.tsv: it names no systems"), "{problem}");
    let above = Folder::new("all", &[("dop1/qps.abs.in.tsv", &table(ROW)), ("dop4/o.met.a", "")]);
    assert_eq!(
        above.problem(),
        "all has nothing to import: it has no qps.abs.*.tsv, no o.met.* and no sb.o.*; \
         import its folders one by one: dop1, dop4"
    );
}

/// A log of 1.0 by eight threads.
pub(crate) fn log(qps: u32) -> String {
    format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nNumber of threads: 8\n\n\
         SQL statistics:\n    transactions:                        {n}  ({qps}.00 per sec.)\n\
         \u{20}   queries:                             {n}  ({qps}.00 per sec.)\n\n\
         General statistics:\n    total time:                          10.0000s\n\n\
         Threads fairness:\n    execution time (avg/stddev):   9.9947/0.00\n",
        n = qps * 10
    )
}

const VACUUM: &str = "INFO:  vacuuming \"public.sbtest1\"\nVACUUM\n";

#[test]
fn a_vacuum_between_steps_is_no_step() {
    let folder = Folder::new(
        "raw",
        &[
            ("x.pg174_a/sb.o.pgvac", VACUUM),
            ("x.pg174_a/sb.o.point-query.range100.pk1.dop8", &log(1000)),
            ("x.pg180_a/sb.o.pgvac", VACUUM),
            ("x.pg180_a/sb.o.point-query.range100.pk1.dop8", &log(990)),
        ],
    );
    let imports = folder.import();
    let run = &imports.runs[0];
    let names: Vec<&str> = run.steps.iter().map(|step| step.info.name.as_str()).collect();
    assert_eq!(names, ["point-query"]);
    assert_eq!(
        notes(run),
        ["Not imported: sb.o.pgvac of x.pg174_a, x.pg180_a: this is no log of sysbench."]
    );
    // A step that sysbench gave up is one.
    folder.write(
        "x.pg180_a/sb.o.scan.range100.pk1.dop8",
        b"sysbench 1.0.20 (using LuaJIT)\nFATAL: gone\n",
    );
    let imports = folder.import();
    let step = &imports.runs[0].steps[1];
    assert_eq!(
        (step.info.name.as_str(), step.systems[1].outcome.clone()),
        ("scan_range=100", StepOutcome::Pending)
    );
    // Where there is nothing but a vacuum, nothing is imported.
    let folder = Folder::new("raw", &[("x.pg174_a/sb.o.pgvac", VACUUM)]);
    assert!(
        folder.problem().starts_with("raw: none of its logs can be imported."),
        "{}",
        folder.problem()
    );
}

#[test]
fn steps_that_differ_in_a_part_of_their_names() {
    let names = |files: &[&str]| {
        let own = |file: &&str| format!("# {file}\n{}", log(1000));
        let files: Vec<(String, String)> =
            files.iter().map(|file| (format!("x.pg174_a/sb.o.{file}"), own(file))).collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (&**name, &**text)).collect();
        let run = Folder::new("raw", &files).import().runs.remove(0);
        assert_eq!((clients(&run), notes(&run)), (8, &[][..]));
        run.steps.iter().map(|step| step.info.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&["point-query.range100.pk0"]), "point-query");
    assert_eq!(
        names(&["point-query.range100.pk0", "point-query.range100.pk1"]),
        "point-query_range=100.pk0 point-query_range=100.pk1"
    );
    assert_eq!(
        names(&["point-query.range10.pk1", "point-query.range100.pk1"]),
        "point-query_range=10 point-query_range=100"
    );
    // Tables, too.
    let rows = "1\t2\tpoint-query_range=10\n3\t4\tpoint-query_range=100\n";
    let run = Folder::new("in.4u", &[("qps.abs.a.tsv", &table(rows))]).import().runs.remove(0);
    let steps: Vec<&str> = run.steps.iter().map(|step| step.info.name.as_str()).collect();
    assert_eq!(steps, ["point-query_range=10", "point-query_range=100"]);
}

pub(crate) fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

const VMSTAT: &str = " r  b   swpd   free   in   cs us sy id\n 1  0      0      0    1    7 50 40 10\n \
                      1  0      0      0  900 1000 10  2 88\n";

#[test]
fn what_gzip_has_packed() {
    let log_name = "x.my8043_a/sb.o.point-query.range100.pk1.dop8";
    let folder = Folder::new("raw", &[("x.my8044_a/sb.o.scan.range100.pk1.dop8.xz", "packed")]);
    folder.write(&format!("{log_name}.gz"), &gzip(&log(1000)));
    folder.write("x.my8043_a/sb.vm.point-query.range100.pk1.dop8.gz", &gzip(VMSTAT));
    let imports = folder.import();
    let slice = &imports.runs[0].steps[0].systems[0].slices[0];
    let stated = slice.stated.as_ref().unwrap();
    assert_eq!((stated.figure, stated.get(Metric::ContextSwitches)), (Some(1000.0), Some(1.0)));
    assert_eq!(
        notes(&imports.runs[0]),
        ["Not imported: x.my8044_a/sb.o.scan.range100.pk1.dop8.xz: unpack it first."]
    );
    // The unpacked file counts where both are there; a packed one may have lost its ending.
    folder.write(log_name, log(2000).as_bytes());
    let figure = |folder: &Folder| folder.import().runs[0].steps[0].systems[0].slices[0].figure();
    assert!((figure(&folder) - 2000.0).abs() < 1e-9);
    folder.write(log_name, &gzip(&log(3000)));
    assert!((figure(&folder) - 3000.0).abs() < 1e-9);
    // Half a file is none.
    let half = gzip(&log(1000));
    folder.write(log_name, &half[..half.len() / 2]);
    assert!(
        folder.problem().contains("sb.o.point-query.range100.pk1.dop8: cannot read"),
        "{}",
        folder.problem()
    );
    // Tables, too.
    let tables = Folder::new("in.4u", &[]);
    tables.write("qps.abs.all.tsv.gz", &gzip(&table(ROW)));
    assert_eq!(tables.import().runs.len(), 1);
}

#[test]
fn what_was_recorded_beside_a_log_may_be_of_no_use() {
    let files = [
        ("x.my8043_a/sb.o.scan.range100.pk1.dop8", &*log(1000)),
        ("x.my8043_a/sb.vm.scan.range100.pk1.dop8", "disk- ---reads---\n"),
        ("x.my8043_a/sb.io.scan.range100.pk1.dop8", "Device tps kB/s\nsda 1 2\n"),
    ];
    let folder = Folder::new("raw", &files);
    let imports = folder.import();
    let said = folder.shortened(&notes(&imports.runs[0]).join("\n"));
    assert_eq!(
        said,
        "Not imported: x.my8043_a/sb.vm.scan.range100.pk1.dop8: it is not output of vmstat: no line begins with the heading r.\n\
         Not imported: x.my8043_a/sb.io.scan.range100.pk1.dop8, line 1: it has no columns of reads and writes: record it with iostat -kx and an interval."
    );
}

/// A folder that is no folder.
#[test]
fn a_file_in_place_of_a_folder() {
    let problem = mytools::import(Path::new("/nowhere"), &options("x")).unwrap_err();
    assert!(problem.sentence().starts_with("cannot read /nowhere: "), "{}", problem.sentence());
}
