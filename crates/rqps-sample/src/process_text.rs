//! Reads the texts of /proc/PID/stat, status, io and task/TID/children.

use crate::TextError;
use crate::memory_text::parse_kb;

/// What /proc/PID/stat says (`proc_pid_stat(5)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessStat {
    /// State letter: `R`, `S`, `Z` ...
    pub state: char,
    /// Id of the parent.
    pub parent: i32,
    /// `minflt`.
    pub minor_faults: u64,
    /// `cminflt`: of children that were waited for, and of theirs.
    pub reaped_minor_faults: u64,
    /// `majflt`.
    pub major_faults: u64,
    /// `cmajflt`.
    pub reaped_major_faults: u64,
    /// `utime`, ticks; threads that ended included.
    pub user_ticks: u64,
    /// `stime`, ticks.
    pub system_ticks: u64,
    /// `cutime`, ticks.
    pub reaped_user_ticks: u64,
    /// `cstime`, ticks.
    pub reaped_system_ticks: u64,
    /// `num_threads`.
    pub n_threads: u32,
    /// `starttime`, ticks after boot; with the id it names a process for good.
    pub start_ticks: u64,
}

/// What /proc/PID/status or /proc/PID/task/TID/status says (`proc_pid_status(5)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskStatus {
    /// `VmRSS`, bytes; absent for what has no memory of its own (ended, in the kernel).
    pub rss_bytes: Option<u64>,
    /// `RssAnon`, bytes; absent before Linux 4.5.
    pub rss_anonymous_bytes: Option<u64>,
    /// `RssFile` + `RssShmem`, bytes; 0 where absent.
    pub rss_shared_bytes: u64,
    /// `Threads`; 0 where absent.
    pub n_threads: u32,
    /// `voluntary_ctxt_switches`, of this thread alone.
    pub voluntary_switches: u64,
    /// `nonvoluntary_ctxt_switches`, of this thread alone.
    pub involuntary_switches: u64,
}

/// What /proc/PID/io says (`proc_pid_io(5)`): threads that ended and children that were waited
/// for are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessIo {
    /// `read_bytes`.
    pub read_bytes: u64,
    /// `write_bytes`.
    pub write_bytes: u64,
}

/// Reads the text of /proc/PID/stat. The name in it may hold anything, `) R 1` included.
///
/// # Errors
/// Names the field that is malformed or absent.
pub fn parse_process_stat(text: &str) -> Result<ProcessStat, TextError> {
    let bad = |problem: String| TextError::at(0, text.trim_end(), problem);
    let name_end = text.rfind(')').ok_or_else(|| bad("no name in parentheses".to_owned()))?;
    // Fields as proc(5) numbers them; the state, right after the name, is the third.
    let mut fields = [""; 23];
    let mut rest = text[name_end + 1..].split_ascii_whitespace();
    for slot in &mut fields[3..] {
        *slot = rest.next().unwrap_or("");
    }
    let number = |idx: usize, name: &str| {
        let field = fields[idx];
        field.parse::<u64>().map_err(|_| bad(format!("field {idx} ({name}) is {field:?}")))
    };
    Ok(ProcessStat {
        state: fields[3].chars().next().ok_or_else(|| bad("field 3 (state) is \"\"".to_owned()))?,
        parent: fields[4].parse().map_err(|_| bad(format!("field 4 (ppid) is {:?}", fields[4])))?,
        minor_faults: number(10, "minflt")?,
        reaped_minor_faults: number(11, "cminflt")?,
        major_faults: number(12, "majflt")?,
        reaped_major_faults: number(13, "cmajflt")?,
        user_ticks: number(14, "utime")?,
        system_ticks: number(15, "stime")?,
        reaped_user_ticks: number(16, "cutime")?,
        reaped_system_ticks: number(17, "cstime")?,
        n_threads: u32::try_from(number(20, "num_threads")?).unwrap_or(u32::MAX),
        start_ticks: number(22, "starttime")?,
    })
}

/// Reads the text of /proc/PID/status or /proc/PID/task/TID/status.
///
/// # Errors
/// Names the line that is malformed.
pub fn parse_task_status(text: &str) -> Result<TaskStatus, TextError> {
    let mut status = TaskStatus::default();
    for (i, line) in text.lines().enumerate() {
        let Some((key, rest)) = line.split_once(':') else { continue };
        match key {
            "VmRSS" => status.rss_bytes = Some(parse_kb(i, line, rest)?),
            "RssAnon" => status.rss_anonymous_bytes = Some(parse_kb(i, line, rest)?),
            "RssFile" | "RssShmem" => {
                let bytes = parse_kb(i, line, rest)?;
                status.rss_shared_bytes = status.rss_shared_bytes.saturating_add(bytes);
            }
            "Threads" => {
                status.n_threads = u32::try_from(number(i, line, rest)?).unwrap_or(u32::MAX);
            }
            "voluntary_ctxt_switches" => status.voluntary_switches = number(i, line, rest)?,
            "nonvoluntary_ctxt_switches" => status.involuntary_switches = number(i, line, rest)?,
            _ => {}
        }
    }
    Ok(status)
}

/// Reads the text of /proc/PID/io.
///
/// # Errors
/// Names the line that is malformed or absent.
pub fn parse_process_io(text: &str) -> Result<ProcessIo, TextError> {
    let (mut read, mut write) = (None, None);
    for (i, line) in text.lines().enumerate() {
        match line.split_once(':') {
            Some(("read_bytes", rest)) => read = Some(number(i, line, rest)?),
            Some(("write_bytes", rest)) => write = Some(number(i, line, rest)?),
            _ => {}
        }
    }
    Ok(ProcessIo {
        read_bytes: read.ok_or_else(|| TextError::absent(text, "read_bytes"))?,
        write_bytes: write.ok_or_else(|| TextError::absent(text, "write_bytes"))?,
    })
}

/// Reads the text of /proc/PID/task/TID/children (`proc_tid_children(5)`) and calls `child` for
/// each id.
///
/// # Errors
/// Names the id that is malformed.
pub fn parse_children(text: &str, mut child: impl FnMut(i32)) -> Result<(), TextError> {
    for word in text.split_ascii_whitespace() {
        let bad = |_| TextError::at(0, text, format!("{word:?} is not a process id"));
        child(word.parse().map_err(bad)?);
    }
    Ok(())
}

fn number(line_idx: usize, line: &str, text: &str) -> Result<u64, TextError> {
    text.trim().parse().map_err(|_| TextError::at(line_idx, line, "not a number"))
}

#[cfg(test)]
mod tests;
