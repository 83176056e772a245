//! Suites and schedules as meant: numbers within their bounds, words that are known.

use std::time::Duration;

use rqps_model::{Placement, Schedule};
use rqps_workload::{Form, Size, SuiteError};

use super::{DEFAULT_SLICES, Refusal, ScheduleFile, SuiteFile, SuitePlan};

/// Slowest and fastest set rate, events per second. Slower than one event in 1000 s is no load; with
/// more than one per nanosecond the starts can no longer be told apart nor the missed ones counted.
const MIN_RATE: f64 = 0.001;
const MAX_RATE: f64 = 1e9;

/// Longest slice or warm-up, s: a week. What is longer is a slip of the pen.
const MAX_SECONDS: f64 = 604_800.0;

impl SuiteFile {
    pub(super) fn resolve(&self) -> Result<SuitePlan, Refusal> {
        let size: Size = match &self.size {
            Some(word) => word.parse().map_err(|e| (format!("{e}"), "write one of them".into()))?,
            None => Size::Small,
        };
        let form = match self.form.as_deref() {
            None | Some("short") => Form::Short,
            Some("full") => Form::Full,
            Some(other) => {
                let what = format!("form {other:?} is not known");
                return Err((what, "write \"short\" or \"full\"".to_owned()));
            }
        };
        let mut args = size.args();
        if let Some(tables) = self.tables {
            args.tables = tables;
        }
        if let Some(rows) = self.rows {
            args.rows = rows;
        }
        if let Some(clients) = &self.clients {
            args.clients.clone_from(clients);
        }
        let seconds = &self.seconds;
        let times = &mut args.times;
        for (key, written, target) in [
            ("read", seconds.read, &mut times.read),
            ("write", seconds.write, &mut times.write),
            ("insert", seconds.insert, &mut times.insert),
            ("warm_up", seconds.warm_up, &mut times.warm_up),
            ("fixed_at_most", seconds.fixed_at_most, &mut times.fixed_at_most),
        ] {
            if let Some(value) = written {
                let within = Some(value).filter(|v| (0.0..=MAX_SECONDS).contains(v));
                let time = within.and_then(|v| Duration::try_from_secs_f64(v).ok());
                *target = time.ok_or_else(|| {
                    let what = format!("seconds.{key} = {value:?} is no time");
                    (what, format!("write a number of seconds, 0 to {MAX_SECONDS}"))
                })?;
            }
        }
        args.check().map_err(|error| match error {
            SuiteError::Argument { key, value, remedy } => (format!("{key} = {value}"), remedy),
            other => (other.to_string(), "see `rqps suites show sysbench`".to_owned()),
        })?;
        if let Some(rate) = self.rate
            && !(MIN_RATE..=MAX_RATE).contains(&rate)
        {
            let what = format!("rate = {rate:?} is no number of events per second");
            let remedy = format!("write {MIN_RATE} to {MAX_RATE}, or leave it out");
            return Err((what, remedy));
        }
        Ok(SuitePlan {
            name: self.name.clone(),
            kind: self.kind.clone().unwrap_or_else(|| "sysbench".to_owned()),
            form,
            steps: self.steps.clone().unwrap_or_default(),
            args,
            rate: self.rate,
        })
    }
}

impl ScheduleFile {
    pub(super) fn resolve(&self) -> Result<(Schedule, Placement), Refusal> {
        match self.mode.as_deref() {
            None | Some("sequential") => {}
            Some(other) => {
                return Err((
                    format!("schedule mode {other:?} is not known"),
                    "write mode = \"sequential\", or leave it out".to_owned(),
                ));
            }
        }
        let slices = self.slices.unwrap_or(DEFAULT_SLICES);
        if !(1..=1000).contains(&slices) {
            return Err((format!("slices = {slices} is out of range"), "write 1 to 1000".into()));
        }
        let placement = match &self.placement {
            Some(word) => word.parse().map_err(|e| (format!("{e}"), "write one of them".into()))?,
            None => Placement::Auto,
        };
        Ok((Schedule::Sequential { slices }, placement))
    }
}
