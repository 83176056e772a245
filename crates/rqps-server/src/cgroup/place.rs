//! Where a group of ours can be: below rqps's own group or, in version 2, below one above it.
//!
//! Version 2 forbids a group that hands controllers on to have processes of its own ("no internal
//! processes"). So a place is sought from rqps's own group upwards. A group that was delegated to
//! rqps alone (`systemd-run --scope -p Delegate=yes rqps ...`) is used by moving rqps into a leaf.

use std::fs;
use std::path::{Path, PathBuf};

use rqps_sample::cgroup_text::{self, Hierarchy};

use super::{Controller, Interface, PREFIX};

/// A group below which a group with the wanted controller can be made.
#[derive(Debug)]
pub(super) struct Place {
    /// Its directory.
    pub(super) dir: PathBuf,
    /// Its interface.
    pub(super) interface: Interface,
    /// What was done to rqps's own group.
    pub(super) made_room: Option<Leaf>,
}

/// rqps in a leaf of its own group; back in the group when dropped.
#[derive(Debug)]
pub(super) struct Leaf {
    home: PathBuf,
    leaf: PathBuf,
}

impl Drop for Leaf {
    fn drop(&mut self) {
        // Before rqps can go back, no controller may be handed on. Whatever fails: the group that
        // was delegated ends with rqps.
        let _ = fs::write(self.home.join(HANDED_ON), "-memory -cpuset");
        let _ = fs::write(self.home.join(PROCS), std::process::id().to_string());
        let _ = fs::remove_dir(&self.leaf);
    }
}

const HANDED_ON: &str = "cgroup.subtree_control";
const PROCS: &str = "cgroup.procs";

/// Finds a place; the error says why none of them would do.
pub(super) fn find(controller: Controller) -> Result<Place, String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
    let hierarchies = cgroup_text::parse_hierarchies(&read("/proc/self/mountinfo")?);
    let own = read("/proc/self/cgroup")?;
    let mut reasons = Vec::new();
    for hierarchy in &hierarchies {
        let Some(dir) = cgroup_text::dir_of(hierarchy, &own) else { continue };
        let found = if hierarchy.is_v2 {
            find_v2(hierarchy, &dir, controller)
        } else if hierarchy.controllers.iter().any(|c| c == controller.name()) {
            // Version 1 allows groups below one that has processes.
            let place = Place { dir, interface: Interface::V1, made_room: None };
            writable(&place.dir).map(|()| place)
        } else {
            continue;
        };
        match found {
            Ok(place) => return Ok(place),
            Err(why) => reasons.push(why),
        }
    }
    if reasons.is_empty() {
        reasons.push(format!("no {} controller is mounted", controller.name()));
    }
    Err(reasons.join("; "))
}

fn find_v2(hierarchy: &Hierarchy, own: &Path, controller: Controller) -> Result<Place, String> {
    let mut reasons: Vec<String> = Vec::new();
    let mut dir = own;
    loop {
        match take_v2(dir, dir == own, controller) {
            Ok(made_room) => {
                return Ok(Place { dir: dir.to_owned(), interface: Interface::V2, made_room });
            }
            Err(why) if reasons.contains(&why) => {}
            Err(why) => reasons.push(why),
        }
        if let Some(bound) = bound_of(dir) {
            reasons.push(format!("{} has its own limit ({bound})", dir.display()));
            break;
        }
        match dir.parent() {
            Some(parent) if parent.starts_with(&hierarchy.point) => dir = parent,
            _ => break,
        }
    }
    Err(reasons.join("; "))
}

/// Makes `dir` hand on the controller; says why it does not.
fn take_v2(dir: &Path, is_own: bool, controller: Controller) -> Result<Option<Leaf>, String> {
    let name = controller.name();
    if !lists(dir, "cgroup.controllers", name) {
        return Err(format!("{} has no {name} controller", dir.display()));
    }
    writable(dir)?;
    let why = match hand_on(dir, controller) {
        Ok(()) => return Ok(None),
        Err(why) => why,
    };
    let me = std::process::id().to_string();
    if !is_own || members(dir).split_whitespace().any(|pid| pid != me) {
        return Err(why);
    }
    let start = crate::process::started(std::process::id().cast_signed()).unwrap_or(0);
    let leaf = dir.join(format!("{PREFIX}{me}.{start}.self"));
    let made_room = Leaf { home: dir.to_owned(), leaf };
    fs::create_dir(&made_room.leaf)
        .and_then(|()| fs::write(made_room.leaf.join(PROCS), &me))
        .map_err(|e| format!("{why}; rqps cannot move into a child group: {e}"))?;
    hand_on(dir, controller)?;
    Ok(Some(made_room))
}

/// Makes a group of version 2 hand on a controller to those below it.
pub(super) fn hand_on(dir: &Path, controller: Controller) -> Result<(), String> {
    let name = controller.name();
    // The kernel refuses that itself for memory. With cpuset, which can divide threads, it makes
    // the group a threaded one, and those below take no whole processes. The root may have some.
    if dir.join("cgroup.type").exists() && !members(dir).trim().is_empty() {
        return Err(format!("{} has processes of its own", dir.display()));
    }
    if lists(dir, HANDED_ON, name) {
        return Ok(());
    }
    fs::write(dir.join(HANDED_ON), format!("+{name}"))
        .map_err(|e| format!("{} cannot delegate {name}: {e}", dir.display()))
}

/// The processes of a group, one a line.
fn members(dir: &Path) -> String {
    fs::read_to_string(dir.join(PROCS)).unwrap_or_default()
}

/// Whether a file of a group lists a controller.
fn lists(dir: &Path, file: &str, controller: &str) -> bool {
    let text = fs::read_to_string(dir.join(file)).unwrap_or_default();
    text.split_whitespace().any(|word| word == controller)
}

fn writable(dir: &Path) -> Result<(), String> {
    use nix::unistd::{AccessFlags, access};
    access(dir, AccessFlags::W_OK)
        .map_err(|e| format!("{} is not writable ({})", dir.display(), e.desc()))
}

/// Files of a group whose limits hold for all below it. They are empty, or begin with `max`, where there is none.
const BOUNDS: [&str; 6] =
    ["memory.max", "memory.high", "memory.swap.max", "cpu.max", "io.max", "cpuset.cpus"];

/// A limit that a group has itself: what is made above it would escape that.
fn bound_of(dir: &Path) -> Option<String> {
    BOUNDS.iter().find_map(|name| {
        let text = fs::read_to_string(dir.join(name)).ok()?;
        let first = text.trim().lines().next().filter(|line| !line.starts_with("max"))?;
        Some(format!("{name} {first}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_group_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(dir.path().join(file), text).unwrap();
        for name in BOUNDS {
            write(name, if name == "cpu.max" { "max 100000\n" } else { "max\n" });
        }
        write("io.max", "");
        write("cpuset.cpus", "\n");
        assert_eq!(bound_of(dir.path()), None);
        write("cpu.max", "50000 100000\n");
        assert_eq!(bound_of(dir.path()).as_deref(), Some("cpu.max 50000 100000"));
        write("memory.high", "1073741824\n");
        assert_eq!(bound_of(dir.path()).as_deref(), Some("memory.high 1073741824"));
    }
}
