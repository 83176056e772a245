//! What the clients of one kind did in a step: rate, response times, delays, and their seconds.

use rqps_model::run::SystemStep;
use rqps_model::slice::{Lateness, SeriesPoint, Stream, per_second};
use rqps_model::{Role, RunStep, Slice, Stated, StepKind};

use crate::response::{self, ResponseTimes};

/// A second that lacks less than this counts as whole, nanoseconds: a block is a sum of short slices,
/// whose ends are off by some microseconds each.
const SECOND_SLACK_NS: u64 = 10_000_000;

/// The kinds of clients that reports show, in their order. One that holds transactions open does
/// nothing that could be counted.
pub const ROLES: [Role; 3] = [Role::Query, Role::Insert, Role::Delete];

/// What the clients of one kind did, over all slices.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// What they did.
    pub role: Role,
    /// How many clients.
    pub clients: u32,
    /// Whether the step's rate counts their work.
    pub is_own: bool,
    /// Whether an imported file states its rate, and neither counts, times nor seconds are known.
    pub is_stated: bool,
    /// Target of all of them together, rows per second; absent without one.
    pub target_per_s: Option<f64>,
    /// Queries, or rows inserted or deleted, per second; of `is_own` the step's rate.
    pub rate_per_s: f64,
    /// Queries, or rows inserted or deleted; 0 of `is_stated`.
    pub n_operations: u64,
    /// Rows per statement; 1 for queries, and of `is_stated`.
    pub per_statement: f64,
    /// Response times, from the intended start where a rate was set.
    pub response: Option<ResponseTimes>,
    /// How a set rate was held; absent without one.
    pub lateness: Option<Lateness>,
    /// 99% of the starts were at most this late, nanoseconds.
    pub late_p99_ns: Option<u64>,
    /// The same of the clients' own part of the delays, after they were free to send.
    pub own_late_p99_ns: Option<u64>,
    /// Operations in each whole second of counted time. A list for each slice; one for all blocks of a
    /// start of the servers, and for all its slices of a fixed amount of work, whose counted time runs on
    /// from one to the next.
    pub seconds: Vec<Vec<f64>>,
    /// The start of the servers that each list of `seconds` is of.
    pub starts: Vec<u32>,
    /// What was counted in each of `seconds`, response times among it.
    pub points: Vec<Vec<SeriesPoint>>,
    /// Whether `seconds` has rates of whole slices instead of seconds: of work that took less than
    /// a second, or of blocks that are no whole seconds.
    pub is_by_block: bool,
}

/// The part of a slice that is one flow's.
struct FlowSlice<'a> {
    clients: u32,
    target_per_s: Option<f64>,
    duration_ns: u64,
    n_queries: u64,
    n_operations: u64,
    lateness: Option<Lateness>,
    delays: &'a [u8],
    own_delays: &'a [u8],
    series: &'a [SeriesPoint],
    response_times: &'a [u8],
    n_rounds: Option<u32>,
    /// The start of the servers that it is of.
    start: u32,
    /// Whether the slice is a part of a fixed amount of work.
    is_fixed: bool,
}

/// The flows of a step on one system, in the order of [`ROLES`].
pub(super) fn flows(step: &RunStep, system: &SystemStep) -> Vec<Flow> {
    let own = own_role(step.info.kind);
    let imported = match system.slices.as_slice() {
        [slice] => slice.stated.as_ref().map(|stated| (slice, stated)),
        _ => None,
    };
    if let Some((_, stated)) = imported.filter(|(slice, _)| slice.duration_ns == 0) {
        return of_stated(stated, own, step.clients);
    }
    // The seconds of an imported log are those of a clock.
    let is_fixed = step.info.has_blocks_of_work() && imported.is_none();
    let flow = |role: Role| {
        if own == Some(role) {
            let parts: Vec<FlowSlice<'_>> =
                system.slices.iter().map(|s| of_slice(s, step.clients, is_fixed)).collect();
            return combine(role, true, &parts);
        }
        let parts: Vec<FlowSlice<'_>> = system
            .slices
            .iter()
            .filter_map(|s| Some((s, s.streams.iter().find(|st| st.role == role)?)))
            .map(|(slice, stream)| of_stream(slice, stream, is_fixed))
            .collect();
        combine(role, false, &parts)
    };
    let mut flows: Vec<Flow> = ROLES.into_iter().filter_map(flow).collect();
    if let Some((_, stated)) = imported {
        flows.iter_mut().for_each(|flow| take_stated(flow, stated));
    }
    flows
}

/// Gives a flow of an imported log what its files state in place of what was counted.
fn take_stated(flow: &mut Flow, stated: &Stated) {
    let response = match flow.is_own {
        true => stated.response.as_ref(),
        false => stated.stream_responses.get(&flow.role),
    };
    flow.response = flow.response.take().or_else(|| response.map(response::of_stated));
    if let Some(ips) = stated.column("ips").filter(|_| flow.role == Role::Insert) {
        flow.rate_per_s = ips;
    }
}

/// The flows that an imported file has rates of: those of the figure, and inserts beside queries.
fn of_stated(stated: &Stated, own: Option<Role>, clients: u32) -> Vec<Flow> {
    let flow = |role: Role, rate_per_s: f64, target_per_s: Option<f64>| Flow {
        role,
        clients,
        is_own: own == Some(role),
        is_stated: true,
        target_per_s,
        rate_per_s,
        n_operations: 0,
        per_statement: 1.0,
        response: None,
        lateness: None,
        late_p99_ns: None,
        own_late_p99_ns: None,
        seconds: Vec::new(),
        starts: Vec::new(),
        points: Vec::new(),
        is_by_block: false,
    };
    let own = own.zip(stated.figure).map(|(role, figure)| flow(role, figure, None));
    let inserts = stated.target_inserts_per_s.zip(stated.column("ips"));
    let inserts = inserts.map(|(target, rate)| flow(Role::Insert, rate, Some(target)));
    own.into_iter().chain(inserts).collect()
}

/// What those do whose work is the step's figure; creating indexes is none of the three.
fn own_role(kind: StepKind) -> Option<Role> {
    match kind {
        StepKind::Insert => Some(Role::Insert),
        StepKind::Index => None,
        _ => Some(Role::Query),
    }
}

fn of_slice(slice: &Slice, clients: u32, is_fixed: bool) -> FlowSlice<'_> {
    FlowSlice {
        clients,
        target_per_s: None,
        duration_ns: slice.duration_ns,
        n_queries: slice.n_queries,
        n_operations: slice.n_operations,
        lateness: slice.lateness,
        delays: &[],
        own_delays: &[],
        series: &slice.series,
        response_times: &slice.response_times,
        n_rounds: slice.n_rounds,
        start: slice.start,
        is_fixed,
    }
}

fn of_stream<'a>(slice: &Slice, stream: &'a Stream, is_fixed: bool) -> FlowSlice<'a> {
    FlowSlice {
        clients: stream.clients,
        target_per_s: stream.target_per_s,
        duration_ns: stream.duration_ns,
        n_queries: stream.n_queries,
        n_operations: stream.n_operations,
        lateness: stream.lateness,
        delays: &stream.delays,
        own_delays: &stream.own_delays,
        series: &stream.series,
        response_times: &stream.response_times,
        n_rounds: slice.n_rounds,
        start: slice.start,
        is_fixed,
    }
}

fn combine(role: Role, is_own: bool, parts: &[FlowSlice<'_>]) -> Option<Flow> {
    let first = parts.first()?;
    let sum = |f: fn(&FlowSlice<'_>) -> u64| parts.iter().map(f).fold(0, u64::saturating_add);
    let (n_operations, n_queries) = (sum(|p| p.n_operations), sum(|p| p.n_queries));
    let duration_ns = sum(|p| p.duration_ns);
    let per_statement = n_operations as f64 / n_queries.max(1) as f64;
    let is_paced = first.target_per_s.is_some();
    let least = if is_paced { response::MIN_BEYOND_AT_RATE } else { response::MIN_BEYOND };
    let lateness = parts.iter().filter_map(|p| p.lateness).reduce(|mut all, one| {
        all.add(&one);
        all
    });
    let Seconds { rates, starts, points, is_by_block } = seconds(parts, per_statement);
    Some(Flow {
        role,
        clients: first.clients,
        is_own,
        is_stated: false,
        target_per_s: target(parts.iter().map(|p| (p.target_per_s, p.duration_ns))),
        rate_per_s: per_second(n_operations, duration_ns),
        n_operations,
        per_statement,
        response: response::merged_from(parts.iter().map(|p| p.response_times), least),
        lateness,
        late_p99_ns: response::p99(parts.iter().map(|p| p.delays)),
        own_late_p99_ns: response::p99(parts.iter().map(|p| p.own_delays)),
        seconds: rates,
        starts,
        points,
        is_by_block,
    })
}

/// The rate that was asked for, each part weighed by its time: rates per second, and nanoseconds.
pub(crate) fn target(parts: impl Iterator<Item = (Option<f64>, u64)>) -> Option<f64> {
    let (mut total, mut time) = (0.0, 0.0);
    for (target_per_s, duration_ns) in parts {
        total += target_per_s? * duration_ns as f64;
        time += duration_ns as f64;
    }
    (time > 0.0).then(|| total / time)
}

/// Second by second: operations per second, what was counted, and whether slices stand for their seconds.
#[derive(Debug, Default, PartialEq)]
struct Seconds {
    rates: Vec<Vec<f64>>,
    /// Per list, the start of the servers that it is of.
    starts: Vec<u32>,
    points: Vec<Vec<SeriesPoint>>,
    is_by_block: bool,
}

fn seconds(parts: &[FlowSlice<'_>], per_statement: f64) -> Seconds {
    let mut out = Seconds::default();
    for (idx, part) in parts.iter().enumerate() {
        let (rates, points) = match whole_seconds(part) {
            Some(points) => {
                let rate = |p: &SeriesPoint| f64::from(p.queries) * per_statement;
                (points.iter().map(rate).collect(), points.to_vec())
            }
            None => {
                out.is_by_block = true;
                let rate = per_second(part.n_operations, part.duration_ns);
                (vec![rate], vec![SeriesPoint::sum(part.series)])
            }
        };
        // Between two starts of the servers the tables were filled anew.
        let is_of_start = idx > 0 && parts[idx - 1].start == part.start;
        let runs_on = is_of_start && (part.is_fixed || part.n_rounds.is_some());
        if !runs_on {
            out.starts.push(part.start);
        }
        append(&mut out.rates, rates, runs_on);
        append(&mut out.points, points, runs_on);
    }
    out
}

/// Appends to the last list, or a list of its own.
fn append<T>(lists: &mut Vec<Vec<T>>, one: Vec<T>, runs_on: bool) {
    match lists.last_mut().filter(|_| runs_on) {
        Some(last) => last.extend(one),
        None => lists.push(one),
    }
}

/// The whole seconds of a part; the last, incomplete one is left out. `None` where a part without a
/// set rate has none, or where its points are not those of a clock.
fn whole_seconds<'a>(part: &FlowSlice<'a>) -> Option<&'a [SeriesPoint]> {
    let whole = part.duration_ns.saturating_add(SECOND_SLACK_NS) / 1_000_000_000;
    let whole = usize::try_from(whole).unwrap_or(usize::MAX).min(part.series.len());
    let seconds = &part.series[..whole];
    if part.target_per_s.is_some() {
        return Some(seconds);
    }
    // Turns that do a part of the work take their time: a point then has those that began in its
    // second, whole. Such points hold every statement, while a clock leaves some behind its last
    // whole second.
    let n_in_points: u64 = part.series.iter().map(|p| u64::from(p.queries)).sum();
    let is_interleaved = part.is_fixed && part.n_rounds != Some(1) && n_in_points == part.n_queries;
    (!seconds.is_empty() && !is_interleaved).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds_of(
        duration_ns: u64,
        n_rounds: Option<u32>,
        is_fixed: bool,
        n_queries: u64,
    ) -> (Vec<Vec<f64>>, bool) {
        let series = [10, 20, 3].map(|queries| SeriesPoint { queries, ..SeriesPoint::default() });
        let one = || FlowSlice {
            clients: 1,
            target_per_s: None,
            duration_ns,
            n_queries,
            n_operations: n_queries * 10,
            lateness: None,
            delays: &[],
            own_delays: &[],
            series: &series,
            response_times: &[],
            n_rounds,
            start: 0,
            is_fixed,
        };
        let Seconds { rates, starts, points, is_by_block } = seconds(&[one(), one()], 10.0);
        let lengths: Vec<usize> = points.iter().map(Vec::len).collect();
        assert_eq!(lengths, rates.iter().map(Vec::len).collect::<Vec<_>>());
        assert_eq!(starts, vec![0; rates.len()]);
        // Nothing runs on from one start of the servers to the next.
        let of_two = seconds(&[one(), FlowSlice { start: 1, ..one() }], 10.0);
        assert_eq!((of_two.starts.as_slice(), of_two.rates.len()), ([0, 1].as_slice(), 2));
        assert_eq!(of_two.rates.concat(), rates.concat());
        (rates, is_by_block)
    }

    #[test]
    fn only_whole_seconds_count_and_blocks_run_on() {
        let (slices, is_by_block) = seconds_of(2_300_000_000, None, false, 33);
        assert_eq!(slices, [[100.0, 200.0], [100.0, 200.0]]);
        assert!(!is_by_block);
        let (blocks, _) = seconds_of(2_300_000_000, Some(2), false, 33);
        assert_eq!(blocks, [[100.0, 200.0, 100.0, 200.0]]);
        assert_eq!(seconds_of(2_995_000_000, None, false, 33).0[0].len(), 3);
        assert_eq!(seconds_of(2_980_000_000, None, false, 33).0[0].len(), 2);
    }

    #[test]
    fn parts_of_a_fixed_amount_of_work_run_on() {
        // Two statements came after the last whole second.
        let (parts, is_by_block) = seconds_of(3_100_000_000, None, true, 35);
        assert_eq!(parts, [[100.0, 200.0, 30.0, 100.0, 200.0, 30.0]]);
        assert!(!is_by_block);
        // Points of turns that are no seconds, and parts without a whole second, are means.
        assert_eq!(seconds_of(3_300_000_000, Some(4), true, 33), (vec![vec![100.0; 2]], true));
        assert_eq!(seconds_of(500_000_000, None, true, 33), (vec![vec![660.0; 2]], true));
    }
}
