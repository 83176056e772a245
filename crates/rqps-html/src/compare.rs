//! The runs that a page compares, and what is not the same in them.

use maud::{Markup, html};

use super::label::outside;
use rqps_analysis::Analysis;
use rqps_analysis::join::Joined;
use rqps_report::compare::schedule;
use rqps_report::conditions;
use rqps_text::number;
use rqps_text::words::lines;

/// The section; nothing for one run.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if let Some(joined) = analysis.joined {
            section #runs aria-labelledby="runs-title" {
                h2 #runs-title { "Runs" }
                (table(joined, analysis.base))
                @if joined.conditions.is_empty() {
                    p { (if joined.sources.iter().any(|source| source.imported.is_some()) {
                        "Nothing that is known of them differs; imported files tell little of it."
                    } else {
                        "Host, kernel, schedule, tables and version of rqps are the same in all of them."
                    }) }
                } @else {
                    h3 { "What is not the same in all runs" }
                    (differing(joined))
                }
            }
        }
    }
}

fn table(joined: &Joined, base: usize) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs" {
            table.words {
                thead { tr {
                    th scope="col" { "Run" } th scope="col" { "Started" } th scope="col" { "Status" }
                    th scope="col" { "Host" } th scope="col" { "CPU" } th scope="col" { "Kernel" }
                    th scope="col" { "Schedule" } th scope="col" { "Systems" }
                } }
                tbody {
                    @for (at, source) in joined.sources.iter().enumerate() {
                        tr {
                            th scope="row" {
                                (outside(&source.id))
                                @if joined.origins.get(base) == Some(&at) {
                                    " " span.badge { "base" }
                                }
                            }
                            td { (number::utc(source.started_unix_ms)) }
                            td { (source.status) }
                            td { (outside(&source.host.hostname)) }
                            td { (source.host.n_cpus) " × " (outside(&source.host.cpu_model)) }
                            td { (outside(&source.host.kernel)) }
                            td { (schedule(source)) }
                            td { (systems(joined, at)) }
                        }
                    }
                }
            }
        }
    }
}

fn systems(joined: &Joined, at: usize) -> Markup {
    let systems = joined.run.systems.iter().zip(&joined.origins);
    html! {
        @for (system, _) in systems.filter(|(_, origin)| **origin == at) {
            (outside(system.spec.label.as_str())) " "
        }
    }
}

fn differing(joined: &Joined) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="What is not the same in all runs" {
            table.words {
                thead { tr {
                    th scope="col" { "Condition" }
                    @for source in &joined.sources { th scope="col" { (outside(&source.id)) } }
                } }
                tbody {
                    @for condition in &joined.conditions {
                        tr {
                            th scope="row" { (outside(&conditions::name(&condition.condition))) }
                            @for value in &condition.values {
                                td.value {
                                    @match value {
                                        Some(value) => { (outside(&conditions::value(value))) }
                                        None => { span.faint { "none" } }
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

/// The plans of all runs.
pub(super) fn plans(joined: &Joined) -> Markup {
    html! {
        @for source in joined.sources.iter().filter(|s| !s.plan.is_empty()) {
            details {
                summary { "The plan of " (outside(&source.id)) " with all its defaults" }
                pre tabindex="0" { code { (lines(&source.plan)) } }
            }
        }
    }
}
