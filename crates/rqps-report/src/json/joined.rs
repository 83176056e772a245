//! The fields of the JSON report that only several runs in one report have.

use std::collections::BTreeMap;

use rqps_model::{RunStatus, Schedule};
use serde::Serialize;

use super::host::HostJson;
use crate::{command, conditions};
use rqps_analysis::join::{Joined, Source};
use rqps_model::warning::DifferentCondition;
use rqps_text::number;

/// The runs, and what is not the same in all of them.
#[derive(Serialize)]
pub(super) struct JoinedJson<'a> {
    runs: Vec<SourceJson<'a>>,
    differences: Vec<ConditionJson<'a>>,
}

#[derive(Serialize)]
struct SourceJson<'a> {
    id: &'a str,
    name: &'a str,
    status: RunStatus,
    started: String,
    started_unix_ms: i64,
    schedule: Option<Schedule>,
    host: HostJson<'a>,
    command_line: String,
    seed: String,
    plan: &'a str,
}

#[derive(Serialize)]
struct ConditionJson<'a> {
    topic: &'static str,
    name: String,
    /// By the runs' ids.
    values: BTreeMap<&'a str, Option<String>>,
}

impl<'a> JoinedJson<'a> {
    pub(super) fn of(joined: &'a Joined) -> Self {
        let condition = |c: &'a DifferentCondition| ConditionJson {
            topic: c.condition.topic().key(),
            name: conditions::name(&c.condition),
            values: joined
                .sources
                .iter()
                .zip(&c.values)
                .map(|(source, value)| (source.id.as_str(), value.as_ref().map(conditions::value)))
                .collect(),
        };
        Self {
            runs: joined.sources.iter().map(source).collect(),
            differences: joined.conditions.iter().map(condition).collect(),
        }
    }
}

fn source(source: &Source) -> SourceJson<'_> {
    let Source {
        id,
        name,
        status,
        started_unix_ms,
        host,
        schedule,
        n_starts: _,
        plan,
        command_line,
        rqps_version: _,
        seed,
        imported,
        calibration: _,
    } = source;
    SourceJson {
        id,
        name,
        status: *status,
        started: number::utc(*started_unix_ms),
        started_unix_ms: *started_unix_ms,
        schedule: imported.is_none().then_some(*schedule),
        host: HostJson::of(host),
        command_line: command::line(command_line),
        seed: seed.to_string(),
        plan,
    }
}
