//! When the servers are started again within a run, and which steps are measured between two launches.
//!
//! What a start of a server draws (addresses, plans, who runs where) moves all figures of that start. So each step is
//! measured on several starts, on the same data: the servers are stopped, started and warmed up again. Steps that only
//! read and steps that write make phases. All starts of a phase are done before the next phase begins, so that no step
//! that reads first meets what later steps write. The last launch of a phase is the first of the next: phases of `k`
//! starts each need `k - 1` restarts each.

use anyhow::Result;
use rqps_model::StepKind;

use crate::Plan;
use crate::plan::steps::{self, PlannedStep};

/// What a step does to the tables that those after it find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Makes or changes them by a fixed amount of work, or fills caches: done once.
    Once,
    Reads,
    Writes,
}

fn phase(step: &PlannedStep) -> Phase {
    match step.info.kind {
        StepKind::Load | StepKind::Index | StepKind::WarmUp => Phase::Once,
        _ if step.is_guess() => Phase::Once,
        StepKind::Read => Phase::Reads,
        StepKind::Write | StepKind::Insert | StepKind::Mixed => Phase::Writes,
    }
}

/// All steps of a plan in the order in which they are measured, each number of clients and each start of the servers
/// on its own.
///
/// # Errors
/// When a suite or a step is unknown, or a placement cannot be had.
pub(crate) fn of_plan(plan: &Plan, cpus: &[usize], all_local: bool) -> Result<Vec<PlannedStep>> {
    let mut steps = arrange(&steps::of_one_start(plan, cpus, all_local)?, plan.starts, plan.loads);
    if plan.reuses_tables() {
        start_after_load(&mut steps);
    }
    Ok(steps)
}

/// Gives what makes the tables a launch of its own: what comes after it is on tables of servers that were stopped.
fn start_after_load(steps: &mut [PlannedStep]) {
    steps.iter_mut().filter(|step| !step.makes_tables()).for_each(|step| step.launch += 1);
}

/// Puts the steps of a plan in the order in which they are measured: each on `starts` starts of the servers, all of
/// them on `loads` sets of data, one after the other.
fn arrange(steps: &[PlannedStep], starts: u32, loads: u32) -> Vec<PlannedStep> {
    let mut out = Vec::new();
    let mut launch = 0;
    for load in 0..loads {
        for part in parts(steps) {
            for nth in 0..starts {
                let is_again = nth > 0;
                let of_start = |step: &&PlannedStep| !is_again || phase(step) != Phase::Once;
                let mut of_start = part.iter().filter(of_start).peekable();
                if is_again && of_start.peek().is_some() {
                    launch += 1;
                }
                out.extend(of_start.map(|step| {
                    let n_shares = if phase(step) == Phase::Once { 1 } else { starts };
                    let start = load * starts + nth;
                    PlannedStep { start, n_shares, launch, load, ..step.clone() }
                }));
            }
        }
        launch += 1;
    }
    out
}

/// The phases in order, each with the steps that are done once in it or before it.
fn parts(steps: &[PlannedStep]) -> Vec<&[PlannedStep]> {
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut current = None;
    // Where the steps begin that are done once, since the last that is not.
    let mut once_since = 0;
    for (at, step) in steps.iter().enumerate() {
        let phase = phase(step);
        if phase == Phase::Once {
            if step.fills() && current.is_some() {
                // Tables of its own: what was read before has nothing to do with them.
                parts.push(&steps[begin..at]);
                (begin, current) = (at, None);
            }
            continue;
        }
        if current.is_some_and(|current| current != phase) {
            parts.push(&steps[begin..once_since]);
            begin = once_since;
        }
        current = Some(phase);
        once_since = at + 1;
    }
    parts.push(&steps[begin..]);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::of_plan;
    use crate::PlanFile;

    /// `launch: step/start, ...`, a line for each launch.
    fn arranged(suite: &str, schedule: &str) -> String {
        let text = format!(
            "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'b'\n{suite}\n[schedule]\n{schedule}\n"
        );
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = PlanFile::parse(&text, "test").unwrap().resolve("test", &catalogue).unwrap();
        let steps = of_plan(&plan, &[0, 1], true).unwrap();
        let mut lines: Vec<String> = Vec::new();
        for step in &steps {
            let words = format!(" {}/{}", step.info.name, step.start);
            let at = step.launch as usize;
            assert!(at == lines.len() || at + 1 == lines.len(), "launches are in order");
            if at == lines.len() {
                lines.push(format!("{at} load {}:", step.load));
            }
            lines[at].push_str(&words);
        }
        lines.join("\n")
    }

    const SUITE: &str =
        "[[suite]]\nclients = [1]\nsteps = ['point-query.pre', 'update-index', 'scan', 'delete']";

    #[test]
    fn every_phase_has_all_starts_before_the_next_begins() {
        expect_test::expect![[r#"
            0 load 0: load/0 create-index/0 point-query.warm/0 scan.warmpre/0 point-query.pre/0
            1 load 0: point-query.pre/1
            2 load 0: point-query.pre/2 update-index/0
            3 load 0: update-index/1
            4 load 0: update-index/2 scan.warm/0 scan/0
            5 load 0: scan/1
            6 load 0: scan/2 delete/0
            7 load 0: delete/1
            8 load 0: delete/2"#]]
        .assert_eq(&arranged(SUITE, "starts = 3"));
    }

    #[test]
    fn a_load_for_later_runs_has_a_launch_of_its_own() {
        expect_test::expect![[r#"
            0 load 0: load/0 create-index/0
            1 load 0: point-query.warm/0 scan.warmpre/0 point-query.pre/0
            2 load 0: point-query.pre/1 update-index/0
            3 load 0: update-index/1 scan.warm/0 scan/0
            4 load 0: scan/1 delete/0
            5 load 0: delete/1"#]]
        .assert_eq(&arranged(&format!("{SUITE}\nreuse_tables = true"), "starts = 2"));
    }

    #[test]
    fn one_start_needs_no_restart_and_new_data_are_launched_anew() {
        expect_test::expect![[r#"
            0 load 0: load/0 create-index/0 point-query.warm/0 scan.warmpre/0 point-query.pre/0 update-index/0 scan.warm/0 scan/0 delete/0
            1 load 1: load/1 create-index/1 point-query.warm/1 scan.warmpre/1 point-query.pre/1 update-index/1 scan.warm/1 scan/1 delete/1"#]].assert_eq(&arranged(SUITE, "starts = 1\nloads = 2"));
    }

    #[test]
    fn the_insert_benchmark_loads_once_and_queries_on_every_start() {
        let suite = "[[suite]]\nkind = 'insert'";
        expect_test::expect![[r#"
            0 load 0: l.i0/0 l.x/0 l.i1/0 l.i2/0 qr100/0 qp100/0 qr500/0 qp500/0 qr1000/0 qp1000/0
            1 load 0: qr100/1 qp100/1 qr500/1 qp500/1 qr1000/1 qp1000/1"#]]
        .assert_eq(&arranged(suite, "starts = 2"));
    }

    #[test]
    fn a_second_suite_begins_with_its_own_tables() {
        let two = "[[suite]]\nname = 'a'\nclients = [1, 2]\nsteps = ['point-query']\n\
                   [[suite]]\nname = 'b'\nclients = [1]\nsteps = ['point-query']";
        expect_test::expect![[r#"
            0 load 0: a/load/0 a/create-index/0 a/point-query.warm/0 a/scan.warmpre/0 a/point-query/0 a/point-query/0
            1 load 0: a/point-query/1 a/point-query/1 b/load/0 b/create-index/0 b/point-query.warm/0 b/scan.warmpre/0 b/point-query/0
            2 load 0: b/point-query/1"#]].assert_eq(&arranged(two, "starts = 2"));
    }
}
