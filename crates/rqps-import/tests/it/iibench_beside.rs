//! Raw folders of the Insert Benchmark: recordings that ran on, logs that are copies, summaries that contradict
//! themselves.

use std::fs;

use expect_test::expect;

use crate::iibench_raw::{Copy, MYSQL, POSTGRES, notes, taken};

/// vmstat with as many samples.
fn vmstat(samples: usize) -> String {
    let line = " 9  0      0 62315 2104 17091    0    0  1351  7128  767 4000 30 10 60  0  0\n";
    let heads =
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";
    format!("{heads}{}", line.repeat(samples + 1))
}

/// iostat with as many reports.
fn iostat(reports: usize) -> String {
    let report = "Device r/s rkB/s w/s wkB/s\nvda 20.0 80.0 5.0 40.0\n\n";
    format!("Linux 6.1.0 (host) \t11/27/25 \t_x86_64_\t(8 CPU)\n\n{}", report.repeat(reports + 1))
}

/// The columns of a step on a system that are made from recordings.
fn recorded(copy: &Copy, step: &str, system: usize) -> String {
    let run = copy.import();
    let found = run.steps.iter().find(|own| own.info.name == step).unwrap();
    let stated = found.systems[system].slices[0].stated.as_ref().unwrap();
    let columns = ["rps", "csps", "cspq", "cpupq", "dbgb1", "dbgb2"];
    let told = stated.columns.iter().filter(|(head, _)| columns.contains(&head.as_str()));
    let told: Vec<String> = told.map(|(head, value)| format!("{head} {value}")).collect();
    let slow = "my8043_rel.cz12a/qr100.L1: the insert rate of its summary";
    let said = notes(&run);
    let said: Vec<&str> = said.lines().filter(|note| !note.starts_with(slow)).collect();
    format!("{}\n{}", told.join(", "), said.join("\n"))
}

#[test]
fn recordings_that_ran_on_after_the_step() {
    let with = |samples: usize, reports: usize| {
        let copy = Copy::new();
        copy.edit(&format!("{POSTGRES}/qr100.L1/o.vm.dop2"), |_| vmstat(samples));
        copy.edit(&format!("{POSTGRES}/qr100.L1/o.io.dop2"), |_| iostat(reports));
        recorded(&copy, "qr100.L1", 1)
    };
    let of_scripts = |nsamp: &str, vm_samples: usize| {
        let copy = Copy::new();
        copy.edit(&format!("{MYSQL}/qr100.L1/o.res.dop2"), |text| {
            text.replace("\n4\t", &format!("\n{nsamp}\t"))
        });
        copy.edit(&format!("{MYSQL}/qr100.L1/o.vm.dop2"), |_| vmstat(vm_samples));
        recorded(&copy, "qr100.L1", 0)
    };
    let all =
        [with(13, 13), with(190, 13), with(13, 190), of_scripts("190", 190), of_scripts("190", 12)];
    expect![[r#"
        rps 20, csps 4000, cspq 2.501, cpupq 2000


        rps 20
        Not imported: pg174.x10a/qr100.L1/o.vm.dop2: its 190 samples cover at least 190 seconds, but the step took 14.1 seconds: its means include other work; record only the step.

        csps 4000, cspq 2.501, cpupq 2000
        Not imported: pg174.x10a/qr100.L1/o.io.dop2: its 190 samples cover at least 190 seconds, but the step took 14.1 seconds: its means include other work; record only the step.

        rps 20, dbgb1 0.518, dbgb2 0.735
        Not imported: my8043_rel.cz12a/qr100.L1/o.res.dop2: its 190 samples cover at least 190 seconds, but the step took 13 seconds: its means include other work; record only the step.
        Not imported: my8043_rel.cz12a/qr100.L1/o.vm.dop2: its 190 samples cover at least 190 seconds, but the step took 13 seconds: its means include other work; record only the step.
        pg174.x10a/qr100.L1/o.io.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.io.dop2, byte for byte: one of them is a copy.

        rps 20, csps 4000, cspq 4.961, cpupq 3969, dbgb1 0.518, dbgb2 0.735
        Not imported: my8043_rel.cz12a/qr100.L1/o.res.dop2: its 190 samples cover at least 190 seconds, but the step took 13 seconds: its means include other work; record only the step.
        pg174.x10a/qr100.L1/o.io.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.io.dop2, byte for byte: one of them is a copy."#]].assert_eq(&all.join("\n\n"));
}

#[test]
fn two_logs_of_one_client() {
    let change = |change: &dyn Fn(&str) -> String| {
        let copy = Copy::new();
        let first = fs::read_to_string(copy.path(&format!("{POSTGRES}/l.i1/o.ib.dop2.1"))).unwrap();
        copy.edit(&format!("{POSTGRES}/l.i1/o.ib.dop2.2"), |_| change(&first));
        let run = copy.import();
        let said = notes(&run);
        let own: Vec<&str> = said.lines().filter(|note| note.contains("l.i1")).collect();
        format!("{}{}", taken(&run), own.join("\n"))
    };
    let all = [
        change(&str::to_owned),
        // Another run of the first client.
        change(&|first| first.replace("4003", "4004")),
        change(&|first| first.replace("--my_id=1", "")),
    ];
    expect![[r#"
        my8043_rel.cz12a: l.i0 l.x l.i1 qr100.L1
        pg174.x10a: l.i0 l.x qr100.L1
        Not imported: pg174.x10a/l.i1/o.ib.dop2.2: it is the same as pg174.x10a/l.i1/o.ib.dop2.1, byte for byte: the rate of all clients is not known: copy its own log, or run the step again.

        my8043_rel.cz12a: l.i0 l.x l.i1 qr100.L1
        pg174.x10a: l.i0 l.x qr100.L1
        Not imported: pg174.x10a/l.i1/o.ib.dop2.2: it is from the same client as pg174.x10a/l.i1/o.ib.dop2.1, --my_id=1: the rate of all clients is not known: copy its own log, or run the step again.

        my8043_rel.cz12a: l.i0 l.x l.i1 qr100.L1
        pg174.x10a: l.i0 l.x l.i1 qr100.L1
    "#]].assert_eq(&all.join("\n\n"));
    // A script that gives all clients one id, and tables of their own.
    let copy = Copy::new();
    for system in [MYSQL, POSTGRES] {
        let table = |n: u32| format!("--my_id=1 --table_name=pi{n}");
        for n in [1, 2] {
            copy.edit(&format!("{system}/l.i1/o.ib.dop2.{n}"), |text| {
                text.replacen(&format!("--my_id={n}"), &table(n), 1)
            });
        }
    }
    assert!(taken(&copy.import()).contains("pg174.x10a: l.i0 l.x l.i1"));
}

/// A log that was copied to another step or system.
#[test]
fn logs_that_stand_for_two_steps() {
    let copy = Copy::new();
    let text = fs::read_to_string(copy.path(&format!("{POSTGRES}/l.i1/o.ib.dop2.1"))).unwrap();
    copy.edit(&format!("{MYSQL}/l.i1/o.ib.dop2.1"), |_| text);
    let said = notes(&copy.import());
    assert!(
        said.contains(
            "pg174.x10a/l.i1/o.ib.dop2.1 is the same as my8043_rel.cz12a/l.i1/o.ib.dop2.1, byte for byte"
        ),
        "{said}"
    );
}

#[test]
fn summaries_that_contradict_themselves() {
    let with = |from: &str, to: &str| {
        let copy = Copy::new();
        copy.edit(&format!("{MYSQL}/qr100.L1/o.res.dop2"), |text| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1)
        });
        recorded(&copy, "qr100.L1", 0)
    };
    let all = [
        with("16.704", "1.670"),
        with("w/q\twKB/q\tqps", "wKB/q\tw/q\tqps"),
        with("dbGB\t0.518", "dbGB\t0.818"),
        with("dbGB\t0.518", "dbGB\t0.736"),
    ];
    expect![[r#"
        rps 20, csps 4000, cspq 4.961, cpupq 3969, dbgb1 0.518, dbgb2 0.735
        Not imported: my8043_rel.cz12a/qr100.L1/o.res.dop2: cs/s 12536 and cs/q 1.67 (a rate of 7501.5 to 7511.68) contradict qps 750.5: the means of vmstat and iostat are excluded; make it again.
        pg174.x10a/qr100.L1/o.vm.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.vm.dop2, byte for byte: one of them is a copy.
        pg174.x10a/qr100.L1/o.io.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.io.dop2, byte for byte: one of them is a copy.

        rps 20, csps 4000, cspq 4.961, cpupq 3969, dbgb1 0.518, dbgb2 0.735
        Not imported: my8043_rel.cz12a/qr100.L1/o.res.dop2: w/s 60.9 and w/q 4.366 (a rate of 13.9226 to 13.9748); wMB/s 3.2 and wKB/q 0.081 (a rate of 37804.9 to 42240) contradict qps 750.5: the means of vmstat and iostat are excluded; make it again.
        pg174.x10a/qr100.L1/o.vm.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.vm.dop2, byte for byte: one of them is a copy.
        pg174.x10a/qr100.L1/o.io.dop2 is the same as my8043_rel.cz12a/qr100.L1/o.io.dop2, byte for byte: one of them is a copy.

        rps 76.5, csps 12536, cspq 16.704, cpupq 9624
        Not imported: my8043_rel.cz12a/qr100.L1/o.res.dop2: dbGB 0.818 are more than dbdirGB 0.735, the directory that holds them: both are excluded.

        rps 76.5, csps 12536, cspq 16.704, cpupq 9624, dbgb1 0.736, dbgb2 0.735
    "#]].assert_eq(&all.join("\n\n"));
}

/// What a summary states of the first client's seconds is in its log, too.
#[test]
fn rates_reached_that_are_not_of_the_log() {
    let with = |from: &str, to: &str| {
        let copy = Copy::new();
        copy.edit(&format!("{MYSQL}/l.i1/o.res.dop2"), |text| text.replace(from, to));
        let run = copy.import();
        let said = notes(&run);
        let said: Vec<&str> = said.lines().filter(|note| note.contains("l.i1/o.res")).collect();
        let found = run.steps.iter().find(|own| own.info.name == "l.i1").unwrap();
        let stated = found.systems[0].slices[0].stated.as_ref().unwrap();
        let reached = stated.columns.iter().filter(|(head, _)| head == "p50" || head == "p99");
        format!("{:?} {}", reached.collect::<Vec<_>>(), said.join("\n"))
    };
    let all = [
        with("", ""),
        with("12 = 505", "12 = 540"),
        with("12 = 505", "12 = 1010"),
        with("12 = 495", "12 = 49"),
        with("12 = 505", "12 = NA"),
        with("cpu/q\n4\t12536\t90.3", "cpu/q\n4\t12536\t903"),
    ];
    expect![[r#"
        [("p50", 505.0), ("p99", 495.0)] 
        [("p50", 540.0), ("p99", 495.0)] 
        [("p50", 500.0), ("p99", 500.0)] Not imported: my8043_rel.cz12a/l.i1/o.res.dop2: its p50 is 1010, but 500.0 in the first log: p50 and p99 are computed from the log.
        [("p50", 500.0), ("p99", 500.0)] Not imported: my8043_rel.cz12a/l.i1/o.res.dop2: its p99 is 49, but 500.0 in the first log: p50 and p99 are computed from the log.
        [("p50", 500.0), ("p99", 495.0)] 
        [("p50", 505.0), ("p99", 495.0)] Not imported: my8043_rel.cz12a/l.i1/o.res.dop2: cpu/s 903 is more than 100 percent of all CPUs: the means of vmstat and iostat are excluded; make it again."#]].assert_eq(&all.join("\n"));
}
