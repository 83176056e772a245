//! Lines `col-1 : LABEL`, which name the systems of columns.

use std::path::Path;

use crate::Error;
use crate::number::parse_quantity;

/// What is wrong with fields that an editor put spaces between.
pub(super) const SPACES: &str = "its fields are separated by spaces: separate them by tabs";

/// Whether a line of values or headings has spaces between its fields.
pub(super) fn has_spaces(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_field = |word: &str| word.starts_with("col-") || parse_quantity(word).is_ok();
    !line.contains('\t') && words.next().is_some_and(is_field) && words.next().is_some()
}

/// The labels that lines `col-1 : LABEL` name.
pub(super) fn legend_labels(text: &str) -> Vec<String> {
    legends(text).map(|(_, legend)| legend.label.to_owned()).collect()
}

/// The lines `col-1 : LABEL` by their places from 0.
fn legends(text: &str) -> impl Iterator<Item = (usize, Legend<'_>)> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(idx, line)| Some((idx, Legend::parse(line)?)))
}

/// The labels that lines `col-1 : LABEL` name in any order, by column.
///
/// # Errors
/// A column that lacks or comes twice, and one without a label of its own.
pub(super) fn own_labels(text: &str, path: &Path) -> Result<Vec<String>, Error> {
    let mut found: Vec<(usize, Legend<'_>)> = legends(text).collect();
    found.sort_by_key(|(_, legend)| legend.column);
    for ((idx, Legend { column, .. }), wanted) in found.iter().zip(1..) {
        if *column != wanted {
            let problem = format!("col-{column} in place of col-{wanted}");
            return Err(Error::line(path, *idx, problem));
        }
    }
    check_labels(found.iter().map(|(idx, legend)| (legend.label, *idx)), path)?;
    Ok(found.iter().map(|(_, legend)| legend.label.to_owned()).collect())
}

/// Whether each column has a label of its own.
pub(super) fn check_labels<'l>(
    labels: impl Iterator<Item = (&'l str, usize)> + Clone,
    path: &Path,
) -> Result<(), Error> {
    for (at, (label, idx)) in labels.clone().enumerate() {
        let mut before = labels.clone().take(at);
        if label.is_empty() {
            let problem = format!("col-{} has no label: write one after the colon", at + 1);
            return Err(Error::line(path, idx, problem));
        }
        if let Some((_, other_idx)) = before.find(|(known, _)| *known == label) {
            let (first, second) = (idx.min(other_idx), idx.max(other_idx));
            let line_no = first + 1;
            let problem =
                format!("label {label} is also in line {line_no}: give each column its own label");
            return Err(Error::line(path, second, problem));
        }
    }
    Ok(())
}

/// `col-2 : LABEL`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Legend<'t> {
    column: usize,
    label: &'t str,
}

impl<'t> Legend<'t> {
    pub(super) fn parse(line: &'t str) -> Option<Self> {
        let line = line.trim().trim_end_matches(',').trim_matches('"');
        let (column, label) = line.split_once(':')?;
        let column = column.trim().strip_prefix("col-")?.parse().ok()?;
        Some(Self { column, label: label.trim() })
    }
}
