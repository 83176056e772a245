//! Causes of several steps in a few sentences.

use expect_test::expect;
use rqps_model::Figure;

use super::*;

/// A step: title, group, one of what its rate counts, and its cause.
type Row<'a> = (&'a str, Group, &'a str, Option<Cause>);

/// A cause of a loss, of which nothing is known but that.
fn slower(kind: Kind) -> Cause {
    Cause {
        kind,
        direction: Verdict::Slower,
        figure: Figure::Queries,
        parts: Vec::new(),
        share: None,
        quantities: Vec::new(),
        reason: None,
        others: None,
        explained_us: None,
        is_interleaved: true,
        times: None,
        is_of_serving: false,
        change_us: None,
        is_io_unchanged: None,
    }
}

/// So many times the base's CPU, without another change.
fn cpu(times: f64) -> Option<Cause> {
    let (times, is_io_unchanged) = (Some(times), Some(true));
    Some(Cause { times, is_io_unchanged, ..slower(Kind::CpuOverhead) })
}

/// So many microseconds more of waiting.
fn waiting(us: f64) -> Option<Cause> {
    Some(Cause { change_us: Some(us), ..slower(Kind::Waiting) })
}

fn unexplained() -> Option<Cause> {
    Some(slower(Kind::NotExplained))
}

fn told(rows: &[Row<'_>]) -> String {
    let steps: Vec<StepCause<'_>> = rows
        .iter()
        .map(|(title, group, operation, cause)| StepCause {
            title,
            group: *group,
            operation,
            cause: cause.as_ref(),
            server_cpu: None,
        })
        .collect();
    sentences(&steps).join("\n")
}

#[test]
fn one_cause_of_whole_groups_is_one_sentence() {
    let rows = [
        ("point-query", Group::Point, "query", cpu(1.4)),
        ("hot-points", Group::Point, "query", cpu(1.6)),
        ("read-only_range=10", Group::Range, "query", cpu(1.5)),
        ("read-only_range=100", Group::Range, "query", cpu(1.45)),
        ("update-index", Group::Write, "query", None),
    ];
    expect!["New CPU overhead: server CPU per query rose to 1.40-1.60x on all point and range steps, IO unchanged."]
        .assert_eq(&told(&rows));
}

#[test]
fn io_that_is_not_known_of_one_step_is_not_called_unchanged() {
    let unmeasured = cpu(1.5).map(|cause| Cause { is_io_unchanged: None, ..cause });
    let rows = [
        ("point-query", Group::Point, "query", cpu(1.5)),
        ("scan", Group::Range, "row", unmeasured),
        ("read-only_range=10", Group::Range, "query", None),
    ];
    expect!["New CPU overhead: server CPU per query or row rose to 1.50x on point-query and scan."]
        .assert_eq(&told(&rows));
    // A ratio that one of them lacks is that of none.
    let without = Some(slower(Kind::CpuOverhead));
    let rows = [
        ("point-query", Group::Point, "query", cpu(1.5)),
        ("hot-points", Group::Point, "query", without),
    ];
    expect!["New CPU overhead: on all point steps."].assert_eq(&told(&rows));
}

#[test]
fn a_plan_change_may_cost_less_cpu() {
    let times = |times| Some(Cause { times: Some(times), ..slower(Kind::PlanChange) });
    let rows = [
        ("scan", Group::Other, "row", times(0.8)),
        ("update-index", Group::Write, "row", times(2.5)),
        ("insert", Group::Write, "row", None),
    ];
    expect!["Plan change: server CPU per row 0.80-2.50x on update-index and scan."]
        .assert_eq(&told(&rows));
}

#[test]
fn what_background_work_hides_is_told_of_the_threads_that_serve_clients() {
    let serving = |times| cpu(times).map(|cause| Cause { is_of_serving: true, ..cause });
    let mut rows = [
        ("point-query", Group::Point, "query", serving(1.5)),
        ("write-only", Group::Write, "query", serving(1.2)),
    ];
    expect!["New CPU overhead: CPU of connection threads per query rose to 1.20-1.50x on point-query and write-only, IO unchanged."]
        .assert_eq(&told(&rows));
    rows[0].3 = cpu(1.5);
    expect!["New CPU overhead: server CPU per query rose to 1.20-1.50x on point-query and write-only, IO unchanged; on write-only, CPU of connection threads."]
        .assert_eq(&told(&rows));
}

#[test]
fn several_causes_come_by_weight_losses_first_and_what_is_not_explained_last() {
    let gain = cpu(0.8).map(|cause| Cause { direction: Verdict::Faster, ..cause });
    let rows = [
        ("point-query", Group::Point, "query", cpu(1.5)),
        ("hot-points", Group::Point, "query", cpu(1.5)),
        ("scan", Group::Range, "row", gain),
        ("read-only_range=10", Group::Range, "query", unexplained()),
        ("update-index", Group::Write, "query", waiting(12.3)),
        ("insert", Group::Write, "query", unexplained()),
        ("delete", Group::Write, "query", waiting(40.0)),
        ("write-only", Group::Write, "query", waiting(20.0)),
    ];
    expect![[r#"
        Contention or waiting: +12 µs to +40 µs per query on update-index, delete and write-only.
        New CPU overhead: server CPU per query rose to 1.50x on all point steps, IO unchanged.
        Not explained: read-only_range=10 and insert.
        Less CPU overhead: server CPU per row fell to 0.80x on scan, IO unchanged."#]]
    .assert_eq(&told(&rows));
}

#[test]
fn steps_that_nothing_explains_are_named_or_counted() {
    let titles = ["a", "b", "c", "d", "e", "f"];
    let mut rows: Vec<Row<'_>> =
        titles.into_iter().map(|title| (title, Group::Other, "query", unexplained())).collect();
    rows.push(("point-query", Group::Point, "query", unexplained()));
    rows.push(("hot-points", Group::Point, "query", unexplained()));
    expect!["Not explained: all point steps and a, b, c, d and 2 more."].assert_eq(&told(&rows));
    // Without a verdict there is nothing to explain.
    assert_eq!(told(&[("point-query", Group::Point, "query", None)]), "");
    assert_eq!(told(&[]), "");
}

#[test]
fn what_rounds_to_one_has_no_course() {
    assert_eq!(course_of_times(&[1.002]), "1.00x");
    assert_eq!(course_of_times(&[0.998, 0.9]), "0.90-1.00x");
    assert_eq!(course_of_times(&[1.2, 1.006]), "rose to 1.01-1.20x");
}
