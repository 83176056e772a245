//! What is not in the series of a history, and why.

/// A run or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The run.
    pub run_id: String,
    /// Which part of it; empty for all of it.
    pub what: String,
    /// Why.
    pub because: String,
}

/// One entry per run and reason, with the steps that it is about.
pub(super) fn merge(left_out: &mut Vec<LeftOut>) {
    let mut merged: Vec<(LeftOut, Vec<String>)> = Vec::new();
    for one in left_out.drain(..) {
        let known = merged
            .iter_mut()
            .find(|(known, _)| known.run_id == one.run_id && known.because == one.because);
        match known {
            Some((_, whats)) if whats.contains(&one.what) => {}
            Some((_, whats)) => whats.push(one.what),
            None => {
                let whats = vec![one.what.clone()];
                merged.push((one, whats));
            }
        }
    }
    let said = merged.into_iter().map(|(one, whats)| {
        let what = rqps_text::words::list_in_short(&whats);
        LeftOut { what, ..one }
    });
    left_out.extend(said);
}
