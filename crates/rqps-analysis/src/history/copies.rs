//! Copies of one measurement in several imported runs, which count once: groups of one folder share
//! systems, and a folder may be imported again.

use std::collections::BTreeSet;

use rqps_model::Run;

use super::step_key::{StepKey, key};
use super::{Because, LeftOut};

/// A figure of an imported run.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stated {
    step: StepKey,
    label: String,
    /// The bits of the figure: copies have its very digits.
    figure: u64,
}

/// The figures of a run; none of a run that rqps measured.
fn stated(run: &Run) -> BTreeSet<Stated> {
    let mut found = BTreeSet::new();
    for step in run.steps.iter().filter(|_| run.imported.is_some()) {
        for (idx, system) in run.systems.iter().enumerate() {
            let figure = figure(run, step, idx);
            let label = system.spec.label.0.clone();
            found.extend(figure.map(|figure| Stated { step: key(step), label, figure }));
        }
    }
    found
}

fn figure(run: &Run, step: &rqps_model::RunStep, idx: usize) -> Option<u64> {
    run.imported.as_ref()?;
    let slice = step.systems.get(idx)?.slices.first()?;
    Some(slice.stated.as_ref()?.figure?.to_bits())
}

/// As many figures of a run are not those of another night by chance. One or two may be: tables state whole numbers.
const FIGURES_OF_A_COPY: usize = 3;

/// Whether two imported runs are of one time, as groups of one folder are.
fn are_of_one_time(a: &Run, b: &Run) -> bool {
    a.imported.is_some() && b.imported.is_some() && a.started_unix_ms == b.started_unix_ms
}

/// Whether two imported runs are of one folder, which may have other files each night.
fn are_of_one_folder(a: &Run, b: &Run) -> bool {
    let sources = a.imported.as_ref().zip(b.imported.as_ref());
    sources.is_some_and(|(of_a, of_b)| of_a.source == of_b.source)
}

/// Leaves out the runs all of whose figures another run has.
pub(super) fn leave_out_runs(runs: &mut Vec<Run>, left_out: &mut Vec<LeftOut>) {
    let of_runs: Vec<BTreeSet<Stated>> = runs.iter().map(stated).collect();
    let mut whole: Vec<Option<String>> = Vec::new();
    for (at, own) in of_runs.iter().enumerate() {
        let has_all = |&(other_at, other): &(usize, &BTreeSet<Stated>)| {
            let is_first = own.len() < other.len() || other_at < at;
            let (run, other_run) = (&runs[at], &runs[other_at]);
            let may_share = are_of_one_time(run, other_run)
                || (own.len() >= FIGURES_OF_A_COPY && are_of_one_folder(run, other_run));
            is_first && may_share && own.is_subset(other)
        };
        let mut others = of_runs.iter().enumerate().filter(|(other, _)| *other != at);
        let found = others.find(has_all).filter(|_| !own.is_empty());
        whole.push(found.map(|(other, _)| runs[other].id.clone()));
    }
    let mut whole = whole.into_iter();
    runs.retain(|run| {
        let Some(other) = whole.next().flatten() else { return true };
        let because = Because::Copied { run_id: other };
        left_out.push(LeftOut { run_id: run.id.clone(), what: Vec::new(), because });
        false
    });
}

/// Whether the step of one run has the same figure of a system as that of another run.
pub(super) fn is_copy(step: &StepKey, label: &str, of: [&Run; 2]) -> bool {
    let figure = |run: &Run| {
        let step = run.steps.iter().find(|own| key(own) == *step)?;
        let idx = run.systems.iter().position(|system| system.spec.label.as_str() == label)?;
        figure(run, step, idx)
    };
    let [a, b] = of;
    are_of_one_time(a, b) && figure(a).is_some() && figure(a) == figure(b)
}
