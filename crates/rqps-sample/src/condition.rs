//! In what condition a host is for measuring: what changes speed by itself, and who else is busy.
//!
//! Everything is optional: containers and virtual machines hide much of it.

use std::fs;
use std::path::Path;

/// What the kernel says of itself; `None` where it does not say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Condition {
    /// Average number of runnable and blocked tasks in the last minute: proc_loadavg(5).
    pub load: Option<f64>,
    /// The CPUs' frequency governors, each once.
    pub governors: Vec<String>,
    /// Whether CPUs run faster than their nominal frequency while others idle.
    pub turbo: Option<bool>,
    /// Whether cores run two threads at once.
    pub smt: Option<bool>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// Swap space in use, bytes.
    pub swap_used_bytes: Option<u64>,
    /// Where the kernel has the time from: `tsc`, `kvm-clock`, `hpet`.
    pub clock_source: Option<String>,
    /// What perf may do for ordinary users: perf_event_open(2).
    pub perf_event_paranoid: Option<i64>,
    /// The C library's version, as its file says: `2.36`.
    pub glibc: Option<String>,
}

/// Reads the condition of the host whose `/proc` and `/sys` are below `root`.
#[must_use]
pub fn condition(root: &Path) -> Condition {
    let line = |path: &str| {
        let text = fs::read_to_string(root.join(path)).ok()?;
        Some(text.trim().to_owned())
    };
    let flag = |path: &str| Some(line(path)? == "1");
    let no_turbo = flag("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| !off);
    Condition {
        load: line("proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
        governors: governors(root),
        turbo: no_turbo.or_else(|| flag("sys/devices/system/cpu/cpufreq/boost")),
        smt: flag("sys/devices/system/cpu/smt/active"),
        huge_pages: line("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| parse_selected(&text).map(ToOwned::to_owned)),
        swap_used_bytes: line("proc/meminfo").and_then(|text| parse_swap_used(&text)),
        clock_source: line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        perf_event_paranoid: line("proc/sys/kernel/perf_event_paranoid")
            .and_then(|text| text.parse().ok()),
        glibc: glibc(root),
    }
}

fn governors(root: &Path) -> Vec<String> {
    let dir = fs::read_dir(root.join("sys/devices/system/cpu/cpufreq"));
    let policies = dir.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<String> = policies
        .filter_map(|path| fs::read_to_string(path.join("scaling_governor")).ok())
        .map(|text| text.trim().to_owned())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The word in brackets: `always [madvise] never`.
fn parse_selected(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word)
}

/// `SwapTotal` without `SwapFree`, bytes: proc_meminfo(5).
fn parse_swap_used(text: &str) -> Option<u64> {
    let kb = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    Some(kb("SwapTotal:")?.saturating_sub(kb("SwapFree:")?) * 1024)
}

/// The version that the C library of this process has in its banner.
fn glibc(root: &Path) -> Option<String> {
    let maps = fs::read_to_string(root.join("proc/self/maps")).ok()?;
    let path = maps.lines().find_map(|line| {
        let path = &line[line.find('/')?..];
        (path.ends_with("/libc.so.6") || path.contains("/libc-2.")).then_some(path)
    })?;
    let bytes = fs::read(root.join(path.trim_start_matches('/'))).ok()?;
    parse_glibc_banner(&bytes)
}

/// `GNU C Library (Debian GLIBC 2.36-9+deb12u4) stable release version 2.36.`
fn parse_glibc_banner(bytes: &[u8]) -> Option<String> {
    const SIGN: &[u8] = b"release version ";
    let at = bytes.windows(SIGN.len()).position(|window| window == SIGN)? + SIGN.len();
    let version = bytes[at..].iter().take(16).take_while(|b| b.is_ascii_digit() || **b == b'.');
    let version = String::from_utf8(version.copied().collect()).ok()?;
    let version = version.trim_end_matches('.');
    (!version.is_empty()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn reads_what_a_laptop_says() {
        let cpu = "sys/devices/system/cpu";
        let root = tree(&[
            ("proc/loadavg", "6.24 3.70 2.35 3/411 12345\n"),
            (&format!("{cpu}/cpufreq/policy0/scaling_governor"), "powersave\n"),
            (&format!("{cpu}/cpufreq/policy1/scaling_governor"), "powersave\n"),
            (&format!("{cpu}/intel_pstate/no_turbo"), "0\n"),
            (&format!("{cpu}/smt/active"), "1\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("proc/meminfo", "MemTotal: 9 kB\nSwapTotal:  2048 kB\nSwapFree: 1024 kB\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("proc/sys/kernel/perf_event_paranoid", "4\n"),
            ("proc/self/maps", "7f00-7f01 r-xp 0 0 0    /lib/x/libc.so.6\n"),
            ("lib/x/libc.so.6", "ELF GNU C Library (X) stable release version 2.36.\nCopyright"),
        ]);
        let found = condition(root.path());
        assert_eq!(
            found,
            Condition {
                load: Some(6.24),
                governors: vec!["powersave".to_owned()],
                turbo: Some(true),
                smt: Some(true),
                huge_pages: Some("madvise".to_owned()),
                swap_used_bytes: Some(1_048_576),
                clock_source: Some("tsc".to_owned()),
                perf_event_paranoid: Some(4),
                glibc: Some("2.36".to_owned()),
            }
        );
    }

    #[test]
    fn a_host_that_says_nothing_is_no_error() {
        let root = tree(&[("proc/loadavg", "x")]);
        assert_eq!(condition(root.path()), Condition::default());
    }

    #[test]
    fn this_host() {
        let found = condition(Path::new("/"));
        assert!(found.load.is_some() && found.swap_used_bytes.is_some(), "{found:?}");
    }
}
