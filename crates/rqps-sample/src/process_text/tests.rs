//! Texts of several kernels, with names that try to mislead.

use super::*;

/// Linux 6.18.
const STAT_6: &str = "12884 (mysqld) S 12880 12880 4619 0 -1 4194304 101 102 3 4 500 60 70 8 20 0 \
    51 0 140208 3133440 388 18446744073709551615 1 2 3 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 1 2 3 4 5 \
    6 7 0\n";
/// Linux 3.10, a name with a parenthesis, a space and what looks like fields.
const STAT_3_10: &str = "7 (a) R 1 (b) S 1 7 7 0 -1 4202752 1 2 3 4 5 6 7 8 20 0 1 0 99 1 1\n";

#[test]
fn stat_of_kernel_6() {
    let expected = ProcessStat {
        state: 'S',
        parent: 12880,
        minor_faults: 101,
        reaped_minor_faults: 102,
        major_faults: 3,
        reaped_major_faults: 4,
        user_ticks: 500,
        system_ticks: 60,
        reaped_user_ticks: 70,
        reaped_system_ticks: 8,
        n_threads: 51,
        start_ticks: 140_208,
    };
    assert_eq!(parse_process_stat(STAT_6), Ok(expected));
}

#[test]
fn a_name_cannot_mislead() {
    let stat = parse_process_stat(STAT_3_10).unwrap();
    assert_eq!((stat.state, stat.parent, stat.n_threads, stat.start_ticks), ('S', 1, 1, 99));
    assert_eq!((stat.user_ticks, stat.system_ticks), (5, 6));
}

#[test]
fn stat_names_the_field() {
    let error = parse_process_stat("7 (a) S 1 7 7 0 -1 0 1 2 3 4 x 6").unwrap_err();
    assert!(error.to_string().ends_with("field 14 (utime) is \"x\""), "{error}");
    let error = parse_process_stat("7 (a) S 1 7").unwrap_err();
    assert!(error.to_string().ends_with("field 10 (minflt) is \"\""), "{error}");
    assert!(parse_process_stat("").unwrap_err().to_string().contains("no name"));
}

#[test]
fn status_of_kernel_6() {
    let text = "Name:\tmysqld\nTgid:\t7\nVmHWM:\t  1616 kB\nVmRSS:\t    1616 kB\n\
        RssAnon:\t     112 kB\nRssFile:\t    1500 kB\nRssShmem:\t       4 kB\nThreads:\t51\n\
        voluntary_ctxt_switches:\t123\nnonvoluntary_ctxt_switches:\t45\n";
    let expected = TaskStatus {
        rss_bytes: Some(1616 * 1024),
        rss_anonymous_bytes: Some(112 * 1024),
        rss_shared_bytes: 1504 * 1024,
        n_threads: 51,
        voluntary_switches: 123,
        involuntary_switches: 45,
    };
    assert_eq!(parse_task_status(text), Ok(expected));
}

#[test]
fn status_of_kernel_3_10_and_of_the_dead() {
    let text = "Name:\tmysqld\nVmRSS:\t    1616 kB\nvoluntary_ctxt_switches:\t1\n";
    let status = parse_task_status(text).unwrap();
    assert_eq!((status.rss_bytes, status.rss_anonymous_bytes), (Some(1616 * 1024), None));
    let status = parse_task_status("Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n").unwrap();
    assert_eq!((status.rss_bytes, status.n_threads), (None, 1));
    let error = parse_task_status("Name:\tx\nVmRSS:\tbig\n").unwrap_err();
    assert_eq!(error.to_string(), "line 2 \"VmRSS:\\tbig\": not a number of kB");
}

#[test]
fn io_and_children() {
    let text = "rchar: 7277\nwchar: 301\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\n\
        write_bytes: 8192\ncancelled_write_bytes: 0\n";
    let expected = ProcessIo { read_bytes: 4096, write_bytes: 8192 };
    assert_eq!(parse_process_io(text), Ok(expected));
    assert!(parse_process_io("rchar: 1\n").unwrap_err().to_string().contains("read_bytes"));

    let mut ids = Vec::new();
    parse_children("12 345 \n", |id| ids.push(id)).unwrap();
    assert_eq!(ids, [12, 345]);
    parse_children("", |_| unreachable!()).unwrap();
    assert!(parse_children("12 x", |_| ()).unwrap_err().to_string().contains("\"x\""));
}

proptest::proptest! {
    #[test]
    fn never_panics(text in "(?s).{0,300}", near in "[0-9]{1,5} \\(.{0,20}\\) [A-Z] [-0-9 ]{0,99}") {
        for text in [&text, &near] {
            let _ = parse_process_stat(text);
            let _ = parse_task_status(text);
            let _ = parse_process_io(text);
            let _ = parse_children(text, |_| ());
        }
    }
}
