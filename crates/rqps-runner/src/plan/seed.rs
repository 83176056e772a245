//! Seeds: every random choice is drawn from the run's seed, through the numbers of what it is for.

use rqps_load::{Order, Pace, Stop};

/// What the numbers below a seed stand for. Each kind has numbers that no other kind reaches.
#[repr(u64)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeedDomain {
    /// Its parts: the steps of a run, the slices of a step, the clients of a slice.
    Part = 0,
    /// Of a step: the CPU of the first pair.
    FirstCpu = 1 << 40,
    /// Of a run: the starts of its servers.
    Start = 1 << 41,
    /// Of a step: attempts at it on the same data.
    Attempt = 1 << 42,
    /// Of a slice or block: what is measured in its place.
    Again = 1 << 43,
    /// Of a run: values of the statements whose plans are asked for.
    Probes = 1 << 44,
    /// Of a step: extra slices.
    Extra = 1 << 45,
}

/// The seed of number `n` of a domain below `seed`.
pub(crate) fn derive(seed: u64, domain: SeedDomain, n: u64) -> u64 {
    let order = Order { pace: Pace::Closed, stop: Stop::Events(0), seed };
    order.client_seed(usize::try_from(domain as u64 + n).unwrap_or(usize::MAX))
}

/// The seed of part `n` of something with seed `seed`.
pub(crate) fn mix(seed: u64, n: u64) -> u64 {
    derive(seed, SeedDomain::Part, n)
}

/// The seed of a step of a run, by the step's place from 0.
pub(crate) fn of_step(of_run: u64, step_idx: usize) -> u64 {
    mix(of_run, step_idx as u64 + 1)
}

/// The seed of what is drawn in the `n`th attempt at a step, from 0, of the step's own. What an attempt
/// before has done on the same data is not done again: an update with the values that are there changes no
/// row.
pub(crate) fn of_attempt(of_step: u64, n: u64) -> u64 {
    if n == 0 { of_step } else { derive(of_step, SeedDomain::Attempt, n) }
}

/// The seed of a slice or block that was measured `n` times before and is measured once more: as with
/// attempts, what was done is not done again.
pub(crate) fn of_again(of_slice: u64, n: u32) -> u64 {
    if n == 0 { of_slice } else { derive(of_slice, SeedDomain::Again, n.into()) }
}

/// The numbers below `n` in an order drawn from `seed` (Fisher and Yates).
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        let drawn = mix(seed, last as u64 + 2) % (last as u64 + 1);
        order.swap(last, usize::try_from(drawn).unwrap_or(0));
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn domains_and_numbers_have_seeds_of_their_own() {
        let domains = [
            SeedDomain::Part,
            SeedDomain::FirstCpu,
            SeedDomain::Start,
            SeedDomain::Attempt,
            SeedDomain::Again,
            SeedDomain::Probes,
            SeedDomain::Extra,
        ];
        let all = domains.iter().flat_map(|domain| (0..1000).map(|n| derive(7, *domain, n)));
        assert_eq!(all.collect::<BTreeSet<_>>().len(), domains.len() * 1000);
        // An attempt that is the first, and a slice that was not measured before, are the step's and the slice's own.
        assert_eq!([of_attempt(7, 0), of_again(7, 0)], [7, 7]);
        assert_ne!(of_attempt(7, 1), of_again(7, 1));
    }

    #[test]
    fn every_number_is_drawn_once() {
        for n in [0, 1, 2, 9, 100] {
            let mut order = shuffled(n, 5);
            order.sort_unstable();
            assert_eq!(order, (0..n).collect::<Vec<_>>());
        }
        assert_ne!(shuffled(100, 5), shuffled(100, 6));
    }
}
