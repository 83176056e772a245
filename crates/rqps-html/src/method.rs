//! How to read the report, how the run was made, how sure it is, and what was not measured.

use maud::{Markup, html};
use rqps_model::{Metric, Schedule, Slice};
use rqps_stats::fdr::DEFAULT_Q;

use super::label::{outside, prose};
use rqps_analysis::insert_steps;
use rqps_analysis::{Analysis, response};
use rqps_report::command;
use rqps_report::comparison;
use rqps_report::layout;
use rqps_report::warning;
use rqps_text::number::{self, count, percent};
use rqps_text::words::{capital, lines, list};

/// The sections.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        (reading(analysis))
        (method(analysis))
        section #missing aria-labelledby="missing-title" {
            h2 #missing-title { "What was not measured" }
            @if analysis.not_measured.is_empty() { p { "Everything that the plan asks for has a figure." } }
            (sentences(&warning::sentences(analysis, &analysis.not_measured)))
        }
    }
}

fn sentences(items: &[String]) -> Markup {
    html! { @if !items.is_empty() { ul.sentences { @for item in items { li { (prose(item)) } } } } }
}

fn reading(analysis: &Analysis<'_>) -> Markup {
    let bound = number::exact_percent(analysis.judging.bound);
    let over_runs = analysis.joined.is_some().then_some(
        "Between systems of different runs it is Welch's t on the rates of two samples. ",
    );
    let (of, by) = if analysis.schedule().is_interleaved() {
        (
            "the geometric mean of the ratios of their blocks, which were interleaved. ",
            "t on the logarithms of the blocks' ratios, with the effective number of blocks where \
             neighbours are alike. ",
        )
    } else {
        (
            "the ratio of the geometric means of their slices. ",
            "Welch's t on the logarithms of the slices' rates. ",
        )
    };
    html! {
        section #reading aria-labelledby="reading-title" {
            h2 #reading-title { "How to read it" }
            dl.words {
                div { dt { "rQPS" } dd {
                    "QPS of a system / QPS of the base: " (of)
                    "0.90 is a 10% regression."
                } }
                div { dt { "Interval" } dd {
                    "95% interval of the ratio: " (by) @if let Some(text) = over_runs { (text) }
                    "Digits follow the interval; n=1 means that there is none."
                } }
                div { dt { "Verdict" } dd {
                    strong { "▼ slower" } ": the interval lies below 1, the ratio is at least " (bound)
                    " below it, and the difference is significant among all ratios of the run: p-values are "
                    "adjusted (Benjamini-Hochberg, " (percent(DEFAULT_Q)) "). " strong { "▲ faster" }
                    ": the mirror image. " strong { "= same" } ": the interval lies within 1 ± " (bound)
                    ". " strong { "? unclear" } ": none of these. Beside it is what would give a verdict with a chance of 80%: more "
                    "measuring time on all systems together, or more starts of the servers."
                } }
                div { dt { "Steady rate" } dd {
                    "Rate of the better windows of a block, those from the 80th to the 95th percentile: "
                    "stalls are excluded. QPS is the average, stalls included."
                } }
                div { dt { "Ratios to the base" } dd { (capital(&comparison::legend(analysis))) "." } }
                div { dt { "Colours" } dd {
                    "Yellow below 0.95, blue above 1.05, after rounding to two digits; pale where the "
                    "verdict does not confirm it. Among costs per operation yellow is more, blue is less."
                } }
                div { dt { "Geometric mean" } dd {
                    "Of a group's rQPS. It weighs all steps equally and has no interval: use it to find "
                    "steps, not as a result."
                } }
                div { dt { "Percentiles" } dd {
                    "Of the response times of events in all slices together; shown where at least "
                    (response::MIN_BEYOND) " responses lie beyond them."
                } }
                div { dt { "Windows" } dd {
                    "Operations counted in windows of 20 ms, as rates: 5% of the windows are slower than "
                    "the first value, half are slower than the second (the median), and 5% are faster than the third."
                } }
            }
            h3 { "Metrics per operation" }
            div.scroll tabindex="0" role="region" aria-label="Metrics" { table.words {
                thead { tr {
                    th scope="col" { "Metric" } th scope="col" { "Meaning" } th scope="col" { "Unit" }
                    th scope="col" { "Source" } th scope="col" { "In text and CSV" }
                } }
                tbody { @for metric in analysis.metrics() { tr {
                    th scope="row" { (metric.words()) }
                    td { (metric.meaning()) }
                    td { (if metric.unit() == "us" { "µs" } else { metric.unit() }) }
                    td { (metric.source()) }
                    td { code { (metric.heading()) } }
                } } }
            } }
            p.hint {
                "Lower is better for all of them"
                @if analysis.metrics().contains(&Metric::Rate) { " but " (Metric::Rate.words()) }
                ". Relative values are value / base value; 0/0 is 1, x/0 is inf."
            }
            (super::insert::reading(analysis))
        }
    }
}

fn method(analysis: &Analysis<'_>) -> Markup {
    let (run, host) = (analysis.run, analysis.host());
    let (schedule, length) = schedule(analysis);
    let machine = if host.virtual_machine { "virtual machine" } else { "physical machine" };
    let facts = [
        ("Started", number::utc(run.started_unix_ms)),
        ("Took", took(analysis)),
        ("Host", format!("{}, {machine}", host.hostname)),
        ("CPU", format!("{} × {}", host.n_cpus, host.cpu_model)),
        ("Memory", number::bytes(host.memory_bytes)),
        ("Storage", layout::storage(host)),
        ("System", format!("{}, kernel {}", host.os, host.kernel)),
        ("Schedule", schedule),
        (length, slice_lengths(analysis)),
        ("Starts of the servers", starts(analysis)),
        ("Placement", placements(analysis)),
        ("Warm-up", warm_up(analysis)),
        ("Seed", analysis.seed().to_string()),
        ("Samplers", samplers(analysis)),
        ("rqps", analysis.rqps_version().to_owned()),
        ("Run", run.id.clone()),
    ];
    // Of several runs each has its own, which stand at the top.
    let of_one_run =
        ["Started", "Took", "Host", "CPU", "Memory", "Storage", "System", "Schedule", "Seed"];
    // Nothing of these is known of what was imported.
    let measured = [
        "Started",
        "Took",
        "Host",
        "CPU",
        "Memory",
        "Storage",
        "System",
        "Schedule",
        "Slice length",
        "Starts of the servers",
        "Placement",
        "Warm-up",
        "Seed",
        "Samplers",
    ];
    let is_told = |name: &str| {
        (analysis.joined.is_none() || !of_one_run.contains(&name))
            && (analysis.imported().is_none() || !measured.contains(&name))
    };
    html! {
        section #method aria-labelledby="method-title" {
            h2 #method-title { "How it was measured" }
            dl.facts {
                @if let Some(imported) = analysis.imported() {
                    div { dt { "Imported from" } dd { (outside(&imported.source)) } }
                    div { dt { "Files of" } dd { (imported.tool) } }
                    div { dt { "Host" } dd { (outside(&host.hostname)) } }
                }
                @for (name, value) in facts.iter().filter(|(name, v)| !v.is_empty() && is_told(name)) {
                    div { dt { (name) } dd { (outside(value)) } }
                }
                div.long { dt { "Command" } dd { code { (outside(&command::line(&run.command_line))) } } }
            }
            @if let Some(joined) = analysis.joined {
                (super::compare::plans(joined))
            } @else if !run.plan.is_empty() {
                details { summary { "The plan with all its defaults" } pre tabindex="0" { code { (lines(&run.plan)) } } }
            }
            @if !analysis.run.warnings.is_empty() {
                h3 #warnings { "What happened during the run" }
                (sentences(&warning::happened(analysis.run)))
            }
            h3 { "How sure this is" }
            (sentences(&warning::sentences(analysis, &analysis.certainty)))
        }
    }
}

/// How often the servers were started, where it was more than once.
fn starts(analysis: &Analysis<'_>) -> String {
    match analysis.n_starts {
        0 | 1 => String::new(),
        n => n.to_string(),
    }
}

/// The schedule in words, and what the length of what it measures is called.
fn schedule(analysis: &Analysis<'_>) -> (String, &'static str) {
    match analysis.schedule() {
        Schedule::Sequential { slices } => {
            let slices = count(usize::try_from(slices).unwrap_or(usize::MAX), "slice");
            let each = "per step and number of clients";
            (format!("sequential: one system after the other, {slices} {each}"), "Slice length")
        }
        Schedule::Interleaved { slice_ms, .. } => {
            let turns = warning::slices_in_words(slice_ms, insert_steps(analysis));
            let text = format!("interleaved: all systems up, {turns}, in random order");
            (text, "Block length")
        }
    }
}

fn took(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    match run.finished_unix_ms {
        Some(end) => number::long_duration(end.saturating_sub(run.started_unix_ms)),
        None => format!("not ended ({})", run.status),
    }
}

fn slices<'a>(analysis: &Analysis<'a>) -> impl Iterator<Item = &'a Slice> {
    analysis.run.steps.iter().flat_map(|s| &s.systems).flat_map(|s| &s.slices)
}

/// `10 s`, or `10 to 60 s`: of the steps that are compared.
fn slice_lengths(analysis: &Analysis<'_>) -> String {
    let lengths = || {
        analysis
            .steps
            .iter()
            .filter(|s| s.is_compared())
            .flat_map(|s| &s.step.systems)
            .flat_map(|s| &s.slices)
            .map(|s| s.duration_ns)
    };
    let (Some(min), Some(max)) = (lengths().min(), lengths().max()) else { return String::new() };
    let show = |ns: u64| number::duration_in(ns as f64, 1e9);
    if show(min) == show(max) {
        format!("{} s", show(min))
    } else {
        format!("{} to {} s", show(min), show(max))
    }
}

fn placements(analysis: &Analysis<'_>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for step in &analysis.steps {
        let placement = step.step.placement.to_string();
        if !seen.contains(&placement) {
            seen.push(placement);
        }
    }
    list(&seen)
}

fn warm_up(analysis: &Analysis<'_>) -> String {
    if analysis.warm_ups.is_empty() { String::new() } else { list(&analysis.warm_ups) }
}

/// What the samplers cost, as a share of one CPU.
fn samplers(analysis: &Analysis<'_>) -> String {
    let (cpu, wall) = slices(analysis).fold((0_u64, 0_u64), |(cpu, wall), s| {
        (cpu.saturating_add(s.usage.sampler_cpu_ns), wall.saturating_add(s.usage.wall_ns))
    });
    if wall == 0 {
        return String::new();
    }
    format!("{:.3}% of one CPU", cpu as f64 / wall as f64 * 100.0)
}
