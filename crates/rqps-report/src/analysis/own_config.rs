//! What of users' configurations is not in force, in a sentence.

use super::Analysis;
use crate::words::{list_in_short, one_line};

/// Options of users that are not in force as written.
pub(super) fn sentence(analysis: &Analysis<'_>) -> Option<String> {
    let systems = analysis.run.systems.iter().enumerate();
    let changed: Vec<String> = systems
        .filter_map(|(idx, system)| {
            let text = one_line(system.process.get("config")?);
            Some(format!("{} ({text})", analysis.label(idx)))
        })
        .collect();
    (!changed.is_empty()).then(|| {
        format!("Options of your configuration that rqps changed: {}.", list_in_short(&changed))
    })
}
