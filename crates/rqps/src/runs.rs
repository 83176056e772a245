//! `rqps runs`: the results store.

mod archive;

use anyhow::{Context as _, Result, bail};
use rqps_export::archive::Extent;
use rqps_model::Run;
use rqps_runner::{Environment, Leftover};
use rqps_store::{RunRef, RunSummary, Store, Tag, Verified};

use crate::args::RunsCommand;
use crate::fit::one_line;
use crate::output::{print, say, table};
use crate::{Surroundings, complain};

/// Carries out `rqps runs ...`.
pub(crate) fn run(store: &Store, command: &RunsCommand, around: &Surroundings) -> Result<()> {
    match command {
        RunsCommand::List { json } => list(store, *json),
        RunsCommand::Show { run, json } => show(store, run, *json),
        RunsCommand::Export { run, output, format, small } => {
            let extent = if *small { Extent::Small } else { Extent::Whole };
            archive::export(store, run, *format, extent, output.as_deref())
        }
        RunsCommand::Import { files } => archive::import(store, files),
        RunsCommand::Verify { json } => verify(store, *json),
        RunsCommand::Rm { runs } => {
            for id in to_remove(store, runs)? {
                let id = remove(store, &id, &around.environment(), &mut |left| match &left.kept {
                    None => say(&format!("removed {}\n", left.dir.display())).unwrap_or_default(),
                    Some(_) => tell_kept(left),
                })?;
                say(&format!("removed {id}\n"))?;
            }
            Ok(())
        }
        RunsCommand::Tag { run, tags, remove, note } => {
            tag(store, run, tags, remove, note.as_deref())
        }
    }
}

/// The runs that are to be removed, all known before the first goes. The beginning of a name is not enough: when the run of
/// that name is gone, it would be another's.
fn to_remove(store: &Store, runs: &[String]) -> Result<Vec<String>> {
    let known = store.list_runs()?;
    let mut ids: Vec<String> = Vec::new();
    for run in runs {
        let is_named = |own: &RunSummary| own.id.starts_with(run.as_str()) || own.name == *run;
        if run != "latest" && !known.iter().any(is_named) {
            bail!(
                "no run has the id or the name {run:?}; give an id, its beginning, or a whole name, as `rqps runs list` shows them"
            );
        }
        let id = store.resolve(&run.parse::<RunRef>().unwrap_or_default())?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Says which of a run's data could not be removed.
fn tell_kept(left: &Leftover) {
    if let Some(error) = &left.kept {
        complain(&format!("warning: {} was not removed: {error}", left.dir.display()));
    }
}

/// Removes a run and the data that its servers left, should it have been killed; `tell` hears of these.
/// Gives the run's id.
fn remove(
    store: &Store,
    run: &str,
    environment: &Environment,
    tell: &mut dyn FnMut(&Leftover),
) -> Result<String> {
    let id = store.resolve(&run.parse::<RunRef>().unwrap_or_default())?;
    let lock = store.lock_run(&id)?;
    rqps_runner::remove_data(&id, &lock, environment).iter().for_each(tell);
    // It takes the lock itself.
    drop(lock);
    Ok(store.remove_run(&RunRef::Id(id))?)
}

/// Changes the tags and the note of a run, and says how they are then.
fn tag(
    store: &Store,
    run: &str,
    added: &[String],
    removed: &[String],
    note: Option<&str>,
) -> Result<()> {
    let id = store.resolve(&run.parse::<RunRef>().unwrap_or_default())?;
    let parse =
        |tags: &[String]| tags.iter().map(|tag| tag.parse()).collect::<Result<Vec<Tag>, _>>();
    // All are sound before one is stored.
    let (added, removed) = (parse(added)?, parse(removed)?);
    if let Some(note) = note {
        store.set_note(&id, note)?;
    }
    removed.iter().try_for_each(|tag| store.remove_tag(&id, tag))?;
    added.iter().try_for_each(|tag| store.add_tag(&id, tag))?;
    let tags = store.list_tags(&id)?;
    let tags = if tags.is_empty() { "no tags".to_owned() } else { tags.join(" ") };
    say(&format!("{}\n", one_line(&format!("{id}  {tags}"))))?;
    match store.select_note(&id)? {
        Some(note) => say(&format!("{note}\n")),
        None => Ok(()),
    }
}

/// Says what is damaged or missing; with anything of that an error, so that a script sees it.
fn verify(store: &Store, json: bool) -> Result<()> {
    let Verified { n_runs, n_slices, problems, notes } = store.verify()?;
    if json {
        let found = serde_json::json!({
            "runs": n_runs, "slices": n_slices, "problems": problems, "notes": notes,
        });
        let text = serde_json::to_string_pretty(&found).context("write what was found as JSON")?;
        print(&format!("{text}\n"))?;
    } else {
        for problem in &problems {
            say(&format!("problem: {}\n", one_line(problem)))?;
        }
        for note in &notes {
            say(&format!("note: {}\n", one_line(note)))?;
        }
        print(&format!("{n_runs} runs with {n_slices} slices were read\n"))?;
    }
    match problems.len() {
        0 => Ok(()),
        n => bail!("{} is damaged: {n} problems", store.path().display()),
    }
}

fn list(store: &Store, json: bool) -> Result<()> {
    let runs = store.list_runs()?;
    if json {
        let text = serde_json::to_string_pretty(&runs).context("write the list as JSON")?;
        return print(&format!("{text}\n"));
    }
    if runs.is_empty() {
        return print("no runs yet: start one with `rqps run PLAN.toml`\n");
    }
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            vec![
                run.id.clone(),
                run.imported.map_or(run.status.to_string(), |_| "imported".to_owned()),
                format!("{}/{}", run.n_done, run.n_steps),
                run.systems.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            ]
        })
        .collect();
    print(&table(&["run", "status", "steps", "systems"], &rows))
}

fn show(store: &Store, run: &str, json: bool) -> Result<()> {
    let run = store.select_run(&run.parse::<RunRef>().unwrap_or_default())?;
    if json {
        let text = serde_json::to_string_pretty(&run).context("write the run as JSON")?;
        return print(&format!("{text}\n"));
    }
    let mut text = head(&run);
    let rows: Vec<Vec<String>> = run
        .steps
        .iter()
        .map(|step| {
            let states = step.systems.iter().map(|s| match &s.outcome {
                rqps_model::StepOutcome::Pending => "pending".to_owned(),
                rqps_model::StepOutcome::Done => match s.slices.len() {
                    1 => "1 slice".to_owned(),
                    n => format!("{n} slices"),
                },
                rqps_model::StepOutcome::Failed { .. } => "failed".to_owned(),
            });
            let mut row = vec![step.info.name.clone(), step.clients.to_string()];
            row.extend(states);
            row
        })
        .collect();
    let labels: Vec<&str> = run.systems.iter().map(|s| s.spec.label.as_str()).collect();
    let headings: Vec<&str> = ["step", "clients"].into_iter().chain(labels).collect();
    text.push('\n');
    text.push_str(&table(&headings, &rows));
    text.push_str("\nplan\n");
    text.push_str(&run.plan);
    say(&text)
}

/// What a run is, a line for each thing.
fn head(run: &Run) -> String {
    let host = &run.host;
    let mut lines = vec![("run", run.id.clone()), ("name", run.name.clone())];
    match &run.imported {
        Some(imported) => lines.extend([
            ("imported", imported.source.clone()),
            ("files of", imported.tool.to_string()),
            ("command", rqps_report::command::line(&run.command_line)),
            ("host", host.hostname.clone()),
        ]),
        None => lines.extend([
            ("status", run.status.to_string()),
            ("command", rqps_report::command::line(&run.command_line)),
            ("seed", run.seed.to_string()),
            (
                "host",
                format!(
                    "{}, {}, {} CPUs, {}",
                    host.hostname, host.kernel, host.n_cpus, host.cpu_model
                ),
            ),
        ]),
    }
    for system in &run.systems {
        let (label, version, origin) = (&system.spec.label, &system.version_text, &system.origin);
        lines.push(("system", format!("{label}  {version}  {origin}")));
    }
    lines.iter().map(|(what, text)| format!("{what:11}{}\n", one_line(text))).collect()
}
