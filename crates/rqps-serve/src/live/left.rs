//! How long a run will take yet: the plan's time, at the pace of what is over.

use rqps_store::Live;
use rqps_store::live::Spent;

/// Measured time of a step from which on it tells of its own pace, milliseconds.
const TELLING_MS: u64 = 2000;

/// What can be said of the time that is left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Left {
    /// Of the step under way and all after it, milliseconds.
    pub(crate) ms: u64,
    /// What steps of this run took of the time that was planned for them; absent while none is over.
    pub(crate) pace: Option<f64>,
    /// How much longer the step under way has taken than expected, milliseconds; 0 within its time.
    pub(crate) over_ms: u64,
    /// Whether part of it are steps of a fixed amount of work, whose time is a guess.
    pub(crate) has_guess: bool,
}

impl Left {
    /// At the time `now_unix_ms`; `measured_ms` is what is measured of the step under way, all systems
    /// together. `None` while no step has begun.
    pub(crate) fn of(live: &Live, now_unix_ms: i64, measured_ms: u64) -> Option<Self> {
        let step = live.step.as_ref()?;
        let elapsed_ms = u64::try_from(now_unix_ms.saturating_sub(step.began_unix_ms)).unwrap_or(0);
        let mut timed = live.timed;
        // A step that goes on after an interruption has blocks of before, and tells nothing yet.
        if !step.is_guess && (TELLING_MS..=elapsed_ms).contains(&measured_ms) {
            timed.planned_ms += measured_ms;
            timed.took_ms += elapsed_ms;
        }
        let (timed, guessed) = (pace(timed), pace(live.guessed));
        let own = if step.is_guess { guessed } else { timed };
        let expected_ms = at_pace(step.expected_ms, own);
        let later_ms = at_pace(live.left_timed_ms, timed) + at_pace(live.left_guessed_ms, guessed);
        Some(Self {
            ms: expected_ms.saturating_sub(elapsed_ms) + later_ms,
            pace: timed,
            over_ms: elapsed_ms.saturating_sub(expected_ms),
            has_guess: step.is_guess || live.left_guessed_ms > 0,
        })
    }
}

/// What steps took of what was planned for them.
fn pace(spent: Spent) -> Option<f64> {
    (spent.planned_ms > 0).then(|| spent.took_ms as f64 / spent.planned_ms as f64)
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
    use rqps_store::live::LiveStep;

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
}
