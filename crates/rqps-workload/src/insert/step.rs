//! The steps of the Insert Benchmark in their order, and what each one's clients do.

use rqps_model::{Figure, Group, StepInfo, StepKind};

use super::{InsertArgs, Queries};
use crate::suite::select;
use crate::{Pattern, SuiteError};

/// What the clients of a step do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Insert in the order of the primary key into tables without secondary indexes (l.i0).
    Load,
    /// Create the secondary indexes (l.x).
    Index,
    /// Insert, and delete as much (l.i1, l.i2): rows per table.
    Churn {
        /// Rows that are inserted into each table, and deleted from it.
        rows: u64,
    },
    /// Query without a set rate while rows are inserted and deleted at a rate.
    Query {
        /// What is asked.
        queries: Queries,
        /// Inserts per second and client, deletes likewise.
        rate: u32,
    },
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertStep {
    /// `l.i0`, `qr100`.
    pub name: String,
    /// What its clients do.
    pub work: Work,
    /// Rows per statement of those that insert and delete.
    pub rows_per_commit: u32,
}

/// The steps in their order.
#[must_use]
pub fn steps(args: &InsertArgs) -> Vec<InsertStep> {
    let [i0, i1, i2, q] = args.rows_per_commit;
    let step = |name: &str, work, rows_per_commit| InsertStep {
        name: name.to_owned(),
        work,
        rows_per_commit,
    };
    let mut all = vec![
        step("l.i0", Work::Load, i0),
        // The extra inserts before the indexes are those of l.i0's size.
        step("l.x", Work::Index, i0),
        step("l.i1", Work::Churn { rows: args.rows_of_l_i1() }, i1),
        step("l.i2", Work::Churn { rows: args.rows_of_l_i2() }, i2),
    ];
    for &rate in &args.rates {
        for (word, queries) in [("qr", Queries::Range), ("qp", Queries::Point)] {
            all.push(step(&format!("{word}{rate}"), Work::Query { queries, rate }, q.min(rate)));
        }
    }
    all
}

/// The steps that match one of the patterns (all, when there are none), in order, with the steps that
/// they need: l.i0 and l.x. A pattern is a step's name or a glob.
///
/// # Errors
/// A pattern that matches no step, with the nearest names.
pub fn select<S: AsRef<str>>(
    args: &InsertArgs,
    patterns: &[S],
) -> Result<Vec<InsertStep>, SuiteError> {
    let all = steps(args);
    let patterns: Vec<Pattern> = patterns.iter().map(|text| Pattern::new(text.as_ref())).collect();
    for pattern in &patterns {
        if !all.iter().any(|step| pattern.matches(&step.name)) {
            let names = all.iter().map(|step| step.name.as_str());
            return Err(select::none_matches("insert", names, pattern.text()));
        }
    }
    let is_chosen = |step: &InsertStep| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(&step.name))
    };
    let last = all.iter().rposition(is_chosen);
    let keep = |idx: usize, step: &InsertStep| {
        let needed = matches!(step.work, Work::Load)
            || (step.work == Work::Index && last.is_some_and(|last| last > idx));
        needed || is_chosen(step)
    };
    let kept = all.iter().enumerate().filter(|(idx, step)| keep(*idx, step));
    Ok(kept.map(|(_, step)| step.clone()).collect())
}

impl InsertStep {
    /// Statements of each inserting client, where the step ends when its work is done: as many as its rows
    /// need. The last may insert more.
    #[must_use]
    pub fn statements(&self, args: &InsertArgs, client_idx: u32) -> Option<u64> {
        let rows = match self.work {
            Work::Load => args.rows,
            Work::Churn { rows } => rows,
            Work::Index | Work::Query { .. } => return None,
        };
        let mine = args.part_of(client_idx, rows);
        Some(mine.div_ceil(u64::from(self.rows_per_commit)).max(1))
    }

    /// Rows that whole statements insert into each table: in the shared one those of all clients.
    fn rows_of_table(&self, args: &InsertArgs) -> u64 {
        let clients = if args.shared_table { args.clients } else { 1 };
        let statements = (0..clients).filter_map(|client| self.statements(args, client));
        statements.sum::<u64>() * u64::from(self.rows_per_commit)
    }

    /// The step's facts for reports.
    #[must_use]
    pub fn info(&self, args: &InsertArgs) -> StepInfo {
        let (kind, group, figure) = match self.work {
            Work::Load | Work::Churn { .. } => {
                (StepKind::Insert, Group::Write, Figure::RowsInserted)
            }
            Work::Index => (StepKind::Index, Group::Write, Figure::RowsIndexed),
            Work::Query { queries: Queries::Range, .. } => {
                (StepKind::Mixed, Group::Range, Figure::Queries)
            }
            Work::Query { queries: Queries::Point, .. } => {
                (StepKind::Mixed, Group::Point, Figure::Queries)
            }
        };
        StepInfo {
            name: self.name.clone(),
            family: self.name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
            n: None,
            kind,
            group,
            figure,
            what: self.what(args),
        }
    }

    /// Its description.
    fn what(&self, args: &InsertArgs) -> String {
        let tables = args.tables();
        let tables = format!("{tables} table{}", if tables == 1 { "" } else { "s" });
        let n = self.rows_per_commit;
        match self.work {
            Work::Load => format!(
                "Inserts {} rows into each of {tables} without secondary indexes, in the order of the \
                 primary key, {n} rows per statement and transaction, one connection per client.",
                self.rows_of_table(args)
            ),
            Work::Index => format!(
                "Creates three secondary indexes on each of {tables}, after {n} more rows; its \
                 rate counts the rows of the tables."
            ),
            Work::Churn { .. } => format!(
                "Inserts {} rows into each of {tables}, {n} rows per statement and transaction; a \
                 second connection per client deletes the oldest rows at the same pace.",
                self.rows_of_table(args)
            ),
            Work::Query { queries, rate } => {
                let asked = match queries {
                    Queries::Range => "for ten rows of a secondary index from a value on",
                    Queries::Point => "for ten rows by their primary keys",
                };
                format!(
                    "Queries without a set rate on one connection per client, each {asked}. A \
                     second connection inserts {rate} rows per second and a third deletes as \
                     many, {n} rows per statement. {tables}."
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;
    use crate::insert::InsertSize;

    #[test]
    fn steps_come_in_the_order_of_the_benchmark() {
        let args = InsertSize::args(Size::Tiny);
        let all = steps(&args);
        let names: Vec<&str> = all.iter().map(|step| step.name.as_str()).collect();
        let wanted =
            ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];
        assert_eq!(names, wanted);
        assert_eq!(all[0].statements(&args, 0), Some(2000));
        assert_eq!(all[2].statements(&args, 0), Some(800));
        assert_eq!(all[3].statements(&args, 0), Some(2000));
        assert_eq!(all[4].statements(&args, 0), None);
        assert_eq!(all[3].info(&args).family, "l.i");
    }

    #[test]
    fn rows_are_rounded_up_to_whole_statements() {
        let args = InsertArgs {
            rows: 5050,
            rows_later: 2023,
            rates: vec![20, 100],
            ..InsertSize::args(Size::Tiny)
        };
        let all = steps(&args);
        let of = |name: &str| all.iter().find(|step| step.name == name).unwrap();
        let n = |name: &str| of(name).statements(&args, 0).unwrap();
        assert_eq!([n("l.i0"), n("l.i1"), n("l.i2")], [51, 33, 81]);
        let told = |name: &str| of(name).info(&args).what;
        assert!(told("l.i0").starts_with("Inserts 5100 rows into each of 1 table"));
        assert!(told("l.i1").starts_with("Inserts 1650 rows into each of 1 table"));
        // A statement inserts at most what a second is to bring.
        assert_eq!([of("qr20").rows_per_commit, of("qr100").rows_per_commit], [20, 50]);
        let shared = InsertArgs { shared_table: true, clients: 3, ..args.clone() };
        let load = &steps(&shared)[0];
        assert!(load.info(&shared).what.starts_with("Inserts 5100 rows into each of 1 table"));
    }

    #[test]
    fn chosen_steps_come_with_what_they_rely_on() {
        let args = InsertSize::args(Size::Tiny);
        let names = |patterns: &[&str]| -> String {
            let kept = select(&args, patterns).unwrap();
            kept.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&["l.i0"]), "l.i0");
        assert_eq!(names(&["qp*"]), "l.i0 l.x qp100 qp500 qp1000");
        assert_eq!(names(&["l.i1", "qr100"]), "l.i0 l.x l.i1 qr100");
        assert_eq!(names(&[]).split(' ').count(), 10);
        let error = select(&args, &["qr10"]).unwrap_err().to_string();
        assert!(error.contains("qr100"), "{error}");
    }
}
