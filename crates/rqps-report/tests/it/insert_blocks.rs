//! Steps of the Insert Benchmark whose blocks are equal in work: a stall counts as long as it took.

use rqps_analysis::Bar;
use rqps_analysis::under_way::UnderWay;
use rqps_analysis::{Analysis, Joined};
use rqps_model::run::SystemStep;
use rqps_model::{Block, Run, RunStep, Schedule, Slice, Verdict};
use rqps_report::{csv, json};

use crate::details_of;
use rqps_fixtures::blocks::without_servers;
use rqps_fixtures::inserts;

const ROWS: u64 = 10_000;

/// Blocks of `ROWS` rows that took these milliseconds, and of CPU a tenth of it.
fn blocks(like: &Slice, times_ms: &[u64]) -> Vec<Slice> {
    let block = |(idx, ms): (usize, &u64)| {
        let mut block = like.clone();
        block.idx = u32::try_from(idx).unwrap();
        block.duration_ns = ms * 1_000_000;
        (block.n_operations, block.n_queries, block.n_events) = (ROWS, ROWS / 50, ROWS / 50);
        block.usage.wall_ns = block.duration_ns;
        block.usage.server.as_mut().unwrap().cpu_total_ns = ms * 100_000;
        // Nobody else used the host.
        block.usage.host.cpu_user_ns = ms * 100_000 + block.usage.client.cpu_total_ns;
        block.usage.host.cpu_system_ns = 0;
        block.series.clear();
        block.streams.clear();
        block
    };
    times_ms.iter().enumerate().map(block).collect()
}

/// l.i1 alone: 20 blocks at 10,000/s, give or take 2%; one of the second system's at 500/s.
fn run() -> Run {
    let mut run = inserts::interleaved();
    run.steps.retain(|step| step.info.name == "l.i1");
    for (idx, system) in run.steps[0].systems.iter_mut().enumerate() {
        let mut times: Vec<u64> =
            (0..20).map(|i| 980 + (i * 7 + idx as u64 * 3) % 5 * 10).collect();
        if idx == 1 {
            times[13] = 20_000;
        }
        system.slices = blocks(&system.slices[0], &times);
    }
    run
}

#[test]
fn a_stalled_block_is_in_the_figure_for_as_long_as_it_took() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let cells = &analysis.steps[0].cells;
    let point = |idx: usize| cells[idx].figure().unwrap().point;
    let rate = |idx: usize| {
        let ms: u64 =
            run.steps[0].systems[idx].slices.iter().map(|s| s.duration_ns / 1_000_000).sum();
        20.0 * ROWS as f64 / (ms as f64 / 1000.0)
    };
    assert!((rate(1) - 5128.0).abs() < 30.0, "{}", rate(1));
    for (idx, cell) in cells.iter().enumerate() {
        assert!((point(idx) / rate(idx) - 1.0).abs() < 1e-12);
        // The field's metric of the same thing, and the rate of its clients.
        let own = cell.insert().unwrap();
        assert_eq!(own.field.get("ips").map(f64::to_bits), Some(point(idx).to_bits()));
        assert_eq!(own.flows[0].rate_per_s.to_bits(), point(idx).to_bits());
    }
    let stalled = cells[1].rqps().unwrap();
    assert!((stalled.point - point(1) / point(0)).abs() < 1e-9 && stalled.n == 20);
    // One stall in 20 blocks: slower here, and nobody knows how much slower the next time.
    assert_eq!(cells[1].verdict(), Some(Verdict::Unclear));
    let (low, high) = stalled.interval.unwrap();
    assert!(low < 0.3 && high > 1.0, "{low} {high}");
    // Of one start of MySQL: another start may be 10% off.
    let (least, most) = cells[2].rqps().unwrap().interval.unwrap();
    assert_eq!(cells[2].verdict(), Some(Verdict::Unclear));
    assert!(least < 0.95 && 1.05 < most && most / least < 1.25, "{least} {most}");
    // CPU is a tenth of the time, so its ratio is the inverse.
    let cpu = cells[1].server_cpu_ratio().unwrap();
    assert!((cpu.point * stalled.point - 1.0).abs() < 1e-9);
    assert!((cpu.interval.unwrap().0 * high - 1.0).abs() < 1e-9);
}

#[test]
fn so_it_is_in_a_sequential_run() {
    let mut run = run();
    run.schedule = Schedule::Sequential { slices: 3 };
    run.steps[0].systems.iter_mut().flat_map(|s| &mut s.slices).for_each(|s| s.n_rounds = None);
    let analysis = Analysis::of(&run, 0.05);
    let cells = &analysis.steps[0].cells;
    let [base, stalled] = [0, 1].map(|idx: usize| cells[idx].figure().unwrap().point);
    assert!((cells[1].rqps().unwrap().point - stalled / base).abs() < 1e-9 && stalled < 5200.0);
    assert_eq!(cells[1].verdict(), Some(Verdict::Unclear));
    let (low, high) = cells[2].rqps().unwrap().interval.unwrap();
    assert!(low < 1.0 && 1.0 < high && high / low < 1.25, "{low} {high}");
}

#[test]
fn indexes_are_not_the_reason_why_other_steps_are_unclear() {
    let with_index = |wide: bool| {
        let mut run = run();
        run.steps.splice(0..0, {
            let all = inserts::interleaved().steps;
            all.into_iter().filter(|step| step.info.name == "l.x")
        });
        run.steps.truncate(if wide { 2 } else { 1 });
        let details = details_of(&Analysis::of(&run, 0.05));
        details.into_iter().filter(|d| d.starts_with("Unclear")).collect::<Vec<_>>()
    };
    let once = "Unclear: indexes are created once, and one slice has no interval.";
    let wide = "Unclear: the interval is too wide for a verdict; the work is fixed, so only more loads \
                (`loads`) measure more of it.";
    assert_eq!(with_index(false), [once]);
    let on = |step: &str, text: &str| text.replace("Unclear", &format!("Unclear on {step}"));
    assert_eq!(with_index(true), [on("l.x", once), on("l.i1", wide)]);
    let alone = details_of(&Analysis::of(&run(), 0.05));
    assert!(alone.iter().any(|detail| detail == wide), "{alone:?}");
    let mut single = run();
    single.steps[0].systems.iter_mut().for_each(|system| system.slices.truncate(1));
    let single = details_of(&Analysis::of(&single, 0.05));
    let block = "Unclear: a single block has no interval; the work is fixed, so only more loads (`loads`) \
                 add blocks.";
    assert!(single.iter().any(|detail| detail == block), "{single:?}");
}

/// One system of [`run`] on two starts, of which the second takes twice as long for all its work.
fn on_two_starts(id: &str, system_idx: usize, stall: bool) -> Run {
    let mut run = run();
    run.id = id.to_owned();
    run.systems = vec![run.systems.swap_remove(system_idx)];
    let mut step = run.steps.remove(0);
    let like = step.systems.swap_remove(system_idx);
    let start = |(start, ms): (u32, u64)| {
        let mut times = vec![ms; 20];
        if stall {
            times[13] = 20 * ms;
        }
        let slices = blocks(&like.slices[0], &times);
        let systems = vec![SystemStep { slices, ..like.clone() }];
        RunStep { start, systems, ..step.clone() }
    };
    run.steps = [(0, 1000), (1, 2000)].map(start).into();
    run
}

#[test]
fn over_runs_a_start_counts_by_its_total() {
    let runs = vec![on_two_starts("base", 0, false), on_two_starts("other", 1, true)];
    let joined = Joined::of(runs, None, &[]).unwrap();
    let analysis = Analysis::of_joined(&joined, 0.05);
    let cell = &analysis.steps[0].cells[1];
    // On both starts 20 blocks took as long as 39 do that do not stall.
    assert!((cell.rqps().unwrap().point - 20.0 / 39.0).abs() < 1e-9, "{:?}", cell.rqps());
    assert!((cell.server_cpu_ratio().unwrap().point - 39.0 / 20.0).abs() < 1e-9);
    let found = cell.comparison().unwrap().rqps.found;
    assert!(found.holds_starts && found.starts == 2 && found.tested.estimate.n == 2);
    // No time would settle it: the work is fixed. Starts would.
    assert_eq!(cell.verdict(), Some(Verdict::Unclear));
    assert!(cell.settle().unwrap().starts().is_some(), "{:?}", cell.settle());
}

#[test]
fn swapping_base_and_candidate_inverts() {
    let run = run();
    let there = Analysis::of(&run, 0.05).steps[0].cells[1].rqps().unwrap();
    let mut run = run.clone();
    run.base = 1;
    let back = Analysis::of(&run, 0.05).steps[0].cells[0].rqps().unwrap();
    let ((low, high), (back_low, back_high)) = (there.interval.unwrap(), back.interval.unwrap());
    assert!((there.point * back.point - 1.0).abs() < 1e-9);
    assert!((low * back_high - 1.0).abs() < 1e-9 && (high * back_low - 1.0).abs() < 1e-9);
}

#[test]
fn every_format_has_one_figure() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let rows = csv::render(&analysis);
    let mut lines = rows.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row: Vec<&str> = lines.nth(1).unwrap().split(',').collect();
    // Counted from the end, as texts before may hold commas.
    let field = |name: &str| {
        let at = heads.iter().rposition(|head| *head == name).unwrap();
        row[row.len() - (heads.len() - at)]
    };
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    let figure = value["steps"][0]["systems"][1]["figure"]["point"].as_f64().unwrap();
    assert_eq!(field("ips"), figure.to_string());
    assert_eq!(field("insert_per_s"), figure.to_string());
}

#[test]
fn a_step_under_way_has_the_ratio_and_the_bar_of_a_report() {
    let mut n_barred = 0;
    for run in [run(), inserts::run()].map(without_servers) {
        let analysis = Analysis::of(&run, 0.05);
        for step in &analysis.steps {
            let blocks = |idx: usize| -> Vec<Block> {
                step.step.systems[idx].slices.iter().map(Block::from).collect()
            };
            let base = blocks(analysis.base);
            for idx in analysis.candidates() {
                let cell = &step.cells[idx];
                if !cell.state.is_measured() || cell.rqps().is_none() {
                    continue;
                }
                let candidate = blocks(idx);
                let under_way = UnderWay {
                    info: &step.step.info,
                    is_interleaved: run.schedule.is_interleaved(),
                    base: &base,
                    candidate: &candidate,
                };
                let last = under_way.course().ratios.last().copied();
                assert_eq!(last, cell.rqps(), "{} on {idx}", step.title);
                // Checks come when a step is over.
                if cell.bar() != Some(Bar::Check) {
                    assert_eq!(under_way.bar(), cell.bar(), "{} on {idx}", step.title);
                    n_barred += usize::from(cell.bar().is_some());
                }
            }
        }
    }
    assert!(n_barred > 0, "no rate was missed");
}
