//! A table of texts, rendered aligned for a terminal or as a markdown table.

use crate::tone::Tone;
use rqps_text::words::{clip_apart, one_line, width};

/// Columns that a word keeps when a table is made to fit.
const LEAST: usize = 12;

/// A column's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers of one kind.
    Right,
    /// Numbers with different decimals, aligned at the point.
    Point,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GridCell {
    text: String,
    tone: Tone,
}

/// A plain cell of `text`.
pub(crate) fn plain(text: impl AsRef<str>) -> GridCell {
    toned(text, Tone::Plain)
}

/// A cell of `text` with a colour.
pub(crate) fn toned(text: impl AsRef<str>, tone: Tone) -> GridCell {
    GridCell { text: one_line(text.as_ref()), tone }
}

impl GridCell {
    /// The text, on one line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its colour.
    #[must_use]
    pub fn tone(&self) -> Tone {
        self.tone
    }
}

/// Columns with headings, and rows of cells; the field's `-` line between groups of rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grid {
    heads: Vec<(String, Side)>,
    rows: Vec<Option<Vec<GridCell>>>,
}

impl Grid {
    /// A table with these columns and no row.
    pub(crate) fn new(heads: &[(&str, Side)]) -> Self {
        Self {
            heads: heads.iter().map(|(h, side)| ((*h).to_owned(), *side)).collect(),
            rows: Vec::new(),
        }
    }

    /// The headings and their sides.
    #[must_use]
    pub fn heads(&self) -> &[(String, Side)] {
        &self.heads
    }

    /// The rows, without the lines between groups.
    pub fn rows(&self) -> impl Iterator<Item = &Vec<GridCell>> {
        self.rows.iter().flatten()
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, cells: Vec<GridCell>) {
        self.rows.push(Some(cells));
    }

    /// Adds the line `-` that the field writes between groups.
    pub(crate) fn split(&mut self) {
        if !self.rows.is_empty() {
            self.rows.push(None);
        }
    }

    /// The same table with what stands behind the points of [`Side::Point`] columns filled up with
    /// spaces to one width.
    fn aligned(&self) -> Self {
        let mut grid = self.clone();
        for idx in (0..self.heads.len()).filter(|&idx| self.heads[idx].1 == Side::Point) {
            let cells = || self.rows.iter().flatten().filter_map(|row| row.get(idx));
            let most = cells().map(|c| behind_point(&c.text)).max().unwrap_or(0);
            for cell in grid.rows.iter_mut().flatten().filter_map(|row| row.get_mut(idx)) {
                if cell.text.starts_with(|c: char| c.is_ascii_digit()) {
                    cell.text.push_str(&" ".repeat(most - behind_point(&cell.text)));
                }
            }
        }
        grid
    }

    /// Columns taken on a terminal.
    pub(crate) fn width(&self) -> usize {
        let used = self.aligned().widths();
        used.iter().flatten().map(|w| w + 2).sum::<usize>().saturating_sub(2)
    }

    /// The same table in at most `columns` columns: the widest column of words is cut until it fits,
    /// none below [`LEAST`]. Intervals are numbers, and stay whole.
    pub(crate) fn fitted(self, columns: usize) -> Self {
        self.fitted_beside(columns, &[])
    }

    /// The same, with the columns of these headings as they are.
    pub(crate) fn fitted_beside(mut self, columns: usize, whole: &[&str]) -> Self {
        // Besides, columns whose words would become equal if they were cut more.
        let is_whole = |idx: &usize| whole.contains(&self.heads[*idx].0.as_str());
        let mut least: Vec<usize> = (0..self.heads.len()).filter(is_whole).collect();
        loop {
            let over = self.width().saturating_sub(columns);
            let widths = self.aligned().widths();
            let left = (0..widths.len()).filter(|&idx| self.heads[idx].1 == Side::Left);
            let words = left.filter(|&idx| !self.has_intervals(idx) && !least.contains(&idx));
            let widest = words.filter_map(|idx| Some((widths[idx]?, idx))).max();
            let Some((most, idx)) = widest.filter(|(w, _)| over > 0 && *w > LEAST) else {
                return self;
            };
            let room = most.saturating_sub(over).max(LEAST).max(most / 2);
            let cells = self.rows.iter().flatten().filter_map(|row| row.get(idx));
            let words: Vec<&str> = cells.map(|cell| cell.text.as_str()).collect();
            let cut = clip_apart(&words, room);
            if cut.iter().any(|text| width(text) > room) {
                least.push(idx);
            }
            let cells = self.rows.iter_mut().flatten().filter_map(|row| row.get_mut(idx));
            for (cell, text) in cells.zip(cut) {
                cell.text = text;
            }
        }
    }

    /// Whether a column has intervals, alone or behind words.
    fn has_intervals(&self, idx: usize) -> bool {
        let mut cells = self.rows.iter().flatten().filter_map(|row| row.get(idx));
        cells.any(|cell| ends_with_interval(&cell.text))
    }

    /// Width per column; `None` for a column without any text.
    fn widths(&self) -> Vec<Option<usize>> {
        (0..self.heads.len())
            .map(|idx| {
                let cells = self.rows.iter().flatten().filter_map(|row| row.get(idx));
                let body = cells.map(|c| width(&c.text)).max().unwrap_or(0);
                let head = width(&self.heads[idx].0);
                (body > 0).then(|| body.max(head))
            })
            .collect()
    }

    /// Aligned lines, each ended by a line break.
    pub(crate) fn render_text(&self, colour: bool) -> String {
        self.aligned().render_aligned(colour)
    }

    fn render_aligned(&self, colour: bool) -> String {
        let widths = self.widths();
        let mut out = String::new();
        let heads = self.heads.iter().map(|(h, _)| toned(h, Tone::Strong)).collect();
        for row in std::iter::once(&Some(heads)).chain(&self.rows) {
            let Some(cells) = row else {
                out.push_str("-\n");
                continue;
            };
            let mut line = String::new();
            let mut visible_end = 0;
            for (idx, cell_width) in widths.iter().enumerate() {
                let Some(cell_width) = cell_width else { continue };
                let cell = cells.get(idx).cloned().unwrap_or_default();
                let pad = " ".repeat(cell_width.saturating_sub(width(&cell.text)));
                let text = if colour && !cell.tone.ansi().is_empty() && !cell.text.is_empty() {
                    format!("{}{}\u{1b}[0m", cell.tone.ansi(), cell.text)
                } else {
                    cell.text.clone()
                };
                match self.heads[idx].1 {
                    Side::Right | Side::Point => line.push_str(&format!("{pad}{text}")),
                    Side::Left => line.push_str(&text),
                }
                if !cell.text.is_empty() {
                    visible_end = line.len();
                }
                if self.heads[idx].1 == Side::Left {
                    line.push_str(&pad);
                }
                line.push_str("  ");
            }
            line.truncate(visible_end);
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    /// A markdown table, each line ended by a line break. Texts are escaped.
    pub(crate) fn render_markdown(&self) -> String {
        let widths = self.widths();
        let used: Vec<usize> = (0..widths.len()).filter(|&i| widths[i].is_some()).collect();
        let mut out = String::from("|");
        for &idx in &used {
            out.push_str(&format!(" {} |", escape_markdown(&self.heads[idx].0)));
        }
        out.push_str("\n|");
        for &idx in &used {
            out.push_str(if self.heads[idx].1 == Side::Left { " --- |" } else { " ---: |" });
        }
        out.push('\n');
        for cells in self.rows.iter().flatten() {
            out.push('|');
            for &idx in &used {
                let cell = cells.get(idx).cloned().unwrap_or_default();
                let text = escape_markdown(&cell.text);
                match cell.tone {
                    Tone::Strong | Tone::Lower | Tone::Higher if !text.is_empty() => {
                        out.push_str(&format!(" **{text}** |"));
                    }
                    _ => out.push_str(&format!(" {text} |")),
                }
            }
            out.push('\n');
        }
        out
    }
}

/// Characters from the point of a number on; 0 for a whole number or a word.
fn behind_point(text: &str) -> usize {
    match text.find('.') {
        Some(at) if text.starts_with(|c: char| c.is_ascii_digit()) => text.len() - at,
        _ => 0,
    }
}

/// Whether a text ends with an interval, `[0.60, 0.64]`: with its end cut off it would say another thing.
fn ends_with_interval(text: &str) -> bool {
    let ends = text.strip_suffix(']').and_then(|before| before.rsplit_once('['));
    let is_of_number = |c: char| c.is_ascii_digit() || " ,.+-inf".contains(c);
    ends.is_some_and(|(_, ends)| ends.contains(", ") && ends.chars().all(is_of_number))
}

/// A space without width: what it parts is neither a name nor an address to those who render markdown.
/// (They read an entity for the character itself as that character.)
const APART: &str = "&#8203;";

/// `text` on one line such that markdown shows every character as it is, notifies nobody by name and
/// makes no link of an address.
pub(crate) fn escape_markdown(text: &str) -> String {
    let text = one_line(text);
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        let (before, rest) = (&text[..at], &text[at..]);
        let is_www = || {
            let end = before.get(before.len().saturating_sub(3)..);
            end.is_some_and(|end| end.eq_ignore_ascii_case("www"))
        };
        if rest.starts_with("://") || c == '.' && is_www() {
            out.push_str(APART);
        }
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
        // LABEL@RUN of a report over runs is no name: those have no letter before them.
        let is_run = || {
            let next = rest.chars().nth(1);
            before.ends_with(char::is_alphanumeric) && next.is_some_and(|c| c.is_ascii_digit())
        };
        if c == '@' && !is_run() {
            out.push_str(APART);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(&[("QPS", Side::Right), ("", Side::Left), ("system", Side::Left)]);
        grid.row(vec![plain("24575"), plain(""), plain("a|b<script>")]);
        grid.split();
        grid.row(vec![toned("9", Tone::Lower), plain(""), plain("c")]);
        grid
    }

    #[test]
    fn aligned_without_empty_columns() {
        assert_eq!(grid().render_text(false), "  QPS  system\n24575  a|b<script>\n-\n    9  c\n");
        assert_eq!(grid().width(), 18);
        assert!(grid().render_text(true).contains("\u{1b}[33m9\u{1b}[0m"));
    }

    #[test]
    fn numbers_stand_point_under_point() {
        let mut grid = Grid::new(&[("rQPS", Side::Point), ("", Side::Left)]);
        for text in ["0.68", "0.706", "failed", "12"] {
            grid.row(vec![plain(text), plain("x")]);
        }
        let out = grid.render_text(false);
        assert_eq!(out, "  rQPS\n 0.68   x\n 0.706  x\nfailed  x\n12      x\n");
    }

    #[test]
    fn words_are_cut_to_fit_and_intervals_are_not() {
        let heads = [("rQPS", Side::Point), ("95% interval", Side::Left), ("run", Side::Left)];
        let mut grid = Grid::new(&heads);
        grid.row(vec![plain("0.987"), plain("[0.962, 1.013]"), plain("20261121-203015-demo")]);
        grid.row(vec![plain("0.5"), plain("n=1"), plain("a")]);
        let out = grid.fitted(24).render_text(false);
        assert!(out.contains("0.987  [0.962, 1.013]  20261121-20…\n"), "{out}");
        let is = ["slower 8% [6, 10]", "[+0.1, +0.2]", "[0.00, inf]"].map(ends_with_interval);
        assert_eq!(is, [true; 3]);
        let is_none = ["n=1", "my8033.small", "overhead [83%]", "[f](g)<!--", "a[b, c]"];
        assert!(!is_none.into_iter().any(ends_with_interval));
    }

    #[test]
    fn markdown_is_escaped() {
        let text = grid().render_markdown();
        assert!(text.contains("| 24575 | a\\|b&lt;script&gt; |"), "{text}");
        assert!(text.contains("| **9** | c |"), "{text}");
    }

    #[test]
    fn markdown_notifies_nobody_and_links_nothing() {
        assert_eq!(escape_markdown("a@b @all @1"), "a@&#8203;b @&#8203;all @&#8203;1");
        assert_eq!(escape_markdown("pg174.small@20261121"), "pg174.small@20261121");
        let links = escape_markdown("https://x.org/y, WWW.x.org, ftp://z: 3.5");
        let apart = "https&#8203;://x.org/y, WWW&#8203;.x.org, ftp&#8203;://z: 3.5";
        assert_eq!(links, apart);
    }
}
