//! Several starts of the servers with unequal numbers of blocks: parts add up.

use super::*;

/// The split of two starts of 12 and of 40 blocks. The server's CPU grows by 24 and by 16 µs, within `noise`
/// from block to block; the waiting by 6 and by -6, without any.
fn split(noise: f64, is_interleaved: bool, is_one_run: bool) -> Split {
    let blocks = |n: u32, (server, waiting): (f64, f64), noise: f64| -> Vec<Slice> {
        let sign = |i: u32| -> f64 { if i.is_multiple_of(2) { 1.0 } else { -1.0 } };
        let one = |i: u32| Op { server: server + sign(i) * noise, waiting, ..op() };
        (0..n).map(|i| slice(i, &one(i), 1.0)).collect()
    };
    let slices = [(12, (224.0, 26.0)), (40, (216.0, 14.0))]
        .map(|(n, candidate)| (blocks(n, (200.0, 20.0), 0.0), blocks(n, candidate, noise)));
    let starts = slices.iter().map(|(base, candidate)| Start {
        base: base.iter().collect(),
        candidate: candidate.iter().collect(),
    });
    let sides = Sides { starts: starts.collect(), is_interleaved, is_one_run, prior: None };
    Split::of(&sides, Slots::of(1, Placement::Paired, 2)).unwrap()
}

fn is(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-6, "{found} and not {wanted}");
}

#[test]
fn starts_count_in_parts_what_they_count_in_the_whole() {
    // Blocks' noise is more than the 20 µs between the starts: each counts by its blocks, 12 and 40 of 52. By
    // themselves the starts of the waiting, which has no noise, would count alike: 0 in place of -3.2.
    let split = split(65.0, true, true);
    let change = |part: TimePart| split.part(part).unwrap().difference.point;
    is(split.total.difference.point, (12.0 * 30.0 + 40.0 * 10.0) / 52.0);
    is(change(TimePart::Server), (12.0 * 24.0 + 40.0 * 16.0) / 52.0);
    is(change(TimePart::Waiting), (12.0 * 6.0 - 40.0 * 6.0) / 52.0);
    is(TimePart::ALL.iter().filter_map(|part| split.share(*part)).sum(), 1.0);
}

#[test]
fn parts_add_up_on_both_sides_however_much_starts_count() {
    // With little noise the starts count alike, whatever their number of blocks.
    let quiet = split(1.0, true, true);
    assert!((quiet.total.difference.point - 20.0).abs() < 0.01, "{:?}", quiet.total);
    for (noise, is_interleaved, is_one_run) in
        [(1.0, true, true), (65.0, true, true), (1.0, false, true), (1.0, false, false)]
    {
        let split = split(noise, is_interleaved, is_one_run);
        let sum = |of: fn(&Change) -> f64| -> f64 {
            split.parts.iter().map(|(_, change)| of(change)).sum()
        };
        is(sum(|c| c.base), split.total.base);
        is(sum(|c| c.candidate), split.total.candidate);
        is(sum(|c| c.difference.point), split.total.difference.point);
        for change in split.parts.iter().map(|(_, change)| change).chain([&split.total]) {
            is(change.candidate - change.base, change.difference.point);
        }
    }
}
