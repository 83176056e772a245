//! The note on a data directory: the step and the start that have filled its tables.

use std::fmt;
use std::str::FromStr;

use rqps_model::StepIdx;

/// What is noted on the data of a system: which step has filled them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilledBy {
    /// The start of the servers that they are of.
    pub(crate) start: u32,
    pub(crate) load: StepIdx,
    /// Writes of steps before the one that the run was resumed with are not in them.
    pub(crate) is_refilled: bool,
}

impl fmt::Display for FilledBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let anew = if self.is_refilled { " anew" } else { "" };
        write!(f, "start={} load={}{anew}", self.start, self.load.0)
    }
}

impl FromStr for FilledBy {
    type Err = ();

    fn from_str(note: &str) -> Result<Self, ()> {
        let (note, is_refilled) =
            note.strip_suffix(" anew").map_or((note, false), |note| (note, true));
        let (start, load) = note.split_once(' ').ok_or(())?;
        let start = start.strip_prefix("start=").and_then(|n| n.parse().ok()).ok_or(())?;
        let load = load.strip_prefix("load=").and_then(|n| n.parse().ok()).ok_or(())?;
        Ok(Self { start, load: StepIdx(load), is_refilled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        for is_refilled in [false, true] {
            let note = FilledBy { start: 3, load: StepIdx(12), is_refilled };
            assert_eq!(note.to_string().parse(), Ok(note));
        }
        for other in ["", "something else", "start=1", "start=x load=2", "start=1 load=2 old"] {
            assert_eq!(other.parse::<FilledBy>(), Err(()));
        }
    }
}
