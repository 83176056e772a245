//! Where a warning applies, in short: places with the same facts share them.

use rqps_model::WarningKind;

use crate::warning;
use rqps_analysis::Analysis;

/// Places that are listed by name with their facts; more are counted.
const MAX_PLACES: usize = 4;

/// A step, and what a warning says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place<'a> {
    /// The step's title.
    title: &'a str,
    /// The facts of this place; empty when the footnote says it all.
    facts: String,
    /// The reason, which places may share; mostly empty.
    reason: String,
}

impl Place<'_> {
    fn detail(&self) -> String {
        warning::with_reason(&self.facts, &self.reason)
    }
}

/// What places of one footnote can have in common.
enum Shared {
    /// The words around their numbers; numbers become ranges.
    Words,
    /// The reason.
    Reason,
    /// Nothing but facts that are the same.
    Facts,
}

fn shared(kind: &WarningKind) -> Shared {
    match kind {
        WarningKind::BackgroundBegan { .. }
        | WarningKind::BlocksExcluded { .. }
        | WarningKind::ClientBound { .. }
        | WarningKind::Colder { .. }
        | WarningKind::Developed { .. }
        | WarningKind::FrequencyChanged { .. }
        | WarningKind::HostLevels { .. }
        | WarningKind::OtherProcesses { .. }
        | WarningKind::Paused { .. }
        | WarningKind::RateMissed { .. }
        | WarningKind::Steal { .. }
        | WarningKind::Swapped { .. }
        | WarningKind::Throttled { .. } => Shared::Words,
        WarningKind::Stalls { .. } => Shared::Reason,
        _ => Shared::Facts,
    }
}

/// The places of a footnote, system by system: `my8033.small: scan (94% of their CPUs)`.
#[must_use]
pub fn list(analysis: &Analysis<'_>, footnote_idx: usize) -> Vec<String> {
    let systems = analysis.run.systems.iter().enumerate();
    let of_system = systems.filter_map(|(idx, system)| {
        let found = found_at(analysis, idx, footnote_idx);
        let kind = &analysis.footnotes.get(footnote_idx)?.kind;
        (!found.is_empty()).then(|| format!("{}: {}", system.spec.label, places(kind, &found)))
    });
    of_system.collect()
}

/// The steps in which a system has a warning, with its facts.
fn found_at<'a>(
    analysis: &'a Analysis<'_>,
    system_idx: usize,
    footnote_idx: usize,
) -> Vec<Place<'a>> {
    let steps = analysis.steps.iter();
    let found = steps.filter_map(|step| {
        let cell = step.cells.get(system_idx)?;
        let own = cell.warnings.iter().filter(|own| own.footnote_idx == footnote_idx);
        let (facts, reasons): (Vec<String>, Vec<String>) =
            own.map(warning::facts_and_reason).unzip();
        if facts.is_empty() {
            return None;
        }
        let joined = |mut parts: Vec<String>| {
            parts.retain(|part| !part.is_empty());
            parts.join("; ")
        };
        Some(Place { title: &step.title, facts: joined(facts), reason: joined(reasons) })
    });
    found.collect()
}

/// The places of a footnote on one system: `scan (94% of their CPUs)`; `a, b (2 to 3 pages)` of several.
fn places(kind: &WarningKind, found: &[Place<'_>]) -> String {
    let shared = shared(kind);
    let mut groups: Vec<(String, Vec<Place<'_>>)> = Vec::new();
    for place in found {
        let key = match shared {
            Shared::Words => words_around(&place.detail()),
            Shared::Reason => place.reason.clone(),
            Shared::Facts => place.detail(),
        };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, places)) => places.push(place.clone()),
            None => groups.push((key, vec![place.clone()])),
        }
    }
    let said = groups.iter().map(|(_, places)| match shared {
        Shared::Reason if places.len() > 1 => with_reason(places),
        _ => with_facts(places),
    });
    let (n_said, n_more) = (groups.len().min(MAX_PLACES), beyond(&groups));
    let mut said: Vec<String> = said.take(n_said).collect();
    if n_more > 0 {
        said.push(format!("{n_more} more"));
    }
    said.join(", ")
}

/// Places of the groups that are not said.
fn beyond(groups: &[(String, Vec<Place<'_>>)]) -> usize {
    groups.iter().skip(MAX_PLACES).map(|(_, places)| places.len()).sum()
}

/// `a, b, c, d and 2 more (3 to 7%)`.
fn with_facts(places: &[Place<'_>]) -> String {
    let titles = listed(places.iter().map(|place| place.title.to_owned()).collect());
    let details: Vec<String> = places.iter().map(Place::detail).collect();
    match ranges(&details.iter().map(String::as_str).collect::<Vec<_>>()) {
        facts if facts.is_empty() => titles,
        facts => format!("{titles} ({facts})"),
    }
}

/// `a (0.7), b (0.8): why both`.
fn with_reason(places: &[Place<'_>]) -> String {
    let with_fact = |place: &Place<'_>| format!("{} ({})", place.title, place.facts);
    let why = places.first().map_or("", |place| place.reason.as_str());
    format!("{}: {why}", listed(places.iter().map(with_fact).collect()))
}

/// The first ones by name, the others counted.
fn listed(mut names: Vec<String>) -> String {
    let n_more = names.len().saturating_sub(MAX_PLACES);
    names.truncate(MAX_PLACES);
    let names = names.join(", ");
    if n_more > 0 { format!("{names} and {n_more} more") } else { names }
}

/// A text cut into what is no number and what is, by turns: the first part is no number.
fn parts(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut of_number = false;
    while !rest.is_empty() || out.is_empty() {
        let end = rest.char_indices().find(|&(at, c)| is_of_number(rest, at, c) != of_number);
        let (part, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        out.push(part);
        rest = after;
        of_number = !of_number;
    }
    out
}

/// Whether a character is one of a number: a digit, or a point between two.
fn is_of_number(text: &str, at: usize, c: char) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let point =
        || is_digit(text[..at].chars().next_back()) && is_digit(text[at + 1..].chars().next());
    c.is_ascii_digit() || (c == '.' && point())
}

/// A text with one sign in place of each number.
fn words_around(text: &str) -> String {
    let parts = parts(text).into_iter().enumerate();
    parts.map(|(idx, part)| if idx % 2 == 1 { "#" } else { part }).collect()
}

/// One text of several that differ in their numbers at most: `3 to 7%`.
fn ranges(texts: &[&str]) -> String {
    let texts: Vec<Vec<&str>> = texts.iter().map(|text| parts(text)).collect();
    let Some((first, others)) = texts.split_first() else { return String::new() };
    let range = |(idx, part): (usize, &&str)| -> String {
        if idx % 2 == 0 {
            return (*part).to_owned();
        }
        let all = || others.iter().filter_map(|text| text.get(idx)).chain([part]);
        let value = |text: &&&str| text.parse::<f64>().unwrap_or(f64::NAN);
        let least = all().min_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(part);
        let most = all().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(part);
        if least == most { (*least).to_owned() } else { format!("{least} to {most}") }
    };
    first.iter().enumerate().map(range).collect()
}

#[cfg(test)]
mod tests {
    use rqps_model::Estimate;
    use rqps_model::warning::{RateLevels, StallCause};

    use super::*;

    fn worded(kind: &WarningKind, found: &[(&'static str, &str)]) -> String {
        let place = |&(title, detail): &(&'static str, &str)| {
            let (facts, reason) = detail.split_once(": stalls").unwrap_or((detail, ""));
            let reason = if reason.is_empty() { String::new() } else { format!("stalls{reason}") };
            Place { title, facts: facts.to_owned(), reason }
        };
        places(kind, &found.iter().map(place).collect::<Vec<_>>())
    }

    #[test]
    fn numbers_of_places_with_the_same_words_become_ranges() {
        let levels = RateLevels { low_per_s: 1.0, high_per_s: 2.0, low_share: 0.5 };
        let kind = WarningKind::HostLevels { levels };
        let text = worded(
            &kind,
            &[
                ("a", "73% of the windows at the lower, 1.49 times as fast at the higher"),
                ("b", "9% of the windows at the lower, 1.49 times as fast at the higher"),
                ("c", "unknown"),
            ],
        );
        assert_eq!(
            text,
            "a, b (9 to 73% of the windows at the lower, 1.49 times as fast at the higher), c (unknown)"
        );
        let colder =
            worded(&WarningKind::Colder { bytes: 1 }, &[("a", "3.3 MB"), ("b", "12.0 MB")]);
        assert_eq!(colder, "a, b (3.3 to 12.0 MB)");
    }

    #[test]
    fn figures_and_codes_stay_with_their_places() {
        let errors =
            [("a", "1 error: 1213 x1"), ("b", "1 error: 1205 x1"), ("c", "1 error: 1213 x1")];
        assert_eq!(
            worded(&WarningKind::Errors { n: 1, by_code: Vec::new() }, &errors),
            "a, c (1 error: 1213 x1), b (1 error: 1205 x1)"
        );
    }

    #[test]
    fn one_reason_stands_behind_all_that_have_it() {
        let estimate = Estimate::single(1.0);
        let cause = StallCause { taken: None, is_of_blocks: true };
        let stalls =
            WarningKind::Stalls { average: estimate, steady: estimate, is_own: true, cause };
        let found = [
            ("a", "0.76 on average: stalls of the base; no cause"),
            ("b", "0.79 on average: stalls of the base; no cause"),
            ("c", "0.50 on average: stalls of this system; no cause"),
        ];
        assert_eq!(
            worded(&stalls, &found),
            "a (0.76 on average), b (0.79 on average): stalls of the base; no cause, \
             c (0.50 on average: stalls of this system; no cause)"
        );
    }

    #[test]
    fn many_places_are_counted() {
        let alike: Vec<(&str, &str)> = vec![("s", "1%"); 6];
        assert_eq!(worded(&WarningKind::Steal { pct: 1 }, &alike), "s, s, s, s and 2 more (1%)");
        let unlike: Vec<(&str, &str)> = ["x", "y", "z", "u", "v", "v"].map(|d| ("s", d)).to_vec();
        assert_eq!(
            worded(&WarningKind::Drift { rate: None, ratio: None }, &unlike),
            "s (x), s (y), s (z), s (u), 2 more"
        );
        assert_eq!(worded(&WarningKind::Resumed, &[("a", ""), ("b", "")]), "a, b");
    }

    #[test]
    fn a_point_that_ends_a_sentence_is_of_no_number() {
        assert_eq!(parts("up to 1.0 MB in 3."), ["up to ", "1.0", " MB in ", "3", "."]);
        assert_eq!(parts(""), [""]);
        assert_eq!(parts("7"), ["", "7"]);
        assert_eq!(words_around("3 of 12 é"), "# of # é");
    }
}
