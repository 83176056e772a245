//! Text of the kernel, of perf and of users.

use std::path::Path;
use std::sync::LazyLock;

use rqps_runner::PlanFile;
use rqps_sample::{
    cgroup_text, host_text, memory_text, mount_text, place_text, process_text, stat_text,
    storage_text, wait_text,
};
use rqps_server::Catalogue;
use rqps_stacks::name::readable;
use rqps_stacks::{CallTree, ScriptReader, Stacks, counter_text};
use rqps_workload::Suite;

pub(crate) fn proc(text: &str) {
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
    let _ = storage_text::parse_diskstats(text, storage_text::DeviceId { major: 8, minor: 0 });
    let _ = (wait_text::parse_schedstat(text), wait_text::parse_pressure(text));
}

pub(crate) fn perf(text: &str) {
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

/// Read once: an input takes less time than the catalogue.
static CATALOGUE: LazyLock<Option<Catalogue>> = LazyLock::new(|| Catalogue::builtin().ok());

pub(crate) fn plans(text: &str) {
    let Some(catalogue) = &*CATALOGUE else { panic!("the catalogue cannot be read") };
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
