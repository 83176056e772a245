//! The series of every step as data, for the charts that the script draws when a step is opened.
//!
//! Rates and response times second by second (or block by block), whole as long as there is room for
//! them, else means of neighbours with their lowest and highest second. Values are whole multiples of a
//! scale, each as its difference from the one before, which packs well.

use std::borrow::Cow;

use rqps_model::{SeriesPoint, Slice};
use serde::Serialize;

use super::insert;
use super::line::{Line, PointKind, Waits};
use super::own_slices::{OwnSlices, are_blocks};
use super::packed::{base64, gzip};
use super::room::Room;
use super::series;
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_report::response::time_unit;

/// Room that the series may take in the page, bytes.
const ROOM: usize = 380_000;

/// Fewest points of a track, however many tracks there are.
const FEWEST: usize = 60;

/// Steps of a scale between nothing and the power of ten above the largest value.
const RESOLUTION: f64 = 10_000.0;

/// Step of the scale of logarithms: half a percent.
const LOG_SCALE: f64 = 0.005;

/// All charts of a page.
#[derive(Serialize)]
struct Packed<'a> {
    labels: Vec<&'a str>,
    /// The system to which ratios leave blocks out.
    base: usize,
    /// Per step.
    steps: Vec<Vec<Chart>>,
}

/// One chart of a step.
#[derive(Serialize)]
struct Chart {
    what: String,
    unit: &'static str,
    /// Seconds (or blocks) that a point is of.
    per: usize,
    /// Whether points are of blocks.
    blocks: bool,
    /// Whether seconds are those of each system's own turns.
    turns: bool,
    /// From which second (or block) to which ratios leave out what was measured.
    left_out: Vec<(usize, usize)>,
    /// Whether values are natural logarithms: the longest responses are far from the mean.
    log: bool,
    target: Option<f64>,
    tracks: Vec<Track>,
}

/// One system's line, slice by slice.
#[derive(Serialize)]
struct Track {
    system: usize,
    scale: f64,
    mean: Vec<Vec<Option<i64>>>,
    /// The lowest (of rates) or highest (of response times) second of each point.
    far: Option<Vec<Vec<Option<i64>>>>,
}

/// The values of one system, before they are packed.
struct Values {
    system: usize,
    mean: Vec<Vec<Option<f64>>>,
    far: Option<Vec<Vec<Option<f64>>>>,
}

/// The charts of all steps; `None` where there is nothing to draw or no room.
pub(super) fn packed(analysis: &Analysis<'_>, room: &mut Room) -> Option<String> {
    // A number takes a byte, packed, of rates that vary by 1%, and up to one and a half of others.
    let n_numbers: usize = analysis.steps.iter().map(numbers).sum();
    let may_have = ROOM.min(room.left() / 5 * 3) * 2 / 3;
    let n_tracks =
        analysis.steps.iter().flat_map(|s| &s.cells).filter(|c| c.figure().is_some()).count();
    let limit = if n_numbers <= may_have {
        usize::MAX
    } else {
        // A point of a longer track has four numbers: mean and lowest rate, mean and longest response.
        (may_have / 4 / n_tracks.max(1)).max(FEWEST)
    };
    let base = analysis.base;
    let steps: Vec<Vec<Chart>> =
        analysis.steps.iter().map(|step| charts(step, base, limit)).collect();
    if steps.iter().all(Vec::is_empty) {
        return None;
    }
    let labels = (0..analysis.run.systems.len()).map(|idx| analysis.label(idx)).collect();
    let text = serde_json::to_string(&Packed { labels, base, steps }).unwrap_or_default();
    room.take(base64(&gzip(&text)))
}

/// Numbers that a step has when none of its points are joined.
fn numbers(step: &StepAnalysis<'_>) -> usize {
    let turns = series::own_slices(step);
    let points = |slices: &[Slice]| match are_blocks(slices) {
        true => turns.n_points(slices),
        false => slices.iter().map(|s| s.series.len().max(1)).sum::<usize>(),
    };
    let flows = step.cells.iter().filter_map(|cell| cell.insert()).flat_map(|own| &own.flows);
    let of_flows: usize = flows.map(|flow| flow.points.iter().map(Vec::len).sum::<usize>()).sum();
    3 * match of_flows {
        0 => step.step.systems.iter().map(|system| points(&system.slices)).sum::<usize>(),
        n => n,
    }
}

/// The charts of a step, tracks of at most `limit` points.
fn charts(step: &StepAnalysis<'_>, base: usize, limit: usize) -> Vec<Chart> {
    let lines = series::lines(step, base);
    let of_rates = lines.iter().filter_map(|line| rates(line, limit));
    let mut waits = insert::waits(step);
    if waits.is_empty() {
        let turns = series::own_slices(step);
        let tracks = series::measured(step)
            .map(|(idx, slices)| (idx, Cow::Owned(seconds(slices, &turns))))
            .collect();
        let left_out = lines.first().map_or_else(Vec::new, |line| line.left_out.clone());
        waits.push(Waits { what: "Response time", kind: turns.kind(), left_out, tracks });
    }
    of_rates.chain(waits.iter().filter_map(|waits| responses(waits, limit))).collect()
}

fn rates(line: &Line<'_>, limit: usize) -> Option<Chart> {
    let lengths = line.tracks.iter().map(|(_, slices)| slices.iter().map(Vec::len).sum::<usize>());
    let per = per_point(lengths, limit)?;
    let joined = |slices: &[Vec<f64>], of: fn(&[f64]) -> f64| -> Vec<Vec<Option<f64>>> {
        slices.iter().map(|slice| slice.chunks(per).map(|part| Some(of(part))).collect()).collect()
    };
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let low = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
    let values = line.tracks.iter().map(|(system, slices)| Values {
        system: *system,
        mean: joined(slices, mean),
        far: (per > 1).then(|| joined(slices, low)),
    });
    Some(Chart {
        what: format!("{} per second", line.what),
        unit: "/s",
        per,
        blocks: line.kind == PointKind::Block,
        turns: line.kind == PointKind::OwnSecond,
        left_out: line.left_out.clone(),
        log: false,
        target: line.target,
        tracks: values.map(|values| track(&values, linear_scale(&values))).collect(),
    })
}

/// Mean and longest response times; `None` where none were recorded.
fn responses(waits: &Waits<'_>, limit: usize) -> Option<Chart> {
    let Waits { what, kind, left_out, tracks: all } = waits;
    let lengths = all.iter().map(|(_, slices)| slices.iter().map(Vec::len).sum::<usize>());
    let per = per_point(lengths, limit)?;
    let joined = |slices: &[Vec<SeriesPoint>], of: fn(&[SeriesPoint]) -> Option<f64>| {
        slices.iter().map(|slice| slice.chunks(per).map(of).collect()).collect::<Vec<Vec<_>>>()
    };
    let values: Vec<Values> = all
        .iter()
        .map(|(system, slices)| Values {
            system: *system,
            mean: joined(slices, mean_ns),
            far: Some(joined(slices, longest_ns)),
        })
        .collect();
    let smallest =
        values.iter().flat_map(|v| v.mean.iter().flatten().flatten()).copied().reduce(f64::min)?;
    let (unit, unit_ns) = time_unit(smallest);
    let logs = |slices: Vec<Vec<Option<f64>>>| -> Vec<Vec<Option<f64>>> {
        let slice = |slice: Vec<Option<f64>>| {
            slice.into_iter().map(|ns| Some((ns? / unit_ns).ln())).collect()
        };
        slices.into_iter().map(slice).collect()
    };
    let values =
        values.into_iter().map(|v| Values { mean: logs(v.mean), far: v.far.map(logs), ..v });
    Some(Chart {
        what: format!("{what}, mean and longest"),
        unit: if unit == "us" { "µs" } else { unit },
        per,
        blocks: *kind == PointKind::Block,
        turns: *kind == PointKind::OwnSecond,
        left_out: left_out.clone(),
        log: true,
        target: None,
        tracks: values.map(|values| track(&values, LOG_SCALE)).collect(),
    })
}

/// The seconds of each slice; those of all blocks are one line, as for the rates.
fn seconds(slices: &[Slice], turns: &OwnSlices) -> Vec<Vec<SeriesPoint>> {
    if are_blocks(slices) {
        return vec![turns.points(slices)];
    }
    slices.iter().map(|slice| series::whole_seconds(slice).to_vec()).collect()
}

fn mean_ns(points: &[SeriesPoint]) -> Option<f64> {
    let n: u64 = points.iter().map(|p| u64::from(p.events)).sum();
    let sum: u64 = points.iter().map(|p| p.sum_ns).sum();
    (n > 0 && sum > 0).then(|| sum as f64 / n as f64)
}

fn longest_ns(points: &[SeriesPoint]) -> Option<f64> {
    points.iter().map(|p| p.max_ns).max().filter(|ns| *ns > 0).map(|ns| ns as f64)
}

/// How many seconds a point is of, so that the longest track has at most `limit`; `None` where no track
/// has two.
fn per_point(lengths: impl Iterator<Item = usize>, limit: usize) -> Option<usize> {
    let longest = lengths.max().filter(|n| *n > 1)?;
    Some(longest.div_ceil(limit).max(1))
}

fn track(values: &Values, scale: f64) -> Track {
    let whole = |slices: &Vec<Vec<Option<f64>>>| -> Vec<Vec<Option<i64>>> {
        slices.iter().map(|slice| differences(slice, scale)).collect()
    };
    Track {
        system: values.system,
        scale,
        mean: whole(&values.mean),
        far: values.far.as_ref().map(whole),
    }
}

/// A scale that keeps four digits of the largest value.
fn linear_scale(values: &Values) -> f64 {
    let largest = values.mean.iter().flatten().flatten().copied().fold(0.0, f64::max);
    if largest > 0.0 { power_of_ten_above(largest) / RESOLUTION } else { 1.0 }
}

fn power_of_ten_above(value: f64) -> f64 {
    10_f64.powf(value.log10().floor() + 1.0)
}

/// Values as whole multiples of the scale, each as its difference from the one before that is there.
fn differences(values: &[Option<f64>], scale: f64) -> Vec<Option<i64>> {
    let mut before = 0;
    let difference = |value: &Option<f64>| {
        let whole = nearest((*value)? / scale);
        Some(whole - std::mem::replace(&mut before, whole))
    };
    values.iter().map(difference).collect()
}

/// The nearest whole number; values here are far from the ends of its type.
#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
fn nearest(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_add_up_to_the_values() {
        let values = [Some(12.34), None, Some(12.0), Some(12.5)];
        assert_eq!(differences(&values, 0.01), [Some(1234), None, Some(-34), Some(50)]);
    }

    #[test]
    fn long_tracks_are_joined() {
        assert_eq!(per_point([10, 1800].into_iter(), usize::MAX), Some(1));
        assert_eq!(per_point([10, 1800].into_iter(), 400), Some(5));
        assert_eq!(per_point([1, 0].into_iter(), 400), None);
    }

    #[test]
    fn a_scale_keeps_four_digits() {
        assert!((power_of_ten_above(24_575.0) - 100_000.0).abs() < 1e-6);
        let values = Values { system: 0, mean: vec![vec![Some(24_575.0)]], far: None };
        assert_eq!(track(&values, linear_scale(&values)).mean, [[Some(2458)]]);
    }
}
