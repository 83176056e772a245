//! A host that was busy with something else: said first, no verdict, no judgement of the gate.

use rqps_analysis::gate::{Gate, Passage};
use rqps_analysis::{Analysis, Bar, Judging};
use rqps_fixtures as fixture;
use rqps_model::{Run, Slice};
use rqps_report::gate::{errors, sentence};
use rqps_report::{Detail, TextOptions, headline, text};

/// The pair without the step that failed, on whose host others use `others_pct` of all CPU time in the first `n` blocks
/// of a step.
fn disturbed(step: &str, n: usize, others_pct: u64) -> Run {
    let mut run = fixture::pair();
    run.steps.retain(|step| step.info.name != "insert");
    let found = run.steps.iter_mut().find(|own| own.info.name == step).unwrap();
    for system in &mut found.systems {
        for slice in system.slices.iter_mut().take(n) {
            be_busy(slice, others_pct);
        }
    }
    run
}

/// Long enough for the kernel's ticks to tell.
fn be_busy(slice: &mut Slice, others_pct: u64) {
    let whole_ns = 100_000_000_000;
    let (server, client) = (slice.usage.server.unwrap_or_default(), slice.usage.client);
    let others_ns = whole_ns / 100 * others_pct;
    let host = &mut slice.usage.host;
    host.n_cpus = 2;
    host.cpu_user_ns = server.cpu_user_ns + client.cpu_user_ns + others_ns;
    host.cpu_system_ns = server.cpu_system_ns + client.cpu_system_ns;
    let used_ns = host.cpu_user_ns + host.cpu_system_ns;
    (host.cpu_iowait_ns, host.cpu_steal_ns) = (0, 0);
    host.cpu_idle_ns = whole_ns.saturating_sub(used_ns);
}

fn gate(run: &Run, judging: Judging) -> (Passage, Vec<String>, String) {
    let analysis = Analysis::of(run, judging);
    let gate = Gate::of(&analysis, false, |_, _| true).unwrap();
    (gate.passage(), errors(&gate), sentence(&gate))
}

fn page(run: &Run, judging: Judging) -> String {
    let analysis = Analysis::of(run, judging);
    text::render(&analysis, TextOptions { colour: false, detail: Detail::Summary, width: 400 })
}

const ALLOWED: Judging = Judging { bound: 0.05, allow_busy_host: true };

#[test]
fn verdicts_of_a_busy_host_are_withheld_and_the_report_says_so_first() {
    let quiet = fixture::pair();
    assert!(Analysis::of(&quiet, 0.05).steps.iter().all(|s| s.cells[1].bar().is_none()));
    let name = "point-query.pre";
    let run = disturbed(name, usize::MAX, 71);
    let analysis = Analysis::of(&run, 0.05);
    let step = analysis.steps.iter().find(|step| step.title == name).unwrap();
    let cell = &step.cells[1];
    assert_eq!((cell.bar(), cell.verdict()), (Some(Bar::HostBusy), None));
    assert!(cell.rqps().is_some(), "the ratio stays");
    let others = analysis.steps.iter().filter(|step| step.title != name && step.is_compared());
    assert!(others.clone().count() > 0);
    others.for_each(|step| assert_eq!(step.cells[1].bar(), None, "{}", step.title));
    let counts = analysis.headlines[0].counts;
    assert_eq!(counts.host_busy, 1);
    let page = page(&run, 0.05.into());
    let first = page.find("Unreliable on 1 of ").unwrap();
    let verdict = page.find(&headline::sentence(&analysis, &analysis.headlines[0])[..30]).unwrap();
    assert!(first < verdict, "{page}");
    assert!(page.contains("(point-query.pre): other programs used 7"), "{page}");
    assert!(page.contains("These steps have no verdict."), "{page}");
}

#[test]
fn the_gate_has_no_judgement_of_a_busy_host_unless_it_is_allowed() {
    let run = disturbed("point-query.pre", usize::MAX, 71);
    let (passage, errors, sentence) = gate(&run, 0.05.into());
    assert_eq!(passage, Passage::Error, "{sentence}");
    assert!(
        errors[0].contains("point-query.pre") && errors[0].contains("--allow-busy-host"),
        "{errors:?}"
    );
    let (passage, errors, sentence) = gate(&run, ALLOWED);
    assert_eq!((passage, errors.len()), (Passage::Slower, 0), "{sentence}");
    assert!(page(&run, ALLOWED).contains("--allow-busy-host keeps the verdicts."));
}

#[test]
fn a_few_disturbed_blocks_and_a_little_of_others_bar_nothing() {
    let n_blocks = fixture::pair().steps[1].systems[0].slices.len();
    let bar = |n: usize, pct: u64| {
        let run = disturbed("point-query.pre", n, pct);
        let analysis = Analysis::of(&run, 0.05);
        analysis.steps.iter().find(|s| s.title == "point-query.pre").unwrap().cells[1].bar()
    };
    assert_eq!(bar(n_blocks.div_ceil(2), 71), Some(Bar::HostBusy));
    assert_eq!(bar((n_blocks - 1) / 2, 71), None);
    assert_eq!(bar(n_blocks, 39), None);
    assert_eq!(bar(n_blocks, 41), Some(Bar::HostBusy));
}

#[test]
fn what_the_kernel_does_for_a_server_is_no_other_program() {
    let mut run = disturbed("point-query.pre", usize::MAX, 71);
    for slice in run.steps.iter_mut().flat_map(|s| &mut s.systems).flat_map(|s| &mut s.slices) {
        let host = &mut slice.usage.host;
        let server = slice.usage.server.unwrap_or_default();
        let own_ns = server.cpu_user_ns + slice.usage.client.cpu_user_ns;
        let others_ns = host.cpu_user_ns.saturating_sub(own_ns);
        host.cpu_user_ns -= others_ns;
        host.cpu_system_ns += others_ns;
    }
    let analysis = Analysis::of(&run, 0.05);
    assert!(analysis.steps.iter().all(|step| step.cells[1].bar().is_none()));
}
