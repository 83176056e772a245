//! What is seen of a run as the parts of its page: each is sent again when it changes.

use maud::{Markup, PreEscaped, html};
use rqps_analysis::under_way::Course;
use rqps_model::{Block, StepOutcome};
use rqps_report::comparison;
use rqps_store::outline::OutlineStep;
use rqps_text::number::{count, interval, long_duration, plain_figure, ratio, ratio_with_interval};
use rqps_text::words::one_line;

use super::left::Left;
use super::watcher::{CellResult, Seen, end_of, mean, n_ended};

/// The parts of the page as HTML.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    /// A sentence for who listens: changes with the step.
    pub(crate) said: PreEscaped<String>,
    pub(crate) state: PreEscaped<String>,
    pub(crate) now: PreEscaped<String>,
    pub(crate) narrowing: PreEscaped<String>,
    pub(crate) steps: PreEscaped<String>,
    /// Whether nothing more will come.
    pub(crate) is_over: bool,
}

impl Parts {
    pub(crate) fn of(seen: &Seen) -> Self {
        Self {
            said: said(seen),
            state: state(seen),
            now: now(seen),
            narrowing: narrowing(seen),
            steps: steps(seen),
            is_over: seen.is_over(),
        }
    }

    /// Whether the run was looked at.
    pub(crate) fn is_any(&self) -> bool {
        !self.state.0.is_empty()
    }

    /// An event with the parts that are not as before; empty when all are.
    pub(crate) fn event_since(&self, before: &Self) -> String {
        let Self { said, state, now, narrowing, steps, is_over } = self;
        let all = [
            ("said", said, &before.said),
            ("state", state, &before.state),
            ("now", now, &before.now),
            ("narrowing", narrowing, &before.narrowing),
            ("steps", steps, &before.steps),
        ];
        let changed: serde_json::Map<String, serde_json::Value> = all
            .into_iter()
            .filter(|(_, is, was)| is.0 != was.0)
            .map(|(id, is, _)| (id.to_owned(), is.0.clone().into()))
            .collect();
        let mut text = String::new();
        if !changed.is_empty() {
            // JSON has no line break but escaped ones, which is what the format needs of data.
            text = format!("event: parts\ndata: {}\n\n", serde_json::Value::Object(changed));
        }
        if *is_over {
            text.push_str("event: over\ndata: 1\n\n");
        }
        text
    }
}

/// `point-query, 1 client`.
fn name_of(step: &OutlineStep) -> String {
    let start = if step.start > 0 { format!(", start {}", step.start + 1) } else { String::new() };
    format!("{}, {}{start}", one_line(&step.info.name), count(step.clients as usize, "client"))
}

fn said(seen: &Seen) -> Markup {
    html! {
        @if seen.is_over() { "The run " (end_of(&seen.outline)) "." }
        @else if let Some(step) = seen.step() { "Step " (name_of(step)) "." }
        @else { "The run has begun." }
    }
}

fn state(seen: &Seen) -> Markup {
    let brief = &seen.outline.brief;
    let (n_ended, n_steps) = (n_ended(&seen.outline), brief.n_steps);
    html! {
        @if seen.is_over() {
            p.verdict { "The run " (end_of(&seen.outline)) "." }
            p {
                @if seen.outline.has_report() {
                    a href={ "/runs/" (brief.id) } { "Its report" } " "
                }
                a href={ "/runs/" (brief.id) "/about" } { "About the run" }
            }
        } @else {
            p.verdict { bdi { (doing(seen)) } }
            (time(seen))
        }
        p {
            progress max=(n_steps) value=(n_ended) aria-label="Steps on systems that are over" {}
            " " (n_ended) " of " (n_steps) " steps on systems are over"
            @if brief.n_failed > 0 { ", " span.failed { (brief.n_failed) " failed" } }
        }
    }
}

/// What is under way: the step and what of it.
fn doing(seen: &Seen) -> String {
    let Some(live) = &seen.live else {
        return "Under way; it tells nothing of itself yet".to_owned();
    };
    let doing = one_line(&live.doing);
    match (seen.step(), &live.step) {
        (Some(step), Some(told)) => {
            let n_blocks = told.n_blocks;
            let block =
                told.block.filter(|_| doing == "measure").map(|block| match told.n_rounds {
                    0 => format!(", slice {} of {n_blocks}", block + 1),
                    n => format!(", block {} of {n_blocks}, round {n}", block + 1),
                });
            let block = block.unwrap_or_default();
            format!("{}: {doing}{block}", name_of(step))
        }
        _ => doing,
    }
}

/// From when on a step is said to be late, milliseconds: stores and settling vary by seconds.
const LATE_MS: u64 = 5000;

fn time(seen: &Seen) -> Markup {
    let Some(live) = &seen.live else { return html! {} };
    let ms = |ms: u64| long_duration(i64::try_from(ms).unwrap_or(i64::MAX));
    let since = seen.now_unix_ms.saturating_sub(live.began_unix_ms);
    html! {
        p {
            "Under way for " (long_duration(since)) "; "
            @match Left::of(live, seen.now_unix_ms, seen.measured_ms()) {
                None => { "how long it will take is not known before the first step." }
                Some(left) => {
                    strong { "about " (ms(left.ms)) " left" }
                    @match left.pace {
                        None => { ", by the plan alone: no timed step is over yet" }
                        Some(pace) => { ", as steps took " (format!("{pace:.2}")) " times their planned time so far" }
                    }
                    @if left.n_starts > 0 {
                        @let n = usize::try_from(left.n_starts).unwrap_or(usize::MAX);
                        ", with " (count(n, "start")) " of servers as long as those so far"
                    }
                    @if left.n_unknown_stops > 0 {
                        "; how long servers take to stop is not known yet and comes on top"
                    }
                    @if left.has_guess { "; loads and other fixed amounts of work are guesses" }
                    "."
                    @if left.over_ms >= LATE_MS {
                        " The step under way has taken " (ms(left.over_ms)) " longer than expected, and how much "
                        "longer it will take is not known."
                    }
                }
            }
        }
    }
}

fn now(seen: &Seen) -> Markup {
    let outline = &seen.outline;
    let Some(step) = seen.step() else { return html! { p.hint { "No step has begun." } } };
    let told = seen.live.as_ref().and_then(|live| live.step.as_ref());
    let so_far = if told.is_some() { " so far" } else { "" };
    let rate = |system_idx: usize| {
        let rates = told.map(|told| told.rates.as_slice()).unwrap_or_default();
        rates.iter().find(|rate| rate.system_idx == system_idx)
    };
    html! {
        p.hint { (name_of(step)) }
        table.numbers {
            thead { tr {
                th scope="col" { "System" }
                th.num scope="col" { "Now, queries/s" }
                th.num scope="col" { "Mean so far, " (step.info.figure.unit()) }
                th.num scope="col" { "Blocks" }
                th.num scope="col" { "Rounds" }
                th.num scope="col" { "rQPS" }
                th scope="col" { "95% interval" }
            } }
            tbody {
                @for (idx, label) in outline.brief.systems.iter().enumerate() {
                    @let blocks = seen.blocks_of(idx);
                    @let beside = seen.beside_base(idx);
                    @let last = beside.and_then(|step| step.course().ratios.last().copied());
                    @let bar = last.and(beside).and_then(|step| step.bar());
                    tr {
                        th scope="row" {
                            bdi { (one_line(label.as_str())) }
                            @if idx == outline.brief.base { " " span.badge { "base" } }
                        }
                        td.num.now { @match rate(idx) {
                            Some(rate) => (plain_figure(rate.per_s)),
                            None => { span.faint { "–" } }
                        } }
                        td.num { @match mean(blocks) {
                            Some(mean) => (plain_figure(mean)),
                            None => { span.faint { "–" } }
                        } }
                        td.num { (blocks.len()) }
                        td.num { (rounds(blocks, told.filter(|told| told.systems.contains(&idx)))) }
                        td.num { @if let Some(last) = &last { (ratio(last)) } }
                        td.range { @if let Some(last) = &last {
                            (interval(last).unwrap_or_else(|| "n=1".to_owned()))
                            @if let Some(bar) = bar { " " span.faint { (comparison::bar(bar)) (so_far) } }
                        } }
                    }
                }
            }
        }
    }
}

/// Rounds of the blocks that are stored and of the one under way.
fn rounds(blocks: &[Block], told: Option<&rqps_store::live::LiveStep>) -> Markup {
    let stored: u64 = blocks.iter().map(|block| u64::from(block.n_rounds)).sum();
    let is_new = |block: u32| blocks.last().is_none_or(|last| last.idx < block);
    let under_way = told.filter(|told| told.block.is_some_and(is_new)).map_or(0, |t| t.n_rounds);
    html! { (stored + u64::from(under_way)) }
}

/// Width and height of a chart of an interval, in its own units.
const CHART: (f64, f64) = (480.0, 96.0);

/// How the interval of each candidate narrows from block to block.
fn narrowing(seen: &Seen) -> Markup {
    let outline = &seen.outline;
    let is_told = seen.live.as_ref().is_some_and(|live| live.step.is_some());
    let so_far = if is_told { " so far" } else { "" };
    let systems = outline.brief.systems.iter().enumerate();
    let with_interval = systems.filter_map(|(idx, label)| {
        let step = seen.beside_base(idx)?;
        let course = step.course();
        course.ratios.last()?.interval?;
        Some((label, course, step.bar()))
    });
    html! {
        @for (label, course, bar) in with_interval {
            figure.narrowing {
                figcaption {
                    "rQPS of " bdi { (one_line(label.as_str())) } ", block by block"
                    @if let Some(bar) = bar { "; no verdict, " (comparison::bar(bar)) (so_far) }
                }
                (chart(&course))
            }
        }
    }
}

fn chart(course: &Course) -> Markup {
    let (width, height) = CHART;
    let ratios = course.ratios.as_slice();
    let Some(last) = ratios.last() else { return html! {} };
    // Two blocks say next to nothing: their interval would be the whole chart.
    let from = ratios.len().min(4) - 1;
    let ends = ratios[from..].iter().filter_map(|ratio| ratio.interval);
    let (mut low, mut high) = (last.point.min(1.0), last.point.max(1.0));
    for (a, b) in ends {
        (low, high) = (low.min(a), high.max(b));
    }
    let margin = (high - low).max(0.01) * 0.08;
    (low, high) = (low - margin, high + margin);
    let x = |n: usize| width * (n as f64 + 0.5) / ratios.len() as f64;
    // Ends far outside stay so; the drawing is clipped.
    let y =
        |value: f64| (height * (high - value) / (high - low)).clamp(-10.0 * height, 10.0 * height);
    let point = |n: usize, value: f64| format!("{:.1},{:.1}", x(n), y(value));
    let with_ends = || ratios.iter().enumerate().filter_map(|(n, r)| Some((n, r.interval?)));
    let upper = with_ends().map(|(n, (_, b))| point(n, b));
    let lower = with_ends().map(|(n, (a, _))| point(n, a)).collect::<Vec<_>>();
    let band: Vec<String> = upper.chain(lower.into_iter().rev()).collect();
    let line: Vec<String> = ratios.iter().enumerate().map(|(n, r)| point(n, r.point)).collect();
    let told = format!(
        "after {} {}, 95% interval {}",
        count(course.n_blocks, "block"),
        ratio(last),
        interval(last).unwrap_or_default()
    );
    html! {
        div.narrowing-frame {
            span.top { (format!("{high:.2}")) }
            span.bottom { (format!("{low:.2}")) }
            svg viewBox={ "0 0 " (width) " " (height) } preserveAspectRatio="none" role="img"
                aria-label=(told) {
                polygon.interval points=(band.join(" ")) {}
                line.one x1="0" x2=(width) y1=(format!("{:.1}", y(1.0))) y2=(format!("{:.1}", y(1.0))) {}
                polyline.ratio points=(line.join(" ")) {}
            }
        }
        p.hint { (told) }
    }
}

fn steps(seen: &Seen) -> Markup {
    let outline = &seen.outline;
    // While servers start or stop, the step that is shown is over.
    let is_between = seen.live.as_ref().is_some_and(|live| live.change.is_some());
    let now = seen.step_idx.filter(|_| !seen.is_over() && !is_between);
    html! {
        table.words {
            thead { tr {
                th scope="col" { "Step" } th.num scope="col" { "Clients" }
                @for label in &outline.brief.systems {
                    th scope="col" { bdi { (one_line(label.as_str())) } }
                }
            } }
            tbody {
                @for (idx, step) in outline.steps.iter().enumerate() {
                    @let is_now = now == Some(idx);
                    tr.under-way[is_now] aria-current=[is_now.then_some("step")] {
                        th scope="row" {
                            bdi { (one_line(&step.info.name)) }
                            @if step.start > 0 { " " span.faint { "start " (step.start + 1) } }
                        }
                        td.num { (step.clients) }
                        @let cells = seen.results.get(&idx);
                        @for (at, (outcome, n)) in step.outcomes.iter().zip(&step.n_slices).enumerate() {
                            td { @match cells.and_then(|cells| result(cells.get(at)?)) {
                                Some(result) if *outcome == StepOutcome::Done => { (result) }
                                _ => { (outcome_of(outcome, *n)) }
                            } }
                        }
                    }
                }
            }
        }
        p.hint {
            "Steps that are over: the rate of the base, rQPS of the others with its 95% interval. One start, "
            "disturbed blocks included: the report has the verdicts."
        }
    }
}

/// `1.04 [1.01, 1.07]`, of the base its rate.
fn result(of: &CellResult) -> Option<String> {
    let bar = of.bar.map_or_else(String::new, |bar| format!(", {}", comparison::bar(bar)));
    let rqps = of.rqps.as_ref().map(|rqps| format!("{}{bar}", ratio_with_interval(rqps)));
    rqps.or_else(|| of.mean.map(plain_figure))
}

/// How a step stands on a system.
pub(crate) fn outcome_of(outcome: &StepOutcome, n_slices: u64) -> Markup {
    let slices = || count(usize::try_from(n_slices).unwrap_or(usize::MAX), "slice");
    html! {
        @match outcome {
            StepOutcome::Done => { (slices()) }
            StepOutcome::Pending if n_slices > 0 => { span.faint { (slices()) " so far" } }
            StepOutcome::Pending => { span.faint { "–" } }
            StepOutcome::Failed { reason } => {
                span.failed { "✕ failed" }
                details {
                    summary { "why" }
                    @for line in reason.lines() { span.below { (one_line(line)) } }
                }
            }
        }
    }
}
