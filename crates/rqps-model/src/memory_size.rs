//! Sizes of memory, as reports compare them.

use serde::{Deserialize, Serialize};

/// Bytes of memory. Sizes are equal when they agree to a tenth of their unit, or to a whole unit
/// from 100 on: kernels keep some memory for themselves.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct MemorySize {
    /// How many.
    pub bytes: u64,
}

impl MemorySize {
    /// The power of 1024 that is its unit, and how many tenths of the unit it is.
    fn rounded(self) -> (i32, f64) {
        const LARGEST: i32 = 4;
        let unit = (0..LARGEST).take_while(|&n| self.bytes >> (10 * (n + 1)) > 0).count();
        let unit = i32::try_from(unit).unwrap_or(LARGEST);
        let n = self.bytes as f64 / 1024_f64.powi(unit);
        let is_whole = unit == 0 || n >= 100.0;
        let tenths =
            if is_whole { n.round_ties_even() * 10.0 } else { (n * 10.0).round_ties_even() };
        (unit, tenths)
    }
}

impl PartialEq for MemorySize {
    fn eq(&self, other: &Self) -> bool {
        let ((unit, tenths), (other_unit, other_tenths)) = (self.rounded(), other.rounded());
        unit == other_unit && tenths.total_cmp(&other_tenths).is_eq()
    }
}

impl Eq for MemorySize {}

#[cfg(test)]
mod tests {
    use super::MemorySize;

    #[test]
    fn sizes_are_equal_that_look_equal() {
        let of = |bytes| MemorySize { bytes };
        assert_eq!(of(33_500_000_000), of(33_480_000_000));
        assert_ne!(of(33_500_000_000), of(33_300_000_000));
        assert_eq!(of(150 << 30), of((150 << 30) + (200 << 20)));
        assert_ne!(of(1023), of(1024));
        assert_ne!(of(512), of(513));
        assert_eq!(of(u64::MAX), of(u64::MAX - 1));
    }
}
