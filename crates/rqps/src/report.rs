//! `rqps report`: a stored run for the terminal, or as text, markdown, CSV, JSON or HTML.

use anyhow::{Context as _, Result, bail};
use rqps_analysis::{Analysis, Judging};
use rqps_model::Run;
use rqps_report::{Detail, TextOptions};
use rqps_stacks::StackProfile;
use rqps_store::Store;

use crate::Surroundings;
use crate::args::{Format, JudgingArgs, ReportArgs};
use crate::opened::{ENDING, Opened};
use crate::output::{self, text_width};

/// Carries out `rqps report ...`.
pub(crate) fn write(args: &ReportArgs, around: &Surroundings) -> Result<()> {
    let judging = judging_of(&args.judging)?;
    let format = Format::of(args.format, args.output.as_deref())?;
    let detail = detail_of(format, args.summary, args.full)?;
    let opened = Opened::of(&args.run, around)?;
    let run = opened.store().select_run(opened.run())?;
    let profiles = opened.store().select_stack_profiles(opened.run())?;
    let base = args.base.as_deref().map_or(Ok(run.base), |label| system_of(&run, label))?;
    around.go_on()?;
    if let Some(dir) = &args.charts {
        return crate::charts::write(&Analysis::of_base(&run, base, judging), dir);
    }
    if format == Format::Text {
        let run = Run { base, ..run };
        return write_tables(&[run], judging, args.output.as_deref());
    }
    let found = Found { run: &run, base, profiles: &profiles };
    let colour = around.colour && args.output.is_none();
    let text = render(found, format, judging, TextOptions { colour, detail, width: text_width() })?;
    around.go_on()?;
    if !args.run.ends_with(ENDING) {
        keep_missing_verdicts(opened.store(), &run);
    }
    output::write(args.output.as_deref(), &text)
}

/// Keeps how a stored run came out, unless that is kept already.
fn keep_missing_verdicts(store: &Store, run: &Run) {
    let briefs = store.list_briefly().unwrap_or_default();
    let kept = briefs.iter().find(|brief| brief.id == run.id);
    let kept = kept.and_then(|brief| store.read_verdicts(brief, env!("CARGO_PKG_VERSION")));
    if kept.is_none() {
        keep_verdicts(store, run);
    }
}

/// How much of a report is shown on a terminal.
pub(crate) fn detail_of(format: Format, summary: bool, full: bool) -> Result<Detail> {
    if format != Format::Terminal && (summary || full) {
        bail!("--full and --summary belong to the terminal format; other formats have everything");
    }
    Ok(match (summary, full) {
        (_, true) => Detail::Full,
        (true, false) => Detail::Summary,
        (false, false) => Detail::Screen,
    })
}

/// The system with a label, by index.
fn system_of(run: &Run, label: &str) -> Result<usize> {
    let found = run.systems.iter().position(|system| system.spec.label.as_str() == label);
    found.with_context(|| {
        let labels: Vec<&str> = run.systems.iter().map(|s| s.spec.label.as_str()).collect();
        format!("run {} has no system {label:?}; it has {}", run.id, labels.join(", "))
    })
}

/// The field's tables of one run, or of several beside one another.
pub(crate) fn write_tables(
    runs: &[Run],
    judging: Judging,
    output: Option<&std::path::Path>,
) -> Result<()> {
    let all: Vec<Analysis<'_>> = runs.iter().map(|run| Analysis::of(run, judging)).collect();
    output::write(output, &rqps_report::post::render(&all))
}

/// How verdicts are reached, as it was typed.
pub(crate) fn judging_of(args: &JudgingArgs) -> Result<Judging> {
    let bound = parse_percent("--bound", &args.bound)?;
    Ok(Judging { bound, allow_busy_host: args.allow_busy_host })
}

/// `5%` or `5` as 0.05; `option` is where it was typed.
pub(crate) fn parse_percent(option: &str, text: &str) -> Result<f64> {
    let number: f64 = text
        .trim()
        .trim_end_matches('%')
        .trim()
        .parse()
        .ok()
        .filter(|n| (0.1..=50.0).contains(n))
        .with_context(|| format!("{option} {text:?} is not a percentage from 0.1% to 50%"))?;
    Ok(number / 100.0)
}

/// A run and what was recorded beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// The run.
    pub(crate) run: &'a Run,
    /// The system that others are compared with, by index.
    pub(crate) base: usize,
    /// Its stack profiles.
    pub(crate) profiles: &'a [StackProfile],
}

/// A run in a format.
pub(crate) fn render(
    Found { run, base, profiles }: Found<'_>,
    format: Format,
    judging: Judging,
    options: TextOptions,
) -> Result<String> {
    if run.steps.is_empty() {
        bail!("run {} has no steps", run.id);
    }
    let analysis = Analysis::of_base(run, base, judging).with_profiles(profiles);
    Ok(render_analysis(&analysis, format, options))
}

/// Keeps how a run came out, for lists of runs: as `rqps serve` reports it. A list without it is no failure.
pub(crate) fn keep_verdicts(store: &Store, run: &Run) {
    if run.steps.is_empty() {
        return;
    }
    let analysis = Analysis::of(run, rqps_stats::DEFAULT_BOUND);
    let verdicts = rqps_serve::verdicts::verdicts_of(&analysis, env!("CARGO_PKG_VERSION"));
    let _ = store.write_verdicts(&run.id, &verdicts);
}

/// What is known of a run, or of several, in a format.
pub(crate) fn render_analysis(
    analysis: &Analysis<'_>,
    format: Format,
    options: TextOptions,
) -> String {
    match format {
        Format::Terminal => rqps_report::text::render(analysis, options),
        Format::Text => rqps_report::post::render(std::slice::from_ref(analysis)),
        Format::Markdown => rqps_report::markdown::render(analysis),
        Format::Csv => rqps_report::csv::render(analysis),
        Format::Json => rqps_report::json::render(analysis),
        Format::Html => rqps_html::render(analysis),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_or_refused() {
        // What the arguments have as their default.
        let default = parse_percent("--bound", "5%").unwrap();
        assert!((default - rqps_stats::DEFAULT_BOUND).abs() < 1e-12);
        assert!((parse_percent("--bound", " 2.5 ").unwrap() - 0.025).abs() < 1e-12);
        for bad in ["", "x", "0", "90%", "-5", "NaN"] {
            assert!(parse_percent("--bound", bad).is_err(), "{bad}");
        }
    }
}
