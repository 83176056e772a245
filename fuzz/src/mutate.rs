//! New inputs from old ones: bits, numbers, pieces, and the words of a format.

use rqps_workload::random::Rng;

/// Numbers at which counts and lengths go wrong.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFA,
    0xFB,
    0xFC,
    0xFE,
    0xFF,
    0xFFFF,
    0xFF_FFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// The same as text.
const TEXTS: [&str; 8] =
    ["-1", "0", "18446744073709551615", "18446744073709551616", "9e999", "nan", "1.", "\u{FFFD}"];

/// Changes inputs.
pub(crate) struct Mutator {
    /// Pieces that mean something in the format.
    words: Vec<Vec<u8>>,
}

impl Mutator {
    pub(crate) fn new(words: Vec<Vec<u8>>) -> Self {
        Self { words }
    }

    /// One of `kept`, changed in one place or a few.
    pub(crate) fn changed(&mut self, kept: &[Vec<u8>], rng: &mut Rng, max_bytes: usize) -> Vec<u8> {
        let mut input = one_of(kept, rng).cloned().unwrap_or_default();
        // Mostly one change, now and then many.
        let magnitude = rng.below(5);
        let n = 1 + rng.below(1 << magnitude);
        for _ in 0..n {
            self.change(&mut input, kept, rng);
        }
        input.truncate(max_bytes);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, kept: &[Vec<u8>], rng: &mut Rng) {
        let at = below(input.len() + 1, rng);
        match rng.below(10) {
            0 => flip(input, at, rng),
            1 => overwrite(input, at, &[low_byte(rng)]),
            2 => {
                let number = one_of(&NUMBERS, rng).copied().unwrap_or(0);
                let n_bytes = 1 << rng.below(4);
                let bytes = match rng.below(2) {
                    0 => number.to_le_bytes()[..n_bytes].to_vec(),
                    _ => number.to_be_bytes()[8 - n_bytes..].to_vec(),
                };
                overwrite(input, at, &bytes);
            }
            3 => insert(input, at, &[low_byte(rng)]),
            4 => drop(input.drain(at..(at + piece(rng)).min(input.len()))),
            5 => {
                let piece = input[at..(at + piece(rng)).min(input.len())].to_vec();
                let to = below(input.len() + 1, rng);
                insert(input, to, &piece);
            }
            6 => {
                let other = one_of(kept, rng).cloned().unwrap_or_default();
                let from = below(other.len() + 1, rng);
                let upto = (from + piece(rng)).min(other.len());
                insert(input, at, &other[from..upto]);
            }
            7 => {
                let word = one_of(&self.words, rng).cloned().unwrap_or_default();
                insert(input, at, &word);
            }
            8 => change_number(input, at, rng),
            _ => input.truncate(at),
        }
    }
}

fn below(n: usize, rng: &mut Rng) -> usize {
    usize::try_from(rng.below(n as u64)).unwrap_or(0)
}

fn one_of<'a, T>(of: &'a [T], rng: &mut Rng) -> Option<&'a T> {
    (!of.is_empty()).then(|| below(of.len(), rng)).and_then(|at| of.get(at))
}

fn low_byte(rng: &mut Rng) -> u8 {
    rng.next_u64().to_le_bytes()[0]
}

/// A length, mostly short.
fn piece(rng: &mut Rng) -> usize {
    let magnitude = rng.below(10);
    1 + below(1 << magnitude, rng)
}

fn flip(input: &mut [u8], at: usize, rng: &mut Rng) {
    let bit = 1_u8 << rng.below(8);
    if let Some(byte) = input.get_mut(at) {
        *byte ^= bit;
    }
}

fn overwrite(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    for (offset, byte) in bytes.iter().enumerate() {
        match input.get_mut(at + offset) {
            Some(old) => *old = *byte,
            None => input.push(*byte),
        }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let at = at.min(input.len());
    drop(input.splice(at..at, bytes.iter().copied()));
}

/// Puts another number in the place of the next one in a text.
fn change_number(input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let Some(from) = (at..input.len()).find(|&i| input[i].is_ascii_digit()) else { return };
    let upto = (from..input.len()).find(|&i| !input[i].is_ascii_digit()).unwrap_or(input.len());
    let number = match rng.below(3) {
        0 => one_of(&TEXTS, rng).copied().unwrap_or("0").to_owned(),
        1 => one_of(&NUMBERS, rng).copied().unwrap_or(0).to_string(),
        _ => {
            let shift = rng.below(64);
            (rng.next_u64() >> shift).to_string()
        }
    };
    drop(input.splice(from..upto, number.into_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_keeps_to_the_longest_input_and_the_same_seed_gives_the_same() {
        let kept = vec![b"12 34\n".to_vec(), Vec::new(), vec![0xFF; 300]];
        let draw = |seed| {
            let mut rng = Rng::stream(seed, 0);
            let mut mutator = Mutator::new(vec![b"cpu".to_vec()]);
            (0..2000).map(|_| mutator.changed(&kept, &mut rng, 256)).collect::<Vec<_>>()
        };
        let one = draw(1);
        assert!(one.iter().all(|input| input.len() <= 256));
        assert_eq!(one, draw(1));
        assert_ne!(one, draw(2));
        assert!(one.iter().any(|input| input.windows(3).any(|w| w == b"cpu")));
    }
}
