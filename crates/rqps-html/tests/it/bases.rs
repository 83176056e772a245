//! What a page carries beside its text: other bases, series, raw data.

use rqps_analysis::Analysis;
use rqps_model::{Run, SeriesPoint, Slice};
use rqps_report::{csv, json};

use crate::compare;
use crate::page::{file, packed};
use crate::readable::readable;
use rqps_fixtures::{blocks, many};

/// Names of the page's places for parts.
fn places(page: &str) -> Vec<&str> {
    let mut names: Vec<&str> =
        page.split("data-part=\"").skip(1).filter_map(|t| t.split('"').next()).collect();
    names.sort_unstable();
    names
}

/// Every part of a page for another base, the one at this place among them, stands word for word in the page that
/// is made with that base; and every place of the page has a part.
fn says_what_its_own_page_says(page: &str, at: usize, own: &str) {
    let found = packed(page, "bases").unwrap();
    assert_eq!((&found["details"], &found["charts"]), (&true.into(), &true.into()));
    let parts = found["parts"].as_array().unwrap();
    let mut names: Vec<&str> = parts.iter().map(|part| part[0].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, places(page));
    for part in parts {
        let text = part[1][at].as_str().unwrap();
        let place = format!("data-part={}>{text}</", part[0]);
        assert!(own.contains(&place), "{} for base {}", part[0], found["bases"][at]);
    }
}

#[test]
fn another_base_says_what_its_own_page_says() {
    let run = rqps_fixtures::demo();
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    let found = packed(&page, "bases").unwrap();
    assert_eq!(found["bases"], serde_json::json!([1, 2]));
    for (at, base) in [1, 2].into_iter().enumerate() {
        let own = rqps_html::render(&Analysis::of_base(&run, base, 0.05));
        says_what_its_own_page_says(&page, at, &own);
    }
}

#[test]
fn any_of_many_systems_can_be_the_base() {
    for n in [12, 20] {
        let page = rqps_html::render(&Analysis::of(&many::of_systems(n), 0.05));
        assert!(page.len() <= 1_500_000, "{} bytes", page.len());
        let found = packed(&page, "bases").unwrap();
        assert_eq!(found["bases"], serde_json::json!((1..n).collect::<Vec<u32>>()));
        assert_eq!(found["charts"], true);
    }
    let run = many::of_systems(10);
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    for base in [1, 9] {
        let own = rqps_html::render(&Analysis::of_base(&run, base, 0.05));
        says_what_its_own_page_says(&page, base - 1, &own);
    }
}

/// Systems of all joined runs can be the base, and what the page then says is what `rqps compare --base
/// RUN:LABEL` says: ratios, conditions, and the commands that repeat steps.
#[test]
fn systems_of_any_joined_run_can_be_the_base() {
    let joined = compare::joined(None);
    let page = rqps_html::render(&Analysis::of_joined(&joined, 0.05));
    let found = packed(&page, "bases").unwrap();
    assert_eq!(found["bases"], serde_json::json!([1, 2]));
    for (at, base) in ["20261121:my8033.small", "20261123:my8033.small"].into_iter().enumerate() {
        let other = compare::joined(Some(base));
        let own = rqps_html::render(&Analysis::of_joined(&other, 0.05));
        says_what_its_own_page_says(&page, at, &own);
    }
    let part = |name: &str| {
        let mut parts = found["parts"].as_array().unwrap().iter();
        parts.find(|part| part[0] == name).unwrap()[1].as_array().unwrap().clone()
    };
    let [own, other] = [0, 1].map(|at: usize| joined.sources[at].seed);
    assert_ne!(own, other);
    for (text, seed) in part("repeat-0").iter().zip([own, other]) {
        assert!(text.as_str().unwrap().contains(&format!("--seed {seed}<")), "{text}");
    }
    // Which run the base is of, and its order of slices.
    let badge = "20261123-080000-demo</bdi> <span class=\"badge\">base</span>";
    let of_runs = part("systems");
    assert!(!of_runs[0].as_str().unwrap().contains(badge), "{}", of_runs[0]);
    assert!(of_runs[1].as_str().unwrap().contains(badge), "{}", of_runs[1]);
    let read = part("method");
    assert!(read[0].as_str().unwrap().contains("which were interleaved"));
    assert!(!read[1].as_str().unwrap().contains("which were interleaved"));
}

/// Text that does not pack well, so many letters.
fn noise(n: usize) -> String {
    let mut state = 1_u32;
    let letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"0123456789abcdef"[usize::try_from(state >> 28).unwrap()])
    };
    (0..n).map(letter).collect()
}

/// The less room a page has, the less it says of other bases: first their details go, then their charts, then all
/// of them, for the command that takes one.
#[test]
fn less_room_says_less_of_other_bases() {
    let mut run = many::of_systems(12);
    let mut last = 3;
    for n in [0, 1_000_000, 2_400_000] {
        // What a step does stands in the page once, whatever the base.
        run.steps[0].info.what = noise(n);
        let page = rqps_html::render(&Analysis::of(&run, 0.05));
        let depth = packed(&page, "bases").map_or(0, |found| {
            let parts = found["parts"].as_array().unwrap();
            let has = |name: &str| parts.iter().any(|p| p[0].as_str().unwrap().starts_with(name));
            assert!(has("verdicts") && has("summary") && has("method"));
            let (charts, details) = (has("charts"), has("compared-"));
            assert_eq!((&found["charts"], &found["details"]), (&charts.into(), &details.into()));
            1 + usize::from(charts) + usize::from(details)
        });
        assert!(depth <= last, "{depth} after {last}");
        assert_eq!(page.contains("<select id=\"base\""), depth > 0);
        assert_eq!(page.contains("has no room for other bases"), depth == 0);
        last = depth;
    }
    assert!(last < 3);
}

#[test]
fn a_page_without_room_for_other_bases_names_the_command() {
    let names: Vec<String> = (0..30).map(|nth| format!("point-query.{nth}")).collect();
    let page = rqps_html::render(&Analysis::of(&many::of_steps(30, &names), 0.05));
    assert!(packed(&page, "bases").is_none() && !page.contains("<select id=\"base\""));
    let command = "rqps report 20261121-203015-demo --base LABEL --format html";
    assert!(page.contains(&format!("has no room for other bases; <code>{command}</code>")));
}

#[test]
fn what_cannot_be_a_base_is_no_choice() {
    let mut run = rqps_fixtures::demo();
    for step in &mut run.steps {
        step.systems[2] = rqps_model::run::SystemStep::pending();
    }
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    assert_eq!(packed(&page, "bases").unwrap()["bases"], serde_json::json!([1]));
    run.systems.truncate(1);
    run.steps.iter_mut().for_each(|step| step.systems.truncate(1));
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    assert!(packed(&page, "bases").is_none() && !page.contains("id=\"base\""));
}

/// A page that has no room for the details of other bases says less of them, and one that has none at
/// all says nothing; what stands in it is never cut.
#[test]
fn large_runs_say_less_of_other_bases() {
    let run = rqps_fixtures::large();
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
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
    let run = rqps_fixtures::demo();
    let analysis = Analysis::of(&run, 0.05);
    let page = rqps_html::render(&analysis);
    assert_eq!(file(&page, "20261121-203015-demo.csv.gz").unwrap(), csv::render(&analysis));
    assert_eq!(file(&page, "20261121-203015-demo.json.gz").unwrap(), json::render(&analysis));
    let text = readable(&page);
    assert!(text.contains("<code>rqps runs export 20261121-203015-demo --format csv</code>"));
}

/// Every second of a run that is not large is in its charts.
#[test]
fn series_are_whole() {
    let run = rqps_fixtures::demo();
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
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
fn interleaved() -> Run {
    let logs = blocks::around(-0.2, 0.005, 24);
    let mut run = blocks::run(&[vec![blocks::reads("point-query", &logs)]]);
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
    let mut run = interleaved();
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
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
    assert!(page.contains("Queries per second of its own slices"));
    assert!(page.contains("<rect class=\"left-out\"") && page.contains("; shaded: blocks"));
    // One turn a block: its seconds are parts of the same.
    for slice in run.steps[0].systems.iter_mut().flat_map(|system| &mut system.slices) {
        slice.n_rounds = Some(1);
    }
    let page = rqps_html::render(&Analysis::of(&run, 0.05));
    let found = packed(&page, "series").unwrap();
    let chart = &found["steps"][0][0];
    assert_eq!((&chart["blocks"], &chart["turns"]), (&true.into(), &false.into()));
    assert_eq!(chart["left_out"], serde_json::json!([[3, 4]]));
    assert_eq!(values(&chart["tracks"][1]).len(), 24);
    assert!(page.contains("Queries per second, block by block"));
}
