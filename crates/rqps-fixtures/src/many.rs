//! Runs of many systems.

use rqps_model::{Dbms, Group, Run, StepKind};

use crate::{info, run, step, system};

/// A run of so many systems.
#[must_use]
pub fn of_systems(n: u32) -> Run {
    of_steps(n, &["point-query", "range-covered-si", "update-index"].map(str::to_owned))
}

/// The same with other steps.
#[must_use]
pub fn of_steps(n: u32, names: &[String]) -> Run {
    let systems = (0..n).map(|i| system(Dbms::Mysql, &format!("8.0.{i}"))).collect();
    let ratios: Vec<(f64, f64)> = (0..n).map(|i| (1.0 - f64::from(i) / 100.0, 1.0)).collect();
    let of = |(name, nth): (&String, u32)| {
        let qps = 20_000.0 + 100.0 * f64::from(nth);
        step(info(name, StepKind::Read, Group::Point), qps, 20.0, &ratios)
    };
    let steps = names.iter().zip(0..).map(of).collect();
    let mut run = run(systems, steps);
    for (i, system) in run.systems.iter_mut().enumerate() {
        let value = if i % 2 == 0 { "1" } else { "2" };
        system.settings.insert("innodb_purge_threads".to_owned(), value.to_owned());
    }
    run
}
