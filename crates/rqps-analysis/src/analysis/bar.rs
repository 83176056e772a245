//! Why a ratio has no verdict, although it has an interval: what it compares is not the same work, the rate was set,
//! or the host was busy with something else.

/// The share of starts that may be missed where a set rate counts as held, as of the field's SLA.
const MOST_MISSED: f64 = 0.05;

/// Recalls that differ by less are equal: QPS changes by as little.
const EQUAL_RECALL: f64 = 0.001;

/// Why a ratio has no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bar {
    /// The rate of background inserts was not held, on the system or the base.
    Sla,
    /// A check of the step's work failed, on the system or the base.
    Check,
    /// Starts of a server ran different plans, on the system or the base: the ratio mixes them.
    Plans,
    /// Searches of vectors found parts of the nearest ones that differ: QPS tells nothing without them.
    Recall,
    /// Both held a set rate: response times are the result, not QPS.
    Rate,
    /// Something outside the run had the host's CPUs for half of the blocks or more, on the system
    /// or the base.
    HostBusy,
}

impl Bar {
    /// What bars the ratio of two systems.
    pub(crate) fn between(one: Standing, other: Standing) -> Option<Self> {
        if one.check_failed || other.check_failed {
            return Some(Self::Check);
        }
        if one.sla_failed || other.sla_failed {
            return Some(Self::Sla);
        }
        if one.plans_vary || other.plans_vary {
            return Some(Self::Plans);
        }
        if one.rate_held && other.rate_held {
            return Some(Self::Rate);
        }
        if one.host_busy || other.host_busy {
            return Some(Self::HostBusy);
        }
        let (own, others) = one.recall.zip(other.recall)?;
        ((own - others).abs() > EQUAL_RECALL).then_some(Self::Recall)
    }
}

/// What of a step on one system can bar its ratios.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Standing {
    /// A check of its work failed.
    pub(crate) check_failed: bool,
    /// The rate of background inserts was not held.
    pub(crate) sla_failed: bool,
    /// Its starts ran different plans.
    pub(crate) plans_vary: bool,
    /// The mean recall of a search of vectors.
    pub(crate) recall: Option<f64>,
    /// All that is counted came at a set rate, and nearly all of it came.
    pub(crate) rate_held: bool,
    /// The host was busy with something else.
    pub(crate) host_busy: bool,
}

/// Whether nearly all of what was due at a set rate came.
pub(crate) fn holds_rate(n_due: u64, n_missed: u64) -> bool {
    n_due > 0 && n_missed as f64 <= n_due as f64 * MOST_MISSED
}
