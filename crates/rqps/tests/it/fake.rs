//! Fake servers in a test's directory: laid out as a user's own servers, failing on command.

use std::path::PathBuf;

use rqps_fake_server::{Family, Tree};

use crate::bench::Bench;

/// Versions that fake servers are by default: the same as those of the real ones.
const POSTGRES: &str = "11.22";
const MARIADB: &str = "10.2.11";

/// The program of all fake servers. Examples lie beside the directory of the tests' own program.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().unwrap().parent().unwrap();
    let program = profile.join("examples/fake_server");
    assert!(program.is_file(), "cargo test builds examples; there is no {}", program.display());
    program
}

/// A fake server in a directory of the bench's with its label's name.
pub(crate) fn server(bench: &Bench, label: &str, family: Family) -> Tree {
    let version = if family == Family::Postgres { POSTGRES } else { MARIADB };
    Tree::lay_out(&bench.path(label), &program(), (family, version)).unwrap()
}

/// Fake servers of one family with these labels.
pub(crate) fn servers<const N: usize>(
    bench: &Bench,
    labels: [&str; N],
    family: Family,
) -> [Tree; N] {
    labels.map(|label| server(bench, label, family))
}

/// Runs a test on each family.
pub(crate) fn for_each_family(test: impl Fn(Family)) {
    for family in [Family::Postgres, Family::Mariadb] {
        eprintln!("fake {}", family.name());
        test(family);
    }
}

/// The systems of a plan: each with the name of its directory as its label.
pub(crate) fn systems(trees: &[Tree]) -> String {
    let system = |tree: &Tree| {
        let label = tree.dir().file_name().unwrap().to_string_lossy().into_owned();
        let (dbms, basedir) = (tree.family().name(), tree.dir().display().to_string());
        format!("[[system]]\nlabel = {label:?}\ndbms = {dbms:?}\nbasedir = {basedir:?}\n")
    };
    trees.iter().map(system).collect()
}
