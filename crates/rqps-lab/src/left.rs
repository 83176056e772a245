//! Data that an attempt at the run has left when it was broken off: whether they are sound, and how the run
//! goes on with them.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use rqps_model::{Dbms, StepKind};
use rqps_server::instance;
use rqps_workload::insert::{MAX_GAP, Schema};
use rqps_workload::populate;
use rqps_workload::statement::table_name;

use crate::event::Event;
use crate::failure::{Kept, is_disk_full};
use crate::insert::Tables;
use crate::installation::Installation;
use crate::run::Lab;
use crate::steps::{Job, PlannedStep};
use crate::system::{Data, Start, Up, kept_log};
use crate::{leftover, measure};

/// What slices say that were measured on data that an earlier attempt had left.
const STARTED_AGAIN: &str = "the run was interrupted: the server was started again on its data, brought to \
                             rest and its caches warmed anew";

/// The same of the Insert Benchmark, which warms nothing.
const STARTED_COLD: &str = "the run was interrupted: the server was started again on its data, with cold \
                            caches";

/// Whether an error says nothing of the data that a server was to be started on.
fn spares_data(error: &anyhow::Error) -> bool {
    error.downcast_ref::<rqps_server::Error>().is_some_and(rqps_server::Error::spares_data)
}

/// What is noted on data of a start of the servers that step `load` has filled. With `is_anew`, writes of
/// steps before the one that the run went on with are not in them.
fn filled(start: u32, load: usize, is_anew: bool) -> String {
    let anew = if is_anew { ", anew" } else { "" };
    format!("{FILLED} {start} by step {load}{anew}")
}

/// How such a note begins, before the start.
const FILLED: &str = "filled on start";

/// The start of the servers of which such a note tells.
fn start_of(note: &str) -> Option<u32> {
    note.strip_prefix(FILLED)?.split_whitespace().next()?.parse().ok()
}

impl Lab<'_> {
    /// The step that has filled the tables that step `step_idx` uses; none before the first load.
    pub(crate) fn filled_by(&self, step_idx: usize) -> Option<usize> {
        let begin = self.steps_of_start().start;
        (begin..=step_idx).rev().find(|&step| self.steps[step].fills())
    }

    /// The load whose tables a system needs, and the step that it goes on with, where there is something
    /// to go on with: not before a load, nor before indexes, which begin on tables filled anew.
    pub(crate) fn goes_on(&self, idx: usize) -> Option<(usize, usize)> {
        let begin = self.steps_of_start().start;
        let first = self.first_pending(idx).filter(|first| *first > begin)?;
        let is_to_come =
            self.steps[first].info.kind == StepKind::Index || self.steps[first].fills();
        Some((self.filled_by(first).filter(|_| !is_to_come)?, first))
    }

    /// What slices say of a system that goes on with the data that it had.
    pub(crate) fn started_again(&self, step_idx: usize) -> &'static str {
        if self.insert_job(step_idx).is_some() { STARTED_COLD } else { STARTED_AGAIN }
    }

    /// Notes on a system's data that its tables are those of step `load`.
    pub(crate) fn note_filled(&self, load: usize, is_anew: bool, up: &Up) -> Result<()> {
        up.set_note(Some(&filled(self.start_idx, load, is_anew)))
    }

    /// Starts a system on the data that an earlier attempt has left, where there are any that the run can
    /// go on with; where they are not sound, that is kept with the run.
    ///
    /// # Errors
    /// What would meet every other system as well, and what keeps the server from sound data ([`Kept`]).
    pub(crate) fn start_again(
        &mut self,
        (idx, name): (usize, &str),
        installation: &Installation,
    ) -> Result<Option<Up>> {
        self.states[idx].caution.left = false;
        let Installation::Local(_, _, _, places) = installation else { return Ok(None) };
        let Some((load, first)) = self.goes_on(idx) else { return Ok(None) };
        let dir = places.data.join(name);
        let note = instance::note_on(&dir);
        let notes = [false, true].map(|is_anew| filled(self.start_idx, load, is_anew));
        let Some(note) = note.filter(|note| notes.contains(note)) else { return Ok(None) };
        let tried = loop {
            let how = Start { context: self.context, name, data: Data::Left };
            match Up::start(self.plan, idx, installation, how, self.listen) {
                Err(error) if self.is_worth_another_start(idx, &error)? => {}
                Err(error) => break Err(error),
                Ok(up) => break self.look_at_left((idx, load, first), up),
            }
        };
        match tried {
            Ok(up) => {
                let caution = &mut self.states[idx].caution;
                (caution.left, caution.resumed) = (true, note == notes[1]);
                Ok(Some(up))
            }
            // With some room they are as good as they were.
            Err(error) if self.is_of_run(&error) || is_disk_full(&error) => Err(error),
            Err(error) if spares_data(&error) => Err(error.context(Kept(dir))),
            Err(error) => {
                let words = format!("{error:#}");
                let what = format!("the data that were left are not used: {}", words.trim_end());
                self.incident(Some(idx), what)?;
                Ok(None)
            }
        }
    }

    /// Removes the data of systems that have done all steps of the start of the servers that the data are of,
    /// and keeps their servers' logs: rqps was killed as they stopped.
    pub(crate) fn clear_done(&mut self) -> Result<()> {
        for (idx, dir) in leftover::dirs_of_systems(&self.run.id, self.context) {
            let note = instance::note_on(&dir);
            let start = note.as_deref().and_then(start_of).filter(|s| *s < self.plan.starts);
            if idx >= self.plan.systems.len() || !self.has_done(idx, start) {
                continue;
            }
            let start = start.unwrap_or(self.plan.starts.saturating_sub(1));
            let log = self.log_of_start(start, idx)?;
            let has_log = instance::is_ours(&dir) && instance::open_log_in(&dir).is_ok();
            let kept = if has_log { kept_log::keep_left(&dir, &log) } else { Ok(()) };
            let (label, shown) = (&self.plan.systems[idx].label, dir.display());
            (self.listen)(Event::Note(&match leftover::clear(&dir, self.context) {
                Ok(()) => format!("{label}: removed {shown}, which was left when rqps was killed"),
                Err(error) => format!("{label}: {shown} stays: {error}"),
            }));
            kept?;
        }
        Ok(())
    }

    /// Whether a system has done all steps of a start of the servers; of all where none is given.
    fn has_done(&self, idx: usize, start: Option<u32>) -> bool {
        let is_of_start = |step: &usize| start.is_none_or(|s| self.steps_of(s).contains(step));
        !(0..self.steps.len()).filter(is_of_start).any(|step| self.is_pending(step, idx))
    }

    /// Gives the system back where its tables are what they must be when step `first` begins or goes on.
    fn look_at_left(
        &mut self,
        (idx, load, first): (usize, usize, usize),
        mut up: Up,
    ) -> Result<Up> {
        let looked = match &self.steps[load].job {
            Job::File { .. } => self.look_at_rows((load, first), &mut up),
            Job::Insert { .. } => self.look_at_insert_tables((idx, load, first), &mut up),
        };
        match looked {
            Ok(()) => Ok(up),
            Err(error) => {
                // What the server tells is the cause of what was seen.
                let is_of_run = self.is_of_run(&error);
                let cause = self.give_up(idx, up, is_of_run);
                Err(match cause {
                    Some(cause) if !is_of_run => anyhow!(cause).context(format!("{error:#}")),
                    _ => error,
                })
            }
        }
    }

    /// Whether the tables of a suite from a file have the rows that they must have.
    fn look_at_rows(&self, (load, first): (usize, usize), up: &mut Up) -> Result<()> {
        let (_, args, _) = measure::of_file(&self.steps[load])?;
        let is_whole = are_whole(&self.steps, load, first)?;
        for table in 1..=args.tables {
            let found = self.count(up, &populate::count_sql(table))?;
            let is_right = if is_whole { found == args.rows } else { found > 0 };
            ensure!(is_right, "table {table} has {found} rows of {}", args.rows);
        }
        up.adopt_tables((1..=args.tables).map(table_name).collect());
        Ok(())
    }

    /// Whether the tables of the Insert Benchmark can be those of its steps; from here on their rows are
    /// known again.
    fn look_at_insert_tables(
        &mut self,
        (idx, load, first): (usize, usize, usize),
        up: &mut Up,
    ) -> Result<()> {
        let Some((_, args)) = self.insert_job(load) else { bail!("no step of the benchmark") };
        let indexed = |step: &usize| self.steps[*step].info.kind == StepKind::Index;
        let are_indexed = (load..first).any(|step| indexed(&step));
        let mut rows = Vec::new();
        for table in 1..=args.tables() {
            let found = self.count(up, &Schema::count_sql(table))?;
            // Inserts and deletes go together, but for a gap, and for rows that clients take from one another.
            let per_statement = args.rows_per_commit.into_iter().max().unwrap_or(1);
            let gap = (MAX_GAP + 1) * u64::from(args.clients) * u64::from(per_statement);
            let slack = (args.rows + args.rows_later) / 10 + gap;
            let name = Schema::table(table);
            ensure!(
                found.abs_diff(args.rows) <= slack,
                "{name} has {found} rows where about {} should be",
                args.rows
            );
            if are_indexed {
                let indexes = Schema::index_names(table);
                let found = self.count(up, &count_indexes_sql(up.dbms(), &name, &indexes))?;
                let wanted = indexes.len();
                ensure!(found == wanted as u64, "{name} has {found} indexes of {wanted}");
            }
            rows.push(found);
        }
        self.states[idx].tables = Tables::counted(rows, are_indexed);
        up.adopt_tables((1..=args.tables()).map(Schema::table).collect());
        // Whatever the step under way did to them, or did not.
        self.states[idx].caution.stirred = true;
        Ok(())
    }

    /// A number that a server is asked for.
    fn count(&self, up: &mut Up, sql: &str) -> Result<u64> {
        let asked = up.breakable(&self.context.interrupt, |admin| Ok(admin.query(sql)?));
        let result = asked.with_context(|| sql.to_owned())?;
        let found = result.scalar().unwrap_or("nothing");
        found.parse().with_context(|| format!("{sql}: {found} is no number"))
    }

    /// Brings a system that was started on its own data to where the run is: to rest, with its caches
    /// warmed as before.
    pub(crate) fn go_on_with_left(&mut self, idx: usize, first: usize, up: &mut Up) -> Result<()> {
        let label = &self.plan.systems[idx].label;
        (self.listen)(Event::Note(&format!("{label}: goes on with the data that it had")));
        self.states[idx].caution.again = Some(first);
        let Some(load) = self.filled_by(first) else { return Ok(()) };
        if self.insert_job(load).is_some() {
            return Ok(());
        }
        self.settle(idx, load, up)?;
        self.warm_up_again(idx, load + 1..first, up)
    }

    /// What sets the seeds of this attempt at a step apart from those of an earlier one, whose writes are in
    /// the tables: an update with the values that are there changes no row. 0 where there are none.
    pub(crate) fn attempt(&self, idx: usize, step_idx: usize) -> u64 {
        let is_again = self.states[idx].caution.again == Some(step_idx);
        if is_again { u64::from(self.run.n_resumed) + 1 } else { 0 }
    }
}

/// Whether tables have the rows that step `load` has put into them when `first` is under way, which may have done
/// all of its work.
fn are_whole(steps: &[PlannedStep], load: usize, first: usize) -> Result<bool> {
    let (_, args, _) = measure::of_file(&steps[load])?;
    let mut is_whole = true;
    for planned in &steps[load + 1..=first] {
        let grows = planned.info.kind == StepKind::Insert;
        is_whole &= !grows && measure::of_file(planned)?.0.is_whole(args);
    }
    Ok(is_whole)
}

/// How many of these indexes a table has.
fn count_indexes_sql(dbms: Dbms, table: &str, indexes: &[String]) -> String {
    let (from, column, of_table) = match dbms {
        Dbms::Postgres => ("pg_indexes", "indexname", "tablename"),
        _ => (
            "information_schema.statistics",
            "index_name",
            "table_schema = DATABASE() AND table_name",
        ),
    };
    let names = indexes.join("', '");
    format!(
        "SELECT COUNT(DISTINCT {column}) FROM {from} WHERE {of_table} = '{table}' AND {column} IN ('{names}')"
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_start_is_read_from_a_note_as_it_was_written() {
        assert_eq!(start_of(&filled(3, 12, false)), Some(3));
        assert_eq!(start_of(&filled(0, 0, true)), Some(0));
        assert_eq!(start_of("something else"), None);
    }

    #[test]
    fn the_step_under_way_may_have_changed_the_rows() {
        let text = "[[system]]\ndbms = \"null\"\n[[suite]]\nrows = 1000\nclients = [1]\n\
                    steps = [\"point-query\", \"insert\", \"range-covered-pk\"]\n";
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        let plan = crate::PlanFile::parse(text, "test").unwrap();
        let plan = plan.resolve("test", &catalogue).unwrap();
        let steps = crate::steps::of_plan(&plan, &[0], true).unwrap();
        let at = |kind| steps.iter().position(|step| step.info.kind == kind).unwrap();
        let (load, insert) = (at(StepKind::Load), at(StepKind::Insert));
        assert!(load + 1 < insert);
        for first in load + 1..steps.len() {
            let wanted = first < insert;
            assert_eq!(are_whole(&steps, load, first).unwrap(), wanted, "{first} of {insert}");
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
        assert!(!spares_data(&anyhow!("table 1 has 0 rows of 10")));
    }
}
