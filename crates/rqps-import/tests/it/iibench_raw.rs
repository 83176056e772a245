//! Raw folders of the Insert Benchmark as runs.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{expect, expect_file};
use rqps_import::{Options, iibench};
use rqps_model::{Role, Run};

use crate::folders::gzip;
use crate::{data, options, told};

const FOLDER: &str = "ib-raw.2u";
pub(crate) const MYSQL: &str = "20m.my8043_rel.cz12a";
pub(crate) const POSTGRES: &str = "20m.pg174.x10a";

/// A copy of the folder that a test changes.
pub(crate) struct Copy(tempfile::TempDir);

impl Copy {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        copy(&data(FOLDER), dir.path());
        Self(dir)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        fs::write(self.path(name), change(text)).unwrap();
    }

    pub(crate) fn import(&self) -> Run {
        let named = Options { name: Some("ib".to_owned()), ..options("ib") };
        let mut imports = iibench::import(self.0.path(), &named).unwrap();
        assert!(imports.skipped.is_empty(), "{:?}", imports.skipped);
        imports.runs.remove(0)
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

pub(crate) fn notes(run: &Run) -> String {
    run.imported.as_ref().unwrap().notes.join("\n")
}

/// Which steps each system has.
pub(crate) fn taken(run: &Run) -> String {
    let of = |idx: usize| {
        let steps = run.steps.iter().filter(|step| !step.systems[idx].slices.is_empty());
        steps.map(|step| step.info.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let systems = run.systems.iter().enumerate();
    systems.map(|(idx, s)| format!("{}: {}\n", s.spec.label, of(idx))).collect()
}

/// One system with the scripts' summaries, and one of logs alone.
#[test]
fn a_folder_of_two_systems() {
    let run = iibench::import(&data(FOLDER), &options("ib")).unwrap().runs.remove(0);
    let mut text = told(&run);
    for (step, at) in run.steps.iter().flat_map(|step| [(step, 0), (step, 1)]) {
        let [slice] = step.systems[at].slices.as_slice() else { panic!("{}", step.info.name) };
        let stated = slice.stated.as_ref().unwrap();
        let columns = stated.columns.iter().map(|(head, value)| format!(" {head} {value:.4}"));
        text.push_str(&format!(
            "\n{} {}:{}\n  target {:?}, rss {:?}, {:?}\n",
            step.info.name,
            run.systems[at].spec.label,
            columns.collect::<String>(),
            stated.target_inserts_per_s,
            stated.server_rss_bytes,
            step.systems[at].sizes,
        ));
        for stream in &slice.streams {
            text.push_str(&format!(
                "  {}: {} rows in {} statements of {} clients, target {:?}, {:?}\n",
                stream.role.name(),
                stream.n_operations,
                stream.n_queries,
                stream.clients,
                stream.target_per_s,
                stated.stream_responses.get(&stream.role)
            ));
        }
    }
    expect_file!["../data/ib-raw.told"].assert_eq(&text);
}

#[test]
fn seconds_are_those_of_all_clients() {
    let run = iibench::import(&data(FOLDER), &options("ib")).unwrap().runs.remove(0);
    let step = run.steps.iter().find(|step| step.info.name == "qr100.L1").unwrap();
    let slice = &step.systems[1].slices[0];
    let queries: Vec<u32> = slice.series.iter().map(|point| point.queries).collect();
    assert_eq!(queries[..3], [1602, 1604, 1606]);
    let inserts = slice.streams.iter().find(|stream| stream.role == Role::Insert).unwrap();
    let statements: Vec<u32> = inserts.series.iter().map(|point| point.queries).collect();
    assert_eq!(statements[3..6], [4, 0, 4], "two clients, 100 rows a second, 50 a statement");
}

#[test]
fn one_system_alone_and_the_folder_around() {
    let one = iibench::import(&data(FOLDER).join(POSTGRES), &options("ib")).unwrap().runs.remove(0);
    assert_eq!((one.systems.len(), one.steps.len()), (1, 4));
    assert_eq!(one.base_label().as_str(), "pg174.x10a");
    let around = tempfile::tempdir().unwrap();
    fs::create_dir(around.path().join("2u.1tno")).unwrap();
    copy(&data(FOLDER), &around.path().join("2u.1tno"));
    let error = iibench::import(around.path(), &options("ib")).unwrap_err().to_string();
    assert!(error.ends_with("import its folders one by one: 2u.1tno"), "{error}");
    // Systems of other sizes keep what tells them apart.
    let copy = Copy::new();
    fs::rename(copy.path(POSTGRES), copy.path("500m.pg174.x10a")).unwrap();
    assert_eq!(
        copy.import().systems.iter().map(|s| s.spec.label.to_string()).collect::<Vec<_>>(),
        [MYSQL, "500m.pg174.x10a"]
    );
}

#[test]
fn logs_that_gzip_has_packed() {
    let copy = Copy::new();
    for name in ["l.i0/o.ib.dop2.2", "l.i0/o.res.dop2"] {
        let path = copy.path(MYSQL).join(name);
        let packed = gzip(&fs::read_to_string(&path).unwrap());
        fs::write(path.with_file_name(format!("{}.gz", &name[5..])), packed).unwrap();
        fs::remove_file(path).unwrap();
    }
    let whole = iibench::import(&data(FOLDER), &options("ib")).unwrap().runs.remove(0);
    assert_eq!(copy.import().steps, whole.steps);
}

/// What is wrong with a step costs that step on that system alone, and is named.
#[test]
fn steps_that_cannot_be_taken() {
    let copy = Copy::new();
    // Cut in the middle of a line, of a client that died, and missing.
    copy.edit(&format!("{MYSQL}/l.i0/o.ib.dop2.2"), |text| text[..900].to_owned());
    copy.edit(&format!("{MYSQL}/l.i1/o.ib.dop2.1"), |text| {
        let lines: Vec<&str> = text.lines().take(6).collect();
        format!(
            "{}\nTraceback (most recent call last):\n  File \"iibench.py\", line 1\n    raise Error: no\n\
             pymysql.err.OperationalError: (2006, 'server has gone away')\n",
            lines.join("\n")
        )
    });
    fs::remove_file(copy.path(POSTGRES).join("l.i1/o.ib.dop2.2")).unwrap();
    // Of the other kind of query, and of no query.
    copy.edit(&format!("{MYSQL}/qr100.L1/o.ib.dop2.1"), |text| {
        text.replacen("--my_id", "--query_pk_only --my_id", 1)
    });
    copy.edit(&format!("{POSTGRES}/qr100.L1/o.ib.dop2.1"), |text| {
        text.lines()
            .filter(|line| !line.trim_start().starts_with("Query rt:"))
            .map(|l| format!("{l}\n"))
            .collect()
    });
    let run = copy.import();
    expect![[r#"
        my8043_rel.cz12a: l.x
        pg174.x10a: l.i0 l.x
    "#]]
    .assert_eq(&taken(&run));
    expect![[r#"
        Not imported: my8043_rel.cz12a/l.i0/o.ib.dop2.2, line 15: the log ends here, before its line Totals: copy the whole log, or run the step again.
        Not imported: my8043_rel.cz12a/l.i1/o.ib.dop2.1, line 10: the client died (pymysql.err.OperationalError: (2006, 'server has gone away')): run the step again.
        Not imported: my8043_rel.cz12a/qr100.L1/o.ib.dop2.1: its folder names range queries, its first line point queries; rename the folder.
        Not imported: pg174.x10a/l.i1/o.ib.dop2.2: it is missing, so the rate of 2 clients is not known: copy it, or run the step again.
        Not imported: pg174.x10a/qr100.L1/o.ib.dop2.1: it has no response times of queries (Query rt:), so it ran no queries: run the step again with --query_threads."#]]
    .assert_eq(&notes(&run));
}

#[test]
fn folders_of_steps_that_are_none() {
    let copy = Copy::new();
    let step = |name: &str| copy.path(MYSQL).join(name);
    fs::rename(step("qr100.L1"), step("qr500.L1")).unwrap();
    // A repetition, a packed step, and one whose client did not start.
    fs::create_dir(step("l.i1.again")).unwrap();
    self::copy(&step("l.i1"), &step("l.i1.again"));
    fs::write(step("qp100.L2.tar.gz"), "").unwrap();
    fs::create_dir(step("l.i2")).unwrap();
    fs::write(step("l.i2/o.a"), "").unwrap();
    // Two runs in one folder.
    fs::copy(step("l.x/o.ib.dop2.1"), step("l.x/o.ib.dop4.1")).unwrap();
    let run = copy.import();
    expect![[r#"
        my8043_rel.cz12a: l.i0 l.i1
        pg174.x10a: l.i0 l.x l.i1 qr100.L1
    "#]]
    .assert_eq(&taken(&run));
    expect![[r#"
        Not imported: my8043_rel.cz12a/l.i1.again: its name is not that of a step: rename it to l.i0, l.x, l.i1, qr100.L1 or qp100.L2; import a repetition from its own folder.
        Not imported: my8043_rel.cz12a/qp100.L2.tar.gz: unpack it first.
        Not imported: my8043_rel.cz12a/l.x: it has the logs of several runs (dop2, dop4): keep one.
        Not imported: my8043_rel.cz12a/l.i2: it has no log o.ib.dopN.K of iibench.py: run the step again.
        Not imported: my8043_rel.cz12a/qr500.L1/o.ib.dop2.1: inserts per second are 500 by its folder and 100 by its first line; rename the folder."#]]
    .assert_eq(&notes(&run));
}

/// Of a step without a summary vmstat and iostat are needed.
#[test]
fn what_was_recorded_beside_logs_may_be_of_no_use() {
    let copy = Copy::new();
    let name = format!("{POSTGRES}/qr100.L1");
    let head = |text: String, n: usize| -> String {
        text.lines().take(n).map(|line| format!("{line}\n")).collect()
    };
    copy.edit(&format!("{name}/o.vm.dop2"), |text| head(text, 3));
    copy.edit(&format!("{name}/o.io.dop2"), |_| "sh: iostat: not found\n".to_owned());
    let path = copy.path(&name).join("o.ib.dop2.1.gz");
    fs::write(path, gzip("another log\n")).unwrap();
    expect![[r#"
        my8043_rel.cz12a/qr100.L1: the insert rate of its summary, 184.6/s, includes the start and end of the clients and so fails the SLA; the rate of the logs, 198.3/s, does not: run longer steps.
        Not imported: pg174.x10a/qr100.L1/o.ib.dop2.1.gz: it differs from o.ib.dop2.1, which is imported: remove one of them.
        Not imported: pg174.x10a/qr100.L1/o.vm.dop2: its only line is the mean since the boot.
        Not imported: pg174.x10a/qr100.L1/o.io.dop2: it is not output of iostat -kx: no line has the heading Device."#]].assert_eq(&notes(&copy.import()));
    // Where there is one, it has their means.
    let copy = Copy::new();
    copy.edit(&format!("{MYSQL}/qr100.L1/o.vm.dop2"), |text| head(text, 3));
    let said = notes(&copy.import());
    assert!(!said.contains("o.vm.dop2"), "{said}");
}

/// Figures then come from the logs.
#[test]
fn a_summary_of_another_run() {
    let copy = Copy::new();
    copy.edit(&format!("{MYSQL}/qr100.L1/o.res.dop2"), |text| text.replacen("queries,", "x,", 1));
    let run = copy.import();
    let step = run.steps.iter().find(|step| step.info.name == "qr100.L1").unwrap();
    // 2 clients, 4878 queries in 12.1 s.
    assert!((step.systems[0].slices[0].figure() - 2.0 * 4878.0 / 12.1).abs() < 0.06);
    let said = notes(&run);
    assert!(
        said.contains(
            "o.res.dop2: it is from another run than its logs: 2 processes, 13 seconds, 0 queries"
        ),
        "{said}"
    );
}

/// A summary with the queries, clients and seconds of the logs, and other rows; and one that contradicts itself.
#[test]
fn a_summary_of_other_rows() {
    let copy = Copy::new();
    let edit = |step: &str, from: &str, to: &str| {
        copy.edit(&format!("{MYSQL}/{step}/o.res.dop2"), |text| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1)
        });
    };
    let rows = "24000 rows-per-process, 13 seconds, 3692.3 rows-per-second";
    edit("l.i0", "12000 rows-per-process, 13 seconds, 1846.2 rows-per-second", rows);
    let rows = "24200 rows-per-process, 5 seconds, 9680.0 rows-per-second";
    edit("l.x", "12100 rows-per-process, 5 seconds, 4840.0 rows-per-second", rows);
    edit("l.i1", "923.1 rows-per-second,", "1923.1 rows-per-second,");
    edit("qr100.L1", "750.5 queries-per-second", "7505.0 queries-per-second");
    let run = copy.import();
    let figures = run.steps.iter().map(|step| step.systems[0].slices[0].figure());
    assert_eq!(figures.collect::<Vec<_>>(), [1983.5, 5260.9, 991.7, 806.3]);
    expect![[r#"
        Not imported: my8043_rel.cz12a/l.i0/o.res.dop2: it is from another run than its logs: 2 processes, 13 seconds, 0 queries, 48000 rows, but the logs have 2, 12.1, 0, 24000; rates are computed from the logs.
        Not imported: my8043_rel.cz12a/l.x/o.res.dop2: it is from another run than its logs: 2 processes, 5 seconds, 0 queries, 48400 rows, but the logs have 2, 4.6, 0, 24200; rates are computed from the logs.
        Not imported: my8043_rel.cz12a/l.i1/o.res.dop2: its rates contradict its counts: 12000 rows and 0 queries in 13 seconds are not 1923.1 and 0 per second; rates are computed from the logs.
        Not imported: my8043_rel.cz12a/qr100.L1/o.res.dop2: its rates contradict its counts: 2400 rows and 9756 queries in 13 seconds are not 184.6 and 7505 per second; rates are computed from the logs.
        pg174.x10a/qr100.L1/o.vm.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.vm.dop2, byte for byte: one of them is a copy.
        pg174.x10a/qr100.L1/o.io.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.io.dop2, byte for byte: one of them is a copy."#]].assert_eq(&notes(&run));
    // A summary of a run that took three times as long.
    let copy = Copy::new();
    let longer = "12000 rows-per-process, 39 seconds, 615.4 rows-per-second";
    copy.edit(&format!("{MYSQL}/l.i0/o.res.dop2"), |text| {
        text.replacen("12000 rows-per-process, 13 seconds, 1846.2 rows-per-second", longer, 1)
    });
    assert!((copy.import().steps[0].systems[0].slices[0].figure() - 1983.5).abs() < 1e-9);
}

/// Logs that contradict their own totals, or lack a column.
#[test]
fn logs_that_contradict_themselves() {
    let copy = Copy::new();
    let edit = |name: &str, change: &dyn Fn(String) -> String| {
        copy.edit(&format!("{MYSQL}/{name}"), change);
    };
    edit("l.i0/o.ib.dop2.1", &|text| {
        text.lines().filter(|l| !l.starts_with("1.0\t12.0")).map(|l| format!("{l}\n")).collect()
    });
    edit("l.x/o.ib.dop2.2", &|text| {
        text.replace("Totals: 4.6 secs, 21.7", "Totals: 4,6 secs, 21,7")
    });
    edit("l.i1/o.ib.dop2.1", &|text| text.replace("t_ins", "t_in"));
    edit("qr100.L1/o.ib.dop2.1", &|text| text.replace("t_query", "t_q"));
    let run = copy.import();
    assert!(taken(&run).starts_with("my8043_rel.cz12a: \n"), "{}", taken(&run));
    expect![[r#"
        Not imported: my8043_rel.cz12a/l.i0/o.ib.dop2.1, line 18: 12000 rows, but the last line of a second has 11000 (t_ins): lines are missing; copy the log again, or run the step again.
        Not imported: my8043_rel.cz12a/l.x/o.ib.dop2.2, line 9: secs: "4,6" is not a number from 0 on; copy the log again, or run the step again.
        Not imported: my8043_rel.cz12a/l.i1/o.ib.dop2.1, line 2: no heading t_ins, whose column has the rows: run the step again.
        Not imported: my8043_rel.cz12a/qr100.L1/o.ib.dop2.1: no heading t_query, whose column has the queries: run the step again."#]].assert_eq(&notes(&run));
}

#[test]
fn indexes_of_an_unknown_number_of_rows() {
    let copy = Copy::new();
    fs::remove_dir_all(copy.path(POSTGRES).join("l.i0")).unwrap();
    let run = copy.import();
    assert!(taken(&run).contains("pg174.x10a: l.i1 qr100.L1\n"), "{}", taken(&run));
    assert!(
        notes(&run).contains("pg174.x10a/l.x: the number of rows is not known"),
        "{}",
        notes(&run)
    );
}

/// Systems with other numbers of clients are in rows of their own.
#[test]
fn other_numbers_of_clients_are_not_compared() {
    let copy = Copy::new();
    let step = copy.path(POSTGRES).join("l.i0");
    fs::remove_file(step.join("o.ib.dop2.2")).unwrap();
    fs::rename(step.join("o.ib.dop2.1"), step.join("o.ib.dop1.1")).unwrap();
    let run = copy.import();
    let rows: Vec<(u32, bool, bool)> = run
        .steps
        .iter()
        .filter(|step| step.info.name == "l.i0")
        .map(|s| (s.clients, s.systems[0].slices.is_empty(), s.systems[1].slices.is_empty()))
        .collect();
    assert_eq!(rows, [(1, true, false), (2, false, true)]);
}
