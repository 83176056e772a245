//! `rqps profile`: a run of some steps whose stacks are recorded, and the pages with their graphs.

use std::process::ExitCode;

use anyhow::Result;
use rqps_runner::PlanFile;
use rqps_runner::plan::{COMMAND_LINE, ChosenFile, ProfilingFile};

use crate::Surroundings;
use crate::args::ProfileArgs;
use crate::run::carry_out;
use crate::typed::{apply, read_plan, system_of};

/// Carries out `rqps profile ...`.
pub(crate) fn run(args: &ProfileArgs, around: &Surroundings) -> Result<ExitCode> {
    let (mut file, origin) = match &args.plan {
        Some(path) => read_plan(path, "")?,
        None => {
            let system = args.systems().map(system_of).collect::<Result<Vec<_>>>()?;
            (PlanFile { system, ..PlanFile::default() }, COMMAND_LINE.to_owned())
        }
    };
    let run = args.run();
    apply(&run, &mut file)?;
    let chosen = ChosenFile { steps: Some(args.steps.clone()), seconds: args.seconds };
    file.profile = Some(ProfilingFile::Chosen(chosen));
    Ok(carry_out(file.resolve(&origin, &around.catalogue)?, &run, around)?.code())
}
