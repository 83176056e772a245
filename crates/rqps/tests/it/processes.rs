//! Processes of the host: what they are, and who has started them.

use std::fs;
use std::path::PathBuf;

/// The processes for whose command line and working directory, one text, something is so.
pub(crate) fn processes(is_wanted: impl Fn(&str) -> bool) -> Vec<i32> {
    let text = |pid: i32| {
        let base = PathBuf::from(format!("/proc/{pid}"));
        let cmdline = fs::read(base.join("cmdline")).unwrap_or_default();
        let cwd = fs::read_link(base.join("cwd")).unwrap_or_default();
        format!("{}\n{}", String::from_utf8_lossy(&cmdline), cwd.display())
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|&pid| is_wanted(&text(pid))).collect()
}

/// The process that has started another.
pub(crate) fn parent(pid: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
