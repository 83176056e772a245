//! Runs of different days that have systems and steps in common.

use rqps_model::{Dbms, Group, Placement, Run, Schedule, StepKind};

use crate::{info, step, system};

const PLAN: &str = "name = 'demo'\n[[suite]]\nkind = 'sysbench'\nrows = 100000\n\
                    steps = ['scan']\n[schedule]\nmode = 'sequential'\nslices = 3\nseed = 7\n";

/// An interleaved run of two systems and a run of a later day: one system, another kernel, larger tables,
/// another placement on one step, one step fewer and one more.
#[must_use]
pub fn two() -> Vec<Run> {
    let (read, write) = (StepKind::Read, StepKind::Write);
    let both = [(1.0, 1.0), (0.8, 1.25)];
    let mut first = crate::run(
        vec![system(Dbms::Mysql, "5.6.14"), system(Dbms::Mysql, "8.0.33")],
        vec![
            step(info("point-query.pre", read, Group::Point), 24_575.0, 21.0, &both),
            step(info("scan", read, Group::Range), 3_875_000.0, 0.2, &both),
            step(info("update-index", write, Group::Write), 3_875.0, 170.0, &both),
        ],
    );
    first.schedule = Schedule::interleaved(100, 6);
    first.plan = PLAN.replace("'sequential'", "'interleaved'");
    let one = [(0.7, 1.4)];
    let mut second = crate::run(
        vec![system(Dbms::Mysql, "8.0.33")],
        vec![
            step(info("point-query.pre", read, Group::Point), 24_575.0, 21.0, &one),
            step(info("scan", read, Group::Range), 3_875_000.0, 0.2, &one),
            step(info("insert", StepKind::Insert, Group::Write), 12_725.0, 60.0, &one),
        ],
    );
    second.id = "20261123-080000-demo".to_owned();
    second.seed = first.seed + 1;
    second.started_unix_ms += 127_785_000;
    second.host.kernel = "6.9.1-generic".to_owned();
    second.plan = PLAN.replace("100000", "1000000").replace("seed = 7", "seed = 8");
    second.steps[1].placement = Placement::Free;
    vec![first, second]
}
