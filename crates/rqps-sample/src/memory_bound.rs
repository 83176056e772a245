//! The memory that control groups leave to rqps and what it starts: in a container, less than the host's.

use std::path::Path;

use crate::cgroup_text::{Hierarchy, dir_of, parse_hierarchies};

/// The least limit of the control group that rqps is in and of those above it, bytes; `None` where
/// nothing is limited or the kernel does not tell.
pub(crate) fn memory_bound() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let hierarchies = parse_hierarchies(&read(Path::new("/proc/self/mountinfo"))?);
    let own = read(Path::new("/proc/self/cgroup"))?;
    hierarchies.iter().filter_map(|hierarchy| least(hierarchy, &own)).min()
}

/// The least limit from the own group of a hierarchy up to where it is mounted.
fn least(hierarchy: &Hierarchy, own: &str) -> Option<u64> {
    // cgroup-v2.rst and cgroup-v1/memory.rst of the kernel's documentation. Without a limit the first
    // says "max", the second a number beyond any host's memory.
    let file = if hierarchy.is_v2 {
        "memory.max"
    } else if hierarchy.controllers.iter().any(|name| name == "memory") {
        "memory.limit_in_bytes"
    } else {
        return None;
    };
    let dir = dir_of(hierarchy, own)?;
    let groups = dir.ancestors().take_while(|group| group.starts_with(&hierarchy.point));
    groups
        .filter_map(|group| std::fs::read_to_string(group.join(file)).ok()?.trim().parse().ok())
        .min()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A hierarchy mounted in a directory, with a limit in some of its groups.
    fn bound(kind: &str, file: &str, own: &str, limits: &[(&str, &str)]) -> Option<u64> {
        let top = tempfile::tempdir().unwrap();
        for (group, limit) in limits {
            let dir = top.path().join(group);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(file), limit).unwrap();
        }
        let mount = format!("35 31 0:32 / {} rw - {kind}", top.path().display());
        let [hierarchy] = parse_hierarchies(&mount).try_into().unwrap();
        least(&hierarchy, own)
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let v2 = |limits: &[_]| bound("cgroup2 cgroup rw", "memory.max", "0::/a/b\n", limits);
        let all = [("", "max\n"), ("a", "2147483648\n"), ("a/b", "max\n"), ("c", "5\n")];
        assert_eq!(v2(&all), Some(2 << 30));
        assert_eq!(v2(&[("a", "max\n"), ("a/b", "max\n")]), None);
        assert_eq!(v2(&[("a", "8192\n"), ("a/b", "4096\n")]), Some(4096));
        assert_eq!(v2(&[]), None);
    }

    #[test]
    fn version_1_counts_where_it_has_memory() {
        let limits = [("", "9223372036854771712\n"), ("a", "1073741824\n")];
        let v1 = |kind| bound(kind, "memory.limit_in_bytes", "4:memory:/a\n2:cpu:/a\n", &limits);
        assert_eq!(v1("cgroup cgroup rw,memory"), Some(1 << 30));
        assert_eq!(v1("cgroup cgroup rw,cpu"), None);
    }
}
