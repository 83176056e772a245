//! Limits of systems against what this host has, before anything is fetched or started.

use anyhow::{Context as _, Result, ensure};
use rqps_model::variant::written_bytes;
use rqps_model::{Limits, SystemSpec};
use rqps_server::confine;

use crate::{Plan, descriptors};

/// Refuses limits that this host cannot give, and more clients than it lets rqps connect, with the value
/// and the remedy. `cpus` are those that rqps may use.
pub(crate) fn check(plan: &Plan, cpus: &[usize], host_memory_bytes: u64) -> Result<()> {
    for system in &plan.systems {
        let limits = &system.variant.limits;
        of_host(limits, cpus, host_memory_bytes)
            .and_then(|()| Ok(confine::probe(limits)?))
            .with_context(|| format!("limit {}", system.label))?;
    }
    descriptors::check(plan)
}

fn of_host(limits: &Limits, cpus: &[usize], host_memory_bytes: u64) -> Result<()> {
    if let Some(wanted) = &limits.cpus {
        let beyond = wanted.numbers().iter().find(|cpu| !cpus.contains(cpu));
        let list: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        if let Some(cpu) = beyond {
            anyhow::bail!(
                "cpus = \"{wanted}\": rqps cannot use CPU {cpu} here; write numbers of {}",
                list.join(", ")
            );
        }
    }
    if let Some(bytes) = limits.memory_bytes {
        ensure!(
            bytes <= host_memory_bytes,
            "memory = \"{}\": this host has {}M; write less, or leave out memory",
            written_bytes(bytes),
            host_memory_bytes >> 20
        );
    }
    Ok(())
}

/// The CPUs for a system: its own limit, or all that rqps may use.
pub(crate) fn cpus_of(system: &SystemSpec, usable: &[usize]) -> Vec<usize> {
    let limit = system.variant.limits.cpus.as_ref();
    limit.map_or_else(|| usable.to_vec(), |cpus| cpus.numbers().to_vec())
}

/// The fewest CPUs that any system of the plan has: what placement is decided by, so that it is the
/// same for all of them.
pub(crate) fn narrowest(plan: &Plan, usable: &[usize]) -> Vec<usize> {
    let all = plan.systems.iter().map(|system| cpus_of(system, usable));
    all.min_by_key(Vec::len).unwrap_or_else(|| usable.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;
    use crate::plan::SuiteWork;

    fn plan(systems: &[&str]) -> Plan {
        let systems: Vec<String> = systems
            .iter()
            .enumerate()
            .map(|(n, keys)| {
                format!("[[system]]\nlabel = 's{n}'\ndbms = 'postgres'\nversion = '17.4'\n{keys}\n")
            })
            .collect();
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        PlanFile::parse(&systems.concat(), "test").unwrap().resolve("test", &catalogue).unwrap()
    }

    #[test]
    fn what_the_host_does_not_have_is_refused() {
        let refusal = |keys: &str| {
            let error = check(&plan(&["", keys]), &[0, 1], 8 << 30).unwrap_err();
            format!("{error:#}")
        };
        assert_eq!(
            refusal("cpus = '1-2'"),
            "limit s1: cpus = \"1-2\": rqps cannot use CPU 2 here; write numbers of 0, 1"
        );
        assert_eq!(
            refusal("memory = '9G'"),
            "limit s1: memory = \"9G\": this host has 8192M; write less, or leave out memory"
        );
        check(&plan(&["", ""]), &[0, 1], 8 << 30).unwrap();
        let mut many = plan(&["", ""]);
        if let SuiteWork::File { args, .. } = &mut many.suites[0].work {
            // More than any kernel gives a process unless it is told to: proc(5), fs.nr_open.
            args.clients = vec![1 << 30];
        }
        let error = check(&many, &[0, 1], 8 << 30).unwrap_err().to_string();
        assert!(error.contains("raise the hard limit (ulimit -Hn 4294967424)"), "{error}");
    }

    #[test]
    fn placement_is_decided_by_the_system_with_the_fewest_cpus() {
        let plan = plan(&["cpus = '2-5'", "", "cpus = '3'"]);
        assert_eq!(narrowest(&plan, &[0, 1, 2, 3, 4, 5]), [3]);
        assert_eq!(cpus_of(&plan.systems[0], &[0, 1, 2, 3, 4, 5]), [2, 3, 4, 5]);
        assert_eq!(cpus_of(&plan.systems[1], &[0, 1]), [0, 1]);
    }
}
