//! How long a run will take yet: the plan's time, at the pace of what is over.

use rqps_store::Live;
use rqps_store::live::{Changes, Spent};

/// Measured time of a step from which on it tells of its own pace, milliseconds.
const TELLING_MS: u64 = 2000;

/// What can be said of the time that is left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Left {
    /// Of the step under way and all after it, and of the servers' starts and stops, milliseconds.
    pub(crate) ms: u64,
    /// What steps of this run took of the time that was planned for them; absent while none is over.
    pub(crate) pace: Option<f64>,
    /// How much longer the step under way has taken than expected, milliseconds; 0 within its time.
    pub(crate) over_ms: u64,
    /// Whether part of it are steps of a fixed amount of work, whose time is a guess.
    pub(crate) has_guess: bool,
    /// Starts of servers in it.
    pub(crate) n_starts: u64,
    /// Servers that are to be stopped whose stops are not in it, as none was stopped yet.
    pub(crate) n_unknown_stops: u64,
}

impl Left {
    /// At the time `now_unix_ms`; `measured_ms` is what is measured of the step under way, all systems
    /// together. `None` while no step has begun.
    pub(crate) fn of(live: &Live, now_unix_ms: i64, measured_ms: u64) -> Option<Self> {
        let since = |began: i64| u64::try_from(now_unix_ms.saturating_sub(began)).unwrap_or(0);
        let is_any_over = live.timed.planned_ms > 0 || live.guessed.planned_ms > 0;
        // Between two starts of the servers there is none.
        let step = live.step.as_ref().map(|step| (step, since(step.began_unix_ms)));
        if step.is_none() && !is_any_over {
            return None;
        }
        let mut timed = live.timed;
        // A resumed step has blocks of before the interruption, and tells nothing yet.
        if let Some((step, elapsed_ms)) = step
            && !step.is_guess
            && (TELLING_MS..=elapsed_ms).contains(&measured_ms)
        {
            timed.planned_ms += measured_ms;
            timed.took_ms += elapsed_ms;
        }
        let (timed, guessed) = (pace(timed), pace(live.guessed));
        let (own_ms, over_ms) = step.map_or((0, 0), |(step, elapsed_ms)| {
            let own = if step.is_guess { guessed } else { timed };
            let expected_ms = at_pace(step.expected_ms, own);
            (expected_ms.saturating_sub(elapsed_ms), elapsed_ms.saturating_sub(expected_ms))
        });
        let later_ms = at_pace(live.left_timed_ms, timed) + at_pace(live.left_guessed_ms, guessed);
        let (starts, stops) = (each_ms(live.starts), each_ms(live.stops));
        // The one under way is among those of its kind, and one that is late does not shorten those after it.
        let left_of = |each: Option<u64>, n: u64, is_stop: bool| {
            let each = each.unwrap_or(0);
            let change = live.change.filter(|change| change.is_stop == is_stop);
            let gone = change.map_or(0, |change| since(change.began_unix_ms).min(each));
            each.saturating_mul(n).saturating_sub(gone)
        };
        let changes_ms = left_of(starts, live.left_starts, false).saturating_add(left_of(
            stops,
            live.left_stops,
            true,
        ));
        Some(Self {
            ms: own_ms + later_ms + changes_ms,
            pace: timed,
            over_ms,
            has_guess: step.is_some_and(|(step, _)| step.is_guess) || live.left_guessed_ms > 0,
            n_starts: if starts.is_some() { live.left_starts } else { 0 },
            n_unknown_stops: if stops.is_none() { live.left_stops } else { 0 },
        })
    }
}

/// What steps took of what was planned for them.
fn pace(spent: Spent) -> Option<f64> {
    (spent.planned_ms > 0).then(|| spent.took_ms as f64 / spent.planned_ms as f64)
}

/// What one of them took on average, milliseconds.
fn each_ms(changes: Changes) -> Option<u64> {
    changes.took_ms.checked_div(changes.n)
}

fn at_pace(planned_ms: u64, pace: Option<f64>) -> u64 {
    let ms = planned_ms as f64 * pace.unwrap_or(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not below 0, saturates"
    )]
    let ms = ms.round() as u64;
    ms
}

#[cfg(test)]
mod tests {
    use rqps_store::live::{Change, LiveStep};

    use super::*;

    fn live(timed: (u64, u64), guessed: (u64, u64)) -> Live {
        let step =
            LiveStep { began_unix_ms: 1_000_000, expected_ms: 10_000, ..LiveStep::default() };
        let spent = |(planned_ms, took_ms)| Spent { planned_ms, took_ms };
        Live {
            step: Some(step),
            timed: spent(timed),
            guessed: spent(guessed),
            left_timed_ms: 100_000,
            left_guessed_ms: 8_000,
            ..Live::default()
        }
    }

    #[test]
    fn the_plan_at_the_pace_so_far() {
        let at = |s: i64| 1_000_000 + s * 1000;
        let left = |live: &Live, s: i64| Left::of(live, at(s), 0).unwrap();
        let by_plan = left(&live((0, 0), (0, 0)), 4);
        assert_eq!((by_plan.ms, by_plan.pace, by_plan.over_ms), (114_000, None, 0));
        assert!(by_plan.has_guess);
        // Steps take a half more than planned, loads a quarter of their guess.
        let paced = left(&live((20_000, 30_000), (8_000, 2_000)), 5);
        assert_eq!((paced.ms, paced.pace), (10_000 + 150_000 + 2_000, Some(1.5)));
        // The step under way is late: what is left does not shrink, and that it is late is said.
        let late = left(&live((20_000, 30_000), (8_000, 2_000)), 25);
        assert_eq!((late.ms, late.over_ms), (152_000, 10_000));
        assert_eq!(Left::of(&Live::default(), 0, 0), None);
        // The first timed step tells of its own pace once some of it is measured: 4 s in 5 s.
        let own = Left::of(&live((0, 0), (0, 0)), at(5), 4000).unwrap();
        assert_eq!((own.ms, own.pace), (7_500 + 125_000 + 8_000, Some(1.25)));
        assert_eq!(Left::of(&live((0, 0), (0, 0)), at(5), 60_000).unwrap().pace, None);
    }

    #[test]
    fn starts_and_stops_of_servers_take_what_those_so_far_took() {
        // Three starts took 20 s each, two stops 5 s each; two more servers are to be started, four stopped.
        let mut live = live((20_000, 20_000), (8_000, 8_000));
        live.starts = Changes { n: 3, took_ms: 60_000 };
        live.stops = Changes { n: 2, took_ms: 10_000 };
        (live.left_starts, live.left_stops) = (2, 4);
        let left = Left::of(&live, 1_004_000, 0).unwrap();
        let steps_ms = 6_000 + 100_000 + 8_000;
        assert_eq!((left.ms, left.n_starts), (steps_ms + 40_000 + 20_000, 2));
        assert_eq!(left.n_unknown_stops, 0);
        // Between two starts no step is under way, and none is late.
        live.step = None;
        live.change = Some(Change { began_unix_ms: 1_000_000, is_stop: false });
        let between = |s: i64| Left::of(&live, 1_000_000 + s * 1000, 0).unwrap();
        let later_ms = 100_000 + 8_000 + 20_000;
        assert_eq!((between(15).ms, between(15).over_ms), (later_ms + 5_000 + 20_000, 0));
        // The one is late, the other takes its time.
        assert_eq!(between(300).ms, later_ms + 20_000);
    }

    #[test]
    fn stops_are_not_known_before_the_first() {
        let mut live = live((20_000, 20_000), (8_000, 8_000));
        live.starts = Changes { n: 2, took_ms: 40_000 };
        live.left_stops = 2;
        let left = Left::of(&live, 1_004_000, 0).unwrap();
        assert_eq!((left.ms, left.n_starts, left.n_unknown_stops), (114_000, 0, 2));
        // During the first start of all nothing is known.
        let change = Some(Change { began_unix_ms: 1_000_000, is_stop: false });
        assert_eq!(Left::of(&Live { change, ..Live::default() }, 1_004_000, 0), None);
    }
}
