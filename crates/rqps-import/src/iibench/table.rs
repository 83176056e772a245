//! A merged table of a step: a line per system, `-` between groups.

use std::path::{Path, PathBuf};

use super::line::{self, Flaw};
use super::step::{StepName, figure_heading};
use crate::Error;
use crate::copies::{Duplicate, duplicates};
use crate::cut::{cut_problem, unended_idx, unended_problem, whole_name};
use crate::derived::Printed;
use crate::number::{MAX_GB, parse_quantity};

/// How the files of tables begin.
pub(super) const TABLE: &str = "mrg.";

/// Fewest values above zero of a line that tell a copy: fewer are the same by chance.
const MIN_TELLING: usize = 6;

/// What older tables call `dbgb1`.
const OLD_SIZE: &str = "dbgb";

/// What is wrong with a table whose columns an editor put spaces between.
const SPACES: &str = "its fields are separated by spaces: separate them by tabs";

/// The columns of gigabytes.
const GB_COLUMNS: [&str; 4] = ["dbgb", "dbgb1", "dbgb2", "rss"];

/// One line.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) tag: String,
    pub(super) values: Vec<(String, f64)>,
}

impl Row {
    pub(super) fn get(&self, head: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == head).map(|(_, value)| *value)
    }

    /// The value of a column, whatever the table calls it.
    pub(super) fn column(&self, head: &str) -> Option<f64> {
        let old = if head == "dbgb1" { self.get(OLD_SIZE) } else { None };
        self.get(head).or(old)
    }
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) step: StepName,
    pub(super) path: PathBuf,
    /// The lines between separators.
    pub(super) groups: Vec<Vec<Row>>,
    /// The last line (from 0), where it has no end.
    unended_idx: Option<usize>,
    /// Lines and values that were not taken over.
    pub(super) skipped: Vec<SkippedLine>,
}

/// A line that was not taken over, or not all of it.
#[derive(Debug)]
pub(super) struct SkippedLine {
    /// The system; empty where the line has none.
    pub(super) tag: String,
    pub(super) problem: Error,
}

/// A line of values and its headings.
struct Fields<'t> {
    heads: &'t [&'t str],
    fields: &'t [&'t str],
    tag: &'t str,
}

impl Table {
    /// Its name, in messages on other tables.
    pub(super) fn file_name(&self) -> String {
        format!("{TABLE}{}", self.step.as_str())
    }

    /// The systems of its lines.
    pub(super) fn tags(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().flatten().map(|row| row.tag.as_str())
    }

    /// Notes on lines of two systems that have the same values.
    pub(super) fn copied_lines(&self) -> Vec<String> {
        let rows: Vec<&Row> = self.groups.iter().flatten().collect();
        let tells = |row: &Row| row.values.iter().filter(|(_, v)| *v > 0.0).count() >= MIN_TELLING;
        let is_same = |own: &&Row, first: &&Row| first.tag != own.tag && first.values == own.values;
        let note = |Duplicate { own, first }: Duplicate<'_, &Row>| {
            format!(
                "{}: the lines of {} and {} are the same: one of them is a copy.",
                self.file_name(),
                first.tag,
                own.tag
            )
        };
        duplicates(&rows, is_same).filter(|found| tells(found.own)).map(note).collect()
    }

    /// Reads a table. Lines that contradict themselves are excluded.
    ///
    /// # Errors
    /// Lines that cannot be read, and a table without a line.
    pub(super) fn parse(text: &str, step: StepName, path: &Path) -> Result<Self, Error> {
        let figure = figure_heading(&step);
        let (groups, skipped, path) = (vec![Vec::new()], Vec::new(), path.to_path_buf());
        let mut table = Self { step, path, groups, unended_idx: None, skipped };
        let (mut heads, mut heads_line): (Vec<&str>, &str) = (Vec::new(), "");
        for (idx, text_line) in text.lines().enumerate() {
            // Headings tell what separates all columns: a comma in a number is none of them.
            let fields = match split_filled(text_line, separator_of(text_line)) {
                own if own.last() == Some(&"tag") => own,
                _ => split(text_line, separator_of(heads_line), heads.len()),
            };
            let is_unended = unended_idx(text) == Some(idx);
            match fields.as_slice() {
                [] => {}
                ["-"] => table.groups.push(Vec::new()),
                [.., "tag"] => {
                    let checked = check_heads(&fields, figure);
                    checked.map_err(|problem| Error::line(&table.path, idx, problem))?;
                    (heads, heads_line) = (fields, text_line);
                }
                [only] if heads.is_empty() && only.ends_with(" tag") => {
                    return Err(Error::line(&table.path, idx, SPACES));
                }
                [.., _] if is_unended && !heads.is_empty() && fields.len() < heads.len() => {
                    table.skip("", idx, unended_problem());
                }
                [fields @ .., tag] => {
                    let line = Fields { heads: &heads, fields, tag };
                    let taken = table.take(&line, idx);
                    taken.map_err(|problem| Error::line(&table.path, idx, problem))?;
                    table.unended_idx = is_unended.then_some(idx);
                }
            }
        }
        table.checked()
    }

    /// Takes a line of values; what is wrong with it, in words.
    fn take(&mut self, line: &Fields<'_>, idx: usize) -> Result<(), String> {
        let Fields { heads, fields, tag } = line;
        let n = fields.len() + 1;
        if heads.is_empty() {
            let problem = "no headings above: begin with a line of headings that ends in tag";
            return Err(format!("{n} fields with {problem}"));
        }
        if n != heads.len() {
            let problem = "write NA where there is no value";
            return Err(format!("{n} fields below {} headings: {problem}", heads.len()));
        }
        let rows = self.groups.last().ok_or("no group")?;
        if rows.iter().any(|row| row.tag == *tag) {
            return Err(format!("system {tag} occurs twice: give each line its own tag"));
        }
        let mut values = Vec::new();
        for (head, field) in heads.iter().zip(*fields) {
            let value = parse_quantity(field).map_err(|problem| {
                format!("{head} of {tag}: {problem}; write NA where there is none")
            })?;
            let is_huge = value.is_some_and(|value| value > MAX_GB);
            if is_huge && GB_COLUMNS.contains(head) {
                return Err(format!(
                    "{head} of {tag}: {field} are too many gigabytes; write NA where there is none"
                ));
            }
            values.extend(value.map(|value| ((*head).to_owned(), value)));
        }
        let printed = |wanted: &str| {
            let at = heads.iter().position(|head| *head == wanted)?;
            Printed::parse(fields.get(at)?)
        };
        for flaw in line::flaws(&self.step, printed) {
            let (is_out, text) = match flaw {
                Flaw::Figure(text) => (true, text),
                Flaw::Columns { heads, text } => {
                    values.retain(|(head, _)| !heads.contains(&head.as_str()));
                    (false, text)
                }
            };
            self.skip(tag, idx, format!("{tag}: {text}"));
            if is_out {
                return Ok(());
            }
        }
        let row = Row { tag: (*tag).to_owned(), values };
        self.groups.last_mut().ok_or("no group")?.push(row);
        Ok(())
    }

    fn skip(&mut self, tag: &str, idx: usize, problem: String) {
        let problem = Error::line(&self.path, idx, problem);
        self.skipped.push(SkippedLine { tag: tag.to_owned(), problem });
    }

    fn checked(mut self) -> Result<Self, Error> {
        self.groups.retain(|rows| !rows.is_empty());
        if !self.groups.is_empty() {
            return Ok(self);
        }
        let first = (!self.skipped.is_empty()).then(|| self.skipped.remove(0));
        let problem = "it has no line of a system: merge its step again, or remove it";
        Err(first.map_or_else(|| Error::file(&self.path, problem), |line| line.problem))
    }

    /// The table without a last line that ends within its tag. The tags of other tables are `known`.
    fn without_cut(mut self, known: &[String]) -> Result<Self, Error> {
        let Some(idx) = self.unended_idx.take() else { return Ok(self) };
        let Some(last) = self.groups.last().and_then(|rows| rows.last()) else { return Ok(self) };
        let mut own: Vec<&str> = self.tags().collect();
        own.pop();
        let known = known.iter().map(String::as_str).chain(own.iter().copied());
        let whole = whole_name(&last.tag, known);
        if let Some(whole) = whole {
            let (tag, problem) = (last.tag.clone(), cut_problem(&last.tag, whole));
            self.skip(&tag, idx, problem);
            self.groups.last_mut().map(Vec::pop);
        }
        self.checked()
    }
}

/// What separates the fields of a line of headings.
fn separator_of(heads: &str) -> char {
    if heads.contains('\t') || !heads.contains(',') { '\t' } else { ',' }
}

fn split_filled(line: &str, separator: char) -> Vec<&str> {
    line.split(separator).map(str::trim).filter(|field| !field.is_empty()).collect()
}

/// The fields of a line: with the empty ones where these are as many as headings. Some lines have two separators in
/// a row between columns.
fn split(line: &str, separator: char, n_heads: usize) -> Vec<&str> {
    let all: Vec<&str> = line.split(separator).map(str::trim).collect();
    let has_tag = all.last().is_some_and(|tag| !tag.is_empty());
    if all.len() == n_heads && has_tag { all } else { split_filled(line, separator) }
}

/// All tables without last lines that were cut.
pub(super) fn without_cuts(tables: Vec<Table>, skipped: &mut Vec<Error>) -> Vec<Table> {
    let tags: Vec<Vec<String>> =
        tables.iter().map(|table| table.tags().map(str::to_owned).collect()).collect();
    let mut whole = Vec::new();
    for (idx, table) in tables.into_iter().enumerate() {
        let others = tags.iter().enumerate().filter(|(other, _)| *other != idx);
        let known: Vec<String> = others.flat_map(|(_, tags)| tags.clone()).collect();
        match table.without_cut(&known) {
            Ok(table) => whole.push(table),
            Err(problem) => skipped.push(problem),
        }
    }
    whole
}

/// Headings of which each is there once, that of the figure among them.
fn check_heads(heads: &[&str], figure: &str) -> Result<(), String> {
    let repeated = heads.iter().enumerate().find(|(at, head)| heads[..*at].contains(head));
    if let Some((_, head)) = repeated {
        return Err(format!("heading {head} occurs twice: remove one of the columns"));
    }
    if heads.contains(&figure) {
        return Ok(());
    }
    Err(format!("no heading {figure}, whose column has the step's rates: merge its step again"))
}
