//! Commits that no probe tells apart.

/// Commits between two neighbours that were measured: a change at any of them shows in the same probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The first commit that may have made the change.
    pub first: usize,
    /// The last one, which was measured.
    pub last: usize,
}

impl Gap {
    /// How many commits it has.
    #[must_use]
    pub fn n(&self) -> usize {
        self.last + 1 - self.first
    }

    /// Whether a commit is one of them.
    #[must_use]
    pub fn has(&self, commit: usize) -> bool {
        (self.first..=self.last).contains(&commit)
    }
}

/// The gaps of the commits 1 to `last`. Some were measured; 0 is the good end.
pub(crate) fn gaps(last: usize, measured: impl Iterator<Item = usize>) -> Vec<Gap> {
    let mut ends: Vec<usize> = measured.filter(|&commit| commit > 0 && commit < last).collect();
    ends.push(last);
    ends.sort_unstable();
    ends.dedup();
    let firsts = std::iter::once(1).chain(ends.iter().map(|end| end + 1));
    firsts.zip(&ends).map(|(first, &last)| Gap { first, last }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_between_two_probes_are_one_gap() {
        let found = gaps(10, [10, 4, 0, 5].into_iter());
        let wanted = [(1, 4), (5, 5), (6, 10)].map(|(first, last)| Gap { first, last });
        assert_eq!(found, wanted);
        assert_eq!(found.iter().map(Gap::n).collect::<Vec<_>>(), [4, 1, 5]);
        assert_eq!(gaps(3, std::iter::empty()), [Gap { first: 1, last: 3 }]);
    }
}
