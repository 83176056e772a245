//! Single lines of a log.

use std::borrow::Cow;

use crate::number::{MAX_SECONDS, check_range, whole};

/// How a change of colour begins.
const COLOUR: &str = "\u{1b}[";

/// Most letters of a message that a log quotes: a line of a terminal or two.
const MAX_QUOTED: usize = 160;

/// Letters at the end of a message that was cut in its middle.
const QUOTED_END: usize = 60;

/// Milliseconds of a second.
const SECOND_MS: f64 = 1e3;

/// Most that a log may count.
const MAX_COUNT: u64 = 1_000_000_000_000_000;

/// A text without what colours it on a terminal: `ESC [ 31 m`.
pub(super) fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains(COLOUR) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(COLOUR);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        plain.push_str(&part[end..]);
    }
    Cow::Owned(plain)
}

/// Why a log cannot be read whose lines have something before them, as `ts` or a service puts time stamps there.
pub(super) fn stamped(text: &str) -> Option<String> {
    let heads = ["SQL statistics:", "OLTP test statistics:"];
    let before = |line: &str| {
        let line = line.trim_end();
        let at = heads.iter().find_map(|head| line.strip_suffix(head))?;
        (!at.trim().is_empty()).then(|| at.to_owned())
    };
    let (idx, before) =
        text.lines().enumerate().find_map(|(idx, line)| Some((idx, before(line)?)))?;
    let n = before.chars().count() + 1;
    Some(format!(
        "line {}: its lines have {:?} before them: remove it, for example with cut -c{n}-",
        idx + 1,
        before.trim_end()
    ))
}

/// One line of `--report-interval`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Interval {
    /// Its end, seconds since the start.
    pub at_s: u64,
    /// Threads that were running.
    pub threads: Option<u32>,
    /// Events per second.
    pub tps: f64,
    /// Statements per second; 0.5 does not print them.
    pub qps: Option<f64>,
    /// Ignored errors per second.
    pub errors_per_s: f64,
    /// Reconnects per second.
    pub reconnects_per_s: f64,
}

impl Interval {
    /// Reads all intervals of a line: `[ 10s ] thds: 4 tps: 812.31 qps: ...`. Lines of dying threads may
    /// have them in their middle.
    pub(super) fn parse_all(text: &str) -> Vec<Self> {
        let starts: Vec<usize> = text.match_indices('[').map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        starts.iter().zip(ends).filter_map(|(&start, end)| Self::parse(&text[start..end])).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let (at, rest) = text.strip_prefix('[')?.split_once(']')?;
        let at_s = at.trim().strip_suffix('s')?.parse().ok()?;
        // Lines on a queue, of runs at a rate, begin alike and have no rates.
        let after = |name: &str| -> Option<f64> {
            let (_, behind) = rest.split_once(name)?;
            quantity(behind.split_whitespace().next()?.trim_end_matches(','))
        };
        let threads = after(" thds: ").or_else(|| after(" threads: "));
        Some(Self {
            at_s,
            threads: threads.and_then(|n| u32::try_from(whole(n)).ok()),
            tps: after(" tps: ")?,
            qps: after(" qps: "),
            // Scripts that print it themselves have no colon here.
            errors_per_s: after(" err/s: ").or_else(|| after(" err/s ")).unwrap_or(0.0),
            reconnects_per_s: after(" reconn/s: ").unwrap_or(0.0),
        })
    }
}

/// The first rate or number of threads of an interval that has digits and cannot be read: `qps: 54,105.88`.
pub(super) fn unreadable_rate(text: &str) -> Option<(&'static str, &str)> {
    let at = text.find("s ]").or_else(|| text.find("s]")).filter(|_| text.starts_with('['))?;
    let rates = text.get(at..)?;
    ["thds", "threads", "tps", "qps", "err/s", "reconn/s"].into_iter().find_map(|name| {
        let (_, behind) = rates.split_once(&format!(" {name}:"))?;
        let value = behind.split_whitespace().next()?.trim_end_matches(',');
        has_separators(value).then_some((name, value))
    })
}

/// Percentiles that an interval names: `lat (ms,95%)`, before 1.0 `response time: 22.33ms (95%)`, several with
/// slashes.
pub(super) fn interval_percentiles(text: &str) -> Vec<f64> {
    let before = text.split_once("%)").map_or("", |(before, _)| before);
    let names = before.rsplit(['(', ',']).next().unwrap_or_default();
    names.split('/').filter_map(quantity).filter(|p| *p > 0.0 && *p <= 100.0).collect()
}

/// Whether two names are of one percentile: some builds print whole ones alone.
pub(super) fn is_same_percentile(a: f64, b: f64) -> bool {
    (a - b).abs() < 1.0
}

/// Whether a number has marks between its digits that sysbench never prints: `54,105.88`.
pub(super) fn has_separators(text: &str) -> bool {
    let is_mark = |c: char| matches!(c, ',' | '\'' | '\u{2019}' | '_');
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains(is_mark)
        && text.chars().all(|c| c.is_ascii_digit() || c == '.' || is_mark(c))
}

/// `0.354 |*****   120`: the upper end of a bucket and its count.
pub(super) fn bucket(text: &str) -> Option<(f64, u64)> {
    let (value, rest) = text.split_once('|')?;
    let count = rest.trim_start_matches('*').trim();
    let value_ms = quantity(value.trim()).filter(|ms| *ms <= MAX_SECONDS * 1e3)?;
    Some((value_ms, count.parse().ok().filter(|n| *n <= MAX_COUNT)?))
}

/// `162511 (16250.33 per sec.)`; what never happened in no time is `0 (-nan per sec.)`.
pub(super) fn counted(value: &str) -> Option<(u64, f64)> {
    let (n, rest) = value.split_once('(')?;
    let per_s = rest.trim_end_matches([')', '.', ' ']).strip_suffix(" per sec")?;
    let n: u64 = n.trim().parse().ok().filter(|n| *n <= MAX_COUNT)?;
    let per_s = per_s.trim();
    let is_none = n == 0 && matches!(per_s, "nan" | "-nan");
    Some((n, if is_none { 0.0 } else { quantity(per_s)? }))
}

/// A number from 0 on as sysbench prints them, in digits; a quotient by nothing is none.
pub(super) fn quantity(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|value: &f64| is_plain && check_range(*value))
}

/// The version of a first line: `sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)`; of older ones
/// `sysbench 0.5:  multi-threaded system evaluation benchmark`.
pub(super) fn version(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("sysbench ")?;
    let (word, _) = rest.split_once(" (").or_else(|| rest.split_once(':'))?;
    let is_version = word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(' ');
    is_version.then_some(word)
}

/// A message of a log as a sentence quotes it: one line without a full stop, cut in its middle where it is long.
pub(super) fn quotable(text: &str) -> String {
    let plain = text.replace(char::is_control, " ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = words.join(" ");
    let letters: Vec<char> = line.trim_end_matches(['.', ' ']).chars().collect();
    if letters.len() <= MAX_QUOTED {
        return letters.into_iter().collect();
    }
    let (start, _) = letters.split_at(MAX_QUOTED - QUOTED_END);
    let (_, end) = letters.split_at(letters.len() - QUOTED_END);
    let text = |letters: &[char]| letters.iter().collect::<String>();
    format!("{} ... {}", text(start).trim_end(), text(end).trim_start())
}

/// Milliseconds of the unit in a heading: `Latency (ms):`, `Latency histogram (values are in microseconds)`.
///
/// # Errors
/// Any other unit, as the heading has it.
pub(super) fn unit_ms(heading: &str) -> Result<f64, &str> {
    let Some((_, behind)) = heading.split_once('(') else { return Ok(1.0) };
    let within = behind.split_once(')').map_or(behind, |(within, _)| within);
    let unit = within.trim().trim_start_matches("values are in ");
    named_unit_ms(unit).ok_or(unit)
}

fn named_unit_ms(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "msec" | "milliseconds" => Some(1.0),
        "us" | "usec" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => Some(1e-3),
        "ns" | "nsec" | "nanoseconds" => Some(1e-6),
        "s" | "sec" | "seconds" => Some(SECOND_MS),
        _ => None,
    }
}

/// A time as it was printed, and one unit of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PrintedTime {
    pub(super) value: f64,
    pub(super) last_digit: f64,
}

impl PrintedTime {
    /// Milliseconds of `0.0320s`, `7.06ms` or `320us`; a number alone has the unit of the heading above it.
    pub(super) fn in_ms(text: &str, heading_ms: f64) -> Option<Self> {
        Self::parse(text, heading_ms, 1.0)
    }

    /// Seconds of `10.0004s`; a number alone is in seconds.
    pub(super) fn in_s(text: &str) -> Option<Self> {
        Self::parse(text, SECOND_MS, SECOND_MS)
    }

    /// Both units in milliseconds.
    fn parse(text: &str, default_ms: f64, wanted_ms: f64) -> Option<Self> {
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let at = text.find(|c| !is_digit(c)).unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let unit_ms = match unit.trim() {
            "" => default_ms,
            unit => named_unit_ms(unit)?,
        };
        let factor = unit_ms / wanted_ms;
        let digits = number.split_once('.').map_or(0, |(_, digits)| digits.len());
        let last_digit = factor * 10_f64.powi(-i32::try_from(digits).ok()?);
        let value = quantity(number)?;
        // Products of binary fractions have digits that nobody printed.
        let is_as_printed = (factor - 1.0).abs() < f64::EPSILON;
        let value = if is_as_printed { value } else { (value * factor * 1e6).round() / 1e6 };
        Some(Self { value, last_digit })
    }
}

/// `Report intermediate results every 10 second(s)`.
pub(super) fn report_interval(text: &str) -> Option<u64> {
    let seconds = text.strip_prefix("Report intermediate results every ")?;
    seconds.split_whitespace().next()?.parse().ok()
}
