//! Tables and logs as people bring them: from spreadsheets, by older scripts, under names of their own.

use rqps_import::mytools;
use rqps_import::sysbench::{self, LogFile};
use rqps_model::{Dbms, Run};

use crate::folders::{Folder, notes, table};
use crate::options;

/// The figures of a run by step and system, and the notes.
fn told(folder: &Folder, run: &Run) -> String {
    let mut out = String::new();
    for step in &run.steps {
        let cells = run.systems.iter().zip(&step.systems);
        let cells = cells.map(|(system, cell)| {
            let figure = cell.slices.first().map(|slice| slice.figure().to_string());
            format!("{} {}", system.spec.label, figure.unwrap_or_else(|| "-".to_owned()))
        });
        out += &format!("{}: {}\n", step.info.name, cells.collect::<Vec<_>>().join(", "));
    }
    out + &folder.shortened(&notes(run).join("\n"))
}

fn of_table(name: &str, text: &str) -> String {
    let folder = Folder::new("in.1u", &[(name, text)]);
    match mytools::import(&folder.path, &options("folder")) {
        Ok(mut imports) => told(&folder, &imports.runs.remove(0)),
        Err(problem) => folder.shortened(&problem.to_string()),
    }
}

#[test]
fn tables_of_spreadsheets() {
    let wanted = "point-query: x.my8043_a 1000, x.my8044_a 1100\n";
    let csv = "col-1 : x.my8043_a,,\ncol-2 : x.my8044_a,,\n";
    for text in [
        format!("{csv}point-query_range=100,1000,1100\n"),
        format!("{csv}point-query_range=100,\"1000\",\"1100\"\n"),
        format!("{csv}\"point-query_range=100\",1000,1100,,\n,,,\n"),
        "step,x.my8043_a,x.my8044_a\npoint-query_range=100,1000,1100\n".to_owned(),
        "col-2 : x.my8044_a\ncol-1 : x.my8043_a\npoint-query_range=100,1000,1100\n".to_owned(),
    ] {
        assert_eq!(of_table("qps.abs.all.csv", &text), wanted, "{text}");
    }
    let tsv = table("1000\t1100\tpoint-query_range=100\t\n");
    assert_eq!(of_table("qps.abs.all.tsv", &tsv), wanted);
    let swapped = "col-2 : x.my8044_a\ncol-1 : x.my8043_a\n\ncol-1\tcol-2\n1000\t1100\tpoint-query_range=100\n";
    assert_eq!(of_table("qps.abs.all.tsv", swapped), wanted);
}

#[test]
fn tables_that_are_none_of_qps() {
    let ratios =
        format!("Relative to: x.my8043_a\n{}", table("1.00\t1.10\tpoint-query_range=100\n"));
    let spaces = table("1000\t1100\tpoint-query_range=100\n").replace('\t', "   ");
    // Without labels the columns of a thousand are those of two systems.
    let thousands = "insert_range=100,100,12,500\npoint-query_range=100,90,95\n";
    expect_test::expect![[r#"
        in.1u/qps.abs.all.tsv, line 1: it has ratios, not QPS (Relative to:): name it qps.rel.GROUP.tsv, and put the QPS in its place
        in.1u/qps.abs.all.tsv, line 4: its fields are separated by spaces: separate them by tabs"#]]
    .assert_eq(&[of_table("qps.abs.all.tsv", &ratios), of_table("qps.abs.all.tsv", &spaces)].join("\n"));
    let folder = Folder::new("in.1u", &[("qps.abs.all.csv", thousands)]);
    let with = rqps_import::Options { dbms: Some(Dbms::Mysql), ..options("folder") };
    let problem = mytools::import(&folder.path, &with).unwrap_err().to_string();
    assert!(problem.contains("line 1: it has 3 values, but other lines have 2"), "{problem}");
}

/// A log of 10 s by four threads.
fn log(command: &str, n_events: u32) -> String {
    let n = f64::from(n_events);
    format!(
        "{command}\nsysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
         Running the test with following options:\nNumber of threads: 4\n\nThreads started!\n\n\
         SQL statistics:\n    queries performed:\n        read:        {n_events}\n        write:       0\n\
         \u{20}       other:       0\n        total:       {n_events}\n\
         \u{20}   transactions:        {n_events} ({:.2} per sec.)\n    queries:             {n_events} ({:.2} per sec.)\n\
         \u{20}   ignored errors:      0 (0.00 per sec.)\n    reconnects:          0 (0.00 per sec.)\n\n\
         General statistics:\n    total time:          10.0000s\n    total number of events: {n_events}\n\n\
         Threads fairness:\n    execution time (avg/stddev):   9.9947/0.00\n",
        n / 10.0,
        n / 10.0,
    )
}

fn of_logs(files: &[(&str, &str)], names: &[&str], clients: Option<u32>) -> Run {
    let folder = Folder::new("in", files);
    let files: Vec<LogFile> = names
        .iter()
        .map(|name| {
            let LogFile { path, label, step } = LogFile::parse(name);
            LogFile { path: folder.path.join(path), label, step }
        })
        .collect();
    let with = rqps_import::Options { clients, ..options("logs") };
    let mut run = sysbench::import(&files, &with).unwrap().runs.remove(0);
    let noted = run.imported.as_mut().unwrap();
    noted.notes.iter_mut().for_each(|note| *note = folder.shortened(note));
    run
}

#[test]
fn a_copy_and_a_label_of_another_dbms_are_told() {
    let pgsql = log("$ sysbench --db-driver=pgsql oltp_point_select run", 1000);
    let other = log("$ sysbench --db-driver=pgsql oltp_point_select run", 1001);
    let files = [("a.log", pgsql.as_str()), ("b.log", &pgsql), ("c.log", &other)];
    let run = of_logs(&files, &["pg17.4=a.log", "pg17.5=b.log", "my8043=c.log"], Some(8));
    expect_test::expect![[r#"
        in/b.log is the same log as in/a.log: of pg17.5 oltp_point_select and of pg17.4 oltp_point_select; check whose log it is
        --clients 8 is used, although in/a.log has 4 threads.
        --clients 8 is used, although in/b.log has 4 threads.
        in/c.log: its command has --db-driver=pgsql, but label my8043 names another DBMS: check whose log it is
        --clients 8 is used, although in/c.log has 4 threads."#]].assert_eq(&notes(&run).join("\n"));
    let run = of_logs(&files, &["pg17.4=a.log", "pg17.5=c.log"], None);
    assert_eq!(notes(&run), Vec::<String>::new());
}

#[test]
fn names_of_files_and_servers_keep_their_versions() {
    let text = log("$ sysbench --db-driver=mysql oltp_point_select run", 1000);
    let other = log("$ sysbench --db-driver=mysql oltp_point_select run", 1001);
    let files = [("my8.0.43", text.as_str()), ("mariadb-11.4.5.log", &other)];
    let run = of_logs(&files, &["my8.0.43", "mariadb-11.4.5.log"], None);
    let systems = run.systems.iter().map(|system| {
        let version = system.version.as_ref().map(ToString::to_string).unwrap_or_default();
        (system.spec.label.0.as_str(), system.spec.dbms, version)
    });
    let wanted = [
        ("my8.0.43", Dbms::Mysql, "8.0.43".to_owned()),
        ("mariadb-11.4.5", Dbms::Mariadb, "11.4.5".to_owned()),
    ];
    assert_eq!(systems.collect::<Vec<_>>(), wanted);
}
