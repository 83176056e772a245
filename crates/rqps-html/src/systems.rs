//! The systems, and how they differ in what they ran with.

use maud::{Markup, html};

use super::label::{outside, prose};
use rqps_analysis::Analysis;
use rqps_audit::Difference;
use rqps_audit::{Explained, Severity, Shown};
use rqps_report::layout;
use rqps_text::number::{self, count};

/// The section.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    let differences = &analysis.differences;
    let unknown: Vec<Difference> = differences.unknown().cloned().collect();
    html! {
        section #systems aria-labelledby="systems-title" {
            h2 #systems-title { "Systems" }
            (table(analysis))
            @for limit in layout::shared_limits(analysis) { p { (prose(&limit)) } }
            @if !differences.audit.session.is_empty() {
                h3 { "Differences of the benchmark's own sessions" }
                (explained(analysis, &differences.audit.session))
            }
            @if !differences.process.is_empty() {
                (differing(analysis, "Process", &differences.process))
            }
            (memory(analysis))
            @if !differences.audit.settings.is_empty() {
                h3 { "Settings that differ and can change QPS" }
                (explained(analysis, &differences.audit.settings))
            }
            @if !differences.audit.harmless.is_empty() {
                details {
                    summary {
                        (count(differences.audit.harmless.len(), "setting"))
                        " known to move nothing, with different values"
                    }
                    (explained(analysis, &differences.audit.harmless))
                }
            }
            @if !unknown.is_empty() {
                details {
                    summary { (count(unknown.len(), "other setting")) " with different values" }
                    (differing(analysis, "Setting", &unknown))
                }
            }
            @if !differences.partial.is_empty() {
                details {
                    summary {
                        (count(differences.partial.len(), "setting")) " that only some of the systems have"
                    }
                    (differing(analysis, "Setting", &differences.partial))
                }
            }
            @if differences.n_left_out > 0 {
                p.hint {
                    "Not shown, as they name paths, ports and identities, or belong to parts that no benchmark uses: "
                    (count(differences.n_left_out, "setting")) "."
                }
            }
        }
    }
}

fn table(analysis: &Analysis<'_>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Systems" {
            table.words {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Version" }
                    th scope="col" { "Engine" } th scope="col" { "Transport" }
                    th scope="col" { "Configuration" } th scope="col" { "Options" }
                    th scope="col" { "Origin" }
                } }
                tbody {
                    @for (idx, system) in analysis.run.systems.iter().enumerate() {
                        tr {
                            th scope="row" {
                                (outside(system.spec.label.as_str()))
                                @if idx == analysis.base { " " span.badge { "base" } }
                            }
                            td title=(rqps_text::words::one_line(&system.version_text)) {
                                (outside(&layout::version(analysis, idx)))
                            }
                            td { (layout::engine(analysis, idx)) }
                            td { (layout::transport(analysis, idx)) }
                            td { (outside(&system.spec.config)) }
                            td {
                                @for (name, value) in &system.spec.options {
                                    code { (outside(&format!("{name}={value}"))) } " "
                                }
                            }
                            td.origin { (outside(&layout::origin(analysis, idx))) }
                        }
                    }
                }
            }
        }
    }
}

/// Resident memory of the servers, and whose allocator they have.
fn memory(analysis: &Analysis<'_>) -> Markup {
    let bytes = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), number::bytes);
    html! {
        @if !analysis.memory.is_empty() {
            h3 { "Resident memory of the server" }
            p.hint {
                "At the ends of steps, one reading each (n=1); caches are part of it."
            }
            div.scroll tabindex="0" role="region" aria-label="Resident memory of the server" {
                table.numbers {
                    thead { tr {
                        th scope="col" { "System" }
                        th scope="col" { "After the load" }
                        th scope="col" { "Largest" }
                        th.word scope="col" { "after" }
                        th scope="col" { "At the end" }
                        th scope="col" { "/\u{a0}base" }
                        th.word scope="col" { "Allocator" }
                    } }
                    tbody { @for memory in &analysis.memory {
                        tr {
                            th scope="row" { (outside(analysis.label(memory.system_idx))) }
                            td { (bytes(memory.after_load)) }
                            td { (bytes(Some(memory.largest.0))) }
                            td.word { (outside(&memory.largest.1)) }
                            td { (bytes(memory.last)) }
                            td { @if let Some(ratio) = memory.ratio { (number::plain_ratio(ratio)) } }
                            td.word { (outside(layout::allocator(analysis, memory.system_idx))) }
                        }
                    } }
                }
            }
        }
    }
}

fn explained(analysis: &Analysis<'_>, all: &[Explained]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Differences and what they do" {
            table.words {
                thead { tr {
                    th scope="col" { "Setting" }
                    @for idx in 0..analysis.run.systems.len() {
                        th scope="col" { (outside(analysis.label(idx))) }
                    }
                    th scope="col" { "Can move" }
                    th scope="col" { "What it does" }
                } }
                tbody {
                    @for one in all {
                        tr {
                            th scope="row" { code { (outside(&one.name)) } }
                            @for value in &one.values { td.value { (shown(value.as_ref())) } }
                            td.whose {
                                @if one.severity == Severity::Severe { strong { "severe" } " " }
                                (one.affects.join(", "))
                                @if !one.choice.words().is_empty() {
                                    " " span.faint { (one.choice.words()) }
                                }
                            }
                            td.why { (one.why) }
                        }
                    }
                }
            }
        }
    }
}

fn shown(value: Option<&Shown>) -> Markup {
    html! {
        @match value {
            None => { span.faint { "absent" } }
            Some(shown) if shown.text.is_empty() => { span.faint { "empty" } }
            Some(shown) if shown.is_implied => {
                span.faint title="it has no such setting, and does this" { "(" (outside(&shown.text)) ")" }
            }
            Some(shown) => { (outside(&shown.text)) }
        }
    }
}

fn differing(analysis: &Analysis<'_>, what: &str, differences: &[Difference]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (what) " differences" } {
            table.words {
                thead { tr {
                    th scope="col" { (what) }
                    @for idx in 0..analysis.run.systems.len() {
                        th scope="col" { (outside(analysis.label(idx))) }
                    }
                } }
                tbody {
                    @for difference in differences {
                        tr {
                            th scope="row" { code { (outside(&difference.name)) } }
                            @for value in &difference.values {
                                td.value {
                                    @match value {
                                        Some(text) if text.is_empty() => { span.faint { "empty" } }
                                        Some(text) => { (outside(text)) }
                                        None => { span.faint { "absent" } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
