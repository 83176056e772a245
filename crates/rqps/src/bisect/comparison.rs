//! Culprits beside the commits before them: why they changed the speed.

use std::process::ExitCode;

use anyhow::Result;
use rqps_analysis::{Analysis, Cell, StepAnalysis};
use rqps_bisect::{Culprits, GapProbability};
use rqps_html::search::Comparison;
use rqps_model::Run;
use rqps_report::headline;
use rqps_store::Store;
use rqps_text::number::ratio_with_interval;

use super::page::Page;
use super::{Hunt, told};
use crate::commit_plans::{finished_runs, is_of};
use crate::run::carry_out;

/// Measures each culprit beside the commit before it, with stacks: 0 when all was measured, else 2.
pub(super) fn measure_all(hunt: &Hunt<'_>, known: &Culprits, page: &mut Page) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for GapProbability { gap, .. } in &known.named {
        let places = [gap.first - 1, gap.last];
        let (run, is_whole) = measure(hunt, &places)?;
        if !is_whole {
            code = ExitCode::from(2);
        }
        page.add(of_run(&run, hunt, &places));
    }
    Ok(code)
}

/// The run that compares two commits, and whether it measured all.
fn measure(hunt: &Hunt<'_>, places: &[usize; 2]) -> Result<(Run, bool)> {
    let [before, commit] = places.map(|place| &hunt.range.commits[place]);
    let plan = || hunt.range.profiled(places, hunt.around);
    let store = Store::open(&hunt.around.results)?;
    if !hunt.args.new {
        for run in finished_runs(&store, hunt.range.name())? {
            if is_of(&run, plan()?, &store, hunt.around)? {
                told::compared(&run, commit, before)?;
                return Ok((run, true));
            }
        }
    }
    drop(store);
    hunt.note(&format!("compare {} with {}, with stacks", commit.short(), before.short()));
    let ended = carry_out(plan()?, &hunt.args.run(), hunt.around)?;
    Ok((ended.run, ended.is_whole))
}

/// What a run says of a culprit and the commit before it, on the steps that are searched.
fn of_run(run: &Run, hunt: &Hunt<'_>, places: &[usize; 2]) -> Comparison {
    let analysis = Analysis::of(run, hunt.judging);
    let steps = hunt.steps();
    let of_step = |step: &StepAnalysis<'_>| {
        let ratio = step.cells.iter().find_map(Cell::rqps)?;
        Some(format!("{}: rQPS {}.", step.title, ratio_with_interval(&ratio)))
    };
    let searched = analysis.steps.iter().filter(|step| steps.contains(&step.title.as_str()));
    let causes = analysis.headlines.iter().flat_map(|own| headline::causes(&analysis, own));
    let mut sentences: Vec<String> =
        searched.filter_map(of_step).chain(causes.map(|cause| format!("Cause: {cause}"))).collect();
    if sentences.is_empty() {
        sentences
            .push("They could not be compared on these steps; the report says why.".to_owned());
    }
    let [before, commit] = places.map(|place| hunt.range.commits[place].short().to_owned());
    let has_page = hunt.around.results.join(format!("{}.html", run.id)).exists();
    Comparison { commit, before, run_id: run.id.clone(), has_page, sentences }
}
