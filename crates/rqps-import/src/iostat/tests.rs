//! Reports of sysstat, BusyBox and FreeBSD in all their units.

use super::*;

/// A report of the boot, and two of the step.
const TEXT: &str = "\
Linux 6.8.0 (bench) \t08/01/25 \t_x86_64_\t(8 CPU)

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s
loop0            0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00
nvme0n1        900.00  90000.00     0.00   0.00    0.10    40.00  100.00  90000.00
sda              7.00      7.00     0.00   0.00    0.10    40.00  100.00      7.00

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          10.00    0.00    2.00    0.00    0.00   88.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s
loop0            0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00
nvme0n1         10.00    400.00     0.00   0.00    0.10    40.00  100.00   1000.00
sda              0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s
nvme0n1         30.00    800.00     0.00   0.00    0.10    26.67  100.00   3000.00
";

/// Reads per second, KB read and KB written.
fn of(text: &str, device: Option<&str>) -> [Option<f64>; 3] {
    match parse(text, device).unwrap() {
        Found::Device(d) => [d.reads_per_s, d.read_kb_per_s, d.written_kb_per_s],
        other => panic!("{other:?}"),
    }
}

/// Why there are no averages.
fn missing(text: &str, device: Option<&str>) -> String {
    match parse(text, device).unwrap() {
        Found::Nothing(missing) => missing.to_string(),
        other => panic!("{other:?}"),
    }
}

/// A text of two equal reports. The first is that of the boot.
fn twice(report: &str) -> String {
    format!("{report}\n{report}\n")
}

#[test]
fn the_device_that_moved_something() {
    assert_eq!(of(TEXT, None), [Some(20.0), Some(600.0), Some(2000.0)]);
    // What `-z` does not list did nothing.
    assert_eq!(of(TEXT, Some("sda")), [Some(0.0); 3]);
    assert_eq!(
        missing(TEXT, Some("md0")),
        "it has no report of md0 after the first, only of loop0, nvme0n1, sda"
    );
    let cut = format!("{TEXT}\nDevice  r/s rkB/s w/s wkB/s\nnvme0n1  99.0 99");
    assert_eq!(of(&cut, None), [Some(20.0), Some(600.0), Some(2000.0)]);
}

#[test]
fn lines_of_the_cpus_are_no_devices() {
    // As sysstat 11.6 has it, where the columns stand so far left that those lines have them, too.
    let report = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          \
                  10.00    1.00    2.00    3.00    4.00   80.00\n\n\
                  Device            r/s     w/s     rkB/s     wkB/s\n\
                  sda             10.00   20.00    400.00    500.00\n";
    assert_eq!(of(&twice(report), None), [Some(10.0), Some(400.0), Some(500.0)]);
}

#[test]
fn units_of_all_versions() {
    let megabytes = "Device r/s rMB/s w/s wMB/s\nsda 10,00 0,50 20,00 2,00\n";
    assert_eq!(of(&twice(megabytes), None), [Some(10.0), Some(512.0), Some(2048.0)]);
    let sectors = "Device: rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz\nsda 0 0 10 20 800 40 8\n";
    assert_eq!(of(&twice(sectors), None), [Some(10.0), Some(400.0), Some(20.0)]);
    let human = "Device r/s rkB/s w/s wkB/s\nsda 10.00 1.5M 20.00 512.0B\n";
    assert_eq!(of(&twice(human), None), [Some(10.0), Some(1536.0), Some(0.5)]);
    // Without -x reads are not told; so is BusyBox.
    let plain = "Device: tps Blk_read/s Blk_wrtn/s Blk_read Blk_wrtn\nsda 9.00 4.00 8.00 40 80\n";
    assert_eq!(of(&twice(plain), None), [None, Some(2.0), Some(4.0)]);
    let freebsd = "                        extended device statistics\n\
                   device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b\n\
                   nda0           1       2     40.0     50.0     0     0     0     0    0   0\n";
    assert_eq!(of(&twice(freebsd), None), [Some(1.0), Some(40.0), Some(50.0)]);
}

#[test]
fn json_with_either_unit() {
    let report = |disks: &str| format!("{{\"avg-cpu\": {{\"user\": 1.0}}, \"disk\": [{disks}]}}");
    let text = |disk: &str| {
        let boot = report(
            "{\"disk_device\": \"sda\", \"r/s\": 900.0, \"rMB/s\": 9, \"wMB/s\": 9, \"rkB/s\": 9, \"wkB/s\": 9}",
        );
        format!(
            "{{\"sysstat\": {{\"hosts\": [{{\"nodename\": \"bench\", \"statistics\": [{boot}, {}]}}]}}}}",
            report(disk)
        )
    };
    let megabytes =
        text("{\"disk_device\": \"sda\", \"r/s\": 10.0, \"rMB/s\": 0.5, \"wMB/s\": 2.0}");
    assert_eq!(of(&megabytes, None), [Some(10.0), Some(512.0), Some(2048.0)]);
    let kilobytes =
        text("{\"disk_device\": \"sda\", \"tps\": 1, \"kB_read/s\": 3, \"kB_wrtn/s\": 4}");
    assert_eq!(of(&kilobytes, None), [None, Some(3.0), Some(4.0)]);
    let of_11 = text(
        "{\"disk_device\": \"sda\", \"rrqm\": 7, \"r\": 10.0, \"w\": 9, \"rkB\": 3, \"wkB\": 4}",
    );
    assert_eq!(of(&of_11, None), [Some(10.0), Some(3.0), Some(4.0)]);
    let basic_of_11 = text(
        "{\"disk_device\": \"sda\", \"tps\": 1, \"kB_read_per_sec\": 3, \"kB_wrtn_per_sec\": 4}",
    );
    assert_eq!(of(&basic_of_11, None), [None, Some(3.0), Some(4.0)]);
    assert!(parse(&megabytes[..megabytes.len() - 3], None).unwrap_err().problem.contains("SIGINT"));
    assert!(parse(&text("{\"disk_device\": \"sda\", \"r/s\": 1}"), None).is_err());
}

#[test]
fn several_devices_are_the_users_to_choose_from() {
    let both = TEXT.replace("sda              0.00", "sda              1.00");
    let names = vec!["nvme0n1".to_owned(), "sda".to_owned()];
    assert_eq!(parse(&both, None), Ok(Found::Several(names)));
    assert!(parse("Device tps\n", None).is_err());
}

#[test]
fn why_there_are_no_averages() {
    // The boot alone is no measurement.
    let boot = "Device r/s rkB/s wkB/s\nsda 1 2 3\n";
    assert_eq!(missing(boot, None), "its only report is the mean since the boot");
    assert_eq!(
        missing(&format!("{boot}\nDevice r/s rkB/s wkB/s\nsda 1 2"), None),
        "its only report after the mean since the boot was cut off"
    );
    // `-z` lists no device that did nothing.
    let idle = format!("{boot}\nDevice r/s rkB/s wkB/s\n");
    assert_eq!(missing(&idle, None), "its reports after the first list no device");
    // Where the step was shorter than a second.
    for begun in
        ["Linux 6.8.0 (bench) \t08/01/25 \t_x86_64_\t(8 CPU)\n", "avg-cpu:  %user   %nice\n"]
    {
        assert_eq!(missing(begun, None), "it ends before its first report of devices");
    }
    assert_eq!(parse("\n", None), Err("it is empty".into()));
    for other in ["/bin/sh: iostat: not found\n", "   extended device statistics\n"] {
        let problem = parse(other, None).unwrap_err().problem;
        assert!(problem.starts_with("it is not output of iostat -kx"), "{problem}");
    }
}

/// `iostat -xh` of sysstat 10 and 11: a name of any length stands alone above its values.
#[test]
fn a_device_alone_on_its_line() {
    let report = "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz\n\
                  sda\n                  0.10     0.20   10.00   20.00   400.00   500.00    12.0\n\
                  dm-0\n                  0.00     0.00    0.00    0.00     0.00     0.00     0.0\n";
    assert_eq!(of(&twice(report), None), [Some(10.0), Some(400.0), Some(500.0)]);
    assert_eq!(of(&twice(report), Some("dm-0")), [Some(0.0); 3]);
    // Cut off behind a name, or within the values: the report is excluded.
    for end in ["sda\n", "sda\n   0.10 0.20 99.0"] {
        let heads = "Device:  rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz\n";
        let cut = format!("{}\n{heads}{end}", twice(report));
        assert_eq!(of(&cut, None), [Some(10.0), Some(400.0), Some(500.0)], "{end}");
    }
}

/// `iostat -xh` of sysstat 12, and illumos.
#[test]
fn a_device_in_the_last_column() {
    let human = "     r/s     rkB/s   rrqm/s  %rrqm     w/s     wkB/s Device\n   \
                 10.00      1.5M     0.00   0.0%   20.00    512.0k nvme0n1\n";
    assert_eq!(of(&twice(human), None), [Some(10.0), Some(1536.0), Some(512.0)]);
    assert_eq!(of(&twice(human), Some("nvme0n1")), [Some(10.0), Some(1536.0), Some(512.0)]);
    let illumos = "                    extended device statistics\n    \
                   r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n    \
                   1.0    2.0   40.0   50.0  0.0  0.0    0.0    0.0   0   0 c1t0d0\n";
    assert_eq!(of(&twice(illumos), None), [Some(1.0), Some(40.0), Some(50.0)]);
}

/// What would be read one column off is refused.
#[test]
fn a_number_is_no_device() {
    let report = "Device r/s rkB/s w/s wkB/s\n1.00 10.00 400.00 20.00 500.00\n";
    let found = problem(&twice(report));
    assert!(found.starts_with("Some(2): a line of values has 1.00 where its device"), "{found}");
    let two_words = "Device r/s rkB/s w/s wkB/s\nmy disk 10.00 400.00 20.00 500.00\n";
    let found = problem(&twice(two_words));
    assert!(found.starts_with("Some(2): a line has 6 fields below 5 headings"), "{found}");
}

/// The line, from 1, and what is wrong with it.
fn problem(text: &str) -> String {
    let found = parse(text, None).unwrap_err();
    format!("{:?}: {}", found.line_idx.map(|idx| idx + 1), found.problem)
}

const HEADS: &str = "Device r/s rkB/s w/s wkB/s\n";

/// Reports of one device with these values.
fn reports(values: &[&str]) -> String {
    values.iter().map(|values| format!("{HEADS}sda {values}\n\n")).collect()
}

/// They would count as reports of zeros.
#[test]
fn a_line_that_cannot_be_read_is_no_report_of_zeros() {
    let of = |values: &str| problem(&reports(&["9 9 9 9", values, "10 400 20 500"]));
    let all = [
        of("nan 400 20 500"),
        of("10 inf 20 500"),
        of("-10 400 20 500"),
        of("10 4000K 20 500"),
        of("10 400 20 1e300"),
        of("10 1.234,5 20 500"),
        of("10 1.234 20 500"),
        of("10 400"),
        of("10 400 20 500\nsda 1 2 3 4"),
    ];
    expect_test::expect![[r#"
        Some(5): "nan" is not a number that iostat prints: record it again with LC_ALL=C
        Some(5): "inf" is not a number that iostat prints: record it again with LC_ALL=C
        Some(5): "-10" is not a number that iostat prints: record it again with LC_ALL=C
        Some(5): "4000K" is not a number that iostat prints: record it again with LC_ALL=C
        Some(5): "1e300" is not a number that iostat prints: record it again with LC_ALL=C
        Some(5): "1.234,5" is not a number that iostat prints: record it again with LC_ALL=C
        Some(5): "1.234" is not a number that iostat prints: record it again with LC_ALL=C
        Some(5): a line has 3 fields below 5 headings: record it again
        Some(6): sda occurs twice in one report: record it again"#]]
    .assert_eq(&all.join("\n"));
}

/// Each recording begins with a mean since the boot.
#[test]
fn a_recorder_that_was_started_again() {
    let banner = "Linux 6.8.0 (bench) 08/01/25 _x86_64_ (8 CPU)\n\n";
    let one = |value: &str| {
        let step = format!("10 {value} 20 500");
        format!("{banner}{}", reports(&["9 90000 9 9", &step, &step]))
    };
    let step = [Some(10.0), Some(300.0), Some(500.0)];
    assert_eq!(of(&format!("{}{}", one("200"), one("400")), None), step);
    // The first of them was cut off.
    let first = one("200");
    let cut = format!("{}\n{}", &first[..first.len() - 6], one("400"));
    assert_eq!(of(&cut, None), [Some(10.0), Some(1000.0 / 3.0), Some(500.0)]);
    let statistics = |kb: u32| {
        format!(
            "{{\"disk\": [{{\"disk_device\": \"sda\", \"r/s\": 10, \"rkB/s\": {kb}, \"wkB/s\": 500}}]}}"
        )
    };
    let host =
        |kb: u32| format!("{{\"statistics\": [{}, {}]}}", statistics(90_000), statistics(kb));
    let document = |hosts: &str| format!("{{\"sysstat\": {{\"hosts\": [{hosts}]}}}}");
    let hosts = document(&format!("{}, {}", host(200), host(400)));
    assert_eq!(of(&hosts, None), step);
    assert_eq!(of(&format!("{}\n{}", document(&host(200)), document(&host(400))), None), step);
    let negative = document(&host(200).replace("10", "-3"));
    assert_eq!(
        problem(&negative),
        "None: r/s of sda: \"-3\" is not a number from 0 on: record it again"
    );
    let without_disks = document("{\"statistics\": [{\"disk\": []}, {\"avg-cpu\": {}}]}");
    assert!(problem(&without_disks).starts_with("None: it has no columns"));
}

/// Headings of another version tell no reads: their sum is not that of the reports that do.
#[test]
fn what_some_reports_do_not_tell_is_not_known() {
    let other = "Device tps kB_read/s kB_wrtn/s\nsda 1 400 500\n\n";
    let text = format!("{}{other}{}", reports(&["9 9 9 9"]), reports(&["10 400 20 500"]));
    assert_eq!(of(&text, None), [None, Some(400.0), Some(500.0)]);
}

/// Values of the only device, and its problems.
fn told(text: &str) -> String {
    match parse(text, None).unwrap() {
        Found::Device(d) => {
            let values = [d.reads_per_s, d.read_kb_per_s, d.written_kb_per_s];
            let told = d.problems().map(|said| format!("\n{:?} {}", said.line_idx, said.problem));
            format!("{values:?}{}", told.collect::<String>())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_times_their_size_are_what_was_moved() {
    let heads = "Device r/s rkB/s rareq-sz w/s wkB/s wareq-sz\n";
    let of = |heads: &str, line: &str| told(&twice(&format!("{heads}sda {line}\n")));
    let all = [
        of(heads, "10.00 4000.00 40.00 20.00 500.00 25.00"),
        of(heads, "10.00 400.00 40.00 20.00 500.00 2.50"),
        of(&heads.replace("kB/s", "MB/s"), "10.00 0.90 40.00 20.00 0.49 25.00"),
        of(heads, "10.00 4000.00 40.00 20.00 500.00 2.50"),
        of(&heads.replace("kB/s", "MB/s"), "10.00 400.00 40.00 20.00 500.00 25.00"),
    ];
    expect_test::expect![[r#"
        [None, None, Some(500.0)]
        Some(4) r/s 10 of rareq-sz 40 are not 4000 KB read per second: reads and KB read are excluded; record it again
        [Some(10.0), Some(400.0), None]
        Some(4) w/s 20 of wareq-sz 2.5 are not 500 KB written per second: KB written are excluded; record it again
        [None, None, Some(501.76)]
        Some(4) r/s 10 of rareq-sz 40 are not 921.6 KB read per second: reads and KB read are excluded; record it again
        [None, None, None]
        Some(4) r/s 10 of rareq-sz 40 are not 4000 KB read per second: reads and KB read are excluded; record it again
        Some(4) w/s 20 of wareq-sz 2.5 are not 500 KB written per second: KB written are excluded; record it again
        [None, None, None]
        Some(4) r/s 10 of rareq-sz 40 are not 409600 KB read per second: reads and KB read are excluded; record it again
        Some(4) w/s 20 of wareq-sz 25 are not 512000 KB written per second: KB written are excluded; record it again"#]].assert_eq(&all.join("\n"));
    for right in [
        "10.00 400.00 40.00 20.00 500.00 25.00",
        "0.01 0.13 16.00 0.00 0.00 0.00",
        "10,00 400,00 40,00 20,00 500,00 25,00",
        "10 404 40 20 495 25",
        "10.00 1.5M 40.00k 20.00 500.0k 25.0k",
    ] {
        assert!(!of(heads, right).contains("excluded"), "{right}");
    }
    // A device that contradicts itself is one that moved something.
    let both = format!("{heads}sda 10.00 4000.00 40.00 0 0 0\nsdb 10.00 400.00 40.00 0 0 0\n");
    assert!(matches!(parse(&twice(&both), None), Ok(Found::Several(_))));
    // Sectors, and the size of both directions together.
    let sectors = "Device: r/s w/s rsec/s wsec/s avgrq-sz\n";
    assert!(!of(sectors, "10 20 800 40 28").contains("excluded"));
    let disk = |kb: f64| {
        format!(
            "{{\"disk_device\": \"sda\", \"r/s\": 10.0, \"rkB/s\": {kb}, \"rareq-sz\": 40.0, \"wkB/s\": 9}}"
        )
    };
    let json = |kb: f64| {
        let report = format!("{{\"disk\": [{}]}}", disk(kb));
        let text =
            format!("{{\"sysstat\": {{\"hosts\": [{{\"statistics\": [{report}, {report}]}}]}}}}");
        told(&text).contains("excluded")
    };
    assert!(json(4000.0) && !json(400.0));
}

/// FreeBSD prints no line when it starts: its mean since the boot comes again amid the reports.
#[test]
fn a_mean_since_the_boot_amid_reports() {
    let heads = "  extended device statistics\ndevice r/s w/s kr/s kw/s\n";
    let text =
        |lines: &[&str]| lines.iter().map(|l| format!("{heads}nda0 {l}\n")).collect::<String>();
    let (boot, later, step) = ("90 9 9000 900", "93 9 9300 930", "10 1 40 50");
    let clean = told(&text(&[boot, step, step, step]));
    let again = told(&text(&[boot, step, later, step, step]));
    let (values, said) = again.split_once('\n').unwrap();
    assert_eq!(values, clean);
    assert_eq!(
        said,
        "None report 3 is like the first, the mean since the boot, and unlike those around it: it is excluded, as iostat was restarted"
    );
    assert!(told(&text(&[boot, step, later, step, later, step])).contains("1 more such reports"));
    // A step like all of the past, one that changes, and a host that did nothing before.
    assert!(!told(&text(&[boot, boot, boot, boot])).contains("excluded"));
    assert!(!told(&text(&[boot, step, "50 5 4000 400", step])).contains("excluded"));
    assert!(!told(&text(&["1 1 2 2", step, "1 1 2 2", step])).contains("excluded"));
    // Linux names its host when it starts.
    let banner = "Linux 6.8.0 (bench) 08/01/25 _x86_64_ (8 CPU)\n\n";
    assert!(!told(&format!("{banner}{}", text(&[boot, step, later, step]))).contains("excluded"));
}
