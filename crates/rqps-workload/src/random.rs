//! HOT PATH: random numbers of workloads: xoshiro256++ with many streams per seed. Budget: 2 ns a draw.
//!
//! The generator is xoshiro256++ 1.0 (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number
//! generators", ACM TOMS 47, 2021), its state filled by splitmix64 (G. Steele, D. Lea, C. Flood,
//! "Fast splittable pseudorandom number generators", OOPSLA 2014) as its authors advise. Both are
//! fixed here for good: a stored seed must give the same events in every later version.

/// The increment of splitmix64: 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of splitmix64: every bit of the input moves half of the bits of the output.
#[must_use]
#[inline]
pub fn mix(value: u64) -> u64 {
    let mut z = value;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The upper 64 bits of the product: `value` as a fraction of 2^64, scaled to `0..n`.
#[must_use]
#[inline]
pub(crate) fn scale(value: u64, n: u64) -> u64 {
    ((u128::from(value) * u128::from(n)) >> 64) as u64
}

/// A stream of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Stream `stream` of `seed`.
    ///
    /// Its state is the first four outputs of splitmix64 begun at `mix(mix(seed) + stream)`. Mixing
    /// twice keeps neighbouring seeds and neighbouring streams from sharing parts of their states.
    #[must_use]
    #[inline]
    pub fn stream(seed: u64, stream: u64) -> Self {
        let start = mix(mix(seed).wrapping_add(stream));
        let word = |i: u64| mix(start.wrapping_add(GOLDEN.wrapping_mul(i)));
        let state = [word(1), word(2), word(3), word(4)];
        // splitmix64 is a bijection, so at most one of the four words is zero, as xoshiro needs.
        Self { state }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A whole number in `0..n`; 0 when `n` is 0.
    ///
    /// By multiplication without rejection (D. Lemire, "Fast random integer generation in an
    /// interval", 2019): the bias is at most `n` / 2^64, which no run is long enough to see.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        scale(self.next_u64(), n)
    }

    /// A fraction in `0.0..1.0` in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_and_xoshiro_give_their_published_numbers() {
        // First outputs of splitmix64 begun at 0, as in the authors' reference.
        assert_eq!(mix(GOLDEN), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(GOLDEN.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
        // First outputs of xoshiro256++ from the state 1, 2, 3, 4, worked out by hand for the first.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        assert_eq!(rng.next_u64(), 41_943_041);
        assert_eq!(rng.next_u64(), 58_720_359);
        assert_eq!(rng.next_u64(), 3_588_806_011_781_223);
    }

    #[test]
    fn a_stream_repeats_and_differs_from_its_neighbours() {
        let first = |seed, stream| Rng::stream(seed, stream).next_u64();
        assert_eq!(first(7, 3), first(7, 3));
        let mut seen = std::collections::HashSet::new();
        for seed in 0..30 {
            for stream in 0..30 {
                assert!(seen.insert(first(seed, stream)), "seed {seed}, stream {stream}");
            }
        }
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut rng = Rng::stream(1, 1);
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
        for _ in 0..10_000 {
            assert!(rng.below(3) < 3);
            assert!((0.0..1.0).contains(&rng.unit()));
        }
    }
}
