//! Systems that have something, by their places.

use rqps_model::RunSystem;
use rqps_model::warning::OfSystem;

/// A fact of each system that has it.
pub(super) fn of_systems<T>(
    systems: &[RunSystem],
    fact: impl Fn(&RunSystem) -> Option<T>,
) -> Vec<OfSystem<T>> {
    let systems = systems.iter().enumerate();
    systems.filter_map(|(system, own)| Some(OfSystem { system, fact: fact(own)? })).collect()
}

/// The systems for which something holds.
pub(super) fn systems_with(
    systems: &[RunSystem],
    wanted: impl Fn(&RunSystem) -> bool,
) -> Vec<usize> {
    let all = systems.iter().enumerate();
    all.filter(|(_, system)| wanted(system)).map(|(idx, _)| idx).collect()
}
