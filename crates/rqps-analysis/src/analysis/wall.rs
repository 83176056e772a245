//! What confined the servers that rqps started.

use rqps_model::warning::{ConfinedBy, OfSystem};
use rqps_model::{SystemSource, WALL, Wall, WarningKind};

use super::Analysis;
use super::of_systems::of_systems;

/// Servers that nothing confined.
pub(super) fn not_confined(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let mut reasons: Vec<String> = Vec::new();
    let mut systems = Vec::new();
    for OfSystem { system, fact } in found(analysis) {
        if let Wall::None { why } = fact {
            systems.push(system);
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
    }
    (!systems.is_empty()).then_some(WarningKind::NotConfined { systems, reasons })
}

/// What confined the others.
pub(super) fn confined(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let mut walls: Vec<ConfinedBy> = Vec::new();
    let holds = |found: &OfSystem<Wall>| found.fact.holds();
    for OfSystem { system, fact: wall } in found(analysis).into_iter().filter(holds) {
        match walls.iter_mut().find(|other| other.wall == wall) {
            Some(other) => other.systems.push(system),
            None => walls.push(ConfinedBy { wall, systems: vec![system] }),
        }
    }
    let systems = &analysis.run.systems;
    // A server given by its address is confined by nobody here.
    let has_external =
        systems.iter().any(|system| matches!(system.spec.source, SystemSource::External { .. }));
    (!walls.is_empty()).then_some(WarningKind::Confined { walls, has_external })
}

/// The systems whose server says what confined it.
fn found(analysis: &Analysis<'_>) -> Vec<OfSystem<Wall>> {
    of_systems(&analysis.run.systems, |system| system.process.get(WALL)?.parse().ok())
}
