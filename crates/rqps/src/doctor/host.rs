//! What measuring needs of the host: room, rights, and that nothing changes its speed meanwhile.

use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};
use rqps_model::{Host, Wall};
use rqps_runner::stacks::Ability;
use rqps_sample::{Condition, condition, host_info, read_ahead_file};
use rqps_server::{Error, Identity, confine, disk, wall};
use rqps_stacks::profile::NotHad;

use super::Check;
use crate::Surroundings;

/// Files that 512 connections and a server's tables take, on both sides.
const OPEN_FILES: u64 = 4096;

/// A server of MySQL 8.0 unpacked beside its archive, bytes.
const CACHE_BYTES: u64 = 2_000_000_000;

/// Two data directories with small tables, redo and binary logs, bytes.
const DATA_BYTES: u64 = 5_000_000_000;

/// Read-ahead beyond which it is told what that does, KB: more than many index ranges read at all. The kernel's
/// own is 128 (`VM_READAHEAD_PAGES` of include/linux/mm.h), or twice what a device prefers to be asked for at once.
const LONG_READ_AHEAD_KB: u32 = 1024;

/// Looks at the host.
pub(super) fn checks(around: &Surroundings) -> Vec<Check> {
    let mut checks = places(around);
    checks.push(open_files(getrlimit(Resource::RLIMIT_NOFILE).ok()));
    let found = condition(Path::new("/"));
    checks.extend(perf_checks(rqps_runner::stacks::ability()));
    if let Ok(host) = host_info(&around.results) {
        checks.extend(condition_checks(&found, &host));
        let file = read_ahead_file(&around.results);
        checks.extend(read_ahead(&host, file.as_deref()));
    }
    checks.push(memory_limits(confine::probe_memory()));
    // Without their user no server starts, which is said above.
    let identity = Identity::for_servers();
    checks.extend(identity.ok().map(|user| walls(&wall::probe(&user, around.trial.walls))));
    checks
}

/// Where servers live, whom they run as, and how much room there is.
fn places(around: &Surroundings) -> Vec<Check> {
    let identity = Identity::for_servers();
    let needed_for = "starting servers, which refuse to run as root";
    let user = match &identity {
        Ok(identity) => Check::ok("servers' user", identity.name.clone(), needed_for),
        Err(error) => Check::ok("servers' user", error.to_string(), needed_for)
            .missing("add the user `nobody`"),
    };
    let mut checks = vec![user.required()];
    let needed_for = "prefixes, data directories and sockets that the servers' user can reach";
    match rqps_runner::places(&around.environment()) {
        Ok(places) => {
            let found = format!("data in {}", places.data.display());
            checks.push(Check::ok("places", found, needed_for).required());
            for (name, path, bytes, what) in [
                ("disk: cache", &places.cache, CACHE_BYTES, "fetched servers"),
                ("disk: data", &places.data, DATA_BYTES, "data directories"),
                ("disk: results", &around.results, 100_000_000, "the results store"),
                ("disk: temporary", &around.temp, 100_000_000, "temporary files"),
            ] {
                checks.push(room(name, path, bytes, what));
            }
        }
        Err(error) => {
            let remedy = "name directories that this user can reach with --cache and --results";
            checks.push(Check::ok("places", format!("{error:#}"), needed_for).missing(remedy));
            if let Some(last) = checks.last_mut() {
                last.required = true;
            }
        }
    }
    checks
}

fn room(name: &str, path: &Path, bytes: u64, what: &str) -> Check {
    let free = disk::free_bytes(path).unwrap_or(0);
    let found = format!("{} MB free in {}", free / 1_000_000, path.display());
    let check = Check::ok(name, found, what).required();
    if free >= bytes {
        return check;
    }
    let remedy = format!("free {} MB, or choose another directory", bytes / 1_000_000);
    // A tenth is enough for small servers and tiny tables.
    if free >= bytes / 10 { check.warning(remedy) } else { check.missing(remedy) }
}

fn open_files(limit: Option<(u64, u64)>) -> Check {
    let name = "open files";
    let needed_for = "many clients and tables";
    let Some((soft, hard)) = limit else { return Check::ok(name, "not known", needed_for) };
    let check = Check::ok(name, format!("{soft}, at most {hard}"), needed_for);
    if soft >= OPEN_FILES {
        return check;
    }
    check.warning(format!("ulimit -n {}", OPEN_FILES.min(hard)))
}

/// What stack profiles can have here.
fn perf_checks(found: Result<Ability, NotHad>) -> Vec<Check> {
    let needed_for = "`profile` in a plan and `rqps profile`: CPU time by function";
    let lacks = |NotHad { what, reason, remedy }: NotHad| {
        Check::ok("perf", format!("no {what}: {reason}"), needed_for).warning(remedy)
    };
    let Ability { event, missing, has_counters } = match found {
        Ok(ability) => ability,
        Err(not_had) => return vec![lacks(not_had)],
    };
    let mut checks = vec![Check::ok("perf", format!("samples by {event}"), needed_for)];
    // What has no remedy is told below, as it is.
    checks.extend(missing.into_iter().filter(|m| !m.remedy.is_empty()).map(lacks));
    let counters = if has_counters {
        "counted by the CPU"
    } else {
        "none: this CPU or its hypervisor provides none"
    };
    let needed_for = "cycles, instructions and cache misses per operation; not needed for stacks";
    checks.push(Check::ok("hardware counters", counters, needed_for));
    checks
}

/// What a run would meet that limits a system's memory.
fn memory_limits(probed: Result<&'static str, Error>) -> Check {
    let name = "memory limits";
    let what = "`memory` of a system; `cpus` needs affinity only";
    match probed {
        Ok(by) => Check::ok(name, by, what),
        Err(Error::Limit { detail, remedy, .. }) => Check::ok(name, detail, what).warning(remedy),
        Err(error) => Check::ok(name, error.chain(), what).warning("run the command again"),
    }
}

/// What confines servers to their own files.
fn walls(wall: &Wall) -> Check {
    let what = "confining servers that rqps starts to their own directories";
    let check = Check::ok("wall", wall.to_string(), what);
    if wall.holds() {
        return check;
    }
    check.warning(
        "boot with `landlock` in the kernel's list `lsm=` (Linux 5.13 or later); or, as an ordinary user, \
         allow user namespaces: sysctl user.max_user_namespaces=10000 and, where it exists, \
         kernel.apparmor_restrict_unprivileged_userns=0",
    )
}

/// How far the kernel reads ahead on the storage, which is set in `file`: nothing that is wrong, but what scans
/// of data that are not in memory cost goes by it.
fn read_ahead(host: &Host, file: Option<&Path>) -> Option<Check> {
    let kb = host.read_ahead_kb?;
    let effect = match kb {
        0 => ": each read waits for the storage",
        1..=LONG_READ_AHEAD_KB => "",
        _ => ": long scans are often faster than with 128 KB, short scans read more than they use",
    };
    let scans = "scans through the page cache of data outside it (MyRocks, PostgreSQL)";
    let found = format!("{kb} KB, {}", host.storage);
    let check = Check::ok("read-ahead", found, &format!("{scans}{effect}"));
    if effect.is_empty() {
        return Some(check);
    }
    let file = file.unwrap_or(Path::new("/sys/block/DEVICE/queue/read_ahead_kb"));
    Some(check.note(format!(
        "nothing if it is intended and the same on all hosts; else: echo 128 > {} (as root)",
        file.display()
    )))
}

fn condition_checks(found: &Condition, host: &Host) -> Vec<Check> {
    let unknown = || "not known".to_owned();
    let repeat = "repeatable QPS";
    let mut checks = Vec::new();
    let glibc = found.glibc.clone().unwrap_or_else(unknown);
    checks.push(Check::ok("glibc", glibc, "servers from registries, which need 2.17"));
    if let Some(last) = checks.last_mut()
        && found.glibc.as_deref().is_some_and(|version| !at_least(version, (2, 17)))
    {
        *last = last.clone().missing("use a distribution of 2014 or later");
    }
    let cpus = f64::from(host.n_cpus.max(1));
    if let Some(load) = found.load {
        let check = Check::ok("load", format!("{load} on {} CPUs", host.n_cpus), repeat);
        // Half a CPU of others is seen in every rate of a small host.
        let busy = load > (cpus / 4.0).max(0.5);
        let remedy = "wait until other programs have ended: `top`";
        checks.push(if busy { check.warning(remedy) } else { check });
    }
    let machine = if host.virtual_machine { "virtual" } else { "no hypervisor" };
    let check = Check::ok("machine", format!("{machine}, {}", host.cpu_model), repeat);
    checks.push(if host.virtual_machine {
        check.warning(
            "other guests are invisible: look at stolen CPU time, repeat, or use bare metal",
        )
    } else {
        check
    });
    checks.extend(speed_checks(found));
    if let Some(bytes) = found.swap_used_bytes {
        let check = Check::ok("swap", format!("{} MB in use", bytes / 1_000_000), repeat);
        let used = bytes > 100_000_000;
        checks.push(if used {
            check.warning("swapoff -a, then swapon -a (as root)")
        } else {
            check
        });
    }
    checks
}

/// What changes the speed of CPU and memory.
fn speed_checks(found: &Condition) -> Vec<Check> {
    let repeat = "repeatable QPS";
    let mut checks = Vec::new();
    if !found.governors.is_empty() {
        let all = found.governors.join(", ");
        let steady = found.governors.iter().all(|g| g == "performance");
        let check = Check::ok("governor", all, repeat);
        let remedy = "cpupower frequency-set -g performance (as root)";
        checks.push(if steady { check } else { check.warning(remedy) });
    }
    if let Some(turbo) = found.turbo {
        let check = Check::ok("turbo", if turbo { "on" } else { "off" }, repeat);
        let remedy = "switch it off in the firmware or in /sys/devices/system/cpu/cpufreq/boost";
        checks.push(if turbo { check.warning(remedy) } else { check });
    }
    if let Some(smt) = found.smt {
        let check = Check::ok("SMT", if smt { "on" } else { "off" }, repeat);
        let remedy = "echo off > /sys/devices/system/cpu/smt/control (as root)";
        checks.push(if smt { check.warning(remedy) } else { check });
    }
    if let Some(pages) = &found.huge_pages {
        let needed_for = "memory use that depends on the server alone";
        let check = Check::ok("huge pages", pages.clone(), needed_for);
        let remedy = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)";
        checks.push(if pages == "always" { check.warning(remedy) } else { check });
    }
    if let Some(clock) = &found.clock_source {
        let check = Check::ok("clock", clock.clone(), "cheap clock reads: two per statement");
        // These are read by the kernel, not in user space: vdso(7).
        let slow = ["hpet", "acpi_pm", "xen", "jiffies"].contains(&clock.as_str());
        let remedy = "boot with clocksource=tsc if the CPU's TSC is stable";
        checks.push(if slow { check.warning(remedy) } else { check });
    }
    checks
}

/// Whether a version such as `2.36` is at least that one.
fn at_least(version: &str, least: (u32, u32)) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    fn host(virtual_machine: bool) -> Host {
        Host { n_cpus: 8, virtual_machine, ..host_info(Path::new("/")).unwrap() }
    }

    fn states(found: &Condition, virtual_machine: bool) -> Vec<(String, State)> {
        let checks = condition_checks(found, &host(virtual_machine));
        for check in &checks {
            assert_eq!(check.remedy.is_empty(), check.state == State::Ok, "{check:?}");
        }
        checks.into_iter().map(|check| (check.name, check.state)).collect()
    }

    #[test]
    fn a_tuned_host_is_well_and_an_untuned_one_is_told_all() {
        let tuned = Condition {
            load: Some(0.1),
            governors: vec!["performance".to_owned()],
            turbo: Some(false),
            smt: Some(false),
            huge_pages: Some("madvise".to_owned()),
            swap_used_bytes: Some(0),
            clock_source: Some("tsc".to_owned()),
            perf_event_paranoid: Some(1),
            glibc: Some("2.36".to_owned()),
        };
        let states_of_tuned = states(&tuned, false);
        assert_eq!(states_of_tuned.len(), 9);
        assert!(states_of_tuned.iter().all(|(_, s)| *s == State::Ok), "{states_of_tuned:?}");
        let untuned = Condition {
            load: Some(3.0),
            governors: vec!["performance".to_owned(), "powersave".to_owned()],
            turbo: Some(true),
            smt: Some(true),
            huge_pages: Some("always".to_owned()),
            swap_used_bytes: Some(1 << 30),
            clock_source: Some("hpet".to_owned()),
            glibc: Some("2.12".to_owned()),
            ..tuned
        };
        let states = states(&untuned, true);
        let ok: Vec<_> = states.iter().filter(|(_, s)| *s == State::Ok).collect();
        assert!(ok.is_empty(), "{ok:?}");
    }

    #[test]
    fn read_ahead_is_told_and_no_fault() {
        let of = |read_ahead_kb| {
            let storage = "ext4 on /dev/vda".to_owned();
            read_ahead(&Host { read_ahead_kb, storage, ..host(true) }, Some(Path::new("/sys/file")))
        };
        assert_eq!(of(None), None);
        let usual = of(Some(128)).unwrap();
        assert_eq!((usual.state, usual.remedy.as_str()), (State::Ok, ""));
        assert_eq!(usual.found, "128 KB, ext4 on /dev/vda");
        assert_eq!(of(Some(1024)).unwrap().state, State::Ok);
        for (kb, effect) in [(0, "each read waits"), (8192, "long scans are often faster")] {
            let check = of(Some(kb)).unwrap();
            assert_eq!(check.state, State::Note);
            assert!(check.needed_for.contains(effect), "{check:?}");
            assert!(check.remedy.ends_with("echo 128 > /sys/file (as root)"), "{check:?}");
        }
    }

    #[test]
    fn limits_and_perf() {
        assert_eq!(memory_limits(Ok("cgroup v2, memory.max")).state, State::Ok);
        let refused = memory_limits(Err(Error::Limit {
            what: "memory = \"1G\"".to_owned(),
            detail: "no control group is available to rqps (read-only)".to_owned(),
            remedy: "leave out memory".to_owned(),
        }));
        assert_eq!((refused.state, refused.remedy.as_str()), (State::Warning, "leave out memory"));
        assert!(refused.found.ends_with("(read-only)"));
        assert_eq!(walls(&Wall::Landlock { abi: 7 }).state, State::Ok);
        let none = walls(&Wall::None { why: "the kernel has no Landlock".to_owned() });
        assert_eq!(
            (none.state, none.found.as_str()),
            (State::Warning, "none (the kernel has no Landlock)")
        );
        assert_eq!(open_files(Some((65_536, 65_536))).state, State::Ok);
        assert_eq!(open_files(Some((256, 1024))).remedy, "ulimit -n 1024");
        let ability = |has_counters, missing| Ability { event: "cpu-clock", missing, has_counters };
        let states = |found| perf_checks(found).iter().map(|c| c.state).collect::<Vec<_>>();
        assert_eq!(states(Ok(ability(true, Vec::new()))), [State::Ok, State::Ok]);
        let not_had = |remedy: &str| NotHad {
            what: "stacks".to_owned(),
            reason: "perf is not found".to_owned(),
            remedy: remedy.to_owned(),
        };
        // What cannot be mended is no warning.
        assert_eq!(states(Ok(ability(false, vec![not_had("")]))), [State::Ok, State::Ok]);
        let one = vec![not_had("sysctl x")];
        assert_eq!(states(Ok(ability(false, one))), [State::Ok, State::Warning, State::Ok]);
        let none = perf_checks(Err(not_had("apt-get install linux-perf")));
        assert_eq!((none.len(), none[0].state), (1, State::Warning));
        assert!(none[0].remedy.contains("linux-perf") && none[0].found.contains("not found"));
        assert!(at_least("2.36", (2, 17)) && at_least("3.0", (2, 17)) && !at_least("2.4", (2, 17)));
        assert_eq!(room("x", Path::new("/"), u64::MAX, "y").state, State::Missing);
    }
}
