//! The statements of a compiled step as probes.

use rqps_client::Params;

use super::Draws;
use crate::Program;
use crate::probe::{N_DRAWS, Probe, literals};

/// Sets the values of probes apart from those of clients, whose streams are small numbers.
const STREAM: u32 = u32::MAX;

impl Program {
    /// Every statement of an event once, on table 1, with values drawn from `seed`: the same on every
    /// system.
    #[must_use]
    pub fn probes(&self, seed: u64) -> Vec<Probe> {
        let mut draws = Draws::new(self, seed, STREAM);
        let mut params = Params::new();
        let mut probes = Vec::new();
        for statement in &self.statements {
            let mut values = Vec::new();
            for _ in 0..N_DRAWS {
                params.clear();
                for source in &statement.sources {
                    draws.push(*source, self, &mut params);
                }
                values.push(literals(&params));
            }
            probes.push(Probe {
                sql: statement.sql.first().cloned().unwrap_or_default(),
                protocol: statement.protocol,
                types: statement.types.clone(),
                values,
            });
        }
        probes
    }
}

#[cfg(test)]
mod tests {
    use rqps_model::Dbms;

    use crate::{Program, Size, Suite};

    #[test]
    fn every_statement_has_as_many_values_as_placeholders() {
        let args = Size::Tiny.args();
        for step in &Suite::sysbench().unwrap().steps {
            if step.event.is_empty() {
                continue;
            }
            for dbms in [Dbms::Mysql, Dbms::Postgres] {
                let program = Program::compile(step, &args, dbms).unwrap();
                let probes = program.probes(7);
                assert_eq!(probes, program.probes(7));
                assert!(!probes.is_empty());
                for probe in probes {
                    let n = probe.sql.matches('?').count();
                    assert_eq!(probe.types.len(), n, "{}", probe.sql);
                    assert_eq!(probe.values.len(), crate::probe::N_DRAWS);
                    assert!(probe.values.iter().all(|v| v.len() == n), "{}", probe.sql);
                }
            }
        }
    }
}
