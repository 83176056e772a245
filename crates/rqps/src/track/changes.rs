//! Between which measured commits the speed of steps changed.

use rqps_analysis::history::{Choice, History, Order, Point, Scale, Series};
use rqps_model::{Run, RunSystem, SystemSpec};

/// Two measured commits, and the steps whose speed changed between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Full hashes.
    pub(super) good: String,
    pub(super) bad: String,
    pub(super) steps: Vec<String>,
}

/// Where the history of `runs` has a change in a step of the `latest`, between commits that `is_of_branch` takes;
/// `by_verdict` is where the latest run says so.
pub(super) fn find(
    runs: Vec<Run>,
    latest: &Run,
    is_of_branch: &dyn Fn(&str) -> bool,
    by_verdict: Option<Stretch>,
) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = by_verdict.into_iter().collect();
    let pinned = latest.systems.first();
    let is_pinned =
        |hash: &str| pinned.and_then(RunSystem::commit).is_some_and(|commit| commit.hash == hash);
    let is_of_kind = |spec: &SystemSpec| pinned.is_some_and(|own| own.spec.is_of_kind(spec));
    let steps: Vec<&str> = latest.steps.iter().map(|step| step.info.name.as_str()).collect();
    let choice = Choice {
        order: Some(Order::Version),
        all_hosts: false,
        step: &|step| steps.contains(&step.name.as_str()),
        system: &|system| {
            let is_wanted = |hash| is_pinned(hash) || is_of_branch(hash);
            is_of_kind(&system.spec) && system.commit().is_some_and(|commit| is_wanted(commit.hash))
        },
    };
    // Without a history there is no change in it. Rates of different nights say little of a server.
    let series = History::of(runs, choice).map_or_else(|_| Vec::new(), |history| history.series);
    let is_of_latest = |series: &&Series| {
        matches!(series.scale, Scale::Relative { .. })
            && series.points.iter().any(|point| point.run_id == latest.id)
    };
    for series in series.iter().filter(is_of_latest) {
        for change in series.changes.iter().rev() {
            let found_ends = ends(&series.points, change.at, is_of_branch);
            let Some(Ends { good, bad }) = found_ends else { continue };
            let known = found.iter_mut().find(|known| (&*known.good, &*known.bad) == (good, bad));
            match known {
                Some(known) if known.steps.contains(&series.step) => {}
                Some(known) => known.steps.push(series.step.clone()),
                None => found.push(Stretch {
                    good: good.to_owned(),
                    bad: bad.to_owned(),
                    steps: vec![series.step.clone()],
                }),
            }
        }
    }
    found
}

/// The hashes of the commits that a change lies between.
#[derive(Debug, PartialEq, Eq)]
struct Ends<'p> {
    good: &'p str,
    bad: &'p str,
}

/// The last commit before a change, and the first one after it. A commit that was measured twice has two points, which
/// a change may lie between.
fn ends<'p>(
    points: &'p [Point],
    at: usize,
    is_of_branch: &dyn Fn(&str) -> bool,
) -> Option<Ends<'p>> {
    let bad = hash(points.get(at)?)?;
    let mut before = points[..at].iter().rev().filter_map(hash);
    let good = before.find(|hash| *hash != bad && is_of_branch(hash))?;
    Some(Ends { good, bad })
}

fn hash(point: &Point) -> Option<&str> {
    point.commit.as_ref().map(|commit| commit.hash.as_str())
}
