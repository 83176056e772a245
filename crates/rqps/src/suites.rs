//! `rqps suites`: what suites there are and what they are made of.

use anyhow::{Result, bail};
use rqps_model::UnknownWord;
use rqps_workload::insert::{self, InsertSize};
use rqps_workload::kind::kind_name;
use rqps_workload::{InsertStep, Size, Suite};

use crate::args::SuitesCommand;
use crate::output::{print, table};

/// Carries out `rqps suites ...`.
pub(crate) fn run(command: &SuitesCommand) -> Result<()> {
    match command {
        SuitesCommand::List { json } => {
            let suites = [
                ("sysbench", "the sysbench microbenchmarks", Suite::sysbench()?.steps.len()),
                ("insert", "the Insert Benchmark", insert_steps().len()),
            ];
            if *json {
                let list: Vec<_> = suites
                    .iter()
                    .map(|(name, _, n)| serde_json::json!({ "name": name, "steps": n }))
                    .collect();
                return print(&format!("{:#}\n", serde_json::Value::from(list)));
            }
            let rows =
                suites.map(|(name, what, n)| vec![name.to_owned(), what.to_owned(), n.to_string()]);
            print(&table(&["suite", "what", "steps"], &rows))
        }
        SuitesCommand::Show { suite, steps } => {
            if suite == "insert" {
                let args = InsertSize::args(Size::Tiny);
                let rows: Vec<Vec<String>> = insert_steps()
                    .iter()
                    .map(|step| {
                        let info = step.info(&args);
                        vec![info.name, kind_name(info.kind).to_owned(), info.what]
                    })
                    .collect();
                let heading = "with the arguments of size \"tiny\"";
                return print(&table(&["step", "kind", heading], &rows));
            }
            if suite != "sysbench" {
                let known = "sysbench, insert";
                let error = UnknownWord { what: "suite", value: suite.clone(), known };
                bail!("{error}; {}", error.remedy());
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
                        kind_name(step.kind).to_owned(),
                        step.group.title().to_owned(),
                        short.to_owned(),
                    ]
                })
                .collect();
            print(&table(&["step", "kind", "group", "short form"], &rows))
        }
    }
}

fn insert_steps() -> Vec<InsertStep> {
    insert::steps(&InsertSize::args(Size::Tiny))
}
