//! The head of the page: per candidate the verdict in a sentence, its counts, its extremes.

use maud::{Markup, html};

use super::label::{self, outside, prose};
use super::part::BasePart;
use rqps_analysis::headline::{Counts, cpu_behind};
use rqps_analysis::{Analysis, Cell, Headline, half_widths};
use rqps_model::WarningKind;
use rqps_model::warning::StepClass;
use rqps_report::warning;
use rqps_report::{headline, layout};
use rqps_text::number;
use rqps_text::words::one_line;

/// The severe warnings, before everything else.
pub(super) fn warned(analysis: &Analysis<'_>) -> BasePart {
    BasePart::new("warned", severe(analysis))
}

/// The verdicts.
pub(super) fn part(analysis: &Analysis<'_>) -> BasePart {
    BasePart::new("verdicts", render(analysis))
}

fn severe(analysis: &Analysis<'_>) -> Markup {
    let severe = warning::sentences(analysis, analysis.warnings_by_weight().0);
    html! {
        @if !severe.is_empty() {
            div.warning.severe role="alert" {
                ul.sentences { @for warning in &severe { li { (prose(warning)) } } }
            }
        }
    }
}

/// One block per candidate.
fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if let [only] = analysis.headlines.as_slice() {
            (block(analysis, only))
            (candidates(analysis))
        } @else if !analysis.headlines.is_empty() {
            p.verdict { (one_line(&headline::of_several(analysis))) }
            (candidates(analysis))
        }
        @if !analysis.headlines.is_empty() {
            p.hint {
                "rQPS: QPS relative to " (outside(&analysis.names[analysis.base])) ", above 1 is faster."
            }
        }
        @for sentence in headline::beside_all(analysis) { p.hint { (prose(&sentence)) } }
        (sure(analysis))
        @let others = warning::sentences(analysis, analysis.warnings_by_weight().1);
        @if !others.is_empty() {
            div.warning role="note" {
                strong { "Keep in mind" }
                ul.sentences { @for warning in &others { li { (prose(warning)) } } }
            }
        }
        @if analysis.headlines.is_empty() {
            p.verdict { "One system: there is nothing to compare it with." }
        }
    }
}

/// How sure it is, and that something was not measured.
fn sure(analysis: &Analysis<'_>) -> Markup {
    let is_missing = |kind: &&WarningKind| !matches!(kind, WarningKind::WarmUps { .. });
    let missing: Vec<WarningKind> =
        analysis.not_measured.iter().filter(is_missing).cloned().collect();
    html! {
        // The table has them.
        @if half_widths(analysis).is_some() {
            p.hint { a href="#method" { "How sure this is" } }
        }
        @if let Some((first, rest)) = warning::sentences(analysis, &missing).split_first() {
            p.hint {
                (prose(first)) " "
                a href="#missing" {
                    @if rest.is_empty() { "What was not measured" } @else { (rest.len()) " more" }
                }
            }
        }
    }
}

fn block(analysis: &Analysis<'_>, headline: &Headline) -> Markup {
    let idx = headline.system_idx;
    html! {
        section.verdict-block aria-label={ "Verdict on " (one_line(analysis.label(idx))) } {
            p.verdict { (one_line(&headline::sentence(analysis, headline))) }
            (bar(headline.counts))
        }
    }
}

/// A line for each candidate.
fn candidates(analysis: &Analysis<'_>) -> Markup {
    let has_others =
        analysis.headlines.iter().any(|own| own.counts.total() > own.counts.measured());
    let classes: Vec<StepClass> = [StepClass::Reads, StepClass::Writes, StepClass::Others]
        .into_iter()
        .filter(|class| {
            let mut all = analysis.headlines.iter().flat_map(|own| &own.half_widths);
            all.any(|half| half.kind == *class)
        })
        .collect();
    let number = |n: usize| html! { td.num { @if n > 0 { (n) } @else { span.faint { "0" } } } };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Verdicts on all candidates" {
            table.numbers.candidates {
                thead { tr {
                    th scope="col" { "Candidate" }
                    th.num scope="col" { "Median rQPS" }
                    th.num scope="col" { "Slower" } th.num scope="col" { "Faster" }
                    th.num scope="col" { "Same" } th.num scope="col" { "Unclear" }
                    @if has_others { th.num scope="col" { "No verdict" } }
                    th scope="col" { "Worst step" } th scope="col" { "Best step" }
                    @for class in &classes { th.num scope="col" { "± " (short_class(*class)) } }
                } }
                tbody { @for own in &analysis.headlines {
                    @let counts = own.counts;
                    tr {
                        th scope="row" { (candidate(analysis, own.system_idx)) }
                        td.num { @if let Some(median) = own.median { (number::plain_ratio(median)) } }
                        (number(counts.slower)) (number(counts.faster))
                        (number(counts.same)) (number(counts.unclear))
                        @if has_others { (number(counts.total() - counts.measured())) }
                        td { (end(analysis, own.range.map(|range| range.lowest_idx), own.system_idx)) }
                        td { (end(analysis, own.range.map(|range| range.highest_idx), own.system_idx)) }
                        @for class in &classes { td.num {
                            @if let Some(half) = own.half_widths.iter().find(|half| half.kind == *class) {
                                (number::small_percent(half.median))
                            }
                        } }
                    }
                } }
            }
        }
        p.hint {
            @if !classes.is_empty() { "±: median half-width of the 95% intervals, of reads and of writes. " }
            "Same: within "
            (number::exact_percent(analysis.judging.bound)) " of the base. Unclear: the interval is too wide to tell."
        }
    }
}

/// The label of a candidate, and its server where servers differ and the label is another text.
fn candidate(analysis: &Analysis<'_>, idx: usize) -> Markup {
    let (label, server) = (analysis.label(idx), layout::version(analysis, idx));
    let differ = (0..analysis.run.systems.len()).any(|at| layout::version(analysis, at) != server);
    html! {
        (outside(label))
        @if differ && server != label { span.below { (outside(&server)) } }
    }
}

/// The word for a kind of steps at the head of a column.
fn short_class(class: StepClass) -> &'static str {
    match class {
        StepClass::Reads => "reads",
        StepClass::Writes => "writes",
        StepClass::Others => "others",
    }
}

/// The step at one end of a candidate's ratios.
fn end(analysis: &Analysis<'_>, step_idx: Option<usize>, system_idx: usize) -> Markup {
    let found = step_idx.and_then(|at| Some((at, analysis.steps.get(at)?)));
    html! {
        @if let Some((at, step)) = found {
            @let cell = step.cells.get(system_idx);
            @if let Some(ratio) = cell.and_then(Cell::rqps) {
                (number::ratio(&ratio)) " " span.range { (label::interval(&ratio)) } " "
            }
            a href={ "#step-" (at) } { (outside(&step.title)) }
            @if let Some(cause) = cell.and_then(Cell::cause) {
                span.below { (cause.kind.words(cause.direction)) }
            }
            // One candidate has the room.
            @if let Some(cpu) = cell.and_then(cpu_behind).filter(|_| analysis.headlines.len() == 1) {
                span.below {
                    "server CPU per " (step.step.info.figure.operation()) " " (number::ratio(&cpu)) "×"
                }
            }
        }
    }
}

/// What the parts of a bar are wide in: the style has a class for each of these shares, as the page's policy takes no
/// style from an attribute.
const SHARES: usize = 20;

/// The class of a part: how many shares of all steps it is, at least one.
fn share(n: usize, total: usize) -> String {
    let shares = (n * SHARES + total / 2) / total.max(1);
    format!("of{}", shares.clamp(1, SHARES))
}

/// The counts as a bar whose parts are as wide as their numbers; the words are in it.
fn bar(counts: Counts) -> Markup {
    let parts = [
        (counts.slower, "slower", "▼"),
        (counts.faster, "faster", "▲"),
        (counts.same, "same", "="),
        (counts.unclear, "unclear", "?"),
        (counts.sla_failed, "SLA failed", "–"),
        (counts.check_failed, "check failed", "–"),
        (counts.plans_vary, "plans vary", "–"),
        (counts.rate_held, "rate held", "–"),
        (counts.recall_differs, "recall differs", "–"),
        (counts.host_busy, "host busy", "–"),
        (counts.imported, "imported", "–"),
        (counts.failed, "failed", "✕"),
        (counts.missing, "not measured", "–"),
    ];
    html! {
        ul.bar aria-label={ "Verdicts on " (number::count(counts.total(), "step")) } {
            @for (n, what, sign) in parts.into_iter().filter(|(n, ..)| *n > 0) {
                li class={ "part " (what.replace(' ', "-")) " " (share(n, counts.total())) } {
                    span.sign aria-hidden="true" { (sign) } " " (n) " " (what)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STYLE;

    #[test]
    fn every_share_has_its_width_in_the_style() {
        for n in 2..=SHARES {
            let class = share(n, SHARES);
            assert!(STYLE.contains(&format!(".bar .{class} {{ flex-grow: {n}; }}")), "{class}");
        }
        assert_eq!([share(1, 33), share(17, 33), share(33, 33)], ["of1", "of10", "of20"]);
        // None is so small that it has no width.
        assert_eq!(share(1, 5000), "of1");
    }
}
