//! `rqps suites`: what suites there are and what they are made of.

use anyhow::{Result, bail};
use rqps_model::StepKind;
use rqps_workload::Suite;

use crate::args::SuitesCommand;
use crate::output::{print, table};

/// Carries out `rqps suites ...`.
pub(crate) fn run(command: &SuitesCommand) -> Result<()> {
    match command {
        SuitesCommand::List { json } => {
            let suite = Suite::sysbench()?;
            if *json {
                let list = serde_json::json!([{ "name": "sysbench", "steps": suite.steps.len() }]);
                return print(&format!("{list:#}\n"));
            }
            let row = ["sysbench", "the sysbench microbenchmarks"].map(str::to_owned);
            let row = [row.to_vec(), vec![suite.steps.len().to_string()]].concat();
            print(&table(&["suite", "what", "steps"], &[row]))
        }
        SuitesCommand::Show { suite, steps } => {
            if suite != "sysbench" {
                bail!("unknown suite {suite:?} (known: sysbench)");
            }
            if !steps {
                return print(Suite::SYSBENCH_TOML);
            }
            let suite = Suite::sysbench()?;
            let rows: Vec<Vec<String>> = suite
                .steps
                .iter()
                .map(|step| {
                    let short = match step.short {
                        rqps_workload::Short::No => "",
                        rqps_workload::Short::Figure => "figure",
                        rqps_workload::Short::Run => "run",
                    };
                    vec![
                        step.name.clone(),
                        kind_word(step.kind).to_owned(),
                        step.group.title().to_owned(),
                        short.to_owned(),
                    ]
                })
                .collect();
            print(&table(&["step", "kind", "group", "short form"], &rows))
        }
    }
}

fn kind_word(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Load => "load",
        StepKind::Read => "read",
        StepKind::Write => "write",
        StepKind::Insert => "insert",
        StepKind::WarmUp => "warm-up",
    }
}
