//! Searches over simulated commits; the table of docs/reference/simulations.md is made here.

mod simulate;

use simulate::{Other, Setting, tally};

/// Searches of each setting.
const N: u64 = 20;

/// The set that is found holds the culprit, and few probes find it.
#[test]
fn found_commits_hold_the_culprit() {
    for loss in [0.05, 0.10] {
        let tally = tally(&Setting { loss, ..Setting::usual() }, N);
        assert!(tally.n_held as f64 >= 0.9 * tally.n_found as f64, "{loss}: {tally:?}");
        assert!(tally.n_found as f64 >= 0.9 * N as f64, "{loss}: {tally:?}");
        assert!(tally.mean_probes() < 16.0, "{loss}: {tally:?}");
    }
}

/// Two changes of about one size do not keep a search from its end.
#[test]
fn of_two_equal_changes_both_are_found() {
    for after in [1, 20] {
        let others = vec![Other { after, loss: 0.08 }];
        let tally = tally(&Setting { loss: 0.09, others, ..Setting::usual() }, N);
        assert!(tally.n_held as f64 >= 0.9 * N as f64, "{after}: {tally:?}");
        assert!(tally.n_two as f64 >= 0.8 * N as f64, "{after}: {tally:?}");
        assert!(tally.mean_probes() < 16.0, "{after}: {tally:?}");
    }
}

/// Where nothing changed, no commit is accused.
#[test]
fn ends_that_are_alike_accuse_nobody() {
    let tally = tally(&Setting { loss: 0.0, ..Setting::usual() }, N);
    assert!(tally.n_found as f64 <= 0.1 * N as f64, "{tally:?}");
}

#[test]
#[ignore = "make test-all: takes long"]
fn rows_of_the_documented_table() {
    for builds in [0.001, 0.004, 0.010] {
        for loss in [0.0, 0.02, 0.05, 0.10] {
            let found = tally(&Setting { loss, builds, ..Setting::usual() }, 200);
            eprintln!("builds {builds}, loss {loss}: {found:?}");
        }
    }
}

#[test]
#[ignore = "make test-all: takes long"]
fn rows_of_several_changes() {
    for (loss, others) in [
        (0.09, &[(1, 0.08)][..]),
        (0.09, &[(20, 0.08)]),
        (0.05, &[(2, 0.05)]),
        (0.05, &[(2, 0.02)]),
        (0.09, &[(3, 0.03), (8, -0.03), (20, 0.02)]),
        (0.05, &[(3, 0.02), (8, -0.02), (20, 0.01)]),
        (0.05, &[(3, 0.05), (20, 0.05)]),
    ] {
        let of = |&(after, loss)| Other { after, loss };
        let setting = Setting { loss, others: others.iter().map(of).collect(), ..Setting::usual() };
        let found = tally(&setting, 100);
        eprintln!("{loss}, {others:?}: {:.1} probes, {found:?}", found.mean_probes());
    }
}
