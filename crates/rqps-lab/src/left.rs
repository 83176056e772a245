//! Data that an attempt at the run has left when it was broken off: whether they are sound, and how the run
//! goes on with them.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use rqps_model::{Dbms, StepKind};
use rqps_workload::insert::{MAX_GAP, Schema};
use rqps_workload::populate;
use rqps_workload::statement::table_name;

use crate::event::Event;
use crate::insert::Tables;
use crate::installation::Installation;
use crate::measure;
use crate::run::Lab;
use crate::sequential::is_disk_full;
use crate::steps::Job;
use crate::system::{Data, Up};

/// What slices say that were measured on data that an earlier attempt had left.
const STARTED_AGAIN: &str = "the run was interrupted: the server was started again on its data, brought to \
                             rest and its caches warmed anew";

/// The same of the Insert Benchmark, which warms nothing.
const STARTED_COLD: &str = "the run was interrupted: the server was started again on its data, with cold \
                            caches";

/// What is noted on data of a start of the servers that step `load` has filled. With `is_anew`, writes of
/// steps before the one that the run went on with are not in them.
fn filled(start: u32, load: usize, is_anew: bool) -> String {
    let anew = if is_anew { ", anew" } else { "" };
    format!("filled on start {start} by step {load}{anew}")
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
    /// What would meet every other system as well, and a full disk.
    pub(crate) fn start_again(
        &mut self,
        (idx, name): (usize, &str),
        installation: &Installation,
    ) -> Result<Option<Up>> {
        self.caution[idx].left = false;
        let Installation::Local(_, _, _, places) = installation else { return Ok(None) };
        let Some((load, first)) = self.goes_on(idx) else { return Ok(None) };
        let note = rqps_server::instance::note_on(&places.data.join(name));
        let notes = [false, true].map(|is_anew| filled(self.start_idx, load, is_anew));
        let Some(note) = note.filter(|note| notes.contains(note)) else { return Ok(None) };
        let tried = loop {
            let how = (self.context, name, Data::Left);
            match Up::start(self.plan, idx, installation, how, self.listen) {
                Err(error) if self.is_worth_another_start(idx, &error)? => {}
                Err(error) => break Err(error),
                Ok(up) => break self.look_at_left((idx, load, first), up),
            }
        };
        match tried {
            Ok(up) => {
                let caution = &mut self.caution[idx];
                (caution.left, caution.resumed) = (true, note == notes[1]);
                Ok(Some(up))
            }
            // With some room they are as good as they were.
            Err(error) if self.is_of_run(&error) || is_disk_full(&error) => Err(error),
            Err(error) => {
                let words = format!("{error:#}");
                let what = format!("the data that were left are not used: {}", words.trim_end());
                self.incident(Some(idx), what)?;
                Ok(None)
            }
        }
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
        let mut is_whole = true;
        for planned in &self.steps[load + 1..=first] {
            let grows = planned.info.kind == StepKind::Insert;
            is_whole &= !grows && measure::of_file(planned)?.0.is_whole(args);
        }
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
        self.tables[idx] = Tables::counted(rows, are_indexed);
        up.adopt_tables((1..=args.tables()).map(Schema::table).collect());
        // Whatever the step under way did to them, or did not.
        self.caution[idx].stirred = true;
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
        self.caution[idx].again = Some(first);
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
        let is_again = self.caution[idx].again == Some(step_idx);
        if is_again { u64::from(self.run.n_resumed) + 1 } else { 0 }
    }
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
