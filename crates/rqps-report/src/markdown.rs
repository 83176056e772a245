//! Reports as markdown for a merge request: verdict, summary, relative metrics, footnotes.

mod insert;
mod recall;
mod stacks;

use rqps_explain::Quantity;
use rqps_model::metric::relative;

use crate::causes;
use crate::command;
use crate::compare;
use crate::grid::{Grid, Side, escape_markdown, plain};
use crate::headline;
use crate::layout::{self, SizeColumns};
use crate::many;
use crate::rule::{TEXT_SIGNS, verdict_rule};
use crate::warning::InWords;
use crate::{places, plans, warning};
use rqps_analysis::{Analysis, Cell, CellState};
use rqps_audit::sheet;
use rqps_text::number::{self, NOTHING};
use rqps_text::words::lines;

/// The report as markdown.
#[must_use]
pub fn render(analysis: &Analysis<'_>) -> String {
    let mut out = String::new();
    head(&mut out, analysis);
    systems(&mut out, analysis);
    list(&mut out, "Query plans that differ from the base's", &plans::summary(analysis));
    let of_starts = plans::summary_of_starts(analysis);
    list(&mut out, "Query plans that differ from start to start", &of_starts);
    recall::summary(&mut out, analysis);
    insert::summary(&mut out, analysis);
    summary(&mut out, analysis);
    why(&mut out, analysis);
    ageing(&mut out, analysis);
    memory(&mut out, analysis);
    sizes(&mut out, analysis);
    failures(&mut out, analysis);
    metrics(&mut out, analysis);
    insert::steps(&mut out, analysis);
    stacks::steps(&mut out, analysis);
    let told = InWords::of(analysis);
    list(&mut out, "What happened during the run", &told.happened);
    list(&mut out, "How sure this is", &told.certainty);
    list(&mut out, "Not measured", &told.not_measured);
    let run = analysis.run;
    paragraph(
        &mut out,
        &format!(
            "rqps {}, run {}{}, {}",
            escape_markdown(&run.rqps_version),
            escape_markdown(&run.id),
            if run.imported.is_some() { String::new() } else { format!(", seed {}", run.seed) },
            code(&command::line(&run.command_line))
        ),
    );
    out
}

fn paragraph(out: &mut String, text: &str) {
    out.push_str(text);
    out.push_str("\n\n");
}

fn list(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    paragraph(out, &format!("### {title}"));
    for item in items {
        out.push_str(&format!("- {}\n", escape_markdown(item)));
    }
    out.push('\n');
}

/// `text` as a code span; its backticks become apostrophes, which no command of ours needs.
fn code(text: &str) -> String {
    format!("`{}`", rqps_text::words::one_line(text).replace('`', "'"))
}

fn head(out: &mut String, analysis: &Analysis<'_>) {
    let run = analysis.run;
    let told = InWords::of(analysis);
    for warning in &told.severe {
        paragraph(out, &format!("> **Warning:** {}", escape_markdown(warning)));
    }
    paragraph(out, &format!("## rqps: {}", escape_markdown(&run.name)));
    if many::is_many(analysis) {
        paragraph(out, &format!("**{}**", escape_markdown(&many::sentence(analysis))));
    }
    for headline in analysis.headlines.iter().filter(|_| !many::is_many(analysis)) {
        paragraph(
            out,
            &format!("**{}**", escape_markdown(&headline::sentence(analysis, headline))),
        );
        paragraph(out, &escape_markdown(&headline::details(analysis, headline).join(" ")));
    }
    if analysis.headlines.is_empty() {
        paragraph(out, "One system: there is nothing to compare it with.");
    }
    for warning in &told.others {
        paragraph(out, &format!("> **Warning:** {}", escape_markdown(warning)));
    }
    if let Some(joined) = analysis.joined {
        paragraph(out, compare::runs(joined, analysis.base).render_markdown().trim_end());
        return;
    }
    let facts = format!("{}, {}", number::utc(run.started_unix_ms), layout::host(analysis));
    paragraph(out, &escape_markdown(&facts));
}

fn systems(out: &mut String, analysis: &Analysis<'_>) {
    paragraph(out, "### Systems");
    paragraph(out, layout::systems(analysis).render_markdown().trim_end());
    let differences = &analysis.differences;
    let told = [("option", &differences.options), ("process", &differences.process)];
    let mut items = layout::commits(analysis);
    items.extend(layout::shared_limits(analysis));
    items.extend(told.iter().flat_map(|(what, all)| all.iter().map(|d| d.sentence(what))));
    for item in &items {
        out.push_str(&format!("- {}\n", escape_markdown(item)));
    }
    if !items.is_empty() {
        out.push('\n');
    }
    if differences.audit.settings.is_empty() {
        return;
    }
    let n = differences.audit.settings.len();
    let title = format!("Settings that differ and can change QPS: {n}");
    paragraph(out, &format!("<details><summary>{title}</summary>"));
    for explained in &differences.audit.settings {
        let (values, remarks) = (sheet::values_in_short(explained), sheet::remarks(explained));
        let item = format!("{values} ({remarks}): {}", explained.why);
        out.push_str(&format!("- {}\n", escape_markdown(&item)));
    }
    out.push('\n');
    if let Some(text) = sheet::besides(differences) {
        paragraph(out, &escape_markdown(&text));
    }
    paragraph(out, "</details>");
}

fn sizes(out: &mut String, analysis: &Analysis<'_>) {
    if let Some(grid) = layout::sizes(analysis, SizeColumns::All) {
        paragraph(out, "### Sizes");
        paragraph(out, grid.render_markdown().trim_end());
        paragraph(out, &escape_markdown(&layout::sizes_legend(analysis)));
    }
}

fn summary(out: &mut String, analysis: &Analysis<'_>) {
    if analysis.steps.is_empty() {
        return;
    }
    paragraph(out, "### Relative QPS");
    let mut candidates: Vec<Vec<usize>> = analysis.candidates().map(|idx| vec![idx]).collect();
    if candidates.is_empty() {
        candidates.push(Vec::new());
    }
    if many::is_many(analysis) {
        candidates.clear();
        for grid in many::grids(analysis, usize::MAX) {
            paragraph(out, grid.render_markdown().trim_end());
        }
    }
    for one in &candidates {
        let head = |idx: usize| {
            let what = if idx == analysis.base { "QPS" } else { "rQPS" };
            format!("{} {what}", analysis.short_label(idx))
        };
        paragraph(out, layout::summary(analysis, one, head).render_markdown().trim_end());
    }
    if analysis.is_all_imported() {
        paragraph(out, "Imported results have neither interval nor verdict.");
    } else {
        paragraph(
            out,
            &escape_markdown(&rqps_text::words::capital(&verdict_rule(analysis, TEXT_SIGNS))),
        );
    }
    for (idx, note) in analysis.footnotes.iter().enumerate() {
        let places = places::list(analysis, idx).join("; ");
        let (name, meaning) = (note.kind.key(), warning::meaning(&note.kind));
        let text = format!("{} {name}: {meaning}: {places}", note.letter);
        out.push_str(&format!("- {}\n", escape_markdown(&text)));
    }
    if !analysis.footnotes.is_empty() {
        out.push('\n');
    }
}

/// The cause of every verdict of slower or faster.
fn why(out: &mut String, analysis: &Analysis<'_>) {
    let all = causes::lines(analysis);
    if all.is_empty() || many::is_many(analysis) {
        return;
    }
    paragraph(out, &format!("### {}", causes::TITLE));
    for (place, sentence) in &all {
        out.push_str(&format!("- **{}** {}\n", escape_markdown(place), escape_markdown(sentence)));
    }
    out.push('\n');
}

fn ageing(out: &mut String, analysis: &Analysis<'_>) {
    if let Some(grid) = causes::ageing(analysis) {
        paragraph(out, &format!("<details><summary>{}</summary>", causes::AGEING));
        paragraph(out, grid.render_markdown().trim_end());
        paragraph(out, &escape_markdown(causes::AGEING_LEGEND));
        paragraph(out, "</details>");
    }
}

fn memory(out: &mut String, analysis: &Analysis<'_>) {
    let Some(grid) = layout::memory(analysis) else { return };
    paragraph(
        out,
        "### Resident memory of the server, MB, at the ends of steps (one reading each)",
    );
    paragraph(out, grid.render_markdown().trim_end());
}

fn failures(out: &mut String, analysis: &Analysis<'_>) {
    for step in &analysis.steps {
        for (idx, cell) in step.cells.iter().enumerate() {
            let CellState::Failed { reason } = &cell.state else { continue };
            let (title, label) = (escape_markdown(&step.title), analysis.label(idx));
            paragraph(out, &format!("**{title} failed on {}:**", escape_markdown(label)));
            for line in lines(reason).lines() {
                out.push_str(&format!("> {}\\\n", escape_markdown(line)));
            }
            out.push('\n');
        }
    }
}

/// What stands behind the metrics, relative to the base: no metrics of [`Analysis::metrics`].
const BESIDE: [(&str, Ratio); 2] = [("srvwKB/o", written), ("rss", rss)];

/// A value of a cell over the base's.
type Ratio = fn(&Cell) -> Option<f64>;

/// KB that the server wrote per operation, over the base's.
fn written(cell: &Cell) -> Option<f64> {
    let change = cell.split()?.quantity(Quantity::ServerWrittenKb)?;
    Some(relative(change.candidate, change.base))
}

/// Resident memory of the server at the step's end, over the base's.
fn rss(cell: &Cell) -> Option<f64> {
    cell.server_rss_ratio()
}

/// All candidates' metrics relative to the base, folded away.
fn metrics(out: &mut String, analysis: &Analysis<'_>) {
    let mut heads = vec![("step", Side::Left), ("system", Side::Left), ("rQPS", Side::Right)];
    let metrics = analysis.metrics();
    heads.extend(metrics.iter().map(|m| (m.heading(), Side::Right)));
    let mut beside = BESIDE.to_vec();
    beside.retain(|(_, of)| analysis.steps.iter().flat_map(|s| &s.cells).any(|c| of(c).is_some()));
    heads.extend(beside.iter().map(|(heading, _)| (*heading, Side::Right)));
    let mut grid = Grid::new(&heads);
    let mut is_empty = true;
    for step in &analysis.steps {
        for (idx, cell) in step.cells.iter().enumerate() {
            let Some(relative) = cell.relative() else { continue };
            let mut row =
                vec![plain(&step.title), plain(analysis.short_label(idx)), layout::rqps(cell)];
            row.extend(metrics.iter().map(|&m| {
                if analysis.is_imported(idx) {
                    return plain(layout::stated_ratio(cell, m));
                }
                plain(ratio_or_nothing(relative.get(m)))
            }));
            row.extend(beside.iter().map(|(_, of)| plain(ratio_or_nothing(of(cell)))));
            grid.row(row);
            is_empty = false;
        }
    }
    if !is_empty {
        paragraph(out, "<details><summary>Metrics per operation relative to the base</summary>");
        paragraph(out, grid.render_markdown().trim_end());
        paragraph(out, "</details>");
    }
}

fn ratio_or_nothing(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| NOTHING.to_owned(), number::plain_ratio)
}
