//! `rqps history`: series of QPS over runs or versions, and where they change.

use anyhow::{Result, bail};
use rqps_analysis::history::{Because, Choice, History, HistoryError, Order};
use rqps_model::Run;
use rqps_report::history;
use rqps_store::{Error, RunRef, Store};

use crate::args::{HistoryArgs, HistoryFormat, HistoryOrder};
use crate::output::{text_width, write};
use crate::patterns::Patterns;
use crate::{Surroundings, complain};

/// Carries out `rqps history ...`.
pub(crate) fn run(args: &HistoryArgs, around: &Surroundings) -> Result<()> {
    let format = HistoryFormat::of(args.format, args.output.as_deref())?;
    let store = Store::open_existing(&around.results)?;
    let runs = select(args, &store)?;
    if runs.is_empty() {
        bail!("no runs yet: start one with `rqps run PLAN.toml`");
    }
    let (steps, systems) = (Patterns::new(&args.steps), Patterns::new(&args.system));
    steps.check_steps("--steps", &runs)?;
    systems.check_systems("--system", &runs)?;
    let choice = Choice {
        order: args.by.map(|by| match by {
            HistoryOrder::Version => Order::Version,
            HistoryOrder::Time => Order::Time,
        }),
        all_hosts: args.all_hosts,
        step: &|step| steps.takes_step(step),
        system: &|system| systems.takes_system(system),
    };
    let history = History::of(runs, choice).map_err(|error| {
        let HistoryError::Nothing { left_out, .. } = &error;
        let of_step = left_out.iter().filter(|one| one.because != Because::NothingFinished);
        let excluded = history::words::left_out(&of_step.cloned().collect::<Vec<_>>());
        anyhow::anyhow!("{}", [vec![error.to_string()], excluded].concat().join("\n"))
    })?;
    let colour = around.colour && args.output.is_none();
    let text = match format {
        HistoryFormat::Text => history::text::render(&history, colour, text_width()),
        HistoryFormat::Html => rqps_html::history::render(&history),
        HistoryFormat::Json => history::json::render(&history),
        HistoryFormat::Csv => history::csv::render(&history),
    };
    write(args.output.as_deref(), &text)
}

/// The runs that were named, each once, or all that can be read. A name is that of several runs.
fn select(args: &HistoryArgs, store: &Store) -> Result<Vec<Run>> {
    let known = store.list_runs()?;
    let mut ids: Vec<String> = Vec::new();
    for run in &args.runs {
        let of_name: Vec<String> =
            known.iter().filter(|known| known.name == *run).map(|run| run.id.clone()).collect();
        let of = run.parse::<RunRef>().unwrap_or_default();
        if of == RunRef::Latest || of_name.is_empty() || known.iter().any(|own| own.id == *run) {
            ids.push(store.resolve(&of)?);
        } else {
            ids.extend(of_name);
        }
    }
    if args.runs.is_empty() {
        ids = known.into_iter().map(|run| run.id).collect();
    }
    ids.sort_unstable();
    ids.dedup();
    read(ids, store, args.runs.is_empty())
}

/// Runs without what no history needs. Where they were not named, those that cannot be read are told and left out.
pub(crate) fn read(ids: Vec<String>, store: &Store, may_leave_out: bool) -> Result<Vec<Run>> {
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        match store.select_run(&RunRef::Id(id.clone())) {
            Ok(run) => runs.push(slim(run)),
            // Of many runs one is not worth the others; one that was named is what was asked for.
            Err(error @ Error::Sql { .. }) if may_leave_out => {
                let error = anyhow::Error::from(error);
                complain(&format!(
                    "excluded from the history: {error:#}; `rqps runs rm {id}` removes the run"
                ));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(runs)
}

/// A run without what no history needs and what takes most of its memory.
fn slim(mut run: Run) -> Run {
    let systems = run.steps.iter_mut().flat_map(|step| &mut step.systems);
    for slice in systems.flat_map(|system| &mut system.slices) {
        (slice.samples, slice.response_times) = (Vec::new(), Vec::new());
    }
    run
}
