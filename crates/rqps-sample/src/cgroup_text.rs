//! Parses what the kernel says of control groups and their mounts.

use std::path::{Path, PathBuf};

/// A mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Where it is mounted.
    pub point: PathBuf,
    /// The group that is mounted there: `/`, or a container's.
    pub root: PathBuf,
    /// Its controllers in version 1; empty in version 2, where groups tell them.
    pub controllers: Vec<String>,
    /// Whether it is of version 2.
    pub is_v2: bool,
}

/// The hierarchies of /proc/self/mountinfo (proc_pid_mountinfo(5)).
#[must_use]
pub fn parse_hierarchies(mountinfo: &str) -> Vec<Hierarchy> {
    mountinfo.lines().filter_map(parse_line).collect()
}

/// `35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory`
fn parse_line(line: &str) -> Option<Hierarchy> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, point) = (unescape(before.next()?), unescape(before.next()?));
    let mut after = after.split(' ');
    let is_v2 = match after.next()? {
        "cgroup2" => true,
        "cgroup" => false,
        _ => return None,
    };
    let options = after.nth(1).unwrap_or_default();
    let controllers =
        if is_v2 { Vec::new() } else { options.split(',').map(str::to_owned).collect() };
    Some(Hierarchy { point: point.into(), root: root.into(), controllers, is_v2 })
}

/// Undoes the kernel's octal escapes of space, tab, newline and backslash.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// Where the group of /proc/self/cgroup (cgroups(7)) is in the file system, when the mount shows it.
#[must_use]
pub fn dir_of(hierarchy: &Hierarchy, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let is_it = if hierarchy.is_v2 {
            controllers.is_empty()
        } else {
            controllers.split(',').any(|c| hierarchy.controllers.iter().any(|h| h == c))
                && !controllers.is_empty()
        };
        is_it.then_some(path)
    })?;
    let path = Path::new(path);
    // A namespace's own root is written `/`; what lies above it begins with `/..`.
    let below = path.strip_prefix(&hierarchy.root).or_else(|_| path.strip_prefix("/")).ok()?;
    let escapes = below.components().any(|part| part == std::path::Component::ParentDir);
    (!escapes).then(|| hierarchy.point.join(below))
}

/// The number behind a word at the beginning of a line.
#[must_use]
pub fn value_of(text: &str, word: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    #[test]
    fn finds_the_own_group_of_each_hierarchy() {
        let own = "4:memory:/a/b\n2:cpu,cpuacct:/\n1:name=systemd:/c\n0::/user.slice\n";
        let dirs: Vec<Option<PathBuf>> =
            parse_hierarchies(HYBRID).iter().map(|h| dir_of(h, own)).collect();
        let expected = ["cpu,cpuacct", "memory/a/b", "unified/user.slice"]
            .map(|dir| Some(Path::new("/sys/fs/cgroup").join(dir)));
        assert_eq!(dirs, expected);
    }

    #[test]
    fn a_containers_mount_begins_at_its_own_group() {
        let text = "9 8 0:5 /docker/x /sys/fs/cg\\040roup ro,nosuid - cgroup2 cgroup rw,nsdelegate";
        let [hierarchy] = parse_hierarchies(text).try_into().unwrap();
        assert!(hierarchy.is_v2);
        let dir = |own| dir_of(&hierarchy, own).map(|d| d.display().to_string());
        assert_eq!(dir("0::/docker/x/y").unwrap(), "/sys/fs/cg roup/y");
        // In a namespace of its own, paths are relative to the container's.
        assert_eq!(dir("0::/").unwrap(), "/sys/fs/cg roup/");
        assert_eq!(dir("0::/../other"), None);
        assert_eq!(dir("4:memory:/a"), None);
    }

    #[test]
    fn reads_counters() {
        let text = "low 0\noom 3\noom_kill 2\noom_group_kill 0\n";
        assert_eq!((value_of(text, "oom_kill"), value_of(text, "oom")), (Some(2), Some(3)));
        assert_eq!(value_of(text, "max"), None);
    }
}
