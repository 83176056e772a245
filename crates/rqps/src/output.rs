//! Standard output: the one place that writes to it, and plain tables.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use rqps_report::text::WIDTH;

use crate::{fit, variable};

/// Narrower text is harder to read than lines that the terminal breaks, columns.
const NARROWEST: usize = 60;

/// Writes text that is fit for a terminal, or not meant for one, to standard output. A reader that went
/// away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("write to standard output"),
    }
}

/// Writes lines in which there are words from outside: labels, paths, notes.
pub(crate) fn say(text: &str) -> Result<()> {
    print(&fit::lines(text))
}

/// Writes text to a file, or to standard output without one.
pub(crate) fn write(file: Option<&Path>, text: &str) -> Result<()> {
    match file {
        None => print(text),
        Some(path) => fs::write(path, text).with_context(|| format!("write {}", path.display())),
    }
}

/// Columns for sentences on standard output: those of the terminal, else those that `COLUMNS` states, as far as they
/// read well.
pub(crate) fn text_width() -> usize {
    let terminal = console::Term::stdout();
    let of_terminal = if terminal.is_term() { terminal.size_checked() } else { None };
    let of_terminal = of_terminal.map(|(_, columns)| usize::from(columns));
    let stated = || variable("COLUMNS")?.parse().ok();
    of_terminal.or_else(stated).map_or(WIDTH, |columns| columns.clamp(NARROWEST, WIDTH))
}

/// Rows as columns separated by two spaces; the last column is not padded. Each row is one line, whatever
/// is in its cells.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let headings: Vec<String> = headings.iter().map(|heading| fit::one_line(heading)).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let fit_row =
        |row: &Vec<String>| -> Vec<String> { row.iter().map(|cell| fit::one_line(cell)).collect() };
    let rows: Vec<Vec<String>> = rows.iter().map(fit_row).collect();
    columns(&headings, &rows)
}

/// The same with cells as they are.
pub(crate) fn columns(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = headings.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (cell, width) in cells.zip(&widths) {
            text.push_str(cell);
            let pad = width - cell.chars().count() + 2;
            text.extend(std::iter::repeat_n(' ', pad));
        }
        format!("{}\n", text.trim_end())
    };
    let mut text = line(&mut headings.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align() {
        let rows = vec![vec!["a".into(), "long cell".into()], vec!["bbbb".into(), "c".into()]];
        assert_eq!(table(&["x", "y"], &rows), "x     y\na     long cell\nbbbb  c\n");
    }

    #[test]
    fn no_cell_steers_the_terminal_or_passes_for_a_row() {
        let rows = vec![vec!["a\u{1b}[2J".into(), "b\nc\u{202e}".into()]];
        let text = table(&["x\u{7}", "y"], &rows);
        assert_eq!(text, "x\u{fffd}     y\na\u{fffd}[2J  b c\u{fffd}\n");
    }
}
