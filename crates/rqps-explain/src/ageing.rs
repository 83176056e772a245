//! Ageing: how much slower a step is after the steps that write than before them, for each system
//! alone and relative to the base.
//!
//! A step and its twin, whose name ends in `.pre`, were measured at two times. The ratio of one
//! system includes changes of the host between them. They cancel in the ratio of two systems'
//! ratios where the systems were interleaved both times.

use rqps_model::{Estimate, Slice};
use rqps_stats::paired::log_ratios;
use rqps_stats::{difference, ratio_test};

/// What a twin's name has behind the step's family: `range-covered-pk.pre`, `random-points.pre_range=10`.
const BEFORE: &str = ".pre";

/// The name of the step whose twin is `name`; `None` where it is not a twin.
#[must_use]
pub fn after_of(name: &str) -> Option<String> {
    let at = name.find(BEFORE)?;
    let rest = &name[at + BEFORE.len()..];
    let is_end = rest.is_empty() || rest.starts_with(['_', ',', ' ']);
    is_end.then(|| format!("{}{rest}", &name[..at]))
}

/// One step and its twin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ageing {
    /// Rate after / rate before, of one system: below 1 it has aged.
    pub ratio: Estimate,
    /// That of this system / that of the base: below 1 it has aged more. Absent for the base.
    pub relative: Option<Estimate>,
}

/// Rates of one step on one system, by the start of the servers.
type Rates = Vec<(u32, Vec<f64>)>;

/// Slices of one step on one system before and after.
#[derive(Debug, Clone, Copy)]
pub struct Twins<'a> {
    /// Slices of the step whose name ends in `.pre`.
    pub before: &'a [Slice],
    /// Slices of the step itself.
    pub after: &'a [Slice],
}

impl Ageing {
    /// The ageing of a system and, for a candidate, relative to the base; `is_interleaved` where
    /// both were interleaved.
    #[must_use]
    pub fn of(own: Twins<'_>, base: Option<Twins<'_>>, is_interleaved: bool) -> Option<Self> {
        let (before, after) = (rates(own.before), rates(own.after));
        let ratio = ratio_over_starts(&before, &after)?;
        let relative = base.and_then(|base| relative(own, base, is_interleaved));
        Some(Self { ratio, relative })
    }
}

fn rates(slices: &[Slice]) -> Rates {
    slices
        .chunk_by(|a, b| a.start == b.start)
        .map(|of_start| (of_start[0].start, of_start.iter().map(Slice::figure).collect()))
        .collect()
}

/// The rates before and after of the starts that both have: what one start drew is no other's.
fn common<'f>(before: &'f Rates, after: &'f Rates) -> Vec<(&'f [f64], &'f [f64])> {
    let of_start = |(start, b): &'f (u32, Vec<f64>)| {
        let (_, a) = after.iter().find(|(known, _)| known == start)?;
        Some((b.as_slice(), a.as_slice()))
    };
    before.iter().filter_map(of_start).collect()
}

/// The ratio that `of_start` finds in one start of the servers; over several of them the mean of their ratios.
fn over_starts(
    before: &Rates,
    after: &Rates,
    of_start: impl Fn(&[f64], &[f64]) -> Option<Estimate>,
) -> Option<Estimate> {
    let pairs = common(before, after);
    // All that there is of either: one start knows its own spread alone.
    if let ([_], [_], [(before, after)]) = (before.as_slice(), after.as_slice(), pairs.as_slice()) {
        return of_start(before, after);
    }
    let log = |(b, a): &(&[f64], &[f64])| of_start(b, a).map(|found| vec![found.point.ln()]);
    let logs: Option<Vec<_>> = pairs.iter().map(log).collect();
    difference::of_pairs(&logs?).map(exp)
}

/// After / before, two samples.
fn ratio_over_starts(before: &Rates, after: &Rates) -> Option<Estimate> {
    over_starts(before, after, |b, a| ratio_test(b, a).map(|tested| tested.estimate))
}

/// The ratio of ageings. For interleaved systems it is the ratio of the blocks' rQPS after and before.
fn relative(own: Twins<'_>, base: Twins<'_>, is_interleaved: bool) -> Option<Estimate> {
    let before = logs_of_partners(own.before, base.before);
    let after = logs_of_partners(own.after, base.after);
    if let (true, Some(before), Some(after)) = (is_interleaved, before, after) {
        return over_starts(&before, &after, |b, a| difference::of_two(b, a).map(exp));
    }
    let own = ratio_over_starts(&rates(own.before), &rates(own.after))?;
    let base = ratio_over_starts(&rates(base.before), &rates(base.after))?;
    Some(quotient(&own, &base))
}

/// Per start of the servers the log ratios of interleaved blocks: those with one index that began at one
/// moment. A block whose partner is missing says nothing.
fn logs_of_partners(own: &[Slice], base: &[Slice]) -> Option<Rates> {
    let of_start = |own: &[Slice]| -> Option<(u32, Vec<f64>)> {
        let start = own[0].start;
        let block = |s: &Slice| (s.start, s.idx, s.start_unix_ms);
        let partner = |o: &Slice| base.iter().find(|b| block(b) == block(o));
        let pairs = own.iter().filter_map(|o| Some((partner(o)?.figure(), o.figure())));
        let (base, own_figures): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let logs = if base.is_empty() { Some(Vec::new()) } else { log_ratios(&base, &own_figures) };
        logs.map(|logs| (start, logs))
    };
    let all: Option<Rates> = own.chunk_by(|a, b| a.start == b.start).map(of_start).collect();
    all.map(|all| all.into_iter().filter(|(_, logs)| !logs.is_empty()).collect())
}

/// The quotient of two independent ratios: on the logarithmic scale half-widths add as squares.
fn quotient(a: &Estimate, b: &Estimate) -> Estimate {
    let half = |e: &Estimate| e.interval.map(|(low, high)| (high.ln() - low.ln()) / 2.0);
    let point = a.point / b.point;
    let interval = half(a).zip(half(b)).map(|(a, b)| {
        let half = a.hypot(b);
        ((point.ln() - half).exp(), (point.ln() + half).exp())
    });
    Estimate { point, interval, n: a.n.min(b.n) }
}

fn exp(log: Estimate) -> Estimate {
    Estimate {
        point: log.point.exp(),
        interval: log.interval.map(|(low, high)| (low.exp(), high.exp())),
        ..log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_by_name() {
        assert_eq!(after_of("point-query.pre").as_deref(), Some("point-query"));
        let points = after_of("random-points.pre_range=100");
        assert_eq!(points.as_deref(), Some("random-points_range=100"));
        assert_eq!(after_of("scan"), None);
        assert_eq!(after_of("x.prefix"), None);
    }

    #[test]
    fn starts_are_compared_with_themselves() {
        let of = |starts: &[(u32, f64)]| -> Rates {
            starts.iter().map(|&(start, v)| (start, vec![v, v * 1.01])).collect()
        };
        // The step failed on the first start, its twin on the last one.
        let (before, after) = (of(&[(1, 100.0), (2, 300.0)]), of(&[(0, 50.0), (1, 90.0)]));
        let ratio = ratio_over_starts(&before, &after).unwrap();
        assert!((ratio.point - 0.9).abs() < 1e-9 && ratio.interval.is_none(), "{ratio:?}");
        assert_eq!(ratio_over_starts(&of(&[(0, 1.0)]), &of(&[(1, 1.0)])), None);
    }
}
