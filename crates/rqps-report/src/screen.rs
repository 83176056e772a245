//! The answer on one screen: the verdict on each candidate, its slowest and fastest steps, and warnings. The other
//! formats have the rest.

mod step_names;

use rqps_analysis::{Analysis, Cell, CellState};
use rqps_model::warning::{HalfWidth, StepClass};
use rqps_model::{Verdict, WarningKind};
use rqps_text::number::{self, count};
use rqps_text::words::{list_in_short, width as columns, wrap};

use crate::grid::{Grid, GridCell, Side, plain, toned};
use crate::tone::Tone;
use crate::warning::{self, InWords};
use crate::{comparison, headline, layout};
use step_names::StepNames;

/// Lines of a screen, less the few that a command adds below: where the page is, and the next prompt.
const LINES: usize = 20;

/// Lines that a severe warning takes, and all of them; the page and the other levels have the rest.
const LINES_OF_WARNING: usize = 3;
const LINES_OF_WARNINGS: usize = 5;

/// Lines that a verdict takes at most.
const LINES_OF_SENTENCE: usize = 2;

/// Steps that are shown whatever else there is.
const FEWEST_ROWS: usize = 4;

/// The report in [`LINES`] lines of `width` columns, as far as its numbers fit.
#[must_use]
pub fn render(analysis: &Analysis<'_>, colour: bool, width: usize) -> String {
    let page = Page { analysis, colour, width };
    let (severe, foot) = (page.severe(), page.foot());
    let n_fixed = line_count(&severe) + line_count(&foot);
    let verdicts = page.verdicts(LINES.saturating_sub(n_fixed + FEWEST_ROWS + 1));
    let rows = rows(analysis);
    // The table has a heading.
    let room = LINES.saturating_sub(n_fixed + line_count(&verdicts) + 1).max(FEWEST_ROWS);
    let table = match rows.is_empty() {
        true => page.rates(room),
        false => page.table(rows, room),
    };
    format!("{severe}{verdicts}{table}{foot}")
}

fn line_count(text: &str) -> usize {
    text.lines().count()
}

/// What a screen is made of.
struct Page<'a> {
    analysis: &'a Analysis<'a>,
    colour: bool,
    width: usize,
}

impl Page<'_> {
    fn strong(&self, text: &str) -> String {
        let (on, off) = if self.colour { (Tone::Strong.ansi(), "\u{1b}[0m") } else { ("", "") };
        let lines = self.lines("", text, LINES_OF_SENTENCE);
        format!("{on}{}{off}\n", lines.trim_end())
    }

    /// A text in at most `room` lines. The first line begins with `first`.
    fn lines(&self, first: &str, text: &str, room: usize) -> String {
        let all = wrap(first, text, self.width);
        let mut kept: Vec<String> = all.lines().take(room).map(str::to_owned).collect();
        if line_count(&all) > room
            && let Some(last) = kept.last_mut()
        {
            // A full line gives its last character to the sign.
            if columns(last) >= self.width {
                last.pop();
            }
            last.push('…');
        }
        kept.join("\n") + "\n"
    }

    /// The severe warnings, each in a few lines.
    fn severe(&self) -> String {
        let all = InWords::of(self.analysis).severe;
        let mut out = String::new();
        for (nth, text) in all.iter().enumerate() {
            let room = LINES_OF_WARNING.min(LINES_OF_WARNINGS.saturating_sub(line_count(&out)));
            if room < 2 {
                let n_left = count(all.len() - nth, "more severe warning");
                out.push_str(&format!("! {n_left}: --summary\n"));
                break;
            }
            out.push_str(&self.lines("! ", text, room));
        }
        out
    }

    /// The verdict on the candidate, or a line for each of them in at most `room` lines.
    fn verdicts(&self, room: usize) -> String {
        let analysis = self.analysis;
        match analysis.headlines.as_slice() {
            [] => self.strong("One system: there is nothing to compare it with."),
            [only] => {
                let mut out = self.strong(&headline::sentence(analysis, only));
                if let Some(median) = only.median {
                    let others = headline::others(only.counts);
                    let others = others.map_or_else(String::new, |others| format!(" {others}"));
                    let text = format!("Median rQPS {}.{others}", number::plain_ratio(median));
                    out.push_str(&format!("{}\n", wrap("", &text, self.width)));
                }
                out
            }
            all => {
                let heading = headline::of_several(analysis);
                let mut out = self.strong(&heading);
                // Of the room the sentence, the heading and the line about the others take one each.
                let n_shown = all.len().min(room.saturating_sub(3).clamp(2, MOST_CANDIDATES));
                let table = |besides: &Besides, names: &StepNames| {
                    candidates(analysis, n_shown, *besides, names)
                };
                let grid = step_names::fitted(analysis, self.width, &Besides::ALL, table);
                out.push_str(&grid.render_text(self.colour));
                if all.len() > n_shown {
                    let n_left = count(all.len() - n_shown, "more candidate");
                    out.push_str(&format!("{n_left}: --summary\n"));
                }
                out
            }
        }
    }

    /// The steps in at most `room` lines and a heading: all, or the slowest and the fastest.
    fn table(&self, mut rows: Vec<Row<'_>>, room: usize) -> String {
        let render = |rows: &[Row<'_>]| {
            // Causes give way to names of steps.
            let table =
                |has_cause: &bool, names: &StepNames| grid(self.analysis, rows, *has_cause, names);
            let grid = step_names::fitted(self.analysis, self.width, &[true, false], table);
            grid.render_text(self.colour)
        };
        if rows.len() <= room {
            return render(&rows);
        }
        rows.retain(|row| row.ratio().is_finite() || row.has_failed());
        // A line tells what is left out. Losses are looked for first.
        let n_shown = (room - 1).min(rows.len());
        let n_fast = n_shown / 3;
        let n_slow = n_shown - n_fast;
        let between = &rows[n_slow..rows.len() - n_fast];
        let said = |wanted: Verdict| {
            between.iter().filter(|row| row.cell.verdict() == Some(wanted)).count()
        };
        let counts = [Verdict::Slower, Verdict::Faster].map(|wanted| (said(wanted), wanted.word()));
        let counts = counts.iter().filter(|(n, _)| *n > 0);
        let counts: Vec<String> = counts.map(|(n, word)| format!(", {n} {word}")).collect();
        let left_out = format!("… {} more{}", between.len(), counts.concat());
        let shown: Vec<Row<'_>> =
            rows[..n_slow].iter().chain(&rows[rows.len() - n_fast..]).copied().collect();
        let text = render(&shown);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.insert(1 + n_slow, &left_out);
        lines.join("\n") + "\n"
    }

    /// The rates of a system that is compared with none, in at most `room` lines and a heading.
    fn rates(&self, room: usize) -> String {
        let analysis = self.analysis;
        let n_shown = if analysis.steps.len() > room { room - 1 } else { analysis.steps.len() };
        let table = |(): &(), names: &StepNames| rates(analysis, n_shown, names);
        let grid = step_names::fitted(analysis, self.width, &[()], table);
        if grid.is_empty() {
            return String::new();
        }
        let mut out = grid.render_text(self.colour);
        if analysis.steps.len() > n_shown {
            out.push_str(&format!("… {}\n", count(analysis.steps.len() - n_shown, "more step")));
        }
        out
    }

    /// Which warnings there are, how wide intervals are, and how to see the rest.
    fn foot(&self) -> String {
        let analysis = self.analysis;
        let mut out = String::new();
        let mut line = |first: &str, text: &str, room: usize| {
            out.push_str(&self.lines(first, text, room));
        };
        headline::beside_all(analysis).iter().for_each(|text| line("! ", text, 1));
        let kinds = kinds(analysis);
        if !kinds.is_empty() {
            line(
                "",
                &format!("Warnings: {}. rqps warnings NAME explains.", list_in_short(&kinds)),
                2,
            );
        }
        for kind in &analysis.certainty {
            let WarningKind::HalfWidths { medians } = kind else { continue };
            let of = |own: &HalfWidth| {
                let what = match own.kind {
                    StepClass::Reads => "reads",
                    StepClass::Writes => "writes",
                    StepClass::Others => "other steps",
                };
                format!("±{} ({what})", number::small_percent(own.median))
            };
            let all: Vec<String> = medians.iter().map(of).collect();
            let starts = count(usize::try_from(analysis.n_starts).unwrap_or(usize::MAX), "start");
            line("", &format!("Intervals: median {}; {starts} of the servers.", all.join(", ")), 1);
        }
        let others = warning::sentences(analysis, analysis.warnings_by_weight().1);
        if let Some((first, rest)) = others.split_first() {
            let more = match rest.len() {
                0 => String::new(),
                n => format!("({n} more: --summary) "),
            };
            line("! ", &format!("{more}{first}"), 2);
        }
        let id = &analysis.run.id;
        line("", &format!("All steps: rqps report {id} --summary. Everything: --full."), 2);
        out
    }
}

/// The kinds of warnings of cells, with their numbers; the most frequent first.
fn kinds(analysis: &Analysis<'_>) -> Vec<String> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for warning in analysis.steps.iter().flat_map(|s| &s.cells).flat_map(|c| &c.warnings) {
        let key = warning.kind.key();
        match kinds.iter_mut().find(|(known, _)| *known == key) {
            Some((_, n)) => *n += 1,
            None => kinds.push((key, 1)),
        }
    }
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    kinds.iter().map(|(key, n)| format!("{key} ({n})")).collect()
}

/// The rate of each of the first steps.
fn rates(analysis: &Analysis<'_>, n_shown: usize, names: &StepNames) -> Grid {
    let mut grid = Grid::new(&[
        ("QPS", Side::Point),
        ("95% interval", Side::Left),
        ("unit", Side::Left),
        ("step", Side::Left),
        ("clients", Side::Right),
    ]);
    for (step_idx, step) in analysis.steps.iter().take(n_shown).enumerate() {
        let Some(cell) = step.cells.get(analysis.base) else { continue };
        let interval = cell.figure().and_then(|figure| number::figure_interval(&figure));
        grid.row(vec![
            layout::figure(cell),
            plain(interval.unwrap_or_default()),
            plain(step.step.info.figure.unit()),
            plain(names.name(step_idx)),
            names.clients(step_idx),
        ]);
    }
    grid
}

/// Candidates that have a line.
const MOST_CANDIDATES: usize = 8;

/// What the line of a candidate has besides verdicts and its worst step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Besides {
    Nothing,
    Median,
    MedianAndOthers,
}

impl Besides {
    /// In the order in which they give way to names of steps.
    const ALL: [Self; 3] = [Self::MedianAndOthers, Self::Median, Self::Nothing];
}

/// A line for each of the first candidates.
fn candidates(
    analysis: &Analysis<'_>,
    n_shown: usize,
    besides: Besides,
    names: &StepNames,
) -> Grid {
    let mut grid = Grid::new(&[
        ("candidate", Side::Left),
        ("slower", Side::Right),
        ("faster", Side::Right),
        ("same", Side::Right),
        ("unclear", Side::Right),
        ("other", Side::Right),
        ("median", Side::Point),
        ("worst", Side::Left),
        ("clients", Side::Right),
    ]);
    for headline in analysis.headlines.iter().take(n_shown) {
        let counts = headline.counts;
        let mut row = vec![plain(analysis.short_label(headline.system_idx))];
        let n = [counts.slower, counts.faster, counts.same, counts.unclear];
        row.extend(n.map(|n| plain(n.to_string())));
        // A column without any text is not shown.
        let others = Some(counts.total() - counts.measured());
        let others = others.filter(|_| besides >= Besides::MedianAndOthers);
        row.push(plain(others.map_or_else(String::new, |n| n.to_string())));
        let median = headline.median.filter(|_| besides >= Besides::Median);
        row.push(median.map_or_else(GridCell::default, |m| plain(number::plain_ratio(m))));
        if let Some(range) = headline.range
            && let Some(step) = analysis.steps.get(range.lowest_idx)
            && let Some(ratio) = step.cells.get(headline.system_idx).and_then(Cell::rqps)
        {
            let name = names.name(range.lowest_idx);
            row.push(plain(format!("{} {name}", number::ratio(&ratio))));
            row.push(names.clients(range.lowest_idx));
        }
        grid.row(row);
    }
    grid
}

/// A step of a candidate.
#[derive(Clone, Copy)]
struct Row<'a> {
    step_idx: usize,
    system_idx: usize,
    cell: &'a Cell,
}

impl Row<'_> {
    fn has_failed(&self) -> bool {
        matches!(self.cell.state, CellState::Failed { .. })
    }

    /// The ratio by which rows are in order: failures first, what was not measured last.
    fn ratio(&self) -> f64 {
        let without = if self.has_failed() { f64::NEG_INFINITY } else { f64::INFINITY };
        self.cell.rqps().map_or(without, |ratio| ratio.point)
    }
}

/// The compared steps of all candidates, the slowest first.
fn rows<'a>(analysis: &'a Analysis<'a>) -> Vec<Row<'a>> {
    let compared = || analysis.steps.iter().enumerate().filter(|(_, step)| step.is_compared());
    let of = |system_idx: usize| {
        compared().filter_map(move |(step_idx, step)| {
            Some(Row { step_idx, system_idx, cell: step.cells.get(system_idx)? })
        })
    };
    let mut rows: Vec<Row<'a>> = analysis.candidates().flat_map(of).collect();
    rows.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    rows
}

fn grid(analysis: &Analysis<'_>, rows: &[Row<'_>], has_cause: bool, names: &StepNames) -> Grid {
    let mut grid = Grid::new(&[
        ("rQPS", Side::Point),
        ("95% interval", Side::Left),
        ("verdict", Side::Left),
        ("step", Side::Left),
        ("clients", Side::Right),
        ("candidate", Side::Left),
        ("cause", Side::Left),
    ]);
    let is_several = analysis.headlines.len() > 1;
    for Row { step_idx, system_idx, cell } in rows {
        let label = if is_several { analysis.short_label(*system_idx) } else { "" };
        let cause = cell.cause().filter(|_| has_cause);
        let cause = cause.map_or("", |cause| cause.kind.words(cause.direction));
        grid.row(vec![
            layout::rqps(cell),
            layout::interval(cell),
            verdict(cell),
            plain(names.name(*step_idx)),
            names.clients(*step_idx),
            plain(label),
            plain(cause),
        ]);
    }
    grid
}

/// The verdict in the colour of its ratio, or why there is none.
fn verdict(cell: &Cell) -> GridCell {
    match cell.verdict() {
        Some(Verdict::Slower) => toned(Verdict::Slower.word(), Tone::Lower),
        Some(Verdict::Faster) => toned(Verdict::Faster.word(), Tone::Higher),
        Some(other) => plain(other.word()),
        None => plain(cell.bar().map_or("", comparison::bar)),
    }
}
