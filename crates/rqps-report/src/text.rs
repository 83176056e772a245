//! Reports as plain text of at most 100 columns: the field's tables, for a terminal or a post.
//! A long file: a page from its first line to its last.

mod insert;
mod plans;
mod recall;
mod stacks;

use crate::causes;
use crate::command;
use crate::compare;
use crate::comparison;
use crate::grid::Grid;
use crate::headline;
use crate::layout::{self, MetricColumns, SizeColumns};
use crate::many;
use crate::repeat::{self, Repeat};
use crate::rule::{TEXT_SIGNS, verdict_rule};
use crate::screen;
use crate::tone::Tone;
use crate::warning::InWords;
use crate::{places, warning};
use rqps_analysis::{Analysis, Cell, CellState, StepAnalysis};
use rqps_audit::Differences;
use rqps_audit::sheet;
use rqps_text::number;
use rqps_text::words::{clip, lines, one_line, shorten, shorten_apart, wrap};

/// Widest line, columns.
pub const WIDTH: usize = 100;

/// Lines of a failure's reason that are shown; the end of a server's log says most.
const REASON_LINES: usize = 12;

/// Differing settings that are listed; the other formats have all of them.
const MAX_SETTINGS: usize = 24;

/// The same without their reasons, below the verdict.
const SHORT_SETTINGS: usize = 10;

/// What stands for verdicts beside ratios.
const SIGNS: &str = "(< slower, > faster, = same, ? unclear)";

/// The same where a verdict is barred.
const SIGNS_AND_BAR: &str = "(< slower, > faster, = same, ? unclear, ! no verdict)";

/// The same where no ratio can have one.
const SIGNS_OF_NOTHING: &str = "(imported: n=1, no verdicts)";

/// The detail of a text report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One screen: verdicts, the slowest and fastest steps, warnings.
    Screen,
    /// Verdict, systems, summary, footnotes.
    Summary,
    /// All that, and every step with its metrics.
    Full,
}

/// Options of a text report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Colours by ANSI codes.
    pub colour: bool,
    /// How much is shown.
    pub detail: Detail,
    /// Widest line, columns: [`WIDTH`], or that of the terminal. Sentences are wrapped; a table
    /// with wider numbers is not.
    pub width: usize,
}

/// The report as text.
#[must_use]
pub fn render(analysis: &Analysis<'_>, options: TextOptions) -> String {
    let TextOptions { colour, width, .. } = options;
    if options.detail == Detail::Screen {
        return screen::render(analysis, colour, width);
    }
    let mut page = Page { out: String::new(), colour, width };
    head(&mut page, analysis);
    systems(&mut page, analysis, options.detail);
    plans::summary(&mut page, analysis, options.detail);
    recall::summary(&mut page, analysis);
    insert::summary(&mut page, analysis);
    summary(&mut page, analysis);
    sizes(&mut page, analysis);
    failures(&mut page, analysis);
    if options.detail == Detail::Summary {
        stacks::summary(&mut page, analysis);
    }
    if options.detail == Detail::Full {
        metrics_legend(&mut page, analysis);
        insert::legend(&mut page, analysis);
        for step in &analysis.steps {
            step_block(&mut page, analysis, step);
        }
    }
    let told = InWords::of(analysis);
    page.list("What happened during the run", &told.happened);
    page.list("How sure this is", &told.certainty);
    page.list("Not measured", &told.not_measured);
    footer(&mut page, analysis);
    page.out
}

/// Text under construction.
struct Page {
    out: String,
    colour: bool,
    width: usize,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A paragraph whose first line begins with `first` and whose others are indented as far.
    fn paragraph(&mut self, first: &str, text: &str) {
        self.line(&wrap(first, text, self.width));
    }

    fn strong(&mut self, text: &str) {
        let text = wrap("", text, self.width);
        if self.colour {
            self.line(&format!("{}{text}\u{1b}[0m", Tone::Strong.ansi()));
        } else {
            self.line(&text);
        }
    }

    fn title(&mut self, text: &str) {
        let text = clip(text, self.width);
        if self.colour {
            self.line(&format!("\n{}{text}\u{1b}[0m", Tone::Strong.ansi()));
        } else {
            self.line(&format!("\n{text}"));
        }
    }

    fn grid(&mut self, grid: &Grid) {
        self.out.push_str(&grid.clone().fitted(self.width).render_text(self.colour));
    }

    fn list(&mut self, title: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.title(title);
        for item in items {
            self.paragraph("- ", item);
        }
    }
}

fn head(page: &mut Page, analysis: &Analysis<'_>) {
    let run = analysis.run;
    let told = InWords::of(analysis);
    for warning in &told.severe {
        page.paragraph("! ", warning);
    }
    if many::is_many(analysis) {
        page.strong(&many::sentence(analysis));
    } else {
        for headline in &analysis.headlines {
            page.strong(&headline::sentence(analysis, headline));
            for detail in &headline::details(analysis, headline) {
                page.paragraph("  ", detail);
            }
        }
    }
    if analysis.headlines.is_empty() {
        page.line("One system: there is nothing to compare it with.");
    }
    for warning in &told.others {
        page.paragraph("! ", warning);
    }
    page.line("");
    if let Some(joined) = analysis.joined {
        page.grid(&compare::runs(joined, analysis.base));
        return;
    }
    let facts = format!("run {} ({}), {}", run.id, run.name, place(analysis));
    page.paragraph("", &facts);
}

/// When and where a run was made, or taken from.
fn place(analysis: &Analysis<'_>) -> String {
    let when = number::utc(analysis.run.started_unix_ms);
    let host = layout::host(analysis);
    if analysis.imported().is_some() {
        format!("{when}, {host}")
    } else {
        format!("{when}, on {host}, {}", layout::storage(analysis.host()))
    }
}

fn systems(page: &mut Page, analysis: &Analysis<'_>, detail: Detail) {
    page.title("Systems");
    page.grid(&layout::systems(analysis));
    for commit in layout::commits(analysis) {
        page.paragraph("", &commit);
    }
    for limit in layout::shared_limits(analysis) {
        page.paragraph("", &limit);
    }
    let Differences { options, process, .. } = &analysis.differences;
    for (what, differences) in [("option", options), ("process", process)] {
        for difference in differences.iter().take(MAX_SETTINGS) {
            page.paragraph("", &difference.sentence(what));
        }
        if differences.len() > MAX_SETTINGS {
            page.line(&format!("{} more {what}s differ", differences.len() - MAX_SETTINGS));
        }
    }
    settings(page, analysis, detail);
}

/// The settings that can change QPS: those that nobody wanted first. The reasons are in the full
/// report only.
fn settings(page: &mut Page, analysis: &Analysis<'_>, detail: Detail) {
    let Differences { audit, .. } = &analysis.differences;
    if !audit.settings.is_empty() {
        let order = if many::is_many(analysis) { "" } else { ", in the order of the systems" };
        page.title(&format!("Settings that differ and can change QPS{order}"));
    }
    let most = if detail == Detail::Full { MAX_SETTINGS } else { SHORT_SETTINGS };
    for (idx, explained) in audit.settings.iter().take(most).enumerate() {
        let text = format!("{} ({})", sheet::values_in_short(explained), sheet::remarks(explained));
        page.paragraph("", &text);
        let next = audit.settings.get(idx + 1).filter(|_| idx + 1 < most);
        // What several in a row share is said once.
        let is_shared = next.is_some_and(|next| next.why == explained.why);
        if detail == Detail::Full && !is_shared {
            page.paragraph("    ", &explained.why);
        }
    }
    if audit.settings.len() > most {
        let n = audit.settings.len() - most;
        page.line(&format!("{n} more; all with explanations: rqps report --full"));
    }
    if let Some(text) = sheet::besides(&analysis.differences) {
        page.paragraph("", &text);
    }
}

fn sizes(page: &mut Page, analysis: &Analysis<'_>) {
    let Some(all) = layout::sizes(analysis, SizeColumns::All) else { return };
    page.title("Sizes");
    if all.width() <= page.width {
        page.grid(&all);
    } else {
        for columns in [SizeColumns::Tables, SizeColumns::DataDir] {
            if let Some(grid) = layout::sizes(analysis, columns) {
                page.grid(&grid);
            }
        }
    }
    page.paragraph("", &layout::sizes_legend(analysis));
}

fn summary(page: &mut Page, analysis: &Analysis<'_>) {
    if analysis.steps.is_empty() {
        return;
    }
    let base = shorten(analysis.base_label(), 60);
    page.title(&format!("Relative QPS (rQPS): QPS of the system / QPS of {base}"));
    if many::is_many(analysis) {
        page.line(signs(analysis));
        for grid in many::grids(analysis, page.width) {
            page.line("");
            page.grid(&grid);
        }
        page.line("");
    } else {
        few(page, analysis);
    }
    page.paragraph(
        "",
        &if analysis.is_all_imported() {
            "Above 1 is faster. Imported results have neither interval nor verdict.".to_owned()
        } else {
            format!(
                "Above 1 is faster. {} srvcpu/o: server CPU per operation relative to the base; cl: \
                 clients.",
                verdict_rule(analysis, TEXT_SIGNS)
            )
        },
    );
    for (idx, note) in analysis.footnotes.iter().enumerate() {
        let places = many::places(analysis, &places::list(analysis, idx));
        let text = format!("{}: {}: {places}", note.kind.key(), warning::meaning(&note.kind));
        page.paragraph(&format!("{}  ", note.letter), &text);
    }
    why(page, analysis);
    ageing(page, analysis);
    groups(page, analysis);
    memory(page, analysis);
}

/// The cause of every verdict of slower or faster; of many systems they would be pages.
fn why(page: &mut Page, analysis: &Analysis<'_>) {
    let all = causes::lines(analysis);
    if all.is_empty() || many::is_many(analysis) {
        return;
    }
    page.title(causes::TITLE);
    for (place, sentence) in &all {
        page.paragraph("  ", &format!("{place} {sentence}"));
    }
}

fn signs(analysis: &Analysis<'_>) -> &'static str {
    if analysis.is_all_imported() {
        return SIGNS_OF_NOTHING;
    }
    let is_barred = analysis.steps.iter().flat_map(|s| &s.cells).any(Cell::is_barred);
    if is_barred { SIGNS_AND_BAR } else { SIGNS }
}

/// A table of all candidates with a column for each, then tables of some with their intervals.
fn few(page: &mut Page, analysis: &Analysis<'_>) {
    let candidates: Vec<usize> = analysis.candidates().collect();
    if candidates.len() > 1 {
        matrix(page, analysis, &candidates);
    }
    if candidates.len() > 1 && analysis.is_all_imported() {
        // There are no intervals to add.
        return;
    }
    for block in &blocks(analysis, &candidates, page.width) {
        heads(page, analysis, block);
        page.line("");
        page.grid(&layout::summary(analysis, block, |idx| column(analysis, idx)));
        page.line("");
    }
}

/// Every candidate in one table, as far as the width allows: rQPS and a sign for the verdict.
fn matrix(page: &mut Page, analysis: &Analysis<'_>, candidates: &[usize]) {
    let grid = |chunk: &[usize]| layout::matrix(analysis, chunk, |idx| column(analysis, idx));
    let fits = |n: usize| candidates.chunks(n).all(|chunk| grid(chunk).width() <= page.width);
    let n = (1..=candidates.len()).rev().find(|&n| fits(n)).unwrap_or(1);
    heads(page, analysis, candidates);
    page.line(signs(analysis));
    for chunk in candidates.chunks(n) {
        page.line("");
        page.grid(&grid(chunk));
    }
    page.line("");
}

fn ageing(page: &mut Page, analysis: &Analysis<'_>) {
    let Some(grid) = causes::ageing(analysis).filter(|_| !many::is_many(analysis)) else { return };
    page.title(causes::AGEING);
    page.grid(&grid);
    page.paragraph("", causes::AGEING_LEGEND);
}

fn groups(page: &mut Page, analysis: &Analysis<'_>) {
    // Of many systems they would be pages; the other formats have them.
    if analysis.groups.is_empty() || many::is_many(analysis) {
        return;
    }
    page.title("Groups: geometric mean of rQPS [smallest, largest]; no interval, equal weights");
    for g in &analysis.groups {
        let text = format!(
            "{} [{}, {}]  {}, {}: {}",
            number::plain_ratio(g.geometric_mean),
            number::plain_ratio(g.min),
            number::plain_ratio(g.max),
            g.group.title(),
            number::count(g.n_steps, "step"),
            analysis.short_label(g.system_idx)
        );
        page.paragraph("", &text);
    }
}

fn memory(page: &mut Page, analysis: &Analysis<'_>) {
    let Some(grid) = layout::memory(analysis) else { return };
    page.title("Resident memory of the server, MB, at the ends of steps: one reading each (n=1)");
    page.grid(&grid);
    page.paragraph(
        "",
        "load: after filling the tables; most: the largest of all steps; end: after the last step \
         that all systems have. Caches are included.",
    );
}

/// Columns of a system's name at the head of its column: as wide as what stands below it.
const HEAD_COLUMNS: usize = 10;

/// The head of a system's column: its label without the configuration that all have, shortened where it is long.
fn column(analysis: &Analysis<'_>, idx: usize) -> String {
    let labels = || (0..analysis.run.systems.len()).map(|idx| analysis.short_label(idx));
    let config = analysis.run.systems.first().map_or("", |system| system.spec.config.as_str());
    let ending = format!(".{config}");
    let without = labels().map(|label| label.strip_suffix(&ending)).collect::<Option<Vec<&str>>>();
    let heads = without.filter(|_| !config.is_empty()).unwrap_or_else(|| labels().collect());
    shorten_apart(&heads, HEAD_COLUMNS).get(idx).cloned().unwrap_or_default()
}

/// What the columns of a table are, and the labels that were shortened.
fn heads(page: &mut Page, analysis: &Analysis<'_>, candidates: &[usize]) {
    let base = analysis.base;
    page.line(&format!("{}: QPS; other systems: rQPS", column(analysis, base)));
    for idx in std::iter::once(base).chain(candidates.iter().copied()) {
        let (head, label) = (column(analysis, idx), shorten(analysis.label(idx), 60));
        if !label.starts_with(&head) {
            page.line(&format!("{head}: {label}"));
        }
    }
}

/// Candidates in as few tables as fit the width.
fn blocks(analysis: &Analysis<'_>, candidates: &[usize], width: usize) -> Vec<Vec<usize>> {
    if candidates.is_empty() {
        return vec![Vec::new()];
    }
    let fits = |n: usize| {
        candidates.chunks(n).all(|chunk| {
            layout::summary(analysis, chunk, |idx| column(analysis, idx)).width() <= width
        })
    };
    let n = (1..=candidates.len()).rev().find(|&n| fits(n)).unwrap_or(1);
    candidates.chunks(n).map(<[usize]>::to_vec).collect()
}

fn failures(page: &mut Page, analysis: &Analysis<'_>) {
    for step in &analysis.steps {
        for (idx, cell) in step.cells.iter().enumerate() {
            let CellState::Failed { reason } = &cell.state else { continue };
            page.title(&format!("{} failed on {}", step.title, analysis.label(idx)));
            let reason = lines(reason);
            let all: Vec<&str> = reason.lines().collect();
            let n_cut = all.len().saturating_sub(REASON_LINES);
            // What happened stands at the front, what a server said of it last at the end.
            for line in all.iter().take(n_cut.min(1)).chain(&all[n_cut..]) {
                page.paragraph("  ", line);
            }
        }
    }
}

/// What the columns of metrics are.
const METRICS_LEGEND: &str = "Per operation: cpu/o CPU of the whole host, client included, in \
    microseconds; cs/o context switches; r/o storage reads; rKB/o and wKB/o KB read and written; o/s \
    operations per second; srvcpu/o CPU of the server, of which srvus/o user and srvsy/o kernel; \
    clicpu/o CPU of the client; all CPU in microseconds. rss: resident memory of the server at the \
    step's end, MB, one reading. Relative: value / base value, 0/0 is 1, x/0 is inf. A percentile is \
    shown where at least 10 responses lie beyond it.";

fn metrics_legend(page: &mut Page, analysis: &Analysis<'_>) {
    if analysis.steps.is_empty() {
        return;
    }
    page.title("Steps");
    if analysis.n_tests() > 0 && !many::is_many(analysis) {
        page.paragraph("", &format!("Ratios: {}.", comparison::legend(analysis)));
    }
    if analysis.steps.iter().all(|s| s.cells.iter().any(|c| c.insert().is_some())) {
        return;
    }
    if analysis.is_all_imported() {
        let has_time = analysis.metrics().contains(&rqps_model::Metric::HostCpu);
        let cpu = if has_time {
            "microseconds of CPU"
        } else {
            "percent of all CPUs, user and system, / o/s"
        };
        page.paragraph(
            "",
            &format!(
                "Per operation, as the imported files state it: cpu/o {cpu}; cs/o context switches; r/o storage \
                 reads; rKB/o and wKB/o KB read and written; o/s operations per second. Relative: value / base \
                 value, 0/0 is 1, x/0 is inf."
            ),
        );
        return;
    }
    page.paragraph("", METRICS_LEGEND);
}

fn step_block(page: &mut Page, analysis: &Analysis<'_>, step: &StepAnalysis<'_>) {
    let clients = usize::try_from(step.step.clients).unwrap_or(usize::MAX);
    page.title(&format!(
        "{} ({}, {}, {})",
        shorten(&step.step.info.name, 50),
        step.step.info.figure.unit(),
        number::count(clients, "client"),
        layout::placement(analysis, step)
    ));
    page.paragraph("", &step.step.info.what);
    page.grid(&layout::step_figures(analysis, step));
    insert::checks(page, analysis, step);
    ratios(page, analysis, step);
    plans::step(page, analysis, step);
    split(page, analysis, step);
    stacks::step(page, analysis, step);
    if step.cells.iter().any(|c| c.insert().is_some()) {
        insert::step(page, analysis, step);
        return;
    }
    if analysis.is_all_imported() {
        if let Some((absolute, relative)) = layout::stated_metrics(analysis, step) {
            page.line("--- absolute");
            page.grid(&absolute);
            if !relative.is_empty() {
                // The field's heading, where that is what they are relative to.
                let base = if analysis.base == 0 { "first result" } else { analysis.base_label() };
                page.line(&format!("--- relative to {}", clip(base, 60)));
                page.grid(&relative);
            }
        }
    } else if step.cells.iter().any(|c| c.figure().is_some()) {
        page.line("--- absolute");
        metrics(page, |columns| layout::metrics_absolute(analysis, step, columns));
    }
    if step.cells.iter().any(|c| c.relative().is_some()) && !analysis.is_all_imported() {
        page.line(&format!("--- relative to {}", shorten(analysis.base_label(), 60)));
        metrics(page, |columns| layout::metrics_relative(analysis, step, columns));
    }
    if let Some((grid, unit)) = layout::response_times(analysis, step) {
        page.line(&format!("--- response time of events, {unit}"));
        page.grid(&grid);
    }
    if let Some((grid, unit)) = layout::starts(analysis, step) {
        page.line(&format!(
            "--- starts at the set rate; late: by over 1 ms; missed: never; delays, {unit}"
        ));
        page.grid(&grid);
    }
}

/// A table of metrics; where the page is too narrow for it, names cut, one of the field's above one of ours.
fn metrics(page: &mut Page, grid: impl Fn(MetricColumns) -> Grid) {
    let all = grid(MetricColumns::All);
    if all.clone().fitted(page.width).width() <= page.width {
        page.grid(&all);
    } else {
        page.grid(&grid(MetricColumns::Field));
        page.grid(&grid(MetricColumns::Ours));
    }
}

/// All ratios of a step with their tests; of many systems they would be pages.
fn ratios(page: &mut Page, analysis: &Analysis<'_>, step: &StepAnalysis<'_>) {
    let grid = comparison::grid(analysis, step).filter(|_| !many::is_many(analysis));
    if let Some(grid) = grid {
        page.line(&format!("--- ratios to {}", shorten(analysis.base_label(), 60)));
        page.grid(&grid);
        for note in comparison::notes(analysis, step) {
            page.paragraph("", &note);
        }
    }
}

/// The time per operation taken apart, and every quantity with its interval.
fn split(page: &mut Page, analysis: &Analysis<'_>, step: &StepAnalysis<'_>) {
    if many::is_many(analysis) {
        return;
    }
    let op = step.step.info.figure.operation();
    if let Some(grid) = causes::parts(analysis, step) {
        page.line(&format!(
            "--- time per {op}, microseconds, against {}",
            shorten(analysis.base_label(), 50)
        ));
        page.grid(&grid);
    }
    if let Some(grid) = causes::quantities(analysis, step) {
        page.line(&format!("--- per {op}, against {}", shorten(analysis.base_label(), 60)));
        page.grid(&grid);
    }
}

fn footer(page: &mut Page, analysis: &Analysis<'_>) {
    page.line("");
    let (run, version) = (analysis.run, analysis.rqps_version());
    page.paragraph(
        "",
        &if analysis.imported().is_some() {
            format!("rqps {version}; {}", command::line(&run.command_line))
        } else {
            format!(
                "rqps {version}; seed {}; {}",
                analysis.seed(),
                command::line(&run.command_line)
            )
        },
    );
    let example = analysis.headlines.iter().find_map(|h| h.worst_idx);
    if let Some((idx, step)) = example.and_then(|idx| Some((idx, analysis.steps.get(idx)?))) {
        let repeated = repeat::commands(analysis, step);
        for Repeat { run, command } in &repeated {
            let of = run.map_or_else(String::new, |id| format!(" of {}", one_line(id)));
            page.paragraph("", &format!("repeat one step{of}: {command}"));
        }
        if let Some(caution) = repeat::caution(analysis, idx).filter(|_| !repeated.is_empty()) {
            page.paragraph("", caution);
        }
    }
}

#[cfg(test)]
mod tests {
    use rqps_model::Metric;

    use super::METRICS_LEGEND;

    #[test]
    fn the_legend_and_the_documented_list_have_every_metric() {
        let docs = include_str!("../../../docs/tutorial/read-a-report.md");
        let (_, list) = docs.split_once("\n## Metrics per operation\n").unwrap();
        let (list, _) = list.split_once("\n## ").unwrap();
        for metric in Metric::ALL {
            assert!(METRICS_LEGEND.contains(&format!("{} ", metric.heading())), "{metric:?}");
            assert!(list.contains(&format!("`{}`", metric.heading())), "{metric:?}");
        }
    }
}
