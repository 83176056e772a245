//! A time for the whole run, divided among its steps.

use std::time::Duration;

use rqps_model::{Schedule, StepKind};

use super::steps::PlannedStep;
use super::{Plan, Refusal, launches, schedule};

/// Stopping a server, starting it on its data and filling its caches.
const RESTART: Duration = Duration::from_secs(2);

/// Half-width at which a step has been measured for long enough, where the plan says nothing, basis points.
const PRECISION_BP: u32 = 100;

/// Blocks that a start must have room for before a step may end early.
const LEAST_BLOCKS: u32 = 20;

/// What changes of slices, checks and questions take beside the measured time, as times of it.
const BESIDE: f64 = 0.2;

/// The schedule of a plan whose run is to take `time` once its servers are there: with the budget of a step that
/// this leaves.
///
/// # Errors
/// A time in which no step can be measured for a second, or a plan whose steps cannot be had.
pub(super) fn divide(plan: &Plan, time: &str) -> Result<Schedule, Refusal> {
    let whole = schedule::parse_whole_time(time)?;
    let Schedule::Interleaved { slice_ms, slices, half_width_bp, .. } = plan.schedule else {
        return Ok(plan.schedule);
    };
    // As many CPUs as any placement wants: how long a step takes does not depend on it.
    let cpus: Vec<usize> = (0..1024).collect();
    let steps = launches::of_plan(plan, &cpus, true)
        .map_err(|error| (format!("{error:#}"), "name other steps".to_owned()))?;
    let n_systems = u32::try_from(plan.systems.len()).unwrap_or(u32::MAX);
    let is_timed = |step: &&PlannedStep| !step.is_guess() && step.info.kind != StepKind::WarmUp;
    let mut beside = Duration::ZERO;
    let mut n_timed: u32 = 0;
    for step in &steps {
        let expected = step.expected(plan.schedule);
        if is_timed(&step) {
            n_timed += u32::from(step.start % plan.starts == 0);
            beside += expected - step.time(plan.schedule);
        } else {
            beside += expected;
        }
    }
    let n_restarts = steps.last().map_or(0, |last| last.launch) + 1;
    let fixed = (beside + RESTART * n_restarts) * n_systems;
    let n = f64::from(n_timed) * f64::from(n_systems);
    let left = whole.saturating_sub(fixed).as_secs_f64() / (1.0 + BESIDE);
    if n_timed == 0 || left < n {
        let least = fixed.as_secs_f64() + n * (1.0 + BESIDE);
        let what = format!(
            "time = {time:?} is too short: each of {n_timed} steps takes at least a second on each system"
        );
        let remedy =
            format!("write \"{:.0}m\" or more, or choose fewer steps", (least / 60.0).ceil());
        return Err((what, remedy));
    }
    let ms = Duration::from_secs_f64(left / n).as_millis();
    let budget_ms = u32::try_from(ms).unwrap_or(u32::MAX);
    // Without a precision what calm steps do not need would be measured all the same.
    let has_blocks = slice_ms.saturating_mul(plan.starts).saturating_mul(LEAST_BLOCKS) <= budget_ms;
    let half_width_bp = half_width_bp.or(has_blocks.then_some(PRECISION_BP));
    Ok(Schedule::Interleaved { slice_ms, slices, budget_ms: Some(budget_ms), half_width_bp })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;

    fn plan(schedule: &str, steps: &str) -> Result<Plan, String> {
        let text = format!(
            "[[system]]\ndbms = 'postgres'\nversion = '17.4'\n[[system]]\ndbms = 'postgres'\nversion = '18.0'\n\
             [[suite]]\nsize = 'tiny'\nclients = [1]\nsteps = [{steps}]\n[schedule]\n{schedule}\n"
        );
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue);
        plan.map_err(|error| error.to_string())
    }

    #[test]
    fn steps_get_equal_parts_of_the_time() {
        let budget = |time: &str, steps: &str| {
            let plan = plan(&format!("time = '{time}'"), steps).unwrap();
            plan.schedule.at_most(Duration::ZERO)
        };
        let (two, four) = (
            budget("20m", "'point-query', 'update-index'"),
            budget("20m", "'point-query', 'update-*'"),
        );
        // 20 minutes are 1200 s: for two steps on two systems a little less than 1200 / 4 / 1.2.
        assert!((200.0..250.0).contains(&two.as_secs_f64()), "{two:?}");
        assert!(four < two / 2 * 3 / 2, "{four:?}");
        assert_eq!(
            plan("time = '20m'", "'point-query'").unwrap().schedule.half_width(),
            Some(0.01)
        );
        let coarse = plan("time = '20m'\nprecision = '3%'", "'point-query'").unwrap();
        assert_eq!(coarse.schedule.half_width(), Some(0.03));
        // As it was written: steps share the time of a run that is resumed, too.
        let again = plan("time = '20m'", "'point-query'").unwrap();
        let written = PlanFile::parse(&again.to_toml(), "written").unwrap().schedule;
        assert_eq!((written.time.as_deref(), written.budget), (Some("20m"), None));
        assert!(budget("40m", "'point-query', 'update-index'") > two * 2);
    }

    #[test]
    fn a_time_that_is_too_short_tells_how_long_it_takes() {
        let error = plan("time = '30s'", "'point-query'").unwrap_err();
        assert!(error.contains("time = \"30s\" is too short: each of 1 steps takes"), "{error}");
        assert!(
            plan("time = '1h'\nbudget = '10s'", "'point-query'").unwrap_err().contains("both say")
        );
        assert!(
            plan("time = 'soon'", "'point-query'").unwrap_err().contains("is not a valid time")
        );
        let sequential = plan("time = '1h'\nmode = 'sequential'", "'point-query'").unwrap_err();
        assert!(sequential.contains("time belongs to an interleaved schedule"), "{sequential}");
    }
}
