//! What a page carries beside its text: other bases, series, raw data.

use rqps_model::{Run, SeriesPoint, Slice};
use rqps_report::{Analysis, csv, html, json};

use crate::page::{file, packed, readable};
use crate::{blocks_fixture, fixture};

/// Names of the page's places for parts.
fn places(page: &str) -> Vec<&str> {
    let mut names: Vec<&str> =
        page.split("data-part=\"").skip(1).filter_map(|t| t.split('"').next()).collect();
    names.sort_unstable();
    names
}

/// Every part of a page for another base stands word for word in the page that is made with that base.
#[test]
fn another_base_says_what_its_own_page_says() {
    let run = fixture::demo();
    let page = html::render(&Analysis::of(&run, 0.05));
    let found = packed(&page, "bases").unwrap();
    assert_eq!(found["bases"], serde_json::json!([1, 2]));
    assert_eq!(found["details"], true);
    let parts = found["parts"].as_array().unwrap();
    let mut names: Vec<&str> = parts.iter().map(|part| part[0].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, places(&page));
    for (at, base) in [1, 2].into_iter().enumerate() {
        let own = html::render(&Analysis::of_base(&run, base, 0.05));
        for part in parts {
            let text = part[1][at].as_str().unwrap();
            let place = format!("data-part={}>{text}</", part[0]);
            assert!(own.contains(&place), "{} for base {base}", part[0]);
        }
    }
}

#[test]
fn what_cannot_be_a_base_is_no_choice() {
    let mut run = fixture::demo();
    for step in &mut run.steps {
        step.systems[2] = rqps_model::run::SystemStep::pending();
    }
    let page = html::render(&Analysis::of(&run, 0.05));
    assert_eq!(packed(&page, "bases").unwrap()["bases"], serde_json::json!([1]));
    run.systems.truncate(1);
    run.steps.iter_mut().for_each(|step| step.systems.truncate(1));
    let page = html::render(&Analysis::of(&run, 0.05));
    assert!(packed(&page, "bases").is_none() && !page.contains("id=\"base\""));
}

/// A page that has no room for the details of other bases says less of them, and one that has none at
/// all says nothing; what stands in it is never cut.
#[test]
fn large_runs_say_less_of_other_bases() {
    let run = fixture::large();
    let page = html::render(&Analysis::of(&run, 0.05));
    assert!(page.len() <= 1_500_000, "{} bytes", page.len());
    assert!(packed(&page, "series").is_some());
    // The details of its steps, which are most of it, are packed, too.
    let bodies = packed(&page, "bodies").unwrap();
    assert_eq!(bodies.as_array().unwrap().len(), run.steps.len());
    assert_eq!(page.matches("class=\"body\" data-packed").count(), run.steps.len());
    let found = packed(&page, "bases").unwrap();
    assert_eq!(found["bases"], serde_json::json!([1, 2, 3, 4]));
    if found["details"] == false {
        assert!(
            found["parts"]
                .as_array()
                .unwrap()
                .iter()
                .all(|part| { !part[0].as_str().unwrap().starts_with("compared-") })
        );
        assert!(page.contains("class=\"other-base\" hidden"));
    }
}

#[test]
fn the_files_of_a_page_are_the_reports() {
    let run = fixture::demo();
    let analysis = Analysis::of(&run, 0.05);
    let page = html::render(&analysis);
    assert_eq!(file(&page, "20261121-203015-demo.csv.gz").unwrap(), csv::render(&analysis));
    assert_eq!(file(&page, "20261121-203015-demo.json.gz").unwrap(), json::render(&analysis));
    let text = readable(&page);
    assert!(text.contains("<code>rqps runs export 20261121-203015-demo --format csv</code>"));
}

/// Every second of a run that is not large is in its charts.
#[test]
fn series_are_whole() {
    let run = fixture::demo();
    let page = html::render(&Analysis::of(&run, 0.05));
    let found = packed(&page, "series").unwrap();
    assert_eq!(found["labels"].as_array().unwrap().len(), 3);
    // Warm-ups are not reported: the step after the load is point-query.pre.
    let charts = found["steps"][1].as_array().unwrap();
    assert_eq!(charts.len(), 2);
    assert_eq!((&charts[0]["what"], &charts[0]["per"]), (&"Queries per second".into(), &1.into()));
    assert_eq!(charts[1]["log"], true);
    let step = run.steps.iter().find(|step| step.info.name == "point-query.pre").unwrap();
    for (track, system) in charts[0]["tracks"].as_array().unwrap().iter().zip(&step.systems) {
        let scale = track["scale"].as_f64().unwrap();
        for (slice, packed) in system.slices.iter().zip(track["mean"].as_array().unwrap()) {
            let mut value = 0.0;
            let points: Vec<f64> = packed
                .as_array()
                .unwrap()
                .iter()
                .map(|difference| {
                    value += difference.as_f64().unwrap() * scale;
                    value
                })
                .collect();
            assert_eq!(points.len(), slice.series.len());
            for (got, wanted) in points.iter().zip(&slice.series) {
                assert!((got - f64::from(wanted.queries)).abs() <= scale / 2.0 + 1e-6);
            }
        }
    }
}

/// The values of a track's first list: each is told by its difference from the one before.
fn values(track: &serde_json::Value) -> Vec<f64> {
    let scale = track["scale"].as_f64().unwrap();
    let mut value = 0.0;
    let add = |difference: &serde_json::Value| {
        value += difference.as_f64().unwrap() * scale;
        value
    };
    track["mean"][0].as_array().unwrap().iter().map(add).collect()
}

/// Two systems in turns, 24 blocks of two seconds; those of the candidate took 0.3 s longer. In the fourth the
/// hypervisor kept two fifths of what both wanted.
fn in_turns() -> Run {
    let logs = blocks_fixture::around(-0.2, 0.005, 24);
    let mut run = blocks_fixture::run(&[vec![blocks_fixture::reads("point-query", &logs)]]);
    let longer = |slice: &mut Slice| {
        slice.duration_ns += 300_000_000;
        let first = slice.series[0];
        slice.series.push(SeriesPoint { queries: first.queries / 10, ..first });
    };
    run.steps[0].systems[1].slices.iter_mut().for_each(longer);
    for system in &mut run.steps[0].systems {
        let host = &mut system.slices[3].usage.host;
        (host.cpu_user_ns, host.cpu_system_ns, host.cpu_iowait_ns) = (900_000_000, 0, 0);
        (host.cpu_steal_ns, host.n_cpus) = (600_000_000, 2);
    }
    run
}

/// Blocks are drawn second by second, those of all systems at the same places, and what ratios leave out is
/// marked.
#[test]
fn series_of_turns_are_by_second() {
    let mut run = in_turns();
    let page = html::render(&Analysis::of(&run, 0.05));
    let found = packed(&page, "series").unwrap();
    let charts = found["steps"][0].as_array().unwrap();
    for chart in charts {
        assert_eq!((&chart["blocks"], &chart["turns"]), (&false.into(), &true.into()));
        assert_eq!(chart["left_out"], serde_json::json!([[6, 8]]));
    }
    assert_eq!((charts.len(), &found["base"], &charts[0]["per"]), (2, &0.into(), &1.into()));
    let tracks = charts[0]["tracks"].as_array().unwrap();
    for (track, system) in tracks.iter().zip(&run.steps[0].systems) {
        let (points, scale) = (values(track), track["scale"].as_f64().unwrap());
        assert_eq!(points.len(), 2 * system.slices.len());
        for (points, slice) in points.chunks(2).zip(&system.slices) {
            let second = f64::from(slice.series[0].queries);
            let rest: u32 = slice.series[1..].iter().map(|p| p.queries).sum();
            let rest_s = slice.duration_ns as f64 / 1e9 - 1.0;
            for (got, wanted) in points.iter().zip([second, f64::from(rest) / rest_s]) {
                assert!((got - wanted).abs() <= scale / 2.0 + 1e-6, "{got} for {wanted}");
            }
        }
    }
    assert!(page.contains("Queries per second of its own turns"));
    assert!(page.contains("<rect class=\"left-out\"") && page.contains("; shaded: blocks"));
    // One turn a block: its seconds are parts of the same.
    for slice in run.steps[0].systems.iter_mut().flat_map(|system| &mut system.slices) {
        slice.n_rounds = Some(1);
    }
    let page = html::render(&Analysis::of(&run, 0.05));
    let found = packed(&page, "series").unwrap();
    let chart = &found["steps"][0][0];
    assert_eq!((&chart["blocks"], &chart["turns"]), (&true.into(), &false.into()));
    assert_eq!(chart["left_out"], serde_json::json!([[3, 4]]));
    assert_eq!(values(&chart["tracks"][1]).len(), 24);
    assert!(page.contains("Queries per second, block by block"));
}
