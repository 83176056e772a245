//! Which system of several runs is the base, and which runs cannot be joined.

use rqps_model::Run;

use rqps_text::words::list_in_short;

/// Why runs cannot be made into one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// Nothing to compare.
    #[error(
        "there is one run, so there is nothing to compare; name two or more, or use `rqps report {run}`"
    )]
    OneRun {
        /// The run.
        run: String,
    },
    /// A run was named twice.
    #[error("run {run} is named twice; name each run once")]
    Twice {
        /// The run.
        run: String,
    },
    /// A run has no system.
    #[error("run {run} has no system to compare; leave it out")]
    Empty {
        /// The run.
        run: String,
    },
    /// No system has the base's label.
    #[error("no system {base:?} in these runs; the base is a label or RUN:LABEL of {known}")]
    NoBase {
        /// The base as given.
        base: String,
        /// The systems that there are, as RUN:LABEL.
        known: String,
    },
    /// Several runs have a system of the base's label.
    #[error("base {base:?} is in several runs; write one of {choices}")]
    ManyBases {
        /// The base as given.
        base: String,
        /// The systems that are meant, as RUN:LABEL.
        choices: String,
    },
}

/// Refuses what cannot be joined.
pub(super) fn check(runs: &[Run]) -> Result<(), JoinError> {
    for (at, run) in runs.iter().enumerate() {
        if runs[..at].iter().any(|other| other.id == run.id) {
            return Err(JoinError::Twice { run: run.id.clone() });
        }
        if run.systems.is_empty() {
            return Err(JoinError::Empty { run: run.id.clone() });
        }
    }
    if runs.len() < 2 {
        let run = runs.first().map_or("latest", |run| run.id.as_str()).to_owned();
        return Err(JoinError::OneRun { run });
    }
    Ok(())
}

/// The run and, within it, the system that is the base.
///
/// A run may be named by the beginning of its id, unless that is another's whole id.
pub(super) fn find(runs: &[Run], base: Option<&str>) -> Result<(usize, usize), JoinError> {
    let Some(text) = base else {
        let last = runs[0].systems.len() - 1;
        return Ok((0, runs[0].base.min(last)));
    };
    let all = || {
        let of = |at: usize| (0..runs[at].systems.len()).map(move |idx| (at, idx));
        (0..runs.len()).flat_map(of)
    };
    let label = |(at, idx): (usize, usize)| runs[at].systems[idx].spec.label.as_str();
    let full = |(at, idx): (usize, usize)| format!("{}:{}", runs[at].id, label((at, idx)));
    let is_whole = |id: &str| runs.iter().any(|run| run.id == id);
    let is_meant = |place: (usize, usize)| {
        let in_run = |(run, wanted): (&str, &str)| {
            let id = runs[place.0].id.as_str();
            let is_it = id == run || !run.is_empty() && !is_whole(run) && id.starts_with(run);
            is_it && label(place) == wanted
        };
        label(place) == text || text.split_once(':').is_some_and(in_run)
    };
    let found: Vec<(usize, usize)> = all().filter(|place| is_meant(*place)).collect();
    let names = |places: Vec<(usize, usize)>| {
        list_in_short(&places.into_iter().map(full).collect::<Vec<_>>())
    };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(JoinError::NoBase { base: text.to_owned(), known: names(all().collect()) }),
        _ => Err(JoinError::ManyBases { base: text.to_owned(), choices: names(found) }),
    }
}
