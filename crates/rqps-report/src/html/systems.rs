//! The systems, and how they differ in what they ran with.

use maud::{Markup, html};

use super::label::outside;
use crate::analysis::{Analysis, Difference};
use crate::layout;
use crate::number::{self, count};

/// Differing settings shown at once; longer lists are folded.
const OPEN_SETTINGS: usize = 8;

/// The section.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    let differences = &analysis.differences;
    html! {
        section #systems aria-labelledby="systems-title" {
            h2 #systems-title { "Systems" }
            (table(analysis))
            @for limit in layout::shared_limits(analysis) { p { (outside(&limit)) } }
            @if !differences.session.is_empty() {
                p.warning {
                    strong { "The benchmark's sessions differ. " }
                    "What follows is part of the comparison, wanted or not."
                }
                (differing(analysis, "Session", &differences.session))
            }
            @if !differences.process.is_empty() {
                (differing(analysis, "Process", &differences.process))
            }
            (memory(analysis))
            @if !differences.settings.is_empty() {
                @if differences.settings.len() <= OPEN_SETTINGS {
                    (differing(analysis, "Setting", &differences.settings))
                } @else {
                    details {
                        summary { (count(differences.settings.len(), "setting")) " with different values" }
                        (differing(analysis, "Setting", &differences.settings))
                    }
                }
            }
            @if !differences.partial.is_empty() {
                details {
                    summary {
                        (count(differences.partial.len(), "setting")) " that not all of the systems know"
                    }
                    (differing(analysis, "Setting", &differences.partial))
                }
            }
            @if differences.n_left_out > 0 {
                p.hint {
                    "Left out, because any two instances differ in them (paths, ports, identities): "
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
                            td title=(crate::words::one_line(&system.version_text)) {
                                (outside(&layout::version(analysis, idx)))
                            }
                            td { (system.spec.engine) }
                            td { (system.spec.transport) }
                            td { (outside(&system.spec.config)) }
                            td {
                                @for (name, value) in &system.spec.options {
                                    code { (outside(&format!("{name}={value}"))) } " "
                                }
                            }
                            td.origin { (outside(&system.origin)) }
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
                        th scope="col" { "/ base" }
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
