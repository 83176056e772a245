//! A search for a commit as one HTML file that opens offline: the answer, and a chart and a table per step.

mod chart;

use maud::{Markup, html};

use rqps_model::Estimate;
use rqps_text::number::{interval, ratio};
use rqps_text::words::one_line;

use super::history;
use super::label::{outside, prose};

/// A search.
#[derive(Debug, Clone)]
pub struct Search {
    /// The version of rqps.
    pub rqps_version: String,
    /// What is searched: its repository and how many commits.
    pub title: String,
    /// The answer, or what is known so far, in lines; those of lists are indented.
    pub answer: Vec<String>,
    /// The probability that an answer needs, as it was typed.
    pub confidence: String,
    /// The smallest change that is searched for, as it was typed.
    pub min_change: String,
    /// The steps, by title.
    pub steps: Vec<String>,
    /// All commits; the good end is the first one.
    pub commits: Vec<Commit>,
    /// The measurements, in their order.
    pub probes: Vec<Probe>,
    /// The culprits.
    pub culprits: Vec<Gap>,
    /// Culprits beside the commits before them.
    pub comparisons: Vec<Comparison>,
}

/// Commits that no probe tells apart, by their places.
#[derive(Debug, Clone, Copy)]
pub struct Gap {
    /// The first one.
    pub first: usize,
    /// The last one.
    pub last: usize,
}

/// A commit.
#[derive(Debug, Clone)]
pub struct Commit {
    /// The first digits of its hash.
    pub short: String,
    /// The first line of its message.
    pub subject: String,
    /// The day on which it was committed.
    pub day: String,
    /// The probability that it is a culprit, in words; none of the good end.
    pub chance: String,
    /// Why it cannot be measured.
    pub failure: Option<String>,
}

/// A commit beside the good end.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Its place among the commits.
    pub place: usize,
    /// The run that measured it.
    pub run_id: String,
    /// Its rQPS of each step, in the order of the steps.
    pub ratios: Vec<Option<Estimate>>,
}

/// A culprit beside the commit before it.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The first digits of the culprit's hash.
    pub commit: String,
    /// Those of the commit before it.
    pub before: String,
    /// The run that compared them.
    pub run_id: String,
    /// Whether its report is a page beside this one.
    pub has_page: bool,
    /// What became of it.
    pub sentences: Vec<String>,
}

/// The search as a page without any external reference and without script. The reports of comparisons are links to
/// pages beside it.
#[must_use]
pub fn render(search: &Search) -> String {
    let body = html! {
                @if !search.steps.is_empty() { a.skip href="#step-0" { "Skip to the charts" } }
                header {
                    h1 { "rqps bisect: " (outside(&search.title)) }
                    (answer(search))
                    (ends(search))
                }
                main {
                    @for comparison in &search.comparisons { (compared(comparison)) }
                    @for (idx, step) in search.steps.iter().enumerate() { (section(search, idx, step)) }
                    (failures(search))
                    (reading())
                }
                footer { p { "Made by rqps " (one_line(&search.rqps_version)) "." } }
    };
    history::document(&format!("rqps bisect: {}", search.title), &search.rqps_version, &body)
}

/// The first lines are the verdict; those that are indented are lists.
fn answer(search: &Search) -> Markup {
    let is_listed = |line: &String| line.starts_with(' ');
    let parts = search.answer.chunk_by(|a, b| is_listed(a) == is_listed(b));
    html! {
        @for (idx, part) in parts.enumerate() {
            @if part.first().is_some_and(is_listed) {
                ul.sentences { @for line in part { li { (outside(line.trim_start())) } } }
            } @else {
                p class=(if idx == 0 { "verdict" } else { "" }) {
                    @for (idx, line) in part.iter().enumerate() {
                        @if idx > 0 { br; }
                        (prose(line))
                    }
                }
            }
        }
    }
}

/// Both ends, and what is searched for.
fn ends(search: &Search) -> Markup {
    html! {
        @if let (Some(good), Some(bad)) = (search.commits.first(), search.commits.last()) {
            ul.sentences {
                @for (name, commit) in [("Good", good), ("Bad", bad)] {
                    li { (name) ": " (outside(&format!("{} {}", commit.short, commit.subject))) ", " (commit.day) }
                }
                li {
                    "Searched: a change of " (search.min_change) " or more, with a probability of "
                    (search.confidence) "."
                }
            }
        }
    }
}

fn compared(comparison: &Comparison) -> Markup {
    html! {
        section {
            h2 { (outside(&comparison.commit)) " compared with " (outside(&comparison.before)) }
            ul.sentences { @for text in &comparison.sentences { li { (prose(text)) } } }
            p {
                "Run " (outside(&comparison.run_id)) ": "
                @if comparison.has_page {
                    a href=(format!("{}.html", one_line(&comparison.run_id))) { "its report" } "."
                } @else {
                    code { "rqps report " (one_line(&comparison.run_id)) } " shows its report."
                }
            }
        }
    }
}

fn section(search: &Search, idx: usize, step: &str) -> Markup {
    html! {
        section #{ "step-" (idx) } {
            h2 { (outside(step)) }
            figure.history {
                figcaption { "QPS relative to the good end, over the commits in their order" }
                (chart::render(search, idx))
            }
            (table(search, idx, step))
        }
    }
}

/// The commits that were measured, in their order.
fn table(search: &Search, step_idx: usize, step: &str) -> Markup {
    let mut probes: Vec<&Probe> = search.probes.iter().collect();
    probes.sort_by_key(|probe| probe.place);
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Probes of " (one_line(step)) } {
            table.numbers {
                thead { tr {
                    th scope="col" { "Commit" } th.num scope="col" { "After the good end" }
                    th.num scope="col" { "rQPS" } th scope="col" { "95% interval" }
                    th.num scope="col" { "Chance" } th scope="col" { "Committed" }
                    th scope="col" { "Subject" } th scope="col" { "Run" }
                } }
                tbody {
                    @for probe in probes {
                        @if let (Some(commit), Some(ratio)) = (search.commits.get(probe.place), probe.ratio(step_idx)) {
                            (row(probe, commit, ratio))
                        }
                    }
                }
            }
        }
    }
}

fn row(probe: &Probe, commit: &Commit, rqps: &Estimate) -> Markup {
    html! {
        tr {
            th scope="row" { (outside(&commit.short)) }
            td.num { (probe.place) }
            td.num { (ratio(rqps)) }
            td.range { (interval(rqps).unwrap_or_default()) }
            td.num { (commit.chance) }
            td { (commit.day) }
            td { (outside(&commit.subject)) }
            td { (outside(&probe.run_id)) }
        }
    }
}

impl Probe {
    fn ratio(&self, step_idx: usize) -> Option<&Estimate> {
        self.ratios.get(step_idx)?.as_ref()
    }
}

fn failures(search: &Search) -> Markup {
    let failed: Vec<(&Commit, &String)> = search
        .commits
        .iter()
        .filter_map(|commit| commit.failure.as_ref().map(|why| (commit, why)))
        .collect();
    html! {
        @if !failed.is_empty() {
            section #failed aria-labelledby="failed-title" {
                h2 #failed-title { "Cannot be measured" }
                ul.sentences {
                    @for (commit, why) in failed {
                        li { (outside(&format!("{} {}: {why}", commit.short, commit.subject))) }
                    }
                }
            }
        }
    }
}

fn reading() -> Markup {
    html! {
        section #reading aria-labelledby="reading-title" {
            h2 #reading-title { "How to read it" }
            p {
                "A dot is a probe: a commit beside the good end, interleaved in one run. Its whisker is the 95% "
                "interval; whiskers that end at the edge are longer. The ring is the good end. A dashed line is a "
                "culprit. The axis does not begin at 0."
            }
            p {
                "The chance is the probability that the commit is a culprit, given all probes. Commits that no probe "
                "tells apart share theirs. Two changes are both culprits, unless one is more than twice as large as "
                "the other on each step. With two culprits the chances add up to more than 100%."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search() -> Search {
        let commit = |place: usize| Commit {
            short: format!("{place:012}"),
            subject: format!("change <{place}>"),
            day: "2026-01-02".to_owned(),
            chance: if place == 3 { "97%" } else { "0.5%" }.to_owned(),
            failure: (place == 2).then(|| "no compiler".to_owned()),
        };
        let probe = |place: usize, point: f64| Probe {
            place,
            run_id: format!("run-{place}"),
            ratios: vec![Some(Estimate {
                point,
                interval: Some((point - 0.01, point + 0.01)),
                n: 8,
            })],
        };
        Search {
            rqps_version: "0.1.0".to_owned(),
            title: "4 commits of postgres".to_owned(),
            answer: vec!["3 change".to_owned(), "is the commit".to_owned()],
            steps: vec!["point-query".to_owned()],
            commits: (0..5).map(commit).collect(),
            probes: vec![probe(4, 0.9), probe(3, 0.91), probe(1, 1.0)],
            confidence: "95%".to_owned(),
            min_change: "2%".to_owned(),
            culprits: vec![Gap { first: 3, last: 3 }],
            comparisons: vec![Comparison {
                commit: "333".to_owned(),
                before: "222".to_owned(),
                run_id: "run-5".to_owned(),
                has_page: true,
                sentences: vec!["Slower.".to_owned()],
            }],
        }
    }

    #[test]
    fn a_page_has_answer_probes_failures_and_links() {
        let page = render(&search());
        for wanted in [
            "is the commit",
            "run-3",
            "href=\"run-5.html\"",
            "change &lt;3&gt;",
            "no compiler",
            "97%",
            "class=\"change",
        ] {
            assert!(page.contains(wanted), "{wanted} is not in {page}");
        }
        assert!(!page.contains("<script"), "{page}");
        let at = |text: &str| page.find(text).unwrap();
        assert!(at(">run-1<") < at(">run-3<") && at(">run-3<") < at(">run-4<"));
    }

    #[test]
    fn commits_of_an_answer_are_a_list_and_two_culprits_have_two_labels() {
        let answer =
            ["No answer.", "One of 2:", "  aaa <x>", "  bbb", "Or of:", "  ccc", "Measure longer."];
        let page = render(&Search {
            answer: answer.map(str::to_owned).to_vec(),
            culprits: vec![Gap { first: 1, last: 1 }, Gap { first: 2, last: 4 }],
            ..search()
        });
        assert!(page.contains("<li><bdi>aaa &lt;x&gt;</bdi></li>"), "{page}");
        assert!(page.contains("<li><bdi>ccc</bdi></li>"), "{page}");
        assert!(page.contains("one of 3 commits") && page.contains("y=\"26\""), "{page}");
        // The bad end is faster: no loss is shown.
        let mut faster = search();
        faster.probes[0].ratios = vec![Some(Estimate { point: 1.2, interval: None, n: 8 })];
        assert!(render(&faster).contains("higher-change"));
    }

    /// A search that has measured nothing yet.
    #[test]
    fn a_search_without_probes_is_a_page() {
        let page = render(&Search { steps: Vec::new(), probes: Vec::new(), ..search() });
        assert!(page.contains("4 commits of postgres"));
    }
}
