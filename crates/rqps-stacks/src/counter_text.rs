//! Reads what `perf stat -x,` writes: hardware counters, where the CPU gives them.
//!
//! ```text
//! 12345678,,cycles:u,5000123456,100.00,,        ← value, unit, event, time it ran (ns), share of the time
//! <not supported>,,cache-misses:u,0,100.00,,    ← most virtual machines have none
//! ```

use serde::{Deserialize, Serialize};

/// The events that are asked for, as perf names them.
pub const EVENTS: [&str; 6] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "dTLB-load-misses",
    "branch-misses",
];

/// One counter over an extra slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// The event without its modifiers: `cycles`.
    pub event: String,
    /// How often it happened; scaled by perf where it counted for a part of the time. `None` where the
    /// CPU, or the hypervisor, does not count it.
    pub value: Option<f64>,
    /// The share of the time in which it was counted, 0 to 1: several events share few registers.
    pub counted_share: f64,
}

/// A line that is not a counter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number} of perf stat {line:?}: {problem}")]
pub struct CounterError {
    /// The line, counted from 1.
    pub line_number: usize,
    /// The line itself, cut to 200 characters.
    pub line: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// Reads the counters; comments and empty lines are skipped.
///
/// # Errors
/// Names the line that has no value or no event.
pub fn parse_counters(text: &str) -> Result<Vec<Counter>, CounterError> {
    let mut counters = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let bad = |problem| CounterError {
            line_number: idx + 1,
            line: line.chars().take(200).collect(),
            problem,
        };
        let mut fields = line.split(',');
        let value = match fields.next().map(str::trim) {
            Some("<not supported>" | "<not counted>") => None,
            Some(number) => Some(number.parse::<f64>().map_err(|_| bad("invalid value"))?),
            None => return Err(bad("invalid value")),
        };
        if value.is_some_and(|v| !v.is_finite() || v < 0.0) {
            return Err(bad("invalid value"));
        }
        let event = fields.nth(1).map(str::trim).filter(|event| !event.is_empty());
        let event = event.ok_or_else(|| bad("no event"))?.split(':').next().unwrap_or_default();
        let percent =
            fields.nth(1).and_then(|p| p.trim().trim_end_matches('%').parse::<f64>().ok());
        let counted_share = percent.map_or(1.0, |p| (p / 100.0).clamp(0.0, 1.0));
        counters.push(Counter { event: event.to_owned(), value, counted_share });
    }
    Ok(counters)
}

/// The value of an event, where it was counted.
#[must_use]
pub fn value_of(counters: &[Counter], event: &str) -> Option<f64> {
    counters.iter().find(|counter| counter.event == event)?.value
}

/// Instructions per cycle, where both were counted.
#[must_use]
pub fn instructions_per_cycle(counters: &[Counter]) -> Option<f64> {
    let cycles = value_of(counters, "cycles").filter(|n| *n > 0.0)?;
    Some(value_of(counters, "instructions")? / cycles)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As perf 6.1 writes it on a machine with counters.
    const COUNTED: &str = "\
# started on Sat Nov 21 10:00:00 2026\n\
\n\
1500000000,,cycles:u,5000000000,100.00,,\n\
3000000000,,instructions:u,5000000000,83.33,2.00,insn per cycle\n\
123456,,cache-misses:u,2500000000,50.00,1.2,of all cache refs\n\
";

    /// And on a virtual machine without.
    const NONE: &str = "\
<not supported>,,cycles:u,0,100.00,,\n\
<not counted>,,instructions:u,0,0.00,,\n\
5000.12,msec,task-clock:u,5000120000,100.00,0.998,CPUs utilized\n\
";

    #[test]
    fn counters_of_a_real_cpu() {
        let counters = parse_counters(COUNTED).unwrap();
        assert_eq!(counters.len(), 3);
        assert_eq!(counters[2].event, "cache-misses");
        assert_eq!((counters[2].value, counters[2].counted_share), (Some(123_456.0), 0.5));
        assert_eq!(instructions_per_cycle(&counters), Some(2.0));
        assert_eq!(value_of(&counters, "dTLB-load-misses"), None);
    }

    #[test]
    fn a_machine_without_counters() {
        let counters = parse_counters(NONE).unwrap();
        assert_eq!((counters[0].value, counters[1].value), (None, None));
        assert_eq!(counters[2].value, Some(5000.12));
        assert_eq!(instructions_per_cycle(&counters), None);
    }

    #[test]
    fn what_is_no_counter_is_named() {
        for (text, problem) in [
            ("abc,,cycles,1,2,,", "invalid value"),
            ("12,,", "no event"),
            ("-1,,cycles", "invalid value"),
        ] {
            let error = parse_counters(text).unwrap_err();
            assert_eq!((error.line_number, error.problem), (1, problem));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([0-9<a-z>,.: -]{0,60}\n){0,5}") {
            let _ = parse_counters(&text);
        }
    }
}
