//! What was read of files, by step and system, and the run that is made of it.

use std::collections::BTreeMap;

use rqps_model::run::SystemStep;
use rqps_model::{
    Dbms, Host, Imported, Label, Placement, Run, RunStatus, RunStep, RunSystem, Schedule, Sizes,
    Slice, Stated, StepInfo, StepOutcome, SystemSource, SystemSpec, Tool, Usage, Windows,
};

use crate::label::LabelParts;
use crate::{Error, Options};

/// Systems as columns, steps as rows.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// The run's name.
    pub(crate) name: String,
    /// Labels of the systems.
    pub(crate) labels: Vec<String>,
    /// By label the DBMS that its files say, which counts where the label does not.
    pub(crate) drivers: BTreeMap<String, Dbms>,
    /// The base that the files name.
    pub(crate) base: Option<String>,
    /// The steps in the files' order.
    pub(crate) steps: Vec<SheetStep>,
    /// What was excluded, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// One row.
#[derive(Debug)]
pub(crate) struct SheetStep {
    pub(crate) info: StepInfo,
    pub(crate) clients: u32,
    /// One per system; `None` where it was not run.
    pub(crate) cells: Vec<Option<Cell>>,
}

/// What a step's own files call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnName {
    /// With the range.
    pub(crate) short: String,
    /// With all that the name of its file says.
    pub(crate) full: String,
    /// The range.
    pub(crate) n: Option<u32>,
}

/// Gives steps of one name, which are several by their files, those of the files.
pub(crate) fn tell_apart(steps: &mut [SheetStep], own_names: &[OwnName]) {
    let choices: [fn(&OwnName) -> &String; 2] = [|own| &own.short, |own| &own.full];
    for choose in choices {
        let names: Vec<(String, u32)> =
            steps.iter().map(|step| (step.info.name.clone(), step.clients)).collect();
        for ((step, own), name) in steps.iter_mut().zip(own_names).zip(&names) {
            if names.iter().filter(|other| *other == name).count() > 1 {
                step.info.name = choose(own).clone();
                step.info.n = own.n;
            }
        }
    }
}

/// One step on one system.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) slice: Slice,
    pub(crate) sizes: Sizes,
}

impl From<Slice> for Cell {
    fn from(slice: Slice) -> Self {
        Self { slice, sizes: Sizes::default() }
    }
}

/// A note on what was not taken over.
pub(crate) fn note(problem: &Error) -> String {
    format!("Not imported: {}.", problem.sentence())
}

impl Sheet {
    /// The run, whose id is still to be given.
    pub(crate) fn into_run(self, tool: Tool, options: &Options) -> Result<Run, Error> {
        let base = self.base_idx(options)?;
        let systems: Result<Vec<RunSystem>, Error> =
            self.labels.iter().map(|label| self.system(label, options)).collect();
        let hostname = options.host.clone().unwrap_or_else(|| Imported::UNKNOWN_HOST.to_owned());
        let host = Host { hostname, ..Host::default() };
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let plan =
            format!("[import]\ntool = \"{tool}\"\nsource = \"{}\"\n", quoted(&options.source));
        let (source, notes) = (options.source.clone(), self.notes);
        Ok(Run {
            id: String::new(),
            name: self.name,
            status: RunStatus::Finished,
            started_unix_ms: options.at_unix_ms,
            finished_unix_ms: Some(options.at_unix_ms),
            n_resumed: 0,
            rqps_version: options.rqps_version.clone(),
            command_line: options.command_line.clone(),
            plan,
            seed: 0,
            schedule: Schedule::Sequential { slices: 1 },
            host,
            imported: Some(Imported { tool, source, notes }),
            calibration: None,
            warnings: Vec::new(),
            base,
            systems: systems?,
            steps: self.steps.into_iter().map(step).collect(),
        })
    }

    /// The base: what the user says, else what the files say, else the first system.
    fn base_idx(&self, options: &Options) -> Result<usize, Error> {
        let Some(wanted) = options.base.as_ref().or(self.base.as_ref()) else { return Ok(0) };
        let at = self.labels.iter().position(|label| label == wanted);
        at.ok_or_else(|| Error::NoSuchBase { label: wanted.clone(), known: self.labels.join(", ") })
    }

    fn system(&self, label: &str, options: &Options) -> Result<RunSystem, Error> {
        // A log that does not say it is of what all others say, where these agree.
        let mut said = self.drivers.values().copied();
        let of_all = said.next().filter(|first| said.all(|dbms| dbms == *first));
        let own = self.drivers.get(label).copied();
        let fallback = options.dbms.or(own).or(of_all);
        let parts = LabelParts::of(label, fallback)
            .ok_or_else(|| Error::UnknownDbms { label: label.to_owned() })?;
        let LabelParts { dbms, version, config } = parts;
        Ok(RunSystem {
            version_text: version.as_ref().map_or_else(String::new, ToString::to_string),
            version,
            origin: format!("imported from {}", options.source),
            ..RunSystem::new(SystemSpec {
                config,
                ..SystemSpec::new(Label(label.to_owned()), dbms, SystemSource::Imported)
            })
        })
    }
}

fn step(step: SheetStep) -> RunStep {
    let SheetStep { info, clients, cells } = step;
    let systems = cells.into_iter().map(|cell| match cell {
        None => SystemStep::pending(),
        Some(Cell { slice, sizes }) => SystemStep {
            outcome: StepOutcome::Done,
            slices: vec![slice],
            sizes,
            ..SystemStep::pending()
        },
    });
    RunStep { info, clients, placement: Placement::Free, start: 0, systems: systems.collect() }
}

/// A slice of which nothing is known but what a file states.
pub(crate) fn slice(stated: Stated) -> Slice {
    Slice {
        idx: 0,
        start: 0,
        load: 0,
        n_rounds: None,
        start_unix_ms: 0,
        duration_ns: 0,
        seed: 0,
        n_events: 0,
        n_queries: 0,
        n_operations: 0,
        n_rows: 0,
        errors: Vec::new(),
        lateness: None,
        windows: Windows::default(),
        series: Vec::new(),
        response_times: Vec::new(),
        usage: Usage::default(),
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: None,
        counters: BTreeMap::new(),
        stated: Some(stated),
    }
}
