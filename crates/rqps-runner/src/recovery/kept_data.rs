//! Data that an attempt at the run has kept when it was broken off: whether they are sound, and how the run
//! is resumed with them.

use crate::journal::warnings::in_words;
use rqps_model::WarningKind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use rqps_model::{StepIdx, StepKind, SystemIdx};
use rqps_server::instance;
use rqps_workload::insert::{MAX_GAP, Schema};
use rqps_workload::populate;
use rqps_workload::statement::table_name;
use rqps_workload::vector::{VectorArgs, VectorSchema};

use super::reuse::are_untouched;
use super::start::{Fate, give_up, log_of_launch, name_of, start_on, start_on_new_data};
use crate::event::Event;
use crate::failure::{BrokenTables, Kept, is_disk_full};
use crate::filled_by::FilledBy;
use crate::insert_tables::Tables;
use crate::journal::Journal;
use crate::plan::steps::{Job, PlannedStep};
use crate::run_context::RunContext;
use crate::side_by_side::on_each;
use crate::system::installation::{Installation, Ready};
use crate::system::{Data, RunningSystem, Start, kept_log, leftover};
use crate::system_state::{Member, SystemState};

/// Whether an error says nothing of the data that a server was to be started on.
fn spares_data(error: &anyhow::Error) -> bool {
    error.downcast_ref::<rqps_server::Error>().is_some_and(rqps_server::Error::spares_data)
}

/// The step that a system is resumed with, and the load whose tables it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resumption {
    load: StepIdx,
    first: StepIdx,
}

/// What a system is resumed with, where there is something to resume: not before a load, nor before indexes, which
/// begin on tables filled again.
pub(super) fn resumes_with(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    system: SystemIdx,
) -> Option<Resumption> {
    let begin = run.first_step();
    let first = journal.first_pending(run.steps_of_launch(), system).filter(|f| *f > begin)?;
    let load = run.filled_by(first).filter(|_| !run.step(first).makes_tables())?;
    Some(Resumption { load, first })
}

/// What is noted on a data directory, where it was noted by rqps.
fn note_on(dir: &Path) -> Option<FilledBy> {
    instance::note_on(dir)?.parse().ok()
}

/// Data of a system that a run can be resumed with, by their note.
struct KeptData {
    dir: PathBuf,
    note: FilledBy,
}

fn kept_data(run: &RunContext<'_>, ready: &Ready, resumption: Resumption) -> Option<KeptData> {
    let Installation::Local(_, _, _, places) = &ready.installation else { return None };
    let dir = places.data.join(name_of(run, ready.system));
    let note = note_on(&dir).filter(|note| note.load == resumption.load)?;
    Some(KeptData { dir, note })
}

/// Starts the servers that go on with their data, all at once.
///
/// # Errors
/// When the host starts no thread.
pub(super) fn begin_on_kept_data(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    ready: &[&Ready],
) -> Result<BTreeMap<SystemIdx, Result<RunningSystem>>> {
    let has_data = |ready: &&&Ready| {
        let resumption = resumes_with(run, journal, ready.system);
        resumption.is_some_and(|resumption| kept_data(run, ready, resumption).is_some())
    };
    let with_data: Vec<&Ready> = ready.iter().filter(has_data).copied().collect();
    if with_data.len() < 2 {
        return Ok(BTreeMap::new());
    }
    for ready in &with_data {
        let label = run.label(ready.system);
        journal.tell(Event::Preparing { label, doing: "start on its data" });
    }
    let (plan, environment) = (run.plan, run.environment);
    /// A server that was started, and what was said meanwhile.
    struct Begun {
        system: SystemIdx,
        up: Result<RunningSystem>,
        notes: Vec<String>,
    }
    let begun = on_each(with_data, |ready| {
        let name = name_of(run, ready.system);
        let how = Start { environment, name: &name, data: Data::Kept };
        let mut notes: Vec<String> = Vec::new();
        let mut listen = |event: Event<'_>| {
            if let Event::Note(text) = event {
                notes.push(text.to_owned());
            }
        };
        let Ready { system, installation } = ready;
        let up = RunningSystem::start(plan, system.0, installation, how, &mut listen);
        Begun { system: *system, up, notes }
    })?;
    let mut out = BTreeMap::new();
    for Begun { system, up, notes } in begun {
        notes.iter().for_each(|note| journal.note(note));
        out.insert(system, up);
    }
    Ok(out)
}

/// Starts a system: on the data that an earlier attempt has kept where the run can be resumed with these,
/// else on new ones.
pub(super) fn start(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    ready: &Ready,
    begun: Option<Result<RunningSystem>>,
) -> Result<RunningSystem> {
    if let Some(up) = start_on_kept_data(run, journal, state, ready, begun)? {
        return Ok(up);
    }
    start_on_new_data(run, journal, state, ready)
}

/// Starts a system on the data that an earlier attempt has kept, where the run can be resumed with them. Where they
/// are not sound, that is stored with the run.
///
/// # Errors
/// What would meet every other system as well, and what keeps the server from sound data ([`Kept`]); tables from the store
/// that are of no use ([`BrokenTables`]).
fn start_on_kept_data(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    ready: &Ready,
    begun: Option<Result<RunningSystem>>,
) -> Result<Option<RunningSystem>> {
    state.forget_kept_data();
    let Some(resumption) = resumes_with(run, journal, state.idx) else { return Ok(None) };
    let is_first = run.steps_of_launch().next() == Some(resumption.first);
    // It has no data, so that nothing of them can be lost between launches.
    if matches!(ready.installation, Installation::Null) && is_first {
        state.is_on_kept_data = true;
        return start_on(run, journal, state, ready, Data::New, begun).map(Some);
    }
    let Some(KeptData { dir, note }) = kept_data(run, ready, resumption) else { return Ok(None) };
    let tried = start_on(run, journal, state, ready, Data::Kept, begun)
        .and_then(|up| look_at_tables(run, journal, state, resumption, up));
    match tried {
        Ok(up) => {
            state.is_on_kept_data = true;
            (state.is_broken_off, state.is_refilled) = (!is_first, note.is_refilled);
            Ok(Some(up))
        }
        // With some room they are as good as they were.
        Err(error) if run.is_of_run(&error) || is_disk_full(&error) => Err(error),
        Err(error) if spares_data(&error) => Err(error.context(Kept(dir))),
        Err(error) => {
            let reason = in_words(&error);
            if are_untouched(run, journal, state.idx) {
                return Err(BrokenTables { system: state.idx, reason }.into());
            }
            journal.warn(state.idx, WarningKind::DataNotUsed { reason })?;
            Ok(None)
        }
    }
}

/// Removes the data of systems that have done all steps on them, and keeps their servers' logs: rqps was killed as
/// they stopped.
pub(crate) fn clear_done(run: &RunContext<'_>, journal: &mut Journal<'_>) -> Result<()> {
    for (idx, dir) in leftover::dirs_of_systems(&run.run_id, run.environment) {
        let system = SystemIdx(idx);
        let load = note_on(&dir).and_then(|note| Some(run.steps.get(note.load.0)?.load));
        if idx >= run.plan.systems.len() || !has_done(run, journal, system, load) {
            continue;
        }
        let last = match load {
            Some(load) => run.steps_of_load(load).next_back(),
            None => run.all_steps().next_back(),
        };
        let log = log_of_launch(journal, last.map_or(0, |last| run.step(last).launch), system)?;
        let has_log = instance::is_ours(&dir) && instance::open_log_in(&dir).is_ok();
        let kept = if has_log { kept_log::keep_left(&dir, &log) } else { Ok(()) };
        let (label, shown) = (run.label(system), dir.display());
        journal.note(&match leftover::clear(&dir, run.environment) {
            Ok(()) => format!("{label}: removed {shown}, left when rqps was killed"),
            Err(error) => format!("{label}: {shown} was not removed: {error}"),
        });
        kept?;
    }
    Ok(())
}

/// Whether a system has done all steps on a set of data; of all where none is given.
fn has_done(
    run: &RunContext<'_>,
    journal: &Journal<'_>,
    system: SystemIdx,
    load: Option<u32>,
) -> bool {
    match load {
        Some(load) => journal.first_pending(run.steps_of_load(load), system).is_none(),
        None => journal.first_pending(run.all_steps(), system).is_none(),
    }
}

/// Gives the system back where its tables are what they must be when it is resumed.
fn look_at_tables(
    run: &RunContext<'_>,
    journal: &mut Journal<'_>,
    state: &mut SystemState,
    resumption: Resumption,
    up: RunningSystem,
) -> Result<RunningSystem> {
    let system = state.idx;
    let mut member = Member { state, up };
    let looked = match &run.step(resumption.load).job {
        Job::File { .. } => look_at_rows(run, resumption, &mut member.up),
        Job::Insert { .. } => look_at_insert_tables(run, resumption, &mut member),
        Job::Vector { args, .. } => look_at_vectors(run, args, &mut member),
    };
    match looked {
        Ok(()) => Ok(member.up),
        Err(error) => {
            // What the server tells is the cause of what was seen.
            let is_of_run = run.is_of_run(&error);
            let fate = if is_of_run { Fate::Kept } else { Fate::Removed };
            let cause = give_up(run, journal, system, member.up, fate);
            Err(match cause {
                Some(cause) if !is_of_run => anyhow!(cause).context(format!("{error:#}")),
                _ => error,
            })
        }
    }
}

/// Whether the tables of a suite from a file have the rows that they must have.
fn look_at_rows(
    run: &RunContext<'_>,
    resumption: Resumption,
    up: &mut RunningSystem,
) -> Result<()> {
    let Resumption { load, first } = resumption;
    let (_, args, _) = run.step(load).of_file()?;
    let is_whole = are_whole(&run.steps, load, first)?;
    for table in 1..=args.tables {
        let found = count(run, up, &populate::count_sql(table))?;
        let is_right = if is_whole { found == args.rows } else { found > 0 };
        ensure!(is_right, "table {table} has {found} of {} rows", args.rows);
    }
    up.adopt_tables((1..=args.tables).map(table_name).collect());
    Ok(())
}

/// Whether the tables of the Insert Benchmark can be those of its steps; from here on their rows are
/// known again.
fn look_at_insert_tables(
    run: &RunContext<'_>,
    resumption: Resumption,
    member: &mut Member<'_>,
) -> Result<()> {
    let Resumption { load, first } = resumption;
    let Some((_, args)) = run.step(load).of_insert() else { bail!("not a step of the benchmark") };
    let is_index = |step: StepIdx| run.step(step).info.kind == StepKind::Index;
    let are_indexed = load.until(first).any(is_index);
    let Member { state, up } = member;
    let mut rows = Vec::new();
    for table in 1..=args.tables() {
        let found = count(run, up, &Schema::count_sql(table))?;
        // Inserts and deletes go together, but for a gap, and for rows that clients take from one another.
        let per_statement = args.rows_per_commit.into_iter().max().unwrap_or(1);
        let gap = (MAX_GAP + 1) * u64::from(args.clients) * u64::from(per_statement);
        let slack = (args.rows + args.rows_later) / 10 + gap;
        let name = Schema::table(table);
        ensure!(
            found.abs_diff(args.rows) <= slack,
            "{name} has {found} rows instead of about {}",
            args.rows
        );
        if are_indexed {
            let found = count(run, up, &Schema::count_indexes_sql(up.dbms(), table))?;
            let wanted = Schema::index_names(table).len();
            ensure!(found == wanted as u64, "{name} has {found} of {wanted} indexes");
        }
        rows.push(found);
    }
    state.tables = Tables::counted(rows, are_indexed);
    up.adopt_tables((1..=args.tables()).map(Schema::table).collect());
    // Whatever the step under way did to them, or did not.
    state.is_stirred = true;
    Ok(())
}

/// Whether the tables of vectors have their rows. Searches change nothing, and find their indexes or fail.
fn look_at_vectors(run: &RunContext<'_>, args: &VectorArgs, member: &mut Member<'_>) -> Result<()> {
    let rows = run.vectors.get(args)?.rows();
    let Member { state, up } = member;
    for table in 1..=args.tables() {
        let found = count(run, up, &VectorSchema::count_sql(table))?;
        ensure!(found == rows, "{} has {found} of {rows} rows", VectorSchema::table(table));
    }
    state.tables = Tables::counted(vec![rows; args.tables() as usize], true);
    up.adopt_tables((1..=args.tables()).map(VectorSchema::table).collect());
    Ok(())
}

/// A number that a server is asked for.
fn count(run: &RunContext<'_>, up: &mut RunningSystem, sql: &str) -> Result<u64> {
    let asked = up.breakable(&run.environment.interrupt, |admin| Ok(admin.query(sql)?));
    let result = asked.with_context(|| sql.to_owned())?;
    let found = result.scalar().unwrap_or("nothing");
    found.parse().with_context(|| format!("{sql}: {found} is not a number"))
}

/// Whether tables have the rows that step `load` has put into them when `first` is under way, which may have done
/// all of its work.
fn are_whole(steps: &[PlannedStep], load: StepIdx, first: StepIdx) -> Result<bool> {
    let (_, args, _) = steps[load.0].of_file()?;
    let mut is_whole = true;
    for planned in &steps[load.0 + 1..=first.0] {
        let grows = planned.info.kind == StepKind::Insert;
        is_whole &= !grows && planned.of_file()?.0.is_whole(args);
    }
    Ok(is_whole)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_step_under_way_may_have_changed_the_rows() {
        let text = "[[system]]\ndbms = \"null\"\n[[suite]]\nrows = 1000\nclients = [1]\n\
                    steps = [\"point-query\", \"insert\", \"range-covered-pk\"]\n";
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = crate::PlanFile::parse(text, "test").unwrap();
        let plan = plan.resolve("test", &catalogue).unwrap();
        let steps = crate::plan::launches::of_plan(&plan, &[0], true).unwrap();
        let at = |kind| steps.iter().position(|step| step.info.kind == kind).unwrap();
        let (load, insert) = (at(StepKind::Load), at(StepKind::Insert));
        assert!(load + 1 < insert);
        for first in load + 1..steps.len() {
            let wanted = first < insert;
            assert_eq!(
                are_whole(&steps, StepIdx(load), StepIdx(first)).unwrap(),
                wanted,
                "{first} of {insert}"
            );
        }
    }

    #[test]
    fn an_error_beside_the_data_is_known_below_what_was_under_way() {
        let in_use = rqps_server::Error::InUse { path: PathBuf::from("/data/run-0"), pid: 7 };
        let error = anyhow::Error::from(in_use);
        assert!(spares_data(&error));
        let error = error.context(Kept(PathBuf::from("/data/run-0"))).context("start a");
        assert!(error.downcast_ref::<Kept>().is_some());
        let words = format!("{error:#}");
        assert!(words.contains("stay in /data/run-0") && words.contains("process 7"), "{words}");
        assert!(!spares_data(&anyhow!("table 1 has 0 of 10 rows")));
    }
}
