//! What the live view says of a step, of runs made by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use rqps_model::{
    Block, Figure, Group, Inserts, Label, RunStatus, Schedule, StepInfo, StepKind, StepOutcome,
};
use rqps_store::Live;
use rqps_store::live::{Change, Changes, LiveStep, Spent};
use rqps_store::outline::{Brief, Outline, OutlineStep};

use super::view::Parts;
use super::watcher::{CellResult, Seen};

/// A step of two interleaved systems that is under way.
fn seen((name, family, kind): (&str, &str, StepKind), blocks: [Vec<Block>; 2]) -> Seen {
    let brief = Brief {
        id: "r1".to_owned(),
        name: "run".to_owned(),
        status: RunStatus::Running,
        started_unix_ms: 0,
        finished_unix_ms: None,
        host: "host".to_owned(),
        systems: vec![Label("a".to_owned()), Label("b".to_owned())],
        base: 0,
        n_steps: 2,
        n_done: 0,
        n_failed: 0,
        imported: None,
        tags: Vec::new(),
    };
    let info = StepInfo {
        name: name.to_owned(),
        family: family.to_owned(),
        n: None,
        kind,
        group: Group::Other,
        figure: Figure::Queries,
        what: String::new(),
    };
    let n_slices = blocks.iter().map(|of_system| of_system.len() as u64).collect();
    let outcomes = vec![StepOutcome::Pending; 2];
    let outline = Outline {
        brief,
        command_line: Vec::new(),
        schedule: Schedule::interleaved(100, 1),
        versions: Vec::new(),
        steps: vec![OutlineStep { info, clients: 1, start: 0, outcomes, n_slices }],
    };
    let step = LiveStep { systems: vec![0, 1], expected_ms: 10_000, ..LiveStep::default() };
    Seen {
        outline,
        is_held: true,
        live: Some(Live { step: Some(step), ..Live::default() }),
        now_unix_ms: 4000,
        step_idx: Some(0),
        blocks: blocks.into(),
        results: Arc::default(),
    }
}

fn block(idx: u32, ms: u64) -> Block {
    Block { idx, n_operations: 1000, duration_ns: ms * 1_000_000, ..Block::default() }
}

#[test]
fn steps_of_fixed_work_have_a_ratio_of_totals() {
    let base: Vec<Block> = (0..4).map(|idx| block(idx, 100)).collect();
    let mut stalled = base.clone();
    stalled[2].duration_ns = 2_000_000_000;
    // 4000 rows in 0.4 s, and in 2.3 s.
    let now = Parts::of(&seen(("l.i1", "l.i", StepKind::Insert), [base, stalled])).now.0;
    assert!(now.contains("<td class=\"num\">0.17"), "{now}");
}

#[test]
fn a_step_whose_rate_was_not_held_says_so_beside_its_ratio() {
    let blocks = |n_rows: u64| -> Vec<Block> {
        let duration_ns = 1_000_000_000;
        let inserts = Some(Inserts { n_rows, duration_ns, target_per_s: Some(100.0) });
        (0..3).map(|idx| Block { inserts, ..block(idx, 1000) }).collect()
    };
    let step = ("qr100", "qr", StepKind::Mixed);
    let held = Parts::of(&seen(step, [blocks(100), blocks(95)]));
    assert!(!held.now.0.contains("SLA failed"), "{}", held.now.0);
    let mut missed = seen(step, [blocks(94), blocks(100)]);
    let parts = Parts::of(&missed);
    for part in [&parts.now.0, &parts.narrowing.0] {
        assert!(part.contains("SLA failed so far"), "{part}");
    }
    // What a failed step has measured is no rate.
    missed.outline.steps[0].outcomes[1] = StepOutcome::Failed { reason: "gone".to_owned() };
    let parts = Parts::of(&missed);
    assert!(!parts.now.0.contains("SLA failed") && parts.narrowing.0.is_empty(), "{}", parts.now.0);
}

#[test]
fn between_two_starts_of_the_servers_no_step_is_late() {
    let mut seen = seen(("scan", "scan", StepKind::Read), [vec![block(0, 1000)], Vec::new()]);
    seen.now_unix_ms = 60_000;
    let text = |seen: &Seen| Parts::of(seen).state.0;
    assert!(text(&seen).contains("longer than expected"), "{}", text(&seen));
    let live = Live {
        doing: "initialise and start a".to_owned(),
        timed: Spent { planned_ms: 10_000, took_ms: 10_000 },
        starts: Changes { n: 2, took_ms: 60_000 },
        left_starts: 2,
        left_stops: 2,
        change: Some(Change { began_unix_ms: 50_000, is_stop: false }),
        ..Live::default()
    };
    seen.live = Some(live);
    let said = text(&seen);
    assert!(!said.contains("longer than expected"), "{said}");
    assert!(said.contains("with 2 starts of servers as long as those so far"), "{said}");
    assert!(said.contains("how long servers take to stop is not known yet"), "{said}");
}

#[test]
fn a_step_that_is_over_has_its_rates_and_ratios() {
    let blocks = vec![block(0, 100)];
    let mut seen = seen(("scan", "scan", StepKind::Read), [blocks.clone(), blocks]);
    let count = "1 slice";
    assert!(Parts::of(&seen).steps.0.contains(count));
    seen.outline.steps[0].outcomes = vec![StepOutcome::Done; 2];
    let rqps = Some(rqps_model::Estimate { point: 0.5, interval: Some((0.4, 0.6)), n: 4 });
    let cells = vec![
        CellResult { mean: Some(1234.0), ..CellResult::default() },
        CellResult { mean: Some(617.0), rqps, bar: None },
    ];
    seen.results = Arc::new(BTreeMap::from([(0, cells)]));
    let steps = Parts::of(&seen).steps.0;
    assert!(steps.contains(">1234<") && steps.contains(">0.50 [0.40, 0.60]<"), "{steps}");
    assert!(!steps.contains(count), "{steps}");
}
