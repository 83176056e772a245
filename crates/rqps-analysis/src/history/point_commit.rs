//! The commits of points, and their order.

use super::Point;

/// The commit that the server of a point was built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointCommit {
    /// Its full hash.
    pub hash: String,
    /// Whether the files that were built differ from it.
    pub is_changed: bool,
    /// The first twelve digits of its hash; `1a2b3c4d5e6f, changed` of files that differ from it.
    pub name: String,
    /// The first line of its message.
    pub subject: String,
    /// When it was committed: RFC 3339, UTC.
    pub time: String,
    /// Commits of the branch from the series' base to it, negative before the base; `None` where that is not known.
    pub after_base: Option<i64>,
}

impl PointCommit {
    /// The day of the commit: `2026-11-29`.
    #[must_use]
    pub fn day(&self) -> &str {
        self.time.get(..10).unwrap_or(&self.time)
    }
}

/// Commits from the series' base to a point.
fn after_base(point: &Point) -> Option<i64> {
    if point.is_base { Some(0) } else { point.commit.as_ref()?.after_base }
}

/// Puts points in the order of versions, and those of one version in the order of commits. The sort is stable: points of
/// one server stay in order of time.
pub(super) fn sort(points: &mut [Point]) {
    if points.iter().any(|point| point.commit.is_some())
        && points.iter().all(|point| after_base(point).is_some())
    {
        // One branch: its order is known, whatever the clocks of committers said.
        points.sort_by_key(after_base);
        return;
    }
    let time = |point: &Point| {
        let commit = point.commit.as_ref()?;
        Some((commit.time.clone(), commit.after_base))
    };
    let all_commits = points.iter().all(|point| point.commit.is_some());
    points.sort_by(|a, b| {
        let by_version =
            if all_commits { std::cmp::Ordering::Equal } else { a.version.cmp(&b.version) };
        by_version.then_with(|| time(a).cmp(&time(b)))
    });
}

/// How many commits a point is after the one before it, where both are on the branch of their base.
#[must_use]
pub fn commits_between(before: &Point, point: &Point) -> Option<u64> {
    u64::try_from(after_base(point)? - after_base(before)?).ok()
}
