//! Figures by hand: what a cell says, what the headline counts, when a cell has no number.

use rqps_model::{Group, Metric, StepKind, Verdict};
use rqps_report::Analysis;
use rqps_report::analysis::CellState;

use crate::fixture::{self, info, run, step, system};

fn near(got: f64, expected: f64) {
    assert!((got / expected - 1.0).abs() < 1e-9, "{got} is not {expected}");
}

#[test]
fn metrics_are_summed_usage_over_summed_operations() {
    let info = info("point-query", StepKind::Read, Group::Point);
    let mut step = step(info, 1000.0, 20.0, &[(1.0, 1.0), (0.5, 2.0)]);
    for (side, system) in step.systems.iter_mut().enumerate() {
        system.slices.truncate(2);
        for (n, slice) in [1000, 3000].into_iter().zip(&mut system.slices) {
            slice.n_operations = n;
            slice.duration_ns = 1_000_000_000;
            let cpu_ns = if side == 0 { 8_000_000 } else { 24_000_000 };
            slice.usage.server.as_mut().unwrap().cpu_total_ns = cpu_ns;
        }
    }
    let systems =
        vec![system(rqps_model::Dbms::Mysql, "5.6.14"), system(rqps_model::Dbms::Mysql, "8.0.33")];
    let run = run(systems, vec![step]);
    let analysis = Analysis::of(&run, 0.05);
    let [base, candidate] = &analysis.steps[0].cells[..] else { panic!("two cells") };
    // Two slices of 8 ms over 4000 operations: 4 us each; not the mean of 8 us and 2.67 us.
    near(base.per_operation.get(Metric::ServerCpu).unwrap(), 4.0);
    near(candidate.per_operation.get(Metric::ServerCpu).unwrap(), 12.0);
    near(candidate.relative.as_ref().unwrap().get(Metric::ServerCpu).unwrap(), 3.0);
    // Geometric mean over slices of 8 us and 2.67 us against 24 us and 8 us.
    near(candidate.server_cpu_ratio.unwrap().point, 3.0);
    near(base.figure.unwrap().point, 2000.0);
    near(candidate.rqps.unwrap().point, 1.0);
    assert!(base.rqps.is_none() && base.verdict.is_none());
}

#[test]
fn the_headline_counts_compared_steps_once() {
    let demo = fixture::demo();
    let analysis = Analysis::of(&demo, 0.05);
    let counts = analysis.headlines[0].counts;
    // Ten steps, of which the load and the warm-up are not compared.
    assert_eq!(counts.total(), 8);
    assert_eq!((counts.slower, counts.faster, counts.unclear, counts.failed), (5, 1, 1, 1));
    let worst = &analysis.steps[analysis.headlines[0].worst_idx.unwrap()];
    assert_eq!(worst.step.info.name, "point-query.pre");
    assert!(analysis.steps.iter().all(|s| s.step.info.kind != StepKind::WarmUp));
    assert_eq!(analysis.warm_ups, ["point-query.warm"]);
}

#[test]
fn a_failed_step_never_has_a_number() {
    let mut demo = fixture::demo();
    let measured = demo.steps[2].systems[1].slices.clone();
    let insert = demo.steps.iter().position(|s| s.info.name == "insert").unwrap();
    demo.steps[insert].systems[1].slices = measured;
    let analysis = Analysis::of(&demo, 0.05);
    let cell = &analysis.steps.iter().find(|s| s.title == "insert").unwrap().cells[1];
    assert!(matches!(cell.state, CellState::Failed { .. }));
    assert!(cell.figure.is_none() && cell.rqps.is_none() && cell.slices.is_empty());
    // A slice that is marked as failed spoils its step as well.
    let reason = "lost".to_owned();
    demo.steps[2].systems[1].slices[1].marks.push(rqps_model::Mark::Failed { reason });
    let analysis = Analysis::of(&demo, 0.05);
    assert!(matches!(analysis.steps[1].cells[1].state, CellState::Failed { .. }));
}

#[test]
fn the_bound_moves_the_verdict() {
    let systems =
        vec![system(rqps_model::Dbms::Mysql, "5.6.14"), system(rqps_model::Dbms::Mysql, "8.0.33")];
    let info = info("point-query", StepKind::Read, Group::Point);
    let run = run(systems, vec![step(info, 1e5, 20.0, &[(1.0, 1.0), (0.9, 1.1)])]);
    let verdict = |bound| Analysis::of(&run, bound).steps[0].cells[1].verdict;
    assert_eq!(verdict(0.05), Some(Verdict::Slower));
    assert_eq!(verdict(0.2), Some(Verdict::Same));
    let analysis = Analysis::of(&run, 0.2);
    assert_eq!(
        analysis.headlines[0].sentence,
        "MySQL 8.0.33 is as fast as MySQL 5.6.14 on its only step, within 20%."
    );
}

#[test]
fn sequential_runs_say_what_their_intervals_lack() {
    let demo = fixture::demo();
    let analysis = Analysis::of(&demo, 0.05);
    assert!(analysis.caveats[0].contains("not the host's drift from one system to the next"));
}

#[test]
fn sizes_are_compared_after_a_step_that_all_have() {
    let run = fixture::demo();
    let analysis = Analysis::of(&run, 0.05);
    // The insert step failed on one system and was not reached on another.
    let name =
        |end: Option<(usize, rqps_model::Sizes)>| run.steps[end.unwrap().0].info.name.clone();
    for sizes in &analysis.sizes {
        assert_eq!(
            (name(sizes.first).as_str(), name(sizes.last).as_str()),
            ("load", "update-inlist")
        );
    }
    let [base, second, third] = &analysis.sizes[..] else { panic!("three systems") };
    assert_eq!((base.growth, base.database_ratio), (Some(320.0 / 256.0), None));
    assert_eq!(second.filled_ratio, Some(276.0 / 256.0));
    assert_eq!(second.database_ratio, Some(404.0 / 320.0));
    assert_eq!(third.data_dir_ratio, Some((1400.0 + 40.0 + 192.0) / 1464.0));
    let mut run = run.clone();
    for step in &mut run.steps {
        step.systems[1].sizes = rqps_model::Sizes::default();
    }
    let analysis = Analysis::of(&run, 0.05);
    // A system without any size keeps the others from nothing.
    assert_eq!(analysis.sizes[1].last, None);
    assert!(analysis.sizes[2].database_ratio.is_some());
}
