//! HOT PATH: the strings of columns `c` and `pad`: groups of 11 random digits joined by `-`. Budget:
//! one draw of 64 bits per group, no division, one copy.

use crate::random::{Rng, scale};

/// Length of a value of column `c`: 10 groups.
pub const C_BYTES: usize = 119;
/// Length of a value of column `pad`: 5 groups.
pub const PAD_BYTES: usize = 59;
/// Digits in a group.
const GROUP: usize = 11;

/// `00` to `99`, so that two digits cost one look.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut tens = 0;
    while tens < 10 {
        let mut ones = 0;
        while ones < 10 {
            pairs[(tens * 10 + ones) as usize] = [b'0' + tens, b'0' + ones];
            ones += 1;
        }
        tens += 1;
    }
    pairs
};

/// Appends a fresh value of column `c`.
#[inline]
pub fn push_c(rng: &mut Rng, out: &mut Vec<u8>) {
    push_groups::<C_BYTES>(rng, out);
}

/// Appends a fresh value of column `pad`.
#[inline]
pub fn push_pad(rng: &mut Rng, out: &mut Vec<u8>) {
    push_groups::<PAD_BYTES>(rng, out);
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a number below 100 fits any usize")]
fn push_groups<const BYTES: usize>(rng: &mut Rng, out: &mut Vec<u8>) {
    let mut text = [b'-'; BYTES];
    for group in text.chunks_mut(GROUP + 1) {
        // The draw is a fraction of 2^64: multiplied by 100, its whole part is two digits, and the
        // rest is a fraction again. 11 digits use 36.5 of 64 bits, so that the last digit is uneven
        // by 2^-27.
        let mut fraction = rng.next_u64();
        for pair in group[..GROUP - 1].chunks_exact_mut(2) {
            pair.copy_from_slice(&PAIRS[scale(fraction, 100) as usize]);
            fraction = fraction.wrapping_mul(100);
        }
        group[GROUP - 1] = PAIRS[scale(fraction, 10) as usize][1];
    }
    out.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: fn(&mut Rng, &mut Vec<u8>), rng: &mut Rng) -> String {
        let mut out = Vec::new();
        push(rng, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_have_the_shape_of_the_columns() {
        let mut rng = Rng::stream(1, 0);
        for (push, n_groups, n_bytes) in
            [(push_c as fn(&mut Rng, &mut Vec<u8>), 10, C_BYTES), (push_pad, 5, PAD_BYTES)]
        {
            let value = text(push, &mut rng);
            assert_eq!(value.len(), n_bytes);
            let groups: Vec<&str> = value.split('-').collect();
            assert_eq!(groups.len(), n_groups);
            for group in groups {
                assert_eq!(group.len(), GROUP);
                assert!(group.bytes().all(|b| b.is_ascii_digit()), "{value}");
            }
        }
    }

    #[test]
    fn every_digit_comes_equally_often_in_every_place() {
        let mut rng = Rng::stream(9, 0);
        let mut counts = vec![[0_u32; 10]; C_BYTES];
        let n = 20_000_u32;
        for _ in 0..n {
            for (place, byte) in text(push_c, &mut rng).bytes().enumerate() {
                if byte != b'-' {
                    counts[place][usize::from(byte - b'0')] += 1;
                }
            }
        }
        for (place, digits) in counts.iter().enumerate().filter(|(place, _)| place % 12 != 11) {
            let expected = f64::from(n) / 10.0;
            let chi2: f64 =
                digits.iter().map(|&seen| (f64::from(seen) - expected).powi(2) / expected).sum();
            // 9 degrees of freedom: above 37 once in 40,000 places, and there are 110.
            assert!(chi2 < 37.0, "place {place}: {chi2}");
        }
    }

    #[test]
    fn one_seed_gives_one_value() {
        let value = |seed| text(push_c, &mut Rng::stream(seed, 4));
        assert_eq!(value(3), value(3));
        assert_ne!(value(3), value(4));
    }
}
