//! Differences in the conditions of the runs of several pairs of columns: a line for each condition.

use rqps_model::{Run, RunStep};

use super::{same, steps};
use crate::conditions::{by_value, name, values};
use rqps_analysis::Analysis;
use rqps_analysis::join::conditions_of;
use rqps_model::warning::{Condition, DifferentCondition, Topic};
use rqps_text::words::{list_in_short, one_line};

/// The lines, none without differences or with one run; `names` are those above the columns.
pub(super) fn lines(hosts: &[Analysis<'_>], names: &[String]) -> Vec<String> {
    if hosts.len() < 2 {
        return Vec::new();
    }
    let runs: Vec<&Run> = hosts.iter().map(|host| host.run).collect();
    let conditions = conditions_of(&runs);
    // Columns that are headed by their hosts say which those are.
    let by_host = runs.iter().zip(names).all(|(run, name)| one_line(&run.host.hostname) == *name);
    let is_told = |of: &DifferentCondition| by_host && of.condition == Condition::Host;
    let line = |of: &DifferentCondition| {
        let values = values(of, names.iter().map(String::as_str));
        format!("differences in {}: {values}", one_line(&name(&of.condition)))
    };
    let mut out: Vec<String> = conditions.iter().filter(|c| !is_told(c)).map(line).collect();
    for (values, titles) in of_steps(hosts, |step| step.placement.to_string()) {
        let known = values.iter().zip(names);
        let known = known.filter_map(|(value, name)| Some((value.clone()?, name.as_str())));
        let values = by_value(known);
        out.push(format!("differences in placement: {values}: {}", list_in_short(&titles)));
    }
    // Where the tables or arguments differ, they have been named; a file that was imported does not know.
    let is_known = conditions.iter().any(|of| of.condition.topic() == Topic::Work)
        || runs.iter().any(|run| run.imported.is_some());
    if !is_known {
        let found = of_steps(hosts, |step| step.info.what.clone());
        let titles: Vec<String> = found.into_iter().flat_map(|(_, titles)| titles).collect();
        if !titles.is_empty() {
            out.push(format!("differences in what the step does: {}", list_in_short(&titles)));
        }
    }
    out
}

/// A value per run, absent where a run lacks the step, and the titles of the steps that have these.
type Found = (Vec<Option<String>>, Vec<String>);

/// The steps whose value is not the same in all runs that have them, those with the same values together.
fn of_steps(hosts: &[Analysis<'_>], value: impl Fn(&RunStep) -> String) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    for (title, key) in steps(hosts) {
        let of_host = |host: &Analysis<'_>| {
            host.steps.iter().find(|step| same(step, &key)).map(|step| value(&step.step))
        };
        let values: Vec<Option<String>> = hosts.iter().map(of_host).collect();
        let mut known = values.iter().flatten();
        let first = known.next();
        if known.all(|other| Some(other) == first) {
            continue;
        }
        let title = one_line(&title);
        match out.iter_mut().find(|(own, _)| *own == values) {
            Some((_, titles)) => titles.push(title),
            None => out.push((values, vec![title])),
        }
    }
    out
}
