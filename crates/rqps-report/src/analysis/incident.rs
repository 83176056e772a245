//! What happened to a run on its way, in sentences.

use rqps_model::{Run, Warning};

use crate::number::utc;
use crate::warning;
use crate::words::{clip, one_line};

/// Columns that a warning is given: a server's last words may be many.
const MAX_COLUMNS: usize = 1000;

/// What happened on the way: when, to which system, what.
pub(super) fn incidents(run: &Run) -> Vec<String> {
    run.warnings.iter().map(|warning| sentence(run, warning)).collect()
}

fn sentence(run: &Run, warning: &Warning) -> String {
    let what = warning::in_scope(warning);
    let system = warning.scope.system().and_then(|idx| run.systems.get(idx));
    let of = system
        .map_or_else(String::new, |system| format!("{}: ", one_line(system.spec.label.as_str())));
    let at = warning.at_unix_ms.map_or_else(String::new, |at| format!("{}, ", utc(at)));
    format!("{at}{of}{}", clip(&what, MAX_COLUMNS))
}
