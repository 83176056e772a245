//! Reads the texts of /proc/PID/schedstat and /proc/pressure/io.

use crate::TextError;

/// What /proc/PID/schedstat or /proc/PID/task/TID/schedstat says of one thread
/// (Documentation/scheduler/sched-stats.rst).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskTimes {
    /// CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// Time in which it could run and did not, nanoseconds.
    pub run_wait_ns: u64,
}

/// Reads the text of a schedstat file; `None` where the kernel keeps no such times: all of them are 0
/// then, the number of times that the thread ran included.
///
/// # Errors
/// Says which of the three numbers is malformed or absent.
pub fn parse_schedstat(text: &str) -> Result<Option<TaskTimes>, TextError> {
    let mut words = text.split_ascii_whitespace();
    let mut number = |name: &str| {
        let word = words.next().unwrap_or("");
        word.parse::<u64>()
            .map_err(|_| TextError::at(0, text.trim_end(), format!("{name} is {word:?}")))
    };
    let (cpu_ns, run_wait_ns) = (number("CPU time")?, number("time waited to run")?);
    let n_runs = number("number of runs")?;
    let is_kept = [cpu_ns, run_wait_ns, n_runs] != [0; 3];
    Ok(is_kept.then_some(TaskTimes { cpu_ns, run_wait_ns }))
}

/// Reads the text of /proc/pressure/io (Documentation/accounting/psi.rst, Linux 4.20): the time in which
/// at least one task waited for storage, nanoseconds.
///
/// # Errors
/// When the line `some` or its total is absent or malformed.
pub fn parse_pressure(text: &str) -> Result<u64, TextError> {
    let line = text.lines().position(|line| line.starts_with("some "));
    let at = line.ok_or_else(|| TextError::absent(text, "some"))?;
    let line = text.lines().nth(at).unwrap_or_default();
    let total = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="));
    let us: Option<u64> = total.and_then(|digits| digits.parse().ok());
    let us = us.ok_or_else(|| TextError::at(at, line, "no total in microseconds"))?;
    Ok(us.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat() {
        let times = parse_schedstat("173279926 82818204 1324\n").unwrap();
        assert_eq!(times, Some(TaskTimes { cpu_ns: 173_279_926, run_wait_ns: 82_818_204 }));
        // A thread that has not run yet is known, a kernel that does not count is not.
        assert_eq!(parse_schedstat("0 0 1\n").unwrap(), Some(TaskTimes::default()));
        assert_eq!(parse_schedstat("0 0 0\n").unwrap(), None);
        let most = format!("1 {} 1", u64::MAX);
        assert_eq!(parse_schedstat(&most).unwrap().map(|t| t.run_wait_ns), Some(u64::MAX));
        assert!(parse_schedstat("1 x 2").unwrap_err().to_string().contains("time waited to run"));
        assert!(parse_schedstat("1 2").is_err());
    }

    #[test]
    fn pressure() {
        let text = "some avg10=1.29 avg60=0.76 avg300=0.29 total=968712838\n\
                    full avg10=0.85 avg60=0.44 avg300=0.17 total=149456310\n";
        assert_eq!(parse_pressure(text).unwrap(), 968_712_838_000);
        assert!(parse_pressure("full avg10=0.85 total=1\n").is_err());
        assert!(parse_pressure("some avg10=0.85 total=x\n").is_err());
    }
}
