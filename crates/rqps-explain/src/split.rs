//! Base and candidate per operation: every part of the time and every quantity, with intervals.

use rqps_model::{Estimate, Slice};

use crate::part::{Basis, Parts, Slots, TimePart};
use crate::quantity::Quantity;
use crate::reason::Reason;
use crate::sides::{Sides, Weights};

/// A value per operation on both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The base's: mean over its slices; over several starts of the servers, of theirs.
    pub base: f64,
    /// The candidate's.
    pub candidate: f64,
    /// Candidate less base, in the same unit, with its interval.
    pub difference: Estimate,
    /// Candidate / base, with its interval; absent where a slice has 0.
    pub ratio: Option<Estimate>,
}

impl Change {
    /// The change of a value of the slices, with `weights` of the starts; `None` where a slice
    /// lacks it.
    pub fn of(
        sides: &Sides<'_>,
        weights: &Weights,
        value: impl Fn(&Slice) -> Option<f64>,
    ) -> Option<Self> {
        let (base, candidate) = sides.means(weights, &value)?;
        let difference = sides.difference(weights, &value)?;
        Some(Self { base, candidate, difference, ratio: sides.ratio(&value) })
    }

    /// Whether the candidate has more of it beyond chance.
    #[must_use]
    pub fn has_grown(&self) -> bool {
        self.difference.interval.is_some_and(|(low, _)| low > 0.0)
    }

    /// Whether the candidate has less of it beyond chance.
    #[must_use]
    pub fn has_shrunk(&self) -> bool {
        self.difference.interval.is_some_and(|(_, high)| high < 0.0)
    }

    /// The same with base and candidate swapped.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let negated = |e: Estimate| Estimate {
            point: -e.point,
            interval: e.interval.map(|(low, high)| (-high, -low)),
            ..e
        };
        let inverted = |e: Estimate| Estimate {
            point: 1.0 / e.point,
            interval: e.interval.map(|(low, high)| (1.0 / high, 1.0 / low)),
            ..e
        };
        Self {
            base: self.candidate,
            candidate: self.base,
            difference: negated(self.difference),
            ratio: self.ratio.map(inverted),
        }
    }

    /// The ratio of the means, candidate / base; `None` where the base has 0.
    #[must_use]
    pub fn times(&self) -> Option<f64> {
        (self.base > 0.0).then(|| self.candidate / self.base)
    }
}

/// The time of an operation on base and candidate, split into parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Operations that could be in progress at once.
    pub slots: Slots,
    /// What is known of all slices.
    pub basis: Basis,
    /// Whether other clients worked at a set rate beside the measured ones: connection threads are
    /// then those of the measured clients, and quantities of the whole server are of both.
    pub others_beside: bool,
    /// The weights of the starts of the servers: those of the time per operation, so that parts add
    /// up to it.
    pub weights: Weights,
    /// The time per operation, microseconds.
    pub total: Change,
    /// Each part of it, in the order of [`TimePart::ALL`].
    pub parts: Vec<(TimePart, Change)>,
    /// Each quantity that was measured on both sides, in the order of [`Quantity::all`].
    pub quantities: Vec<(Quantity, Change)>,
}

impl Split {
    /// The split of a step. `None` where the server's processes are not known or nothing was done.
    /// Also where a rate was set for the measured clients, or for others beside them while it is
    /// not known which threads serve which clients.
    #[must_use]
    pub fn of(sides: &Sides<'_>, slots: Slots) -> Option<Self> {
        if barred(sides).is_some() {
            return None;
        }
        let basis = Basis::of(sides);
        let parts = |slice: &Slice| Parts::of(slice, slots, basis);
        let total_us = |slice: &Slice| Some(parts(slice)?.total_us);
        let weights = sides.weights(total_us)?;
        let total = Change::of(sides, &weights, total_us)?;
        let part = |part: TimePart| {
            Some((part, Change::of(sides, &weights, |slice| Some(parts(slice)?.get(part)))?))
        };
        let quantity = |quantity: Quantity| {
            Some((quantity, Change::of(sides, &weights, |slice| quantity.value(slice))?))
        };
        let parts = TimePart::ALL.into_iter().map(part).collect::<Option<Vec<_>>>()?;
        let quantities: Vec<_> = Quantity::all().filter_map(quantity).collect();
        Some(Self {
            slots,
            basis,
            others_beside: sides.slices().any(has_others_beside),
            weights,
            total,
            parts,
            quantities,
        })
    }

    /// One part.
    #[must_use]
    pub fn part(&self, part: TimePart) -> Option<&Change> {
        self.parts.iter().find(|(known, _)| *known == part).map(|(_, change)| change)
    }

    /// One quantity; `None` where it was not measured on both sides.
    #[must_use]
    pub fn quantity(&self, quantity: Quantity) -> Option<&Change> {
        self.quantities.iter().find(|(known, _)| *known == quantity).map(|(_, change)| change)
    }

    /// A part's share of the change in the time per operation: 0.9 is 90%; may be below 0 or above 1
    /// where parts changed in opposite directions. `None` where the time did not change.
    #[must_use]
    pub fn share(&self, part: TimePart) -> Option<f64> {
        let total = self.total.difference.point;
        let change = self.part(part)?;
        (total != 0.0).then(|| change.difference.point / total)
    }

    /// The time per operation that is explained: see [`Parts::own_us`].
    pub(crate) fn own_us(&self, sides: &Sides<'_>, slice: &Slice) -> Option<f64> {
        Some(Parts::of(slice, self.slots, self.basis)?.own_us(sides.is_interleaved))
    }
}

/// Why the time of an operation cannot be told from these slices.
pub(crate) fn barred(sides: &Sides<'_>) -> Option<Reason> {
    if sides.slices().any(|slice| slice.lateness.is_some()) {
        return Some(Reason::HeldRate);
    }
    let is_served = |slice: &Slice| slice.usage.waits.served_cpu_ns.is_some();
    if sides.slices().any(has_others_beside) && !sides.slices().all(is_served) {
        return Some(Reason::OthersAtRate);
    }
    None
}

/// Whether other clients worked at a set rate beside the measured ones. Without one, clients that
/// delete what others insert do a fixed share of the work of an operation.
fn has_others_beside(slice: &Slice) -> bool {
    slice.streams.iter().any(|stream| stream.target_per_s.is_some())
}
