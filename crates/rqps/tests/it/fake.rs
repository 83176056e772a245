//! Fake servers in place of a plan's real ones: laid out as a user's own servers, failing on command.

use std::path::PathBuf;

use rqps_fake_server::{Family, Tree};

use crate::bench::Bench;

/// The program of all fake servers. Examples lie beside the directory of the tests' own program.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().unwrap().parent().unwrap();
    let program = profile.join("examples/fake_server");
    let shown = program.display();
    assert!(program.is_file(), "there is no {shown}: cargo build -p rqps --examples");
    program
}

/// Writes `plan.toml` with a fake server in place of each of the plan's systems: of the same DBMS and version,
/// in the directory `fake-0` and so on. The servers come in the plan's order.
pub(crate) fn write_plan(bench: &Bench, plan: &str) -> Vec<Tree> {
    let (mut text, mut trees) = (String::new(), Vec::new());
    let mut family = None;
    for line in plan.lines() {
        match line.split_once(" = ") {
            Some(("dbms", name)) => {
                let named = |family: &Family| name.trim_matches(['"', '\'']) == family.name();
                let all = [Family::Postgres, Family::Mariadb, Family::Mysql];
                family = all.into_iter().find(named);
            }
            Some(("version", version)) => {
                let dir = bench.path(&format!("fake-{}", trees.len()));
                let version = version.trim_matches(['"', '\'']);
                trees.push(Tree::lay_out(&dir, &program(), family.unwrap(), version).unwrap());
                text.push_str(&format!("basedir = {:?}\n", dir.display().to_string()));
                continue;
            }
            _ => {}
        }
        text.push_str(line);
        text.push('\n');
    }
    assert!(!trees.is_empty(), "no versions in {plan}");
    bench.write("plan.toml", &text);
    trees
}

/// Runs a test on each family, as DBMS and version: those that the tests have as real servers.
pub(crate) fn for_each_family(test: impl Fn(&str, &str)) {
    for (dbms, version) in [("postgres", "11.22"), ("mariadb", "10.2.11")] {
        eprintln!("fake {dbms}@{version}");
        test(dbms, version);
    }
}
