//! The note on a data directory: the step that has filled its tables.

use std::fmt;
use std::str::FromStr;

use rqps_model::StepIdx;

/// What is noted on the data of a system: which step has filled them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilledBy {
    pub(crate) load: StepIdx,
    /// Writes of steps before the one that the run was resumed with are not in them.
    pub(crate) is_refilled: bool,
}

impl fmt::Display for FilledBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let anew = if self.is_refilled { " anew" } else { "" };
        write!(f, "load={}{anew}", self.load.0)
    }
}

impl FromStr for FilledBy {
    type Err = ();

    fn from_str(note: &str) -> Result<Self, ()> {
        let (note, is_refilled) =
            note.strip_suffix(" anew").map_or((note, false), |note| (note, true));
        let load = note.strip_prefix("load=").and_then(|n| n.parse().ok()).ok_or(())?;
        Ok(Self { load: StepIdx(load), is_refilled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        for is_refilled in [false, true] {
            let note = FilledBy { load: StepIdx(12), is_refilled };
            assert_eq!(note.to_string().parse(), Ok(note));
        }
        for other in ["", "something else", "load=x", "load=2 old"] {
            assert_eq!(other.parse::<FilledBy>(), Err(()));
        }
    }
}
