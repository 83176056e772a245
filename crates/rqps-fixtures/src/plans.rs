//! Query plans of two systems that differ.

use rqps_model::query_plan::{Access, Asked, Path};
use rqps_model::{Dbms, Group, PlanShape, QueryPlan, Run, StepKind};

use crate::{info, step};

/// A plan of the statement of all steps.
#[must_use]
pub fn plan(path: Path, index: Option<&str>, is_covering: bool) -> QueryPlan {
    let sql = "SELECT k FROM sbtest1 WHERE k BETWEEN ? AND ?".to_owned();
    let index = index.map(str::to_owned);
    let access = Access { table: "sbtest1".to_owned(), path, index, is_covering };
    QueryPlan {
        asked: Asked::Prepared,
        shape: Some(PlanShape { accesses: vec![access], ..PlanShape::default() }),
        text: "id\tselect_type".to_owned(),
        ..QueryPlan::without(Dbms::Mysql, sql, "")
    }
}

/// Two steps. In one the candidate has lost its index.
#[must_use]
pub fn run() -> Run {
    let systems = vec![crate::system(Dbms::Mysql, "5.6.14"), crate::system(Dbms::Mysql, "8.0.33")];
    let ratios = [(1.0, 1.0), (0.1, 9.0)];
    let of = |name: &str| step(info(name, StepKind::Read, Group::Range), 9_000.0, 80.0, &ratios);
    let mut steps = vec![of("range-covered-si"), of("point-query")];
    let range = || plan(Path::Range, Some("k_1"), true);
    let scan = plan(Path::WholeTable, None, false);
    steps[0].systems[0].plans = vec![range()];
    steps[0].systems[1].plans = vec![scan];
    for system in &mut steps[1].systems {
        system.plans = vec![plan(Path::Lookup, Some("PRIMARY"), false)];
    }
    crate::run(systems, steps)
}
