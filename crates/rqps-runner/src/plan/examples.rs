//! The plans of the repository's `examples`: each can be meant, and one names every server there is.

use rqps_model::SystemSource;
use rqps_server::Catalogue;

use super::{Plan, PlanFile};

fn plan(text: &str) -> Plan {
    let catalogue = Catalogue::builtin().unwrap();
    PlanFile::parse(text, "example").unwrap().resolve("example", &catalogue).unwrap()
}

#[test]
fn every_example_can_be_meant() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut n = 0;
    for dir in [dir.to_owned(), format!("{dir}/findings")] {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let plan = plan(&text);
            let steps = crate::plan::launches::of_plan(&plan, &[0, 1], true);
            let steps = steps.unwrap_or_else(|e| panic!("{}: {e:#}", path.display()));
            assert!(!plan.systems.is_empty() && !steps.is_empty(), "{}", path.display());
            n += 1;
        }
    }
    assert!(n >= 20, "{n}");
}

#[test]
fn the_plan_of_every_server_names_every_server() {
    let plan = plan(include_str!("../../../../examples/every-server.toml"));
    let catalogue = Catalogue::builtin().unwrap();
    let mut named = Vec::new();
    for system in &plan.systems {
        let SystemSource::Catalogue { version, build } = &system.source else {
            panic!("{} is not of the catalogue", system.label.0);
        };
        named.push(catalogue.find(system.dbms, version, build.as_deref()).unwrap().selector());
    }
    let tried = catalogue.servers().iter().filter(|entry| entry.tried);
    let known: Vec<String> = tried.map(|entry| entry.selector()).collect();
    // Also in the catalogue's order.
    assert_eq!(named, known, "write the systems into examples/every-server.toml");
}
