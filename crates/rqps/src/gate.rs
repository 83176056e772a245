//! `rqps gate`: an exit code, a table and files for CI.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use rqps_report::Analysis;
use rqps_report::gate::{self, Gate, Passage};
use rqps_store::{RunRef, Store};

use crate::args::{GateArgs, GateFormat};
use crate::output::{print, text_width};
use crate::patterns::Patterns;
use crate::report::parse_percent;
use crate::{Surroundings, complain};

/// Carries out `rqps gate ...`: 0 passed, 1 slower, 2 no judgement.
pub(crate) fn run(args: &GateArgs, around: &Surroundings) -> Result<ExitCode> {
    let bound = parse_percent("--max-slowdown", &args.max_slowdown)?;
    let store = Store::open_existing(&around.results)?;
    let run = store.select_run(&args.run.parse::<RunRef>().unwrap_or_default())?;
    let steps = Patterns::new(&args.steps);
    steps.check_steps("--steps", [&run])?;
    let analysis = Analysis::of(&run, bound);
    let gate = Gate::of(&analysis, args.allow_unfinished, |step| steps.takes_step(step))?;
    if let Some(path) = &args.junit {
        let text = gate::junit::render(&gate);
        fs::write(path, text).with_context(|| format!("write {}", path.display()))?;
    }
    print(&match args.format {
        GateFormat::Text => gate::text::render(&gate, around.colour, text_width()),
        GateFormat::Markdown => gate::markdown::render(&gate),
        GateFormat::Json => gate::json::render(&gate),
    })?;
    for error in gate.errors() {
        complain(&format!("error: {error}"));
    }
    Ok(match gate.passage() {
        Passage::Passed => ExitCode::SUCCESS,
        Passage::Slower => ExitCode::from(1),
        Passage::Error => ExitCode::from(2),
    })
}
