//! Differences between the query plans of two systems that can change QPS.
//!
//! Versions of a family are compared in full. Between families, only the index, or a full scan, is
//! compared (of partitions, whose indexes PostgreSQL names itself, whether it is the primary key or
//! another): a clustered index and a heap name the same access differently, sorts and temporary
//! tables exist in one server alone, and some statements are written differently.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Access, Extra, Path, PlanShape, QueryPlan};
use crate::RunStep;

/// A kind of difference between two plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The way to the rows: lookup, range, full scan.
    Path,
    /// The index.
    Index,
    /// Whether the index has all columns needed.
    Covering,
    /// How, or in which order, tables are joined.
    Join,
    /// Whether several processes share the work.
    Parallel,
    /// Sorts, temporary tables, and other work beside reading.
    Work,
    /// Whether sessions run a generic plan or custom ones.
    Planning,
}

impl Aspect {
    /// For a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Path => "access path",
            Self::Index => "index",
            Self::Covering => "covering",
            Self::Join => "join",
            Self::Parallel => "parallel",
            Self::Work => "sort or temporary table",
            Self::Planning => "generic or custom plan",
        }
    }
}

/// A statement that two systems execute by different plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementDifference {
    /// Its place among the statements of the step.
    pub statement_idx: usize,
    /// The statement, as the base has it.
    pub sql: String,
    /// The kinds of differences.
    pub aspects: BTreeSet<Aspect>,
    /// The base's plan in words.
    pub base: String,
    /// The other's.
    pub vs: String,
}

/// The statements of a step that two systems execute by different plans; one at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDifference {
    /// In the order of the step.
    pub statements: Vec<StatementDifference>,
}

impl PlanDifference {
    /// `range on k_1, covering against full scan (SELECT k FROM sbtest1 WHERE ...)`, of the first
    /// statement, with the number of the others.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Some(first) = self.statements.first() else { return String::new() };
        let more = match self.statements.len() {
            1 => String::new(),
            2 => ", and one more statement".to_owned(),
            n => format!(", and {} more statements", n - 1),
        };
        format!("{} against {} ({}){more}", first.base, first.vs, first.sql)
    }

    /// Whether access path or index differ in any statement: that can change QPS many times over.
    #[must_use]
    pub fn is_of_access(&self) -> bool {
        let of_access = |a: &Aspect| matches!(a, Aspect::Path | Aspect::Index);
        self.statements.iter().any(|s| s.aspects.iter().any(of_access))
    }
}

/// The differences between the plans of a step on the systems `base` and `vs` of a run; `None`
/// without any, and where one plan is not known.
#[must_use]
pub fn plan_difference(step: &RunStep, base: usize, vs: usize) -> Option<PlanDifference> {
    let plans = |idx: usize| step.systems.get(idx).map(|system| &system.plans);
    let (base, vs) = (plans(base)?, plans(vs)?);
    if base.len() != vs.len() {
        return None;
    }
    let both = base.iter().zip(vs).enumerate();
    let statements: Vec<_> = both.filter_map(|(idx, (a, b))| of_statement(idx, a, b)).collect();
    (!statements.is_empty()).then_some(PlanDifference { statements })
}

fn of_statement(idx: usize, base: &QueryPlan, vs: &QueryPlan) -> Option<StatementDifference> {
    let (a, b) = (base.shape.as_ref()?, vs.shape.as_ref()?);
    let aspects = aspects(base, vs);
    (!aspects.is_empty()).then(|| StatementDifference {
        statement_idx: idx,
        sql: base.sql.clone(),
        aspects,
        base: a.words(),
        vs: b.words(),
    })
}

/// The kinds of differences between two plans of a statement; none where one of them is not known.
#[must_use]
pub fn aspects(one: &QueryPlan, other: &QueryPlan) -> BTreeSet<Aspect> {
    let (Some(a), Some(b)) = (&one.shape, &other.shape) else { return BTreeSet::new() };
    let is_one_family = one.dbms.family() == other.dbms.family();
    if is_one_family { within_family(a, b) } else { across_families(a, b) }
}

fn within_family(a: &PlanShape, b: &PlanShape) -> BTreeSet<Aspect> {
    let mut found = BTreeSet::new();
    if a.accesses.len() == b.accesses.len() {
        for (one, other) in a.accesses.iter().zip(&b.accesses) {
            if one.table != other.table {
                found.insert(Aspect::Join);
            }
            if path(one, a.is_write) != path(other, b.is_write) {
                found.insert(Aspect::Path);
            }
            // A scan of the table has none, which is said already.
            if one.index != other.index && one.index.is_some() && other.index.is_some() {
                found.insert(Aspect::Index);
            }
            if one.is_covering != other.is_covering && !a.is_write {
                found.insert(Aspect::Covering);
            }
        }
    } else {
        found.insert(Aspect::Path);
    }
    if a.joins != b.joins {
        found.insert(Aspect::Join);
    }
    for extra in a.extras.symmetric_difference(&b.extras).filter(|extra| extra.matters()) {
        found.insert(if *extra == Extra::Parallel { Aspect::Parallel } else { Aspect::Work });
    }
    if let (Some(one), Some(other)) = (a.kind, b.kind)
        && one != other
    {
        found.insert(Aspect::Planning);
    }
    found
}

/// Versions of MySQL call the same search for one row to be changed a lookup or a range.
fn path(access: &Access, is_write: bool) -> Path {
    match access.path {
        Path::Lookup if is_write => Path::Range,
        other => other,
    }
}

fn across_families(a: &PlanShape, b: &PlanShape) -> BTreeSet<Aspect> {
    let is_whole = |shape: &PlanShape| {
        shape.accesses.iter().any(|a| matches!(a.path, Path::WholeTable | Path::WholeIndex))
    };
    let are_named = !has_own_names(a) && !has_own_names(b);
    let mut found = BTreeSet::new();
    if is_whole(a) != is_whole(b) {
        found.insert(Aspect::Path);
    } else if indexes(a, are_named) != indexes(b, are_named) && !is_whole(a) {
        found.insert(Aspect::Index);
    }
    found
}

/// The indexes that are used, by whichever of the tables: PostgreSQL may name the partition in place of
/// its table. Where the names say nothing, all but the primary key are one.
fn indexes(shape: &PlanShape, are_named: bool) -> BTreeSet<Option<&str>> {
    let mut found = BTreeSet::new();
    for access in &shape.accesses {
        found.insert(match access.index.as_deref() {
            Some(name) if !are_named && name != "PRIMARY" => Some("secondary"),
            name => name,
        });
    }
    found
}

/// Whether an index has the name that PostgreSQL gives those of partitions: `pi1_p0_price_idx`. Those of
/// tables without partitions are named alike on all systems.
fn has_own_names(shape: &PlanShape) -> bool {
    let is_own = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("_idx");
    shape.accesses.iter().filter_map(|a| a.index.as_deref()).any(|all| all.split('+').any(is_own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::{Asked, Join, PlanKind};
    use crate::{Dbms, Placement, StepInfo, StepKind, run::SystemStep, step};

    fn shape(path: Path, index: Option<&str>) -> PlanShape {
        let index = index.map(str::to_owned);
        let access = Access { table: "sbtest1".to_owned(), path, index, is_covering: false };
        PlanShape { accesses: vec![access], ..PlanShape::default() }
    }

    fn plan(dbms: Dbms, shape: Option<PlanShape>) -> QueryPlan {
        let plan = QueryPlan::without(dbms, "SELECT 1".to_owned(), "");
        QueryPlan { shape, asked: Asked::Prepared, ..plan }
    }

    fn between(a: QueryPlan, b: QueryPlan) -> Option<Vec<Aspect>> {
        let system = |plan| SystemStep { plans: vec![plan], ..SystemStep::pending() };
        let step = RunStep {
            info: StepInfo {
                name: "x".to_owned(),
                family: "x".to_owned(),
                n: None,
                kind: StepKind::Read,
                group: step::Group::Point,
                figure: step::Figure::Queries,
                what: String::new(),
            },
            clients: 1,
            placement: Placement::Free,
            start: 0,
            systems: vec![system(a), system(b)],
        };
        let found = plan_difference(&step, 0, 1)?;
        Some(found.statements[0].aspects.iter().copied().collect())
    }

    fn of_mysql(a: PlanShape, b: PlanShape) -> Option<Vec<Aspect>> {
        between(plan(Dbms::Mysql, Some(a)), plan(Dbms::Mariadb, Some(b)))
    }

    #[test]
    fn what_matters_is_a_difference() {
        let range = || shape(Path::Range, Some("k_1"));
        assert_eq!(of_mysql(range(), range()), None);
        let whole = shape(Path::WholeTable, None);
        assert_eq!(of_mysql(range(), whole.clone()), Some(vec![Aspect::Path]));
        let primary = shape(Path::Range, Some("PRIMARY"));
        assert_eq!(of_mysql(range(), primary), Some(vec![Aspect::Index]));
        let mut covering = range();
        covering.accesses[0].is_covering = true;
        assert_eq!(of_mysql(range(), covering), Some(vec![Aspect::Covering]));
        for (extra, found) in [
            (Extra::Sort, Some(vec![Aspect::Work])),
            (Extra::TemporaryTable, Some(vec![Aspect::Work])),
            (Extra::Parallel, Some(vec![Aspect::Parallel])),
            (Extra::IndexCondition, None),
        ] {
            let other = PlanShape { extras: [extra].into(), ..range() };
            assert_eq!(of_mysql(range(), other), found, "{extra:?}");
        }
        let hashed = PlanShape { joins: [Join::Hash].into(), ..range() };
        assert_eq!(of_mysql(range(), hashed), Some(vec![Aspect::Join]));
    }

    #[test]
    fn a_row_to_be_changed_is_found_alike_whatever_a_version_calls_it() {
        let write = |path| PlanShape { is_write: true, ..shape(path, Some("PRIMARY")) };
        assert_eq!(of_mysql(write(Path::Lookup), write(Path::Range)), None);
        let whole = PlanShape { is_write: true, ..shape(Path::WholeTable, None) };
        assert_eq!(of_mysql(write(Path::Range), whole), Some(vec![Aspect::Path]));
        let (one, many) = (shape(Path::Lookup, Some("k_1")), shape(Path::Range, Some("k_1")));
        assert_eq!(of_mysql(one, many), Some(vec![Aspect::Path]));
    }

    #[test]
    fn between_families_only_indexes_and_full_scans_are_compared() {
        let across = |a, b| between(plan(Dbms::Mysql, Some(a)), plan(Dbms::Postgres, Some(b)));
        let sorted = PlanShape { extras: [Extra::Sort].into(), ..shape(Path::Lookup, Some("k_1")) };
        assert_eq!(across(sorted, shape(Path::Range, Some("k_1"))), None);
        let (range, whole) = (shape(Path::Range, Some("k_1")), shape(Path::WholeTable, None));
        assert_eq!(across(range.clone(), whole), Some(vec![Aspect::Path]));
        let primary = shape(Path::Range, Some("PRIMARY"));
        assert_eq!(across(range, primary), Some(vec![Aspect::Index]));
    }

    #[test]
    fn between_families_indexes_of_partitions_are_primary_or_secondary() {
        let across = |a, b| between(plan(Dbms::Mysql, Some(a)), plan(Dbms::Postgres, Some(b)));
        let secondary = || shape(Path::Range, Some("pi1_price"));
        for own in ["price_idx", "pi1_p0_price_idx", "pi1_p0_price_idx1", "price_idx+other_idx"] {
            assert_eq!(across(secondary(), shape(Path::Range, Some(own))), None, "{own}");
        }
        let primary = || shape(Path::Lookup, Some("PRIMARY"));
        let own = shape(Path::Range, Some("price_idx"));
        assert_eq!(across(primary(), own), Some(vec![Aspect::Index]));
        // A table of which one partition alone is read has the partition's name.
        let mut pruned = primary();
        pruned.accesses[0].table = "sbtest1_p0".to_owned();
        assert_eq!(across(primary(), pruned), None);
        // Names that are given are compared.
        let other = shape(Path::Range, Some("pi1_cashreg"));
        assert_eq!(across(secondary(), other), Some(vec![Aspect::Index]));
    }

    #[test]
    fn nothing_known_is_no_difference() {
        let known = plan(Dbms::Mysql, Some(shape(Path::WholeTable, None)));
        assert_eq!(between(known, plan(Dbms::Mysql, None)), None);
        let once = |kind| PlanShape { kind, ..shape(Path::Lookup, Some("PRIMARY")) };
        let of = |a, b| {
            between(plan(Dbms::Postgres, Some(once(a))), plan(Dbms::Postgres, Some(once(b))))
        };
        let (generic, custom) = (Some(PlanKind::Generic), Some(PlanKind::Custom));
        assert_eq!(of(generic, None), None);
        assert_eq!(of(generic, custom), Some(vec![Aspect::Planning]));
    }
}
