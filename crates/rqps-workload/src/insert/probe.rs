//! The statements of a step of the Insert Benchmark as probes.

use rqps_client::{ParamType, Protocol};
use rqps_model::Role;

use super::row::{COLUMNS, FIRST_VALUES};
use super::{InsertArgs, InsertStep, Queries, Schema, Work, steps};
use crate::Rng;
use crate::probe::{N_DRAWS, Probe};

/// Ids of a point query.
const N_POINTS: u64 = 10;

impl InsertStep {
    /// Every statement of the step's clients, on table 1, with values drawn from `seed`: the same on
    /// every system. Creating indexes has none.
    #[must_use]
    pub fn probes(&self, args: &InsertArgs, schema: &Schema, seed: u64) -> Vec<Probe> {
        let mut rng = Rng::stream(seed, u64::MAX);
        let travels = |role| args.protocol.for_role(role, schema.dbms);
        let mut drawn = |sql: String,
                         protocol: Protocol,
                         types: Vec<ParamType>,
                         draw: &mut dyn FnMut(&mut Rng) -> u64| {
            let mut values = || types.iter().map(|_| draw(&mut rng).to_string()).collect();
            let values = (0..N_DRAWS).map(|_| values()).collect();
            Probe { sql, protocol, types, values }
        };
        let mut probes = Vec::new();
        // Ids that are there in every step: rows are deleted from the oldest on.
        let newest = args.rows.max(args.rows_later);
        if let Work::Query { queries, .. } = self.work {
            let protocol = travels(Role::Query);
            match queries {
                Queries::Range => {
                    for (idx, below) in FIRST_VALUES.into_iter().enumerate() {
                        let sql = schema.range_sql(1, idx);
                        let types = vec![ParamType::Int];
                        probes.push(drawn(sql, protocol, types, &mut |rng| rng.below(below)));
                    }
                }
                Queries::Point => {
                    let types = vec![ParamType::BigInt; usize::try_from(N_POINTS).unwrap_or(0)];
                    let near = newest / 10 + 1;
                    probes.push(drawn(Schema::point_sql(1), protocol, types, &mut |rng| {
                        newest - rng.below(near)
                    }));
                }
            }
        }
        if self.work != Work::Index {
            let n = self.rows_per_commit;
            let sql = format!("INSERT INTO {} ({COLUMNS}) VALUES ({n} rows)", Schema::table(1));
            let protocol = travels(Role::Insert);
            probes.push(Probe { sql, protocol, types: Vec::new(), values: Vec::new() });
        }
        if matches!(self.work, Work::Churn { .. } | Work::Query { .. }) {
            let sql = schema.delete_sql(1, self.rows_per_commit);
            // One statement after the other, as a client that deletes claims them.
            let mut next = self.oldest(args);
            let protocol = travels(Role::Delete);
            probes.push(drawn(sql, protocol, vec![ParamType::BigInt], &mut |_| {
                let from = next;
                next += u64::from(self.rows_per_commit);
                from
            }));
        }
        probes
    }

    /// The smallest id that table 1 has when the step begins; in the steps that query it is not less.
    fn oldest(&self, args: &InsertArgs) -> u64 {
        let before = steps(args).into_iter().take_while(|step| step.name != self.name);
        let n_deleted = before.filter(|step| matches!(step.work, Work::Churn { .. })).map(|step| {
            let clients = (0..args.clients).filter(|client| args.table_of(*client) == 1);
            let n_statements: u64 = clients.filter_map(|c| step.statements(args, c)).sum();
            n_statements * u64::from(step.rows_per_commit)
        });
        n_deleted.sum::<u64>() + 1
    }
}

#[cfg(test)]
mod tests {
    use rqps_model::{Compression, Dbms, Engine};

    use super::*;
    use crate::Size;
    use crate::insert::InsertSize;

    #[test]
    fn steps_have_the_statements_of_their_clients() {
        let args = InsertSize::args(Size::Tiny);
        let schema = Schema::new(&args, Dbms::Postgres, Engine::Heap, Compression::None);
        let verbs = |name: &str| -> String {
            let all = steps(&args);
            let step = all.iter().find(|step| step.name == name).unwrap();
            let probes = step.probes(&args, &schema, 3);
            for probe in &probes {
                let n = probe.types.len();
                assert!(probe.values.iter().all(|v| v.len() == n), "{}", probe.sql);
                assert_eq!(probe.sql.matches('?').count(), n, "{}", probe.sql);
            }
            let verb = |p: &Probe| p.sql.split(' ').next().unwrap_or_default().to_owned();
            probes.iter().map(verb).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(verbs("l.i0"), "INSERT");
        assert_eq!(verbs("l.x"), "");
        assert_eq!(verbs("l.i1"), "INSERT DELETE");
        assert_eq!(verbs("qr100"), "SELECT SELECT SELECT INSERT DELETE");
        assert_eq!(verbs("qp100"), "SELECT INSERT DELETE");
    }

    #[test]
    fn deletes_are_asked_about_from_the_oldest_row_on() {
        let args = InsertSize::args(Size::Tiny);
        let schema = Schema::new(&args, Dbms::Mysql, Engine::Innodb, Compression::None);
        let of = |name: &str| {
            let all = steps(&args);
            let step = all.iter().find(|step| step.name == name).unwrap();
            let probes = step.probes(&args, &schema, 3);
            let delete = probes.into_iter().find(|p| p.sql.starts_with("DELETE")).unwrap();
            let ids = delete.values.iter().map(|v| v[0].parse::<u64>().unwrap());
            (ids.collect::<Vec<_>>(), u64::from(step.rows_per_commit))
        };
        let (first, n) = of("l.i1");
        assert_eq!(first[..3], [1, 1 + n, 1 + 2 * n]);
        // What l.i1 and l.i2 have deleted is no longer there.
        let (later, _) = of("l.i2");
        assert_eq!(later[0], args.rows_later / 5 * 4 + 1);
        assert_eq!(of("qr100").0[0], args.rows_later + 1);
    }
}
