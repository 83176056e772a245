//! Recordings of vmstat and iostat that are not of their step, and metrics that contradict one another.

use rqps_model::Metric;

use crate::folders::{Folder, log, notes};

const LOG: &str = "x.my8043_a/sb.o.scan.range100.pk1.dop8";
const MET: &str = "x.my8043_a/sb.met.scan.range100.pk1.dop8";
const VM: &str = "x.my8043_a/sb.vm.scan.range100.pk1.dop8";
const IO: &str = "x.my8043_a/sb.io.scan.range100.pk1.dop8";

/// vmstat with samples of 1000 context switches.
fn vmstat(samples: usize) -> String {
    let boot = " 1  0      0      0    1    7 50 40 10\n";
    let sample = " 1  0      0      0  900 1000 10  2 88\n";
    format!(" r  b   swpd   free   in   cs us sy id\n{boot}{}", sample.repeat(samples))
}

/// iostat with reports of 10 reads.
fn iostat(reports: usize) -> String {
    "Device r/s rkB/s w/s wkB/s\nvda 10.0 80.0 5.0 40.0\n\n".repeat(reports + 1)
}

/// Context switches and reads per operation, and the notes. The step has 1000 QPS for 10 seconds.
fn told(files: &[(&str, &str)]) -> String {
    let log = log(1000);
    let folder = Folder::new("raw", &[&[(LOG, &*log)], files].concat());
    let run = folder.import().runs.remove(0);
    let stated = run.steps[0].systems[0].slices[0].stated.clone().unwrap();
    let metrics = [Metric::ContextSwitches, Metric::Reads].map(|metric| stated.get(metric));
    format!("{metrics:?}\n{}", notes(&run).join("\n"))
}

#[test]
fn recordings_that_ran_on_after_the_step() {
    let taken = "[Some(1.0), Some(0.01)]\n";
    assert_eq!(told(&[(VM, &vmstat(11)), (IO, &iostat(11))]), taken);
    let all = [
        told(&[(VM, &vmstat(190)), (IO, &iostat(9))]),
        told(&[(VM, &vmstat(9)), (IO, &iostat(190))]),
        told(&[(VM, &vmstat(18))]),
        told(&[(
            MET,
            "samp\tr/s\tr/o\to/s\n200\t10.0\t0.010\t1000\n\nsamp\tcs/s\tcs/o\n9\t1000\t1.000\n",
        )]),
    ];
    expect_test::expect![[r#"
        [None, Some(0.01)]
        Not imported: x.my8043_a/sb.vm.scan.range100.pk1.dop8: its 190 samples cover at least 190 seconds, but the step took 10 seconds: its means include other work; record only the step.

        [Some(1.0), None]
        Not imported: x.my8043_a/sb.io.scan.range100.pk1.dop8: its 190 samples cover at least 190 seconds, but the step took 10 seconds: its means include other work; record only the step.

        [Some(1.0), None]
        x.my8043_a/sb.vm.scan.range100.pk1.dop8: its 18 samples cover at least 18 seconds, but the step took 10 seconds: its means include some time around the step.

        [None, None]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8: its 200 samples cover at least 200 seconds, but the step took 10 seconds: its means include other work; record only the step."#]].assert_eq(&all.join("\n\n"));
}

/// sysbench says how long it warmed up before it measured.
#[test]
fn a_warm_up_is_part_of_the_step() {
    let warmed = log(1000).replace("SQL stat", "Warming up for 60 seconds...\n\nSQL stat");
    let folder = Folder::new("raw", &[(LOG, &*warmed), (VM, &*vmstat(71))]);
    let run = folder.import().runs.remove(0);
    assert!(notes(&run).is_empty(), "{:?}", notes(&run));
    let stated = run.steps[0].systems[0].slices[0].stated.as_ref().unwrap();
    assert_eq!(stated.get(Metric::ContextSwitches), Some(1.0));
}

#[test]
fn recordings_of_a_part_of_the_step() {
    let long = log(1000).replace("10.0000s", "600.0000s").replace("9.9947", "599.9947");
    let long = long.replace("10000  (", "600000  (");
    let other = LOG.replace("scan", "insert");
    let with = |files: &[(&str, &str)]| {
        let second = format!("# another step\n{long}");
        let folder = Folder::new("raw", &[&[(LOG, &*long), (&*other, &*second)], files].concat());
        let run = folder.import().runs.remove(0);
        notes(&run).join("\n")
    };
    assert_eq!(with(&[(VM, &vmstat(119)), (IO, &iostat(59))]), "");
    let all = [
        with(&[(VM, &vmstat(20))]),
        with(&[(VM, &vmstat(119)), (&VM.replace("scan", "insert"), &vmstat(600))]),
    ];
    expect_test::expect![[r#"
        x.my8043_a/sb.vm.scan.range100.pk1.dop8: its 20 samples, at most 10 seconds apart, cover less than half of the step's 600 seconds: its means are those of a part of the step.

        x.my8043_a/sb.vm.scan.range100.pk1.dop8: its 119 samples, at most 1 second apart, cover less than half of the step's 600 seconds: its means are those of a part of the step."#]].assert_eq(&all.join("\n\n"));
}

#[test]
fn metrics_of_scripts_that_contradict_themselves_or_lack() {
    let head = "samp\tr/s\trMB/s\tw/s\twMB/s\tr/o\trKB/o\twKB/o\to/s\n";
    let vm_head = "samp\tcs/s\tcpu/s\tcs/o\tcpu/o\n";
    let good = "9\t20.0\t0.1\t0\t0\t0.020\t0.102\t0\t1000\n";
    let vm_good = "9\t2000\t12.6\t2.000\t0.012600\n";
    let with = |met: &str| told(&[(MET, met), (VM, &vmstat(9)), (IO, &iostat(9))]);
    assert_eq!(with(&format!("{head}{good}\n{vm_head}{vm_good}")), "[Some(2.0), Some(0.02)]\n");
    let all = [
        // Values of other runs.
        with(&format!("{head}{good}\n{vm_head}9\t2000\t12.6\t0.200\t0.012600\n")),
        with(&format!("{head}9\t20.0\t50.0\t0\t0\t0.020\t0.102\t0\t1000\n\n{vm_head}{vm_good}")),
        // Headings in another order.
        with(&format!("{head}{good}\nsamp\tcpu/s\tcs/s\tcs/o\tcpu/o\n{vm_good}")),
        // No tables, and tables without a line.
        with("Cannot parse: Device tps\n"),
        with("samples r/o o/s\n9 1 1000\n"),
        with(""),
        with(&format!("{head}\n{vm_head}{vm_good}")),
        with(&format!("{head}{good}\n{vm_head}")),
        with("samp\tr/o\to/s\n0\t-nan\t-nan\n"),
    ];
    expect_test::expect![[r#"
        [Some(1.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8, line 5: cs/s 2000 and cs/o 0.2 (a rate of 9945.27 to 10055.3) contradict o/s 1000: make it again.

        [Some(1.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8, line 2: rMB/s 50 and rKB/o 0.102 (a rate of 484466 to 507945) contradict o/s 1000: make it again.

        [Some(1.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8, line 5: cs/s 12.6 and cs/o 2 (a rate of 6.24688 to 6.35318); cpu/s 2000 and cpu/o 0.0126 (a rate of 158638 to 158822) contradict o/s 1000: make it again.

        [Some(1.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8: it has no line of metrics below headings `samp`: make it again.

        [Some(1.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8: it has no line of metrics below headings `samp`: make it again.

        [Some(1.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8: it has no line of metrics below headings `samp`: make it again.

        [Some(2.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8, line 1: no values below its headings samp r/s rMB/s w/s wMB/s r/o rKB/o wKB/o o/s.

        [Some(1.0), Some(0.02)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8, line 4: no values below its headings samp cs/s cpu/s cs/o cpu/o.

        [Some(1.0), Some(0.01)]
        Not imported: x.my8043_a/sb.met.scan.range100.pk1.dop8: it has no line of metrics below headings `samp`: make it again."#]].assert_eq(&all.join("\n\n"));
}
