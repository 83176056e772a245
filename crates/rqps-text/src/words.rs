//! Text from outside, made safe for a terminal, a table and a line: no control characters.

use std::collections::BTreeSet;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns given to a label or a step's name; longer ones are cut in their middle.
pub const NAME_COLUMNS: usize = 36;

/// Names that a sentence lists; more are counted.
const MAX_NAMES: usize = 6;

/// `text` on one line without characters that could steer a terminal or reorder a line.
///
/// Control characters and the marks that change the direction of text become U+FFFD; line breaks
/// and tabs become spaces.
pub fn one_line(text: &str) -> String {
    text.trim()
        .chars()
        .map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { safe(c) })
        .collect()
}

/// `text` with its line breaks, without any other control character.
pub fn lines(text: &str) -> String {
    text.trim_end().chars().map(|c| if matches!(c, '\n' | '\t') { c } else { safe(c) }).collect()
}

fn safe(c: char) -> char {
    let steers = c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}');
    if steers { '\u{fffd}' } else { c }
}

/// Columns that `text` takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` on one line in at most `columns` columns, with `…` where something was cut off its end.
pub fn clip(text: &str, columns: usize) -> String {
    let line = one_line(text);
    if width(&line) <= columns {
        return line;
    }
    let (mut out, mut used) = (String::new(), 0);
    for c in line.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > columns {
            break;
        }
        used += w;
        out.push(c);
    }
    out.push('…');
    out
}

/// `text` on one line in at most `columns` columns, with `…` where something was cut out of its middle: names of
/// systems and steps differ at their ends.
pub fn shorten(text: &str, columns: usize) -> String {
    let line = one_line(text);
    if width(&line) <= columns {
        return line;
    }
    let room = columns.saturating_sub(1);
    let front = head(&line, room - room / 2);
    let (mut back, mut used) = (line.len(), 0);
    for (at, c) in line.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > room / 2 || at < front.len() {
            break;
        }
        back = at;
    }
    format!("{front}…{}", &line[back..])
}

/// Words cut at their ends to `columns` columns; where that makes different ones equal, in their middles.
pub fn clip_apart(words: &[&str], columns: usize) -> Vec<String> {
    let cut: Vec<String> = words.iter().map(|word| clip(word, columns)).collect();
    let are_different =
        distinct(cut.iter().cloned()) == distinct(words.iter().map(|w| one_line(w)));
    if are_different { cut } else { shorten_apart(words, columns) }
}

/// Names shortened to `columns` columns, or to as many more as keep different ones different.
pub fn shorten_apart(names: &[&str], columns: usize) -> Vec<String> {
    let n = distinct(names.iter().map(|name| one_line(name)));
    let widest = names.iter().map(|name| width(&one_line(name))).max().unwrap_or(0);
    let is_enough =
        |columns: &usize| distinct(names.iter().map(|name| shorten(name, *columns))) == n;
    let columns = (columns..widest).find(is_enough).unwrap_or(widest.max(columns));
    names.iter().map(|name| shorten(name, columns)).collect()
}

fn distinct(texts: impl Iterator<Item = String>) -> usize {
    texts.collect::<BTreeSet<_>>().len()
}

/// `text` broken into lines of at most `columns` columns at spaces; the first line begins with
/// `first`, later ones with as many spaces. Longer words are broken, but into no less than eight columns.
pub fn wrap(first: &str, text: &str, columns: usize) -> String {
    let indent = " ".repeat(width(first));
    let options = Options::new(columns.max(indent.len() + 8))
        .initial_indent(first)
        .subsequent_indent(&indent)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let words: Vec<String> = one_line(text).split_whitespace().map(str::to_owned).collect();
    textwrap::fill(&words.join(" "), options)
}

/// The longest beginning of `text` that fits into `columns`; at least one character.
fn head(text: &str, columns: usize) -> String {
    let mut used = 0;
    let mut out = String::new();
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if !out.is_empty() && used + w > columns {
            break;
        }
        used += w;
        out.push(c);
    }
    out
}

/// Words as a list: `a`, `a and b`, `a, b and c`.
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// At most [`MAX_NAMES`] names as a list, and the number of the others.
pub fn list_in_short(names: &[String]) -> String {
    if names.len() <= MAX_NAMES {
        return list(names);
    }
    format!("{} and {} more", names[..MAX_NAMES].join(", "), names.len() - MAX_NAMES)
}

/// `text` with its first letter in upper case.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_stay_different() {
        let apart = |names: &[&str], columns| shorten_apart(names, columns).join(" ");
        assert_eq!(apart(&["a", "b"], 5), "a b");
        // Where they differ at the end, at the front, in the middle, or are the same.
        assert_eq!(apart(&["native_lto.pk10", "native_lto.pk11"], 9), "nati…pk10 nati…pk11");
        assert_eq!(
            apart(&["x.my5651_rel.pk1", "x.my5744_rel.pk1"], 9),
            "x.my56…l.pk1 x.my57…l.pk1"
        );
        assert_eq!(apart(&["abcdefXghijkl", "abcdefYghijkl"], 9), "abcdefXghijkl abcdefYghijkl");
        assert_eq!(apart(&["abcdefghijkl", "abcdefghijkl"], 9), "abcd…ijkl abcd…ijkl");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31mb\nc\u{202e}d"), "a\u{fffd}[31mb c\u{fffd}d");
        assert_eq!(lines("a\r\nb\u{7}"), "a\u{fffd}\nb\u{fffd}");
    }

    #[test]
    fn clips_and_wraps_by_columns() {
        assert_eq!(clip("point-query", 11), "point-query");
        assert_eq!(clip("point-query", 6), "point…");
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(shorten("point-query", 11), "point-query");
        assert_eq!(shorten("points-notcovered-si", 12), "points…ed-si");
        assert_eq!(shorten("日本語日本語", 5), "日…語");
        assert_eq!(wrap("- ", "one two three", 9), "- one two\n  three");
        assert!(wrap("  ", &"x".repeat(300), 40).lines().all(|l| width(l) <= 40));
    }

    #[test]
    fn lists_in_words() {
        let words = |w: &[&str]| w.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        assert_eq!(list(&words(&["a", "b", "c"])), "a, b and c");
        assert_eq!(list(&words(&["a"])), "a");
        assert_eq!(capital("äb"), "Äb");
    }
}
