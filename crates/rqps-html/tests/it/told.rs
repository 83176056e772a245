//! Pages say what the other formats say: causes, verdicts, warnings, query plans.

use rqps_analysis::Analysis;
use rqps_fixtures::blocks::{self, around, reads};
use rqps_fixtures::{causes, many, plans};
use rqps_model::{Metric, Run, Transport};
use rqps_report::causes::sentence;

/// The page of a run at a bound of 5%.
fn page(run: &Run) -> String {
    rqps_html::render(&Analysis::of(run, 0.05))
}

#[test]
fn causes_are_told() {
    let run = causes::run();
    let analysis = Analysis::of(&run, 0.05);
    let page = rqps_html::render(&analysis).split_whitespace().collect::<Vec<_>>().join(" ");
    let cells = analysis.steps.iter().map(|step| &step.cells[1]);
    let sentences: Vec<String> = cells.filter_map(sentence::of_cell).collect();
    assert_eq!(sentences.len(), 2);
    assert!(sentences.iter().all(|sentence| page.contains(sentence)));
    assert!(page.contains("New CPU overhead: server CPU per query rose to"));
}

#[test]
fn one_candidate_has_a_table_of_verdicts() {
    let page = page(&rqps_fixtures::pair());
    let table = page.split("<table class=\"numbers candidates\">").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    for head in ["Median rQPS", "Slower", "Unclear", "Worst step", "Best step", "± reads"] {
        assert!(table.contains(head), "{head}: {table}");
    }
}

#[test]
fn names_of_warnings_lead_to_what_to_do() {
    let page = page(&rqps_fixtures::demo());
    let step = page.split("<ul class=\"warnings\">").nth(1).unwrap();
    let letter = step.split("<a href=\"#note-").nth(1).unwrap().split('"').next().unwrap();
    let note = page.split(&format!("<div id=\"note-{letter}\">")).nth(1).unwrap();
    let note = note.split("</div>").next().unwrap();
    assert!(note.contains("What to do: "), "{note}");
}

/// One quantity has one name and one value on a page.
#[test]
fn server_cpu_has_one_name_and_one_value() {
    let run = causes::run();
    let page = page(&run);
    for heading in ["srvcpu/o", "clicpu/o"] {
        let n = page.matches(heading).count();
        assert_eq!(n, 1, "{heading} is said outside of the list of metrics");
    }
    let analysis = Analysis::of(&run, 0.05);
    let step = &analysis.steps[0];
    let grid = rqps_report::causes::quantities(&analysis, step).unwrap();
    for metric in [Metric::ServerCpu, Metric::ClientCpu] {
        let row = grid.rows().find(|row| row[0].text().starts_with(metric.words())).unwrap();
        let shown = [1, 2].map(|at| row[at].text().to_owned());
        let tables = [0, 1].map(|idx| {
            rqps_text::number::per_operation(step.cells[idx].per_operation(metric).unwrap())
        });
        assert_eq!(shown, tables, "{metric:?}");
    }
}

#[test]
fn ageing_is_told() {
    assert!(page(&causes::ageing()).contains("id=\"ageing\""));
}

#[test]
fn query_plans_that_differ_are_told() {
    let page = page(&plans::run());
    assert!(page.contains("<section id=\"plans\""), "no section of its own");
    assert!(page.contains("<strong>differs: </strong>"), "not in the step");
}

#[test]
fn steady_rates_and_too_few_responses_are_told() {
    let mut run = blocks::run(&[vec![reads("point-query", &around(-0.1, 0.01, 12))]]);
    assert!(page(&run).contains("<th scope=\"col\">Steady rate</th>"));
    run.steps[0].systems[0].slices[3].response_times = rqps_fixtures::response_times(300);
    let note = "no ratio of response times for p99 (needs 1000): a block has only 300 responses.";
    assert!(page(&run).contains(note));
}

/// Eight percent slower with p of about 0.03: slower alone, and not among twenty.
#[test]
fn a_difference_that_falls_among_many_is_told() {
    let mut steps = vec![reads("doubtful", &around(-0.08, 0.1, 12))];
    steps.extend((0..19).map(|i| reads(&format!("calm-{i}"), &around(0.0, 0.01, 12))));
    assert!(page(&blocks::run(&[steps])).contains("slower on its own (p 0.0"));
}

#[test]
fn a_small_difference_beyond_chance_is_told() {
    let steps = [("doubtful", -0.08, 0.1), ("strong", -0.3, 0.01)]
        .map(|(name, middle, spread)| reads(name, &around(middle, spread, 12)));
    let run = blocks::run(&[steps.into()]);
    let page = rqps_html::render(&Analysis::of(&run, 0.2));
    assert!(page.contains("slower beyond chance"));
}

/// What is severe stands above the title.
#[test]
fn what_is_severe_is_told_first() {
    let mut run = rqps_fixtures::pair();
    run.systems[1].spec.transport = Transport::Tls;
    run.systems[1].session.insert("transport".to_owned(), "tls".to_owned());
    run.systems[1].session.insert("tls".to_owned(), "TLSv1.3 TLS_AES_256_GCM_SHA384".to_owned());
    let said = "Severe: The benchmark's sessions differ in";
    let page = page(&run);
    let (_, body) = page.split_once("<header>").unwrap();
    let at = body.find(said).unwrap_or_else(|| panic!("not on the page: {}", &body[..400]));
    assert!(at < body.find("<h1>").unwrap(), "it stands below the title");
}

#[test]
fn steps_with_several_clients_are_told_apart() {
    let mut run = rqps_fixtures::demo();
    let mut more = run.steps.clone();
    more.iter_mut().for_each(|step| step.clients = 16);
    run.steps.extend(more);
    let page = page(&run);
    assert!(page.contains(">scan, 16 clients<") && page.contains(">scan, 1 client<"));
}

#[test]
fn each_of_many_systems_has_a_row() {
    let page = page(&many::of_systems(35));
    assert_eq!(page.matches("<tr class=\"step\">").count(), 35);
}
