//! The examples of docs/how-to/import.md are imported as they stand there.

use rqps_import::{Options, iibench, mytools};
use rqps_model::{Metric, Run};

use crate::folders::Folder;
use crate::options;

const DOCS: &str = include_str!("../../../../docs/how-to/import.md");

/// The text that the documentation shows of a file.
fn example(name: &str) -> &'static str {
    let (_, behind) = DOCS.split_once(&format!("\n`{name}`")).unwrap();
    let (_, text) = behind.split_once("\n```\n").unwrap();
    let (text, _) = text.split_once("```\n").unwrap();
    assert_eq!(text.lines().count(), 6, "{name}");
    text
}

/// Base and figures, a line per step.
fn told(run: &Run) -> String {
    let steps = run.steps.iter().map(|step| {
        let of = |idx: usize| step.systems[idx].slices[0].figure().to_string();
        let figures: Vec<String> = (0..run.systems.len()).map(of).collect();
        format!("{}: {}", step.info.name, figures.join(" "))
    });
    let versions: Vec<&str> = run.systems.iter().map(|s| s.version_text.as_str()).collect();
    let head = format!("{} of {}", run.base_label(), versions.join(" "));
    std::iter::once(head).chain(steps).collect::<Vec<_>>().join("\n")
}

#[test]
fn tables_of_mytools() {
    let files = ["qps.abs.all.tsv", "qps.rel.all.tsv", "o.met.all"];
    let folder = Folder::new("in", &files.map(|name| (name, example(name))));
    let imports = folder.import();
    assert!(imports.skipped.is_empty());
    let run = &imports.runs[0];
    assert_eq!(told(run), "my8043_a of 8.0.43 17.4\npoint-query: 1000 990\nupdate-index: 400 440");
    assert!(run.imported.as_ref().unwrap().notes.is_empty());
    let stated = run.steps[0].systems[1].slices[0].stated.as_ref().unwrap();
    assert_eq!((run.steps[0].clients, stated.get(Metric::ContextSwitches)), (8, Some(3.79)));
    // The table of QPS and the metrics are each enough.
    for name in ["qps.abs.all.tsv", "o.met.all"] {
        let folder = Folder::new("in.8u", &[(name, example(name))]);
        let run = mytools::import(&folder.path, &options("x")).unwrap().runs.remove(0);
        assert!(told(&run).contains("point-query: 1000 990"), "{}", told(&run));
    }
}

#[test]
fn tables_of_the_insert_benchmark() {
    let folder = Folder::new("ib", &[("mrg.l.i0", example("mrg.l.i0"))]);
    let clients = Options { clients: Some(1), ..options("ib") };
    let imports = iibench::import(&folder.path, &clients).unwrap();
    assert!(imports.skipped.is_empty());
    let runs: Vec<String> = imports.runs.iter().map(told).collect();
    assert_eq!(
        runs.join("\n"),
        "my8043_a of 8.0.43 17.4\nl.i0: 500000 400000\nmy8043_c of 8.0.43 8.4.6\nl.i0: 300000 330000"
    );
    let stated = imports.runs[0].steps[0].systems[0].slices[0].stated.as_ref().unwrap();
    assert_eq!(stated.columns.len(), 20);
}
