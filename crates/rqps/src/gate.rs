//! `rqps gate`: an exit code, a table and files for CI.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use rqps_analysis::gate::{Gate, Passage};
use rqps_analysis::{Analysis, Judging};
use rqps_report::gate;

use crate::args::{Cli, Command, GateArgs, GateFormat};
use crate::opened::Opened;
use crate::output::{print, text_width};
use crate::patterns::Patterns;
use crate::report::parse_percent;
use crate::{Surroundings, complain};

/// What is said of a run.
struct Answer {
    /// On standard output.
    text: String,
    /// In the JUnit file.
    junit: String,
    /// On standard error.
    errors: Vec<String>,
    passage: Passage,
}

/// Carries out `rqps gate ...`: 0 passed, 1 slower, 2 no judgement.
pub(crate) fn run(args: &GateArgs, around: &Surroundings) -> Result<ExitCode> {
    let answer = judge(args, around);
    // Without a judgement the file says so: CI would else read that of the job before.
    let written = args.junit.as_ref().map_or(Ok(()), |path| {
        let text = match &answer {
            Ok(answer) => answer.junit.clone(),
            Err(error) => gate::junit::of_error(&format!("{error:#}")),
        };
        fs::write(path, text).with_context(|| format!("write {}", path.display()))
    });
    let answer = answer?;
    written?;
    print(&answer.text)?;
    for error in &answer.errors {
        complain(&format!("error: {error}"));
    }
    Ok(match answer.passage {
        Passage::Passed => ExitCode::SUCCESS,
        Passage::Slower => ExitCode::from(1),
        Passage::Error => ExitCode::from(2),
    })
}

/// Says in the JUnit file that there is no judgement, when a gate does not come to it.
pub(crate) fn refused(cli: &Cli, error: &anyhow::Error) {
    if let Command::Gate(GateArgs { junit: Some(path), .. }) = &cli.command {
        // What went wrong is told on the terminal as well.
        let _ = fs::write(path, gate::junit::of_error(&format!("{error:#}")));
    }
}

fn judge(args: &GateArgs, around: &Surroundings) -> Result<Answer> {
    let bound = parse_percent("--max-slowdown", &args.max_slowdown)?;
    let opened = Opened::of(&args.run, around)?;
    let run = opened.store().select_run(opened.run())?;
    around.go_on()?;
    let steps = Patterns::new(&args.steps);
    steps.check_steps("--steps", [&run])?;
    let judging = Judging { bound, allow_busy_host: args.allow_busy_host };
    let analysis = Analysis::of(&run, judging);
    around.go_on()?;
    let gate = Gate::of(&analysis, args.allow_unfinished, |step, _| steps.takes_step(step))?;
    Ok(Answer {
        text: match args.format {
            GateFormat::Text => gate::text::render(&gate, around.colour, text_width()),
            GateFormat::Markdown => gate::markdown::render(&gate),
            GateFormat::Json => gate::json::render(&gate),
        },
        junit: gate::junit::render(&gate),
        errors: gate::errors(&gate),
        passage: gate.passage(),
    })
}
