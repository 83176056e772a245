//! The verdicts of reports on the versions of a history, which its sentences must not contradict.

use rqps_model::Verdict;

use super::{BaseName, History, LineName, Order, Point, Scale};

/// Verdicts on the steps of one version against the base of its series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Name and version of the server.
    pub server: String,
    /// The systems of the series.
    pub line: LineName,
    /// What it was compared with.
    pub base: BaseName,
    /// Steps that are slower.
    pub n_slower: usize,
    /// Steps that are faster.
    pub n_faster: usize,
    /// Steps that are the same.
    pub n_same: usize,
    /// Steps that are unclear.
    pub n_unclear: usize,
    /// Steps without a verdict.
    pub n_without: usize,
}

impl Reported {
    /// All steps.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.n_slower + self.n_faster + self.n_same + self.n_unclear + self.n_without
    }
}

/// The verdicts on each version, in order, and on the latest commit; of a version with several points the latest
/// counts. Empty for a history by time, where a change over the runs is what is looked for.
#[must_use]
pub fn reported(history: &History) -> Vec<Reported> {
    let mut out: Vec<Reported> = Vec::new();
    if history.order == Order::Time {
        return out;
    }
    for series in &history.series {
        let Scale::Relative { base } = &series.scale else { continue };
        for (at, point) in series.points.iter().enumerate().filter(|(_, point)| !point.is_base) {
            // Of commits only the latest: a branch has more of them than anybody reads.
            let is_later = |p: &Point| {
                let both = p.commit.as_ref().zip(point.commit.as_ref());
                let is_one_version = both.is_some() && p.version == point.version;
                p.server == point.server || (!p.is_base && is_one_version)
            };
            let has_later = series.points[at + 1..].iter().any(is_later);
            if has_later {
                continue;
            }
            let is_own = |own: &Reported| {
                own.server == point.server && own.line == series.line && own.base == **base
            };
            let idx = out.iter().position(is_own).unwrap_or_else(|| {
                out.push(Reported {
                    server: point.server.clone(),
                    line: series.line.clone(),
                    base: (**base).clone(),
                    n_slower: 0,
                    n_faster: 0,
                    n_same: 0,
                    n_unclear: 0,
                    n_without: 0,
                });
                out.len() - 1
            });
            *match point.verdict {
                Some(Verdict::Slower) => &mut out[idx].n_slower,
                Some(Verdict::Faster) => &mut out[idx].n_faster,
                Some(Verdict::Same) => &mut out[idx].n_same,
                Some(Verdict::Unclear) => &mut out[idx].n_unclear,
                None => &mut out[idx].n_without,
            } += 1;
        }
    }
    // Imported rates have no verdicts at all.
    out.retain(|own| own.n_without < own.n_steps());
    out
}
