//! How often servers are still to be started and stopped: what the time that is left is reckoned with.

use rqps_model::SystemIdx;

/// Starts and stops of rqps's own servers that are still to come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangesLeft {
    /// Starts.
    pub starts: usize,
    /// Stops, including those of the running servers.
    pub stops: usize,
}

impl ChangesLeft {
    /// `pending` has the systems that have steps to do, for each start of the servers from the one under way
    /// on; `up` are those whose servers run.
    pub(crate) fn of(pending: &[Vec<SystemIdx>], up: &[SystemIdx]) -> Self {
        let is_to_start = |(nth, system): &(usize, &SystemIdx)| *nth > 0 || !up.contains(system);
        let of_starts = pending.iter().enumerate();
        let systems = of_starts.flat_map(|(nth, all)| all.iter().map(move |one| (nth, one)));
        let starts = systems.filter(is_to_start).count();
        Self { starts, stops: starts + up.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_are_up_are_only_stopped() {
        // Two systems interleaved, on the first of three starts.
        let all = vec![SystemIdx(0), SystemIdx(1)];
        let three = [all.clone(), all.clone(), all.clone()];
        assert_eq!(ChangesLeft::of(&three, &all), ChangesLeft { starts: 4, stops: 6 });
        // One after the other: the second is started yet, on this start too.
        assert_eq!(ChangesLeft::of(&three, &[SystemIdx(0)]), ChangesLeft { starts: 5, stops: 6 });
        // The last step of all.
        assert_eq!(
            ChangesLeft::of(&[vec![SystemIdx(1)]], &[SystemIdx(1)]),
            ChangesLeft { starts: 0, stops: 1 }
        );
        assert_eq!(ChangesLeft::of(&[Vec::new()], &[]), ChangesLeft::default());
    }
}
