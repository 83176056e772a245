//! Figures by hand: what a cell says, what the headline counts, when a cell has no number.

use rqps_analysis::CellState;
use rqps_analysis::headline::Counts;
use rqps_analysis::{Analysis, Headline};
use rqps_model::{Dbms, Group, Metric, StepKind, Verdict, WarningKind};
use rqps_report::headline;
use rqps_report::rule::verdict_rule;
use rqps_report::warning::InWords;
use rqps_report::{Detail, TextOptions, text, warning};

use rqps_fixtures::{self as fixture, info, run, step, system};

fn near(got: f64, expected: f64) {
    assert!((got / expected - 1.0).abs() < 1e-9, "{got} is not {expected}");
}

#[test]
fn metrics_are_summed_usage_over_summed_operations() {
    let info = info("point-query", StepKind::Read, Group::Point);
    let mut step = step(info, 1000.0, 20.0, &[(1.0, 1.0), (0.5, 2.0)]);
    for (side, system) in step.systems.iter_mut().enumerate() {
        system.slices.truncate(2);
        for (n, slice) in [1000, 3000].into_iter().zip(&mut system.slices) {
            slice.n_operations = n;
            slice.duration_ns = 1_000_000_000;
            let cpu_ns = if side == 0 { 8_000_000 } else { 24_000_000 };
            slice.usage.server.as_mut().unwrap().cpu_total_ns = cpu_ns;
        }
    }
    let systems =
        vec![system(rqps_model::Dbms::Mysql, "5.6.14"), system(rqps_model::Dbms::Mysql, "8.0.33")];
    let run = run(systems, vec![step]);
    let analysis = Analysis::of(&run, 0.05);
    let [base, candidate] = &analysis.steps[0].cells[..] else { panic!("two cells") };
    // Two slices of 8 ms over 4000 operations: 4 us each; not the mean of 8 us and 2.67 us.
    near(base.per_operation(Metric::ServerCpu).unwrap(), 4.0);
    near(candidate.per_operation(Metric::ServerCpu).unwrap(), 12.0);
    near(candidate.relative().unwrap().get(Metric::ServerCpu).unwrap(), 3.0);
    // Geometric mean over slices of 8 us and 2.67 us against 24 us and 8 us.
    near(candidate.server_cpu_ratio().unwrap().point, 3.0);
    near(base.figure().unwrap().point, 2000.0);
    near(candidate.rqps().unwrap().point, 1.0);
    assert!(base.rqps().is_none() && base.verdict().is_none());
}

#[test]
fn figures_that_are_all_alike_are_not_certain() {
    let mut step =
        step(info("point-query", StepKind::Read, Group::Point), 40.0, 20.0, &[(1.0, 1.0); 2]);
    for slice in step.systems.iter_mut().flat_map(|s| &mut s.slices) {
        (slice.n_operations, slice.duration_ns) = (20, 500_000_000);
    }
    let systems =
        vec![system(rqps_model::Dbms::Mysql, "5.6.14"), system(rqps_model::Dbms::Mysql, "8.0.33")];
    let run = run(systems, vec![step]);
    let analysis = Analysis::of(&run, 0.05);
    let [base, candidate] = &analysis.steps[0].cells[..] else { panic!("two cells") };
    let (low, high) = base.figure().unwrap().interval.unwrap();
    near(low, 40.0 / 1.05);
    near(high, 42.0);
    let ratio = candidate.rqps().unwrap();
    near(ratio.interval.unwrap().1, 1.05 * 1.05);
    // One operation of twenty is as much as the bound: nothing is settled.
    assert_eq!(candidate.verdict(), Some(Verdict::Unclear));
    // On two starts of the servers they are no surer.
    let mut starts = run.clone();
    starts.steps.push(rqps_model::RunStep { start: 1, ..run.steps[0].clone() });
    let analysis = Analysis::of(&starts, 0.05);
    let (low, high) = analysis.steps[0].cells[0].figure().unwrap().interval.unwrap();
    near(low, 40.0 / 1.05);
    near(high, 42.0);
    near(analysis.steps[0].cells[1].rqps().unwrap().interval.unwrap().1, 1.05 * 1.05);
}

#[test]
fn the_headline_counts_compared_steps_once() {
    let demo = fixture::demo();
    let analysis = Analysis::of(&demo, 0.05);
    let counts = analysis.headlines[0].counts;
    // Ten steps, of which the warm-up is not compared.
    assert_eq!(counts.total(), 9);
    assert_eq!((counts.slower, counts.faster, counts.unclear, counts.failed), (6, 1, 1, 1));
    let worst = &analysis.steps[analysis.headlines[0].worst_idx.unwrap()];
    assert_eq!(worst.step.info.name, "load");
    assert!(analysis.steps.iter().all(|s| s.step.info.kind != StepKind::WarmUp));
    assert_eq!(analysis.warm_ups, ["point-query.warm"]);
}

#[test]
fn a_failed_step_never_has_a_number() {
    let mut demo = fixture::demo();
    let measured = demo.steps[2].systems[1].slices.clone();
    let insert = demo.steps.iter().position(|s| s.info.name == "insert").unwrap();
    demo.steps[insert].systems[1].slices = measured;
    let analysis = Analysis::of(&demo, 0.05);
    let cell = &analysis.steps.iter().find(|s| s.title == "insert").unwrap().cells[1];
    assert!(matches!(cell.state, CellState::Failed { .. }));
    assert!(cell.figure().is_none() && cell.rqps().is_none() && cell.slices().is_empty());
    // A slice that is marked as failed spoils its step as well.
    let reason = "lost".to_owned();
    demo.steps[2].systems[1].slices[1].warnings.push(rqps_model::WarningKind::Failed { reason });
    let analysis = Analysis::of(&demo, 0.05);
    assert!(matches!(analysis.steps[1].cells[1].state, CellState::Failed { .. }));
}

#[test]
fn an_injected_slowdown_is_told_as_it_was_measured() {
    let mut demo = fixture::demo();
    let slices = &mut demo.steps[2].systems[1].slices;
    for (slice, share_bp) in slices.iter_mut().zip([480, 500]) {
        let way = rqps_model::warning::StopWay::Tracing;
        slice.warnings.push(rqps_model::WarningKind::InjectedSlowdown { share_bp, way });
    }
    let analysis = Analysis::of(&demo, 0.05);
    let warnings = &analysis.steps[1].cells[1].warnings;
    let told = warnings.iter().find(|own| own.kind.key() == "injected-slowdown").unwrap();
    assert_eq!(warning::detail(told), "by tracing, 4.90% of the counted time");
}

#[test]
fn the_bound_moves_the_verdict() {
    let systems =
        vec![system(rqps_model::Dbms::Mysql, "5.6.14"), system(rqps_model::Dbms::Mysql, "8.0.33")];
    let info = info("point-query", StepKind::Read, Group::Point);
    let run = run(systems, vec![step(info, 1e5, 20.0, &[(1.0, 1.0), (0.9, 1.1)])]);
    let verdict = |bound| Analysis::of(&run, bound).steps[0].cells[1].verdict();
    assert_eq!(verdict(0.05), Some(Verdict::Slower));
    assert_eq!(verdict(0.2), Some(Verdict::Same));
    let analysis = Analysis::of(&run, 0.2);
    assert_eq!(
        headline::sentence(&analysis, &analysis.headlines[0]),
        "MySQL 8.0.33 is as fast as MySQL 5.6.14 on its only step, within 20%."
    );
    // With all the digits that it was given.
    let exact = Analysis::of(&run, 0.1625);
    assert!(headline::sentence(&exact, &exact.headlines[0]).ends_with("within 16.25%."));
    assert!(
        verdict_rule(&exact, rqps_report::rule::TEXT_SIGNS)
            .contains("the difference is 16.25% or more")
    );
}

#[test]
fn imported_metrics_are_headed_by_the_base_that_they_are_relative_to() {
    let mut run = fixture::pair();
    for system in &mut run.systems {
        system.spec.source = rqps_model::SystemSource::Imported;
    }
    let headings = |base: usize| {
        let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
        let out = text::render(&Analysis::of_base(&run, base, 0.05), options);
        let found = out.lines().filter(|line| line.starts_with("--- relative to "));
        let mut found: Vec<String> = found.map(str::to_owned).collect();
        found.dedup();
        found
    };
    assert_eq!(headings(0), ["--- relative to first result"]);
    assert_eq!(headings(1), ["--- relative to my8033.small"]);
}

/// The fixture's steps as blocks that were measured while the host slowed down to a fifth.
fn interleaved() -> rqps_model::Run {
    let mut run = fixture::pair();
    run.schedule = rqps_model::Schedule::interleaved(100, 3);
    run.steps.retain(|s| s.info.name == "point-query.pre");
    for system in &mut run.steps[0].systems {
        for (slice, slower) in system.slices.iter_mut().zip([1, 2, 5]) {
            slice.n_rounds = Some(12);
            slice.n_operations /= slower;
            let usage = &mut slice.usage;
            usage.server.as_mut().unwrap().cpu_total_ns /= slower;
            usage.client.cpu_total_ns /= slower;
            usage.host.cpu_user_ns /= slower;
            usage.host.cpu_system_ns /= slower;
        }
    }
    run
}

#[test]
fn blocks_are_compared_pair_by_pair() {
    let run = interleaved();
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    let (low, high) = cell.rqps().unwrap().interval.unwrap();
    assert!(low > 0.6 && high < 0.75, "[{low}, {high}]: the host's change is in the interval");
    assert_eq!(cell.verdict(), Some(Verdict::Slower));
    let cpu = cell.server_cpu_ratio().unwrap();
    assert!(cpu.interval.unwrap().0 > 1.3, "{cpu:?}");
    // As two samples, three figures that differ five-fold tell nothing.
    let mut sequential = run.clone();
    sequential.schedule = rqps_model::Schedule::Sequential { slices: 3 };
    let analysis = Analysis::of(&sequential, 0.05);
    assert_eq!(analysis.steps[0].cells[1].verdict(), Some(Verdict::Unclear));
}

#[test]
fn a_block_without_its_partner_is_left_out_of_the_ratio() {
    let mut run = interleaved();
    run.steps[0].systems[1].slices.remove(0);
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(analysis.steps[0].cells[1].rqps().unwrap().n, 2);
    run.steps[0].systems[1].slices.truncate(1);
    run.steps[0].systems[0].slices.truncate(1);
    assert!(
        Analysis::of(&run, 0.05).steps[0].cells[1].rqps().is_none(),
        "blocks 0 and 1 are no pair"
    );
}

#[test]
fn runs_in_turns_say_what_their_intervals_hold() {
    let mut run = interleaved();
    let caveat = |run: &rqps_model::Run| InWords::of(&Analysis::of(run, 0.05)).certainty[0].clone();
    let text = caveat(&run);
    assert!(
        text.contains("interleaved: slices of 100 ms")
            && text.contains("Waiting servers were stopped.")
    );
    assert!(!text.contains("did not start"), "{text}");
    let dsn = "mysql://bench@db2/test".to_owned();
    run.systems[1].spec.source = rqps_model::SystemSource::External { dsn };
    let text = caveat(&run);
    assert!(text.contains("rqps did not start my8033.small and did not stop it"), "{text}");
    run.steps[0].systems[0].outcome = rqps_model::StepOutcome::Pending;
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(
        analysis.steps[0].cells[0].warnings.last().unwrap().kind,
        WarningKind::Incomplete { n: 3, n_planned: None }
    );
}

#[test]
fn sequential_runs_say_what_their_intervals_lack() {
    let demo = fixture::demo();
    let analysis = Analysis::of(&demo, 0.05);
    assert!(
        InWords::of(&analysis).certainty[0].contains("but not drift of the host between systems")
    );
}

#[test]
fn resident_memory_is_compared_at_the_same_step() {
    let demo = fixture::demo();
    let analysis = Analysis::of(&demo, 0.05);
    // The candidates failed or did not reach the last step; the base's own end is not theirs.
    let step = analysis
        .steps
        .iter()
        .rev()
        .find(|s| s.cells.iter().all(|cell| cell.server_rss_bytes().is_some()));
    let cells = &step.unwrap().cells;
    assert_eq!(step.unwrap().title, "update-inlist");
    for memory in &analysis.memory {
        assert_eq!(memory.last, cells[memory.system_idx].server_rss_bytes());
        assert_eq!(memory.ratio, cells[memory.system_idx].server_rss_ratio());
    }
    let failed = analysis.steps.iter().flat_map(|s| &s.cells).filter(|c| c.figure().is_none());
    assert!(failed.clone().count() > 0 && failed.clone().all(|c| c.server_rss_bytes().is_none()));
}

#[test]
fn unequal_limits_and_allocators_are_said() {
    let mut run = fixture::pair();
    let said = |run: &rqps_model::Run, words: &str| {
        InWords::of(&Analysis::of(run, 0.05)).certainty.iter().any(|caveat| caveat.contains(words))
    };
    assert!(!said(&run, "limits the systems'") && !said(&run, "allocators"));
    run.systems[1].spec.variant.limits.cpus = Some("0-1".parse().unwrap());
    assert!(said(&run, "limits the systems' CPUs differently"));
    run.systems[0].process.insert("cpus".to_owned(), "0-1 (affinity)".to_owned());
    let shown = |run: &rqps_model::Run| {
        let options = TextOptions { colour: false, detail: Detail::Summary, width: text::WIDTH };
        text::render(&Analysis::of(run, 0.05), options)
    };
    assert!(shown(&run).contains("process cpus: 0-1 (affinity) / absent"), "{}", shown(&run));
    let cpus = run.systems[0].process["cpus"].clone();
    run.systems[1].process.insert("cpus".to_owned(), cpus);
    assert!(shown(&run).contains("CPUs of every system: 0-1 (affinity)\n"), "{}", shown(&run));
    run.systems[0].spec.variant.limits.memory_bytes = Some(1 << 30);
    assert!(said(&run, "limits the systems' CPUs and memory differently"));
    let tcmalloc = "tcmalloc (libtcmalloc.so.4.5.16), of the build".to_owned();
    run.systems[1].process.insert("malloc".to_owned(), tcmalloc);
    assert!(said(&run, "The builds have different allocators: my5614.small has glibc 2.36"));
    // What the plan asked for is no surprise.
    run.systems[1].spec.variant.malloc = rqps_model::Malloc::Tcmalloc;
    assert!(!said(&run, "allocators"));
    // Of those of which it asked for nothing, what was found counts.
    let mut run = fixture::demo();
    run.systems[1].spec.variant.malloc = rqps_model::Malloc::Tcmalloc;
    assert!(!said(&run, "allocators"));
    run.systems[2].process.insert("malloc".to_owned(), "jemalloc, linked into the program".into());
    assert!(said(&run, "small has glibc 2.36 and ma"));
}

#[test]
fn what_confined_the_servers_is_told_and_its_absence_is_a_warning() {
    use rqps_model::{WALL, Wall};

    let mut run = fixture::demo();
    let told = |run: &rqps_model::Run| {
        let analysis = Analysis::of(run, 0.05);
        let sentence = |all: &[String]| {
            all.iter()
                .find(|s| s.contains("onfine") || s.contains("write only to"))
                .cloned()
                .unwrap_or_default()
        };
        [
            sentence(&InWords::of(&analysis).before_reading()),
            sentence(&InWords::of(&analysis).certainty),
        ]
    };
    // Nothing is known of runs of earlier versions.
    assert_eq!(told(&run), ["", ""]);
    let set = |run: &mut rqps_model::Run, idx: usize, wall: &Wall| {
        run.systems[idx].process.insert(WALL.to_owned(), wall.to_string());
    };
    for idx in 0..3 {
        set(&mut run, idx, &Wall::Landlock { abi: 7 });
    }
    let [warning, caveat] = told(&run);
    assert_eq!(warning, "");
    expect_test::expect![
        "The kernel confined the servers to their own files and TCP ports (Landlock ABI 7)."
    ]
    .assert_eq(&caveat);
    set(&mut run, 1, &Wall::Namespaces { has_user: true });
    expect_test::expect!["The kernel confined the servers differently: my5614.small and ma110405.small by Landlock ABI 7 and my8033.small by user and mount namespaces."].assert_eq(&told(&run)[1]);
    set(&mut run, 2, &Wall::None { why: "the kernel has no Landlock".to_owned() });
    expect_test::expect!["The kernel did not confine ma110405.small to its own files: the kernel has no Landlock. Such a server can reach all that its user can."].assert_eq(&told(&run)[0]);
    expect_test::expect!["The kernel confined the servers differently: my5614.small by Landlock ABI 7 and my8033.small by user and mount namespaces."].assert_eq(&told(&run)[1]);
    // That it differs is no difference between the systems' work.
    assert!(rqps_audit::Differences::between(&run.systems).process.is_empty());
}

#[test]
fn an_io_bound_system_that_reads_from_the_page_cache_is_told_at_the_top() {
    let mut run = fixture::demo();
    for system in &mut run.systems {
        system.spec.config = "io-bound".to_owned();
        system.settings.insert("innodb_flush_method".to_owned(), "O_DIRECT".to_owned());
    }
    let warned = |run: &rqps_model::Run| {
        let all = InWords::of(&Analysis::of(run, 0.05)).before_reading();
        all.into_iter().find(|w| w.contains("page cache")).unwrap_or_default()
    };
    assert_eq!(warned(&run), "");
    let label = run.systems[2].spec.label.clone();
    run.systems[2] = fixture::system(Dbms::Postgres, "17.4");
    run.systems[2].spec.label = label;
    run.systems[2].spec.config = "io-bound".to_owned();
    run.systems[2].spec.engine = rqps_model::Engine::Heap;
    expect_test::expect!["ma110405.small reads through the page cache, which has no limit. Pages that the server's own cache lacks came from memory, not from storage, so this is no IO-bound measurement. Give it `memory`, or direct IO. my5614.small and my8033.small read from storage, past the page cache: ratios to such systems compare memory with storage."].assert_eq(&warned(&run));
    let shown = |run: &rqps_model::Run| {
        let options = TextOptions { colour: false, detail: Detail::Summary, width: text::WIDTH };
        text::render(&Analysis::of(run, 0.05), options)
    };
    assert!(shown(&run).contains("through the page cache"));
    // Direct IO or a limit is what it takes.
    let mut direct = run.clone();
    direct.systems[2].settings.insert("debug_io_direct".to_owned(), "data".to_owned());
    assert_eq!(warned(&direct), "");
    run.systems[2].spec.variant.limits.memory_bytes = Some(1 << 30);
    assert_eq!(warned(&run), "");
    // A file system without direct IO makes InnoDB read the same way.
    let refused = "refused by the file system".to_owned();
    run.systems[0].process.insert("direct_io".to_owned(), refused);
    assert!(warned(&run).contains("small reads through the page cache"), "{}", warned(&run));
}

#[test]
fn sizes_are_compared_after_a_step_that_all_have() {
    let run = fixture::demo();
    let analysis = Analysis::of(&run, 0.05);
    // The insert step failed on one system and was not reached on another.
    let name =
        |end: Option<(usize, rqps_model::Sizes)>| run.steps[end.unwrap().0].info.name.clone();
    for sizes in &analysis.sizes {
        assert_eq!(
            (name(sizes.first).as_str(), name(sizes.last).as_str()),
            ("load", "update-inlist")
        );
    }
    let [base, second, third] = &analysis.sizes[..] else { panic!("three systems") };
    assert_eq!((base.growth, base.database_ratio), (Some(320.0 / 256.0), None));
    assert_eq!(second.filled_ratio, Some(276.0 / 256.0));
    assert_eq!(second.database_ratio, Some(404.0 / 320.0));
    assert_eq!(third.data_dir_ratio, Some((1400.0 + 40.0 + 192.0) / 1464.0));
    let mut run = run.clone();
    for step in &mut run.steps {
        step.systems[1].sizes = rqps_model::Sizes::default();
    }
    let analysis = Analysis::of(&run, 0.05);
    // A system without any size keeps the others from nothing.
    assert_eq!(analysis.sizes[1].last, None);
    assert!(analysis.sizes[2].database_ratio.is_some());
}

#[test]
fn unclear_is_a_verdict_in_headlines() {
    let run = fixture::pair();
    let analysis = Analysis::of(&run, 0.05);
    let said = |counts: Counts| {
        let headline = Headline { counts, ..analysis.headlines[0].clone() };
        let sentence = headline::sentence(&analysis, &headline);
        sentence.split_once(": ").map_or(sentence.clone(), |(_, said)| said.to_owned())
    };
    let none = Counts::default();
    assert_eq!(said(Counts { unclear: 5, ..none }), "unclear on all 5 steps.");
    assert_eq!(said(Counts { unclear: 1, ..none }), "unclear on its only step.");
    assert_eq!(said(Counts { unclear: 4, failed: 1, ..none }), "unclear on 4 of 5 steps.");
    let busy = said(Counts { host_busy: 5, ..none });
    assert_eq!(busy, "no verdict, because the host was busy with other work.");
}
