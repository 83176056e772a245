//! What happened to a run on its way, in sentences.

use rqps_model::{Incident, Run};

use crate::number::utc;
use crate::words::{clip, one_line};

/// Columns that the text of an incident is given: a server's last words may be many.
const MAX_INCIDENT: usize = 1000;

/// What happened on the way: when, to which system, what.
pub(super) fn incidents(run: &Run) -> Vec<String> {
    let sentence = |incident: &Incident| {
        let of = incident.system.and_then(|idx| run.systems.get(idx));
        let of = of.map_or_else(String::new, |system| {
            format!("{}: ", one_line(system.spec.label.as_str()))
        });
        format!("{}, {of}{}", utc(incident.at_unix_ms), clip(&incident.what, MAX_INCIDENT))
    };
    run.incidents.iter().map(sentence).collect()
}
