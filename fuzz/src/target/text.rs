//! Text of the kernel, of perf and of users.

use std::path::{Path, PathBuf};

use rqps_lab::PlanFile;
use rqps_sample::{
    cgroup_text, host_text, memory_text, mount_text, place_text, process_text, stat_text,
    storage_text, wait_text,
};
use rqps_server::Catalogue;
use rqps_stacks::name::readable;
use rqps_stacks::{CallTree, ScriptReader, Stacks, counter_text};
use rqps_workload::Suite;

pub(super) fn proc(text: &str) {
    for hierarchy in cgroup_text::parse_hierarchies(text) {
        let _ = cgroup_text::dir_of(&hierarchy, text);
    }
    let _ = cgroup_text::value_of(text, "nr_throttled");
    let _ = (host_text::parse_cpuinfo(text), host_text::parse_os_release(text));
    let _ = (memory_text::parse_meminfo(text), memory_text::parse_vmstat(text));
    let _ = mount_text::parse_mount_of(text, Path::new("/var/lib/mysql"));
    let _ = (place_text::parse_state(text), place_text::parse_times_run(text));
    let _ = (place_text::parse_call(text), place_text::parse_place(text));
    let _ = place_text::parse_kernel_stack(text);
    let _ = (process_text::parse_process_stat(text), process_text::parse_task_status(text));
    let _ = process_text::parse_process_io(text);
    let _ = process_text::parse_children(text, |_| {});
    let _ = stat_text::parse_host_stat(text);
    let _ = storage_text::parse_diskstats(text, (8, 0));
    let _ = (wait_text::parse_schedstat(text), wait_text::parse_pressure(text));
}

pub(super) fn perf(text: &str) {
    let mut reader = ScriptReader::default();
    if text.lines().all(|line| reader.line(line).is_ok()) {
        let script = reader.end();
        let shares = [script.complete_share(), script.unknown_share()];
        assert!(shares.into_iter().flatten().all(|share| (0.0..=1.0).contains(&share)));
    }
    let _ = counter_text::parse_counters(text).map(|counters| {
        (
            counter_text::value_of(&counters, "cycles"),
            counter_text::instructions_per_cycle(&counters),
        )
    });
    if let Ok(stacks) = Stacks::parse(text) {
        let _ = CallTree::of(&stacks);
    }
    for line in text.lines() {
        let _ = readable(line);
    }
}

pub(super) fn plans(text: &str, catalogue: &Catalogue) {
    if let Ok(file) = PlanFile::parse(text, "fuzz")
        && let Ok(plan) = file.resolve("fuzz", catalogue)
    {
        // What is stored is read again when a run goes on.
        let stored = plan.to_toml();
        let again = PlanFile::parse(&stored, "stored").map_err(|error| error.to_string());
        let again =
            again.unwrap_or_else(|error| panic!("{error} in the plan as it is stored: {stored}"));
        let again = again.resolve("stored", catalogue);
        let again =
            again.unwrap_or_else(|error| panic!("{error} for the plan as it is stored: {stored}"));
        assert_eq!(again.to_toml(), stored, "a plan that is stored is another one when it is read");
    }
    let _ = Suite::parse(text, "fuzz");
}

/// The files of a directory in the repository, with an ending.
fn files(dir: &str, ending: &str) -> Vec<Vec<u8>> {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(dir);
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == ending));
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

pub(super) fn proc_seeds() -> Vec<Vec<u8>> {
    // Of this very process: what the kernel of the day writes.
    let names = [
        "/proc/self/stat",
        "/proc/self/status",
        "/proc/self/io",
        "/proc/self/schedstat",
        "/proc/self/mountinfo",
        "/proc/self/cgroup",
        "/proc/self/syscall",
        "/proc/self/stack",
        "/proc/self/wchan",
        "/proc/stat",
        "/proc/meminfo",
        "/proc/vmstat",
        "/proc/diskstats",
        "/proc/pressure/io",
        "/proc/cpuinfo",
        "/etc/os-release",
    ];
    let mut seeds: Vec<Vec<u8>> =
        names.iter().filter_map(|name| std::fs::read(name).ok()).collect();
    seeds.push(b"7 (a) b (c) S 3 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 4 0 12345 0 0".to_vec());
    seeds.push(b"some avg10=0.00 avg60=0.00 avg300=0.00 total=123456\n".to_vec());
    seeds
}

pub(super) fn perf_seeds() -> Vec<Vec<u8>> {
    [
        "mysqld  4242/4250  1234.567890:     250000 cpu-clock:uppp: \n\
         \t    55d0c0ffee00 row_search_mvcc+0x1a0 (/usr/sbin/mysqld)\n\
         \t    7f00deadbeef __libc_start_main@@GLIBC_2.34+0x80 (/lib/libc.so.6)\n\n",
        "postgres 77/77 9.000001: 1010101 cpu-clock: \n\tffffffff81000000 do_syscall_64+0x1 ([kernel.kallsyms])\n\n",
        "1234567,,cycles:u,1000000,100.00,,\n<not supported>,,instructions:u,0,100.00,,\n",
        "main;a;b 3\nmain;a 1\nmain;c<int>(long);_ZN3foo3barEv 9\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub(super) fn plan_seeds() -> Vec<Vec<u8>> {
    let mut seeds = files("examples", "toml");
    seeds.extend(files("examples/findings", "toml"));
    seeds.extend(files("crates/rqps-workload/suites", "toml"));
    seeds.push(
        b"[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'b'\n[[suite]]\nrows = 10\nclients = [1]\n\
          steps = ['point-query']\n[suite.seconds]\nread = 0.1\n[schedule]\nslice = '20ms'\nbudget = '4s'\n"
            .to_vec(),
    );
    seeds
}
