//! What confined the servers that rqps started, in a sentence.

use rqps_model::{RunSystem, SystemSource, WALL, Wall};

use super::Analysis;
use crate::words::{list, list_in_short};

/// Servers that nothing confined.
pub(super) fn warning(analysis: &Analysis<'_>) -> Option<String> {
    let found = found(analysis);
    let mut reasons: Vec<String> = Vec::new();
    let mut labels = Vec::new();
    for (label, wall) in found {
        if let Wall::None { why } = wall {
            labels.push(label);
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
    }
    (!labels.is_empty()).then(|| {
        format!(
            "The kernel did not confine {} to its own files: {}. Such a server can reach whatever its \
             user can.",
            if labels.len() == 1 { labels.remove(0) } else { format!("each of {}", list_in_short(&labels)) },
            reasons.join("; ")
        )
    })
}

/// What confined the others.
pub(super) fn sentence(analysis: &Analysis<'_>) -> Option<String> {
    let mut walls: Vec<(Wall, Vec<String>)> = Vec::new();
    for (label, wall) in found(analysis).into_iter().filter(|(_, wall)| wall.holds()) {
        match walls.iter_mut().find(|(other, _)| *other == wall) {
            Some((_, labels)) => labels.push(label),
            None => walls.push((wall, vec![label])),
        }
    }
    let [(wall, _)] = walls.as_slice() else {
        let one = |(wall, labels): &(Wall, Vec<String>)| {
            format!("{} by {}", list_in_short(labels), wall.name())
        };
        let all: Vec<String> = walls.iter().map(one).collect();
        return (!all.is_empty())
            .then(|| format!("The kernel confined the servers differently: {}.", list(&all)));
    };
    let name = wall.name();
    // A server given by its address is confined by nobody here.
    let is_external =
        |system: &RunSystem| matches!(system.spec.source, SystemSource::External { .. });
    let others = if analysis.run.systems.iter().any(is_external) {
        "rqps's own servers"
    } else {
        "the servers"
    };
    Some(match wall {
        Wall::Namespaces { .. } => {
            format!("The kernel let {others} write to no files but their own ({name}).")
        }
        _ if wall.has_tcp() => {
            format!("The kernel confined {others} to their own files and TCP ports ({name}).")
        }
        _ => format!("The kernel confined {others} to their own files ({name})."),
    })
}

/// The systems whose server says what confined it.
fn found(analysis: &Analysis<'_>) -> Vec<(String, Wall)> {
    let wall = |system: &RunSystem| system.process.get(WALL)?.parse::<Wall>().ok();
    let systems = analysis.run.systems.iter().enumerate();
    systems
        .filter_map(|(idx, system)| Some((analysis.label(idx).to_owned(), wall(system)?)))
        .collect()
}
