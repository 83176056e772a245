//! Which CPUs client threads and the server threads that serve them run on.
//!
//! Paired placement exists because waking a thread on another, idle CPU costs an exit to the
//! hypervisor on virtual machines: with one client such wake-ups are what is measured, not the
//! server. See docs/explanation/method.md.

use anyhow::{Context as _, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use rqps_model::Placement;

use crate::plan::seed::{self, SeedDomain};

/// The CPUs this process may use, in ascending order.
///
/// # Errors
/// When the kernel does not tell.
pub fn usable_cpus() -> Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0)).context("read the CPUs rqps may use")?;
    let cpus = (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect();
    Ok(cpus)
}

/// The placement that a step with `clients` clients gets, never `Auto`. `Auto` means the calibration's
/// `best`, if there is one. `Paired` from a calibration needs at most as many clients as `cpus`, because
/// calibrations try no more pairs.
///
/// # Errors
/// When the one asked for cannot be had on this host, or not with servers elsewhere.
pub fn resolve(
    asked: Placement,
    clients: u32,
    cpus: &[usize],
    all_local: bool,
    best: Option<Placement>,
) -> Result<Placement> {
    let fits = clients as usize <= cpus.len();
    match asked {
        Placement::Auto => {
            let usual = if fits && all_local { Placement::Paired } else { Placement::Free };
            let best = best.filter(|best| all_local && is_of_use(*best, fits, cpus));
            Ok(best.unwrap_or(usual))
        }
        Placement::Free => Ok(Placement::Free),
        Placement::Split => {
            ensure!(
                cpus.len() >= 2,
                "placement split needs two CPUs, and rqps may use {}; write placement = \"free\"",
                cpus.len()
            );
            ensure!(all_local, NOT_LOCAL);
            Ok(Placement::Split)
        }
        Placement::Paired => {
            ensure!(all_local, NOT_LOCAL);
            Ok(Placement::Paired)
        }
    }
}

/// Whether a placement that a calibration found can be had, and holds for so many clients.
fn is_of_use(placement: Placement, fits: bool, cpus: &[usize]) -> bool {
    match placement {
        Placement::Auto => false,
        Placement::Split => cpus.len() >= 2,
        Placement::Paired => fits,
        Placement::Free => true,
    }
}

const NOT_LOCAL: &str = "rqps cannot place a system given by dsn; write placement = \"free\"";

/// CPUs of one client thread; empty means all. Pairs are spread evenly over the CPUs, from a CPU drawn from
/// the step's `seed`: other work on a CPU then disturbs all steps alike.
#[must_use]
pub fn client_cpus(
    placement: Placement,
    client_idx: usize,
    cpus: &[usize],
    seed: u64,
) -> Vec<usize> {
    match placement {
        Placement::Paired => {
            let first = seed::derive(seed, SeedDomain::FirstCpu, 0) % cpus.len() as u64;
            let first = usize::try_from(first).unwrap_or(0);
            vec![cpus[(client_idx + first) % cpus.len()]]
        }
        Placement::Split => cpus[cpus.len() / 2..].to_vec(),
        Placement::Auto | Placement::Free => Vec::new(),
    }
}

/// CPUs of the server's threads that are not paired.
#[must_use]
pub fn server_cpus(placement: Placement, cpus: &[usize]) -> Vec<usize> {
    match placement {
        Placement::Split => cpus[..cpus.len() / 2].to_vec(),
        Placement::Auto | Placement::Free | Placement::Paired => cpus.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_pairs_up_to_the_number_of_cpus() {
        let cpus = [0, 1];
        assert_eq!(resolve(Placement::Auto, 2, &cpus, true, None).unwrap(), Placement::Paired);
        assert_eq!(resolve(Placement::Auto, 3, &cpus, true, None).unwrap(), Placement::Free);
        assert_eq!(resolve(Placement::Auto, 1, &cpus, false, None).unwrap(), Placement::Free);
    }

    #[test]
    fn a_calibration_decides_where_it_can() {
        let auto = |best, cpus: &[usize], all_local| {
            resolve(Placement::Auto, 1, cpus, all_local, Some(best)).unwrap()
        };
        assert_eq!(auto(Placement::Split, &[0, 1], true), Placement::Split);
        assert_eq!(auto(Placement::Split, &[0], true), Placement::Paired);
        assert_eq!(auto(Placement::Paired, &[0, 1], false), Placement::Free);
    }

    #[test]
    fn paired_that_a_calibration_found_is_for_up_to_as_many_clients_as_cpus() {
        // Found with eight clients on eight CPUs, of which the plan gives its systems two.
        let auto =
            |clients, best| resolve(Placement::Auto, clients, &[0, 1], true, Some(best)).unwrap();
        assert_eq!(auto(8, Placement::Paired), Placement::Free);
        assert_eq!(auto(2, Placement::Paired), Placement::Paired);
        assert_eq!(auto(2, Placement::Free), Placement::Free);
        assert_eq!(auto(8, Placement::Split), Placement::Split);
        // Who asks for it gets it.
        let asked = resolve(Placement::Paired, 8, &[0, 1], true, None).unwrap();
        assert_eq!(asked, Placement::Paired);
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        assert!(resolve(Placement::Split, 1, &[0], true, None).is_err());
        assert!(resolve(Placement::Paired, 1, &[0, 1], false, None).is_err());
    }

    #[test]
    fn sides_of_a_split_do_not_overlap() {
        let cpus = [0, 2, 4];
        assert_eq!(server_cpus(Placement::Split, &cpus), [0]);
        assert_eq!(client_cpus(Placement::Split, 0, &cpus, 1), [2, 4]);
        assert!(client_cpus(Placement::Free, 0, &cpus, 1).is_empty());
    }

    #[test]
    fn pairs_are_spread_evenly_from_a_cpu_that_is_drawn() {
        let cpus = [0, 2, 4];
        let mut firsts = std::collections::BTreeMap::new();
        for seed in 0..3000 {
            let of = |client_idx| client_cpus(Placement::Paired, client_idx, &cpus, seed);
            let mut seen = [0; 5];
            (0..6).for_each(|client_idx| seen[of(client_idx)[0]] += 1);
            assert_eq!(seen, [2, 0, 2, 0, 2]);
            *firsts.entry(of(0)).or_insert(0) += 1;
        }
        assert!(firsts.len() == 3 && firsts.values().all(|n| (850..1150).contains(n)));
    }
}
