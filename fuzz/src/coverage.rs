//! Which code an input ran through, by the counters that the compiler adds for coverage reports
//! (`rustc -C instrument-coverage`, stable since 1.60). Without them nothing is new, and inputs are drawn
//! from the corpus alone.

use std::fmt;

/// What was reached so far.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Per counter, the classes of counts that were seen, one bit each.
    seen: Vec<u8>,
    n_seen: usize,
}

impl Coverage {
    /// From now on counts are those of the next input.
    pub(crate) fn begin(&mut self) {
        counters().fill(0);
    }

    /// Notes what was reached since; whether any of it is new.
    pub(crate) fn take(&mut self) -> bool {
        let counters = counters();
        self.seen.resize(counters.len(), 0);
        let mut is_new = false;
        for (seen, count) in self.seen.iter_mut().zip(counters.iter_mut()) {
            let class = class_of(std::mem::take(count));
            if *seen | class != *seen {
                self.n_seen += usize::from(*seen == 0);
                *seen |= class;
                is_new = true;
            }
        }
        is_new
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seen.len() {
            0 => f.write_str("coverage unknown"),
            n => write!(f, "{} of {n} places reached", self.n_seen),
        }
    }
}

/// The class of a count: how often a loop went round matters little beyond its magnitude.
fn class_of(count: u64) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        _ => 128,
    }
}

/// All counters of this program.
#[cfg(rqps_coverage)]
#[expect(
    unsafe_code,
    reason = "the counters are the compiler's, at addresses that its runtime tells"
)]
fn counters() -> &'static mut [u64] {
    unsafe extern "C" {
        // compiler-rt/lib/profile/InstrProfiling.h
        fn __llvm_profile_begin_counters() -> *mut u64;
        fn __llvm_profile_end_counters() -> *mut u64;
    }
    // SAFETY: both functions give the ends of one array of counters of 8 bytes each, which lives as long
    // as the program. This program has one thread while it counts, and only this function makes a
    // reference to them, of which every use ends before the next one begins; the compiler's own additions
    // to them lie between those uses.
    unsafe {
        let (begin, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
        let n = usize::try_from(end.offset_from(begin)).unwrap_or(0);
        std::slice::from_raw_parts_mut(begin, n)
    }
}

/// None where the compiler was not told to add any.
#[cfg(not(rqps_coverage))]
fn counters() -> &'static mut [u64] {
    &mut []
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_fall_into_eight_classes() {
        let classes: std::collections::BTreeSet<u8> = (0..1000).map(class_of).collect();
        assert_eq!(classes.len(), 9);
        assert_eq!((class_of(0), class_of(1), class_of(u64::MAX)), (0, 1, 128));
    }
}
