//! Labels that are unique over several runs.

use rqps_model::Run;

/// The label of every system of all runs. One that another run has as well gets the beginning of its
/// run's id behind it, as short as tells the runs apart: `pg174.small@20261121`.
pub(super) fn unique(runs: &[Run]) -> Vec<String> {
    let label = |run: &Run, idx: usize| run.systems[idx].spec.label.0.clone();
    let all: Vec<String> =
        runs.iter().flat_map(|run| (0..run.systems.len()).map(|idx| label(run, idx))).collect();
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let short = short(&ids);
    let of = |at: usize| (0..runs[at].systems.len()).map(move |idx| (at, idx));
    (0..runs.len())
        .flat_map(of)
        .map(|(at, idx)| {
            let own = label(&runs[at], idx);
            let is_shared = all.iter().filter(|other| **other == own).count() > 1;
            if is_shared { format!("{own}@{}", short[at]) } else { own }
        })
        .collect()
}

/// `RUN:LABEL` of every system of all runs.
pub(super) fn full(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| -> Vec<String> {
        run.systems.iter().map(|s| format!("{}:{}", run.id, s.spec.label)).collect()
    };
    runs.iter().flat_map(of).collect()
}

/// The parts of each id, from its first on, that tell it from all others.
fn short(ids: &[&str]) -> Vec<String> {
    let parts = |id: &str, n: usize| id.split('-').take(n).collect::<Vec<_>>().join("-");
    let most = ids.iter().map(|id| id.split('-').count()).max().unwrap_or(1);
    let tells = |n: &usize| {
        let mut cut: Vec<String> = ids.iter().map(|id| parts(id, *n)).collect();
        cut.sort_unstable();
        cut.windows(2).all(|pair| pair[0] != pair[1])
    };
    let n = (1..=most).find(tells).unwrap_or(most);
    ids.iter().map(|id| parts(id, n)).collect()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn as_much_of_the_ids_as_tells_them_apart() {
        assert_eq!(short(&["20261121-203015-a", "20261122-080000-a"]), ["20261121", "20261122"]);
        let of_a_day = short(&["20261121-203015-a", "20261121-210000-a"]);
        assert_eq!(of_a_day, ["20261121-203015", "20261121-210000"]);
    }
}
