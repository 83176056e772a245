//! Where on a system a footnote applies, in as few words as say it: places whose facts are alike share them.

use super::FootnoteKind;

/// Places that are listed by name with their facts; more are counted.
const MAX_PLACES: usize = 4;

/// A step, and what a footnote says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// The step's title.
    pub(super) title: &'a str,
    /// The facts; empty when the footnote's sentence says it all.
    pub(super) detail: &'a str,
}

/// What places of one footnote can have in common.
enum Shared {
    /// The words around their numbers; numbers become ranges.
    Words,
    /// What stands behind the first colon.
    Reason,
    /// Nothing but facts that are the same.
    Facts,
}

fn shared(kind: &FootnoteKind) -> Shared {
    match kind {
        FootnoteKind::BackgroundBegan
        | FootnoteKind::ClientBound
        | FootnoteKind::Colder
        | FootnoteKind::Developed
        | FootnoteKind::FrequencyChanged
        | FootnoteKind::HostLevels
        | FootnoteKind::LeftOut
        | FootnoteKind::OtherProcesses
        | FootnoteKind::Paused
        | FootnoteKind::RateMissed
        | FootnoteKind::Steal
        | FootnoteKind::Swapped
        | FootnoteKind::Throttled => Shared::Words,
        FootnoteKind::Stalls => Shared::Reason,
        // Figures of the steps, codes, or a sentence.
        FootnoteKind::CheckFailed
        | FootnoteKind::Drift
        | FootnoteKind::Errors
        | FootnoteKind::Incomplete
        | FootnoteKind::Note(_)
        | FootnoteKind::NotSettled
        | FootnoteKind::OtherRun
        | FootnoteKind::PlanVaries
        | FootnoteKind::Resumed
        | FootnoteKind::SlaFailed
        | FootnoteKind::SlaFailedOnBase
        | FootnoteKind::Trend
        | FootnoteKind::TwoLevels
        | FootnoteKind::UnlikeRun => Shared::Facts,
    }
}

/// The places of a footnote on one system: `scan (94% of their CPUs)`; `a, b (2 to 3 pages)` of several.
pub(super) fn places(kind: &FootnoteKind, found: &[Place<'_>]) -> String {
    let shared = shared(kind);
    let mut groups: Vec<(String, Vec<Place<'_>>)> = Vec::new();
    for place in found {
        let key = match shared {
            Shared::Words => words_around(place.detail),
            Shared::Reason => reason(place.detail).1.to_owned(),
            Shared::Facts => place.detail.to_owned(),
        };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, places)) => places.push(*place),
            None => groups.push((key, vec![*place])),
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
    let details: Vec<&str> = places.iter().map(|place| place.detail).collect();
    match ranges(&details) {
        facts if facts.is_empty() => titles,
        facts => format!("{titles} ({facts})"),
    }
}

/// `a (0.7), b (0.8): why both`.
fn with_reason(places: &[Place<'_>]) -> String {
    let with_fact = |place: &Place<'_>| format!("{} ({})", place.title, reason(place.detail).0);
    let why = places.first().map_or("", |place| reason(place.detail).1);
    format!("{}: {why}", listed(places.iter().map(with_fact).collect()))
}

/// The first ones by name, the others counted.
fn listed(mut names: Vec<String>) -> String {
    let n_more = names.len().saturating_sub(MAX_PLACES);
    names.truncate(MAX_PLACES);
    let names = names.join(", ");
    if n_more > 0 { format!("{names} and {n_more} more") } else { names }
}

/// What stands before the first colon, and behind it.
fn reason(detail: &str) -> (&str, &str) {
    detail.split_once(": ").unwrap_or(("", detail))
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
    use super::*;

    fn of(kind: &FootnoteKind, found: &[(&str, &str)]) -> String {
        let found: Vec<Place<'_>> =
            found.iter().map(|&(title, detail)| Place { title, detail }).collect();
        places(kind, &found)
    }

    #[test]
    fn numbers_of_places_with_the_same_words_become_ranges() {
        let kind = FootnoteKind::HostLevels;
        let text = of(
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
        let colder = of(&FootnoteKind::Colder, &[("a", "3.3 MB"), ("b", "12.0 MB")]);
        assert_eq!(colder, "a, b (3.3 to 12.0 MB)");
    }

    #[test]
    fn figures_and_codes_stay_with_their_places() {
        let errors =
            [("a", "1 error: 1213 x1"), ("b", "1 error: 1205 x1"), ("c", "1 error: 1213 x1")];
        assert_eq!(
            of(&FootnoteKind::Errors, &errors),
            "a, c (1 error: 1213 x1), b (1 error: 1205 x1)"
        );
    }

    #[test]
    fn one_reason_stands_behind_all_that_have_it() {
        let found = [
            ("a", "0.76 on average: stalls of the base; no cause"),
            ("b", "0.79 on average: stalls of the base; no cause"),
            ("c", "0.50 on average: stalls of this system; no cause"),
        ];
        assert_eq!(
            of(&FootnoteKind::Stalls, &found),
            "a (0.76 on average), b (0.79 on average): stalls of the base; no cause, \
             c (0.50 on average: stalls of this system; no cause)"
        );
    }

    #[test]
    fn many_places_are_counted() {
        let alike: Vec<(&str, &str)> = vec![("s", "1%"); 6];
        assert_eq!(of(&FootnoteKind::Steal, &alike), "s, s, s, s and 2 more (1%)");
        let unlike: Vec<(&str, &str)> = ["x", "y", "z", "u", "v", "v"].map(|d| ("s", d)).to_vec();
        assert_eq!(of(&FootnoteKind::Drift, &unlike), "s (x), s (y), s (z), s (u), 2 more");
        assert_eq!(of(&FootnoteKind::Resumed, &[("a", ""), ("b", "")]), "a, b");
    }

    #[test]
    fn a_point_that_ends_a_sentence_is_of_no_number() {
        assert_eq!(parts("up to 1.0 MB in 3."), ["up to ", "1.0", " MB in ", "3", "."]);
        assert_eq!(parts(""), [""]);
        assert_eq!(parts("7"), ["", "7"]);
        assert_eq!(words_around("3 of 12 é"), "# of # é");
    }
}
