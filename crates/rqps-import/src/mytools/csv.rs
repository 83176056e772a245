//! Lines of tables with commas, as scripts and spreadsheets write them.

use std::path::Path;

use super::legend::Legend;
use crate::Error;
use crate::number::parse_quantity;

/// A line that is no `col-1 : LABEL`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CsvLine {
    /// From 0.
    pub(super) idx: usize,
    pub(super) step: String,
    pub(super) values: Vec<String>,
}

/// The lines of steps and headings.
///
/// # Errors
/// Columns that are separated otherwise.
pub(super) fn lines(text: &str, path: &Path) -> Result<Vec<CsvLine>, Error> {
    let mut lines = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.trim_matches(',').is_empty() || Legend::parse(line).is_some() {
            continue;
        }
        if line.contains(';') {
            let problem = "its columns are separated by `;`: separate them by commas, and write decimals with a point";
            return Err(Error::line(path, idx, problem));
        }
        let mut values = fields(line);
        let step = values.remove(0);
        lines.push(CsvLine { idx, step, values });
    }
    Ok(lines)
}

/// The fields of a line. Spreadsheets put quotes around some, and two within them for one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let (mut is_quoted, mut letters) = (false, line.chars().peekable());
    while let Some(letter) = letters.next() {
        let last = fields.last_mut();
        match (letter, last) {
            ('"', Some(last)) if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                last.push('"');
            }
            ('"', _) => is_quoted = !is_quoted,
            (',', _) if !is_quoted => fields.push(String::new()),
            (letter, Some(last)) => last.push(letter),
            (_, None) => {}
        }
    }
    fields.into_iter().map(|field| field.trim().to_owned()).collect()
}

/// Values up to the last that is not empty.
fn width(values: &[String]) -> usize {
    values.iter().rposition(|value| !value.is_empty()).map_or(0, |at| at + 1)
}

/// Most values of a line, without the empty ones that a spreadsheet puts behind them.
pub(super) fn widest(lines: &[CsvLine]) -> usize {
    lines.iter().map(|line| width(&line.values)).max().unwrap_or(0)
}

/// Drops empty values at the end beyond `n`.
pub(super) fn drop_empty(values: &mut Vec<String>, n: usize) {
    values.truncate(n.max(width(values)));
}

/// Whether a line names the systems of the columns: those that are `known`, where a file beside it names them.
pub(super) fn is_heading(step: &str, fields: &[&str], known: &[String]) -> bool {
    let is_label = |field: &&str| !field.is_empty() && parse_quantity(field).is_err();
    let is_known = known.is_empty()
        || (fields.len() == known.len() && known.iter().all(|label| fields.contains(&&**label)));
    !step.starts_with('#') && fields.iter().all(is_label) && is_known
}

/// Refuses lines with more values than others, where these may be thousands of a number: `1,000`. Without labels
/// nothing else tells how many columns there are.
///
/// # Errors
/// The first such line.
pub(super) fn check_thousands(lines: &[CsvLine], path: &Path) -> Result<(), Error> {
    let fewest = lines.iter().map(|line| width(&line.values)).filter(|n| *n > 0).min().unwrap_or(0);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let has_thousands = |line: &&CsvLine| {
        let is_split = |two: &[String]| {
            let digits = |text: &str| text.split('.').next().map_or(0, str::len);
            two[0].len() <= 3 && is_digits(&two[0]) && digits(&two[1]) == 3
        };
        width(&line.values) > fewest && line.values.windows(2).any(is_split)
    };
    lines.iter().find(has_thousands).map_or(Ok(()), |line| {
        let n = width(&line.values);
        let problem = format!(
            "it has {n} values, but other lines have {fewest}: remove commas that separate \
             thousands, or write lines `col-1 : LABEL` above the steps"
        );
        Err(Error::line(path, line.idx, problem))
    })
}
