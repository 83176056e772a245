//! The lengths of pauses by hand, and pauses of real processes.

use super::*;

#[test]
fn pauses_add_up_to_the_share_however_late_they_come_and_end() {
    let mut duty = Duty::of(0.05, CYCLE);
    assert_eq!(duty.cycle, CYCLE);
    let mut sum = Duration::ZERO;
    let mut n_points = 0;
    for n in 0..10_000_u32 {
        // Every seventh wakes two points late; each pause lasts a little too long, some far.
        let late = if n % 7 == 0 { 3 } else { 1 };
        n_points += late;
        let pause = duty.next(late);
        if !pause.is_zero() {
            let extra = if n % 50 == 0 { 2000 } else { 30 };
            let took = pause + Duration::from_micros(extra);
            duty.paused(took);
            sum += took;
        }
    }
    let share = sum.as_secs_f64() / (CYCLE * n_points).as_secs_f64();
    assert!((share - 0.05).abs() < 0.0001, "{share}");
}

#[test]
fn small_shares_have_longer_cycles() {
    assert_eq!(Duty::of(0.001, CYCLE).cycle, Duration::from_millis(100));
    let mut duty = Duty::of(0.001, CYCLE);
    assert_eq!(duty.next(1), SHORTEST);
}

#[test]
fn helpers_are_one_for_each_set_of_cpus() {
    let served = |cpu: usize, thread| Served { cpus: vec![cpu], thread: Some(thread) };
    let groups = by_cpus(&[served(0, 7), served(1, 8), served(0, 9)]);
    assert_eq!(groups, [(vec![0], Brake::Threads(vec![7, 9])), (vec![1], Brake::Threads(vec![8]))]);
}

#[test]
fn nothing_is_stopped_outside_of_slices() {
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let is_stopped = || {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let state = text.rsplit_once(") ").unwrap().1.chars().next();
        matches!(state, Some('T' | 't'))
    };
    let mut ways = vec![Brake::Processes(vec![pid])];
    if may_trace(pid).unwrap() {
        ways.push(Brake::Threads(vec![pid]));
    }
    for brake in ways {
        let way = brake.way();
        let injected_slowdown =
            InjectedSlowdown::start(vec![(Vec::new(), brake)], Duty::of(0.5, CYCLE), 1).unwrap();
        for _ in 0..3 {
            injected_slowdown.edge(Edge::Start);
            let since = Instant::now();
            while !is_stopped() {
                assert!(since.elapsed() < Duration::from_secs(60), "never stopped");
            }
            injected_slowdown.edge(Edge::End);
            // A process goes on a moment after it was told to.
            while is_stopped() {
                assert!(since.elapsed() < Duration::from_secs(60), "still stopped");
            }
            injected_slowdown.end().unwrap();
        }
        let Some(WarningKind::InjectedSlowdown { share_bp, way: told }) =
            injected_slowdown.warning()
        else {
            panic!("nothing told")
        };
        // Slices of milliseconds: a pause may end after its slice.
        assert!(share_bp >= 1 && told == way, "{share_bp} {told:?}");
        assert_eq!(injected_slowdown.warning(), None, "of no slice");
        injected_slowdown.edge(Edge::Start);
        drop(injected_slowdown);
        let since = Instant::now();
        while is_stopped() {
            assert!(since.elapsed() < Duration::from_secs(60), "still stopped");
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// An injected slowdown of half the time by signals, with so much patience.
fn injecting(processes: Vec<i32>, duty: Duty, patience: Duration) -> InjectedSlowdown {
    let groups = vec![(Vec::new(), Brake::Processes(processes))];
    let mut injected_slowdown = InjectedSlowdown::start(groups, duty, 1).unwrap();
    injected_slowdown.patience = patience;
    injected_slowdown
}

/// Measures slices until one of them fails.
fn first_failure(injected_slowdown: &InjectedSlowdown) -> String {
    let since = Instant::now();
    loop {
        injected_slowdown.edge(Edge::Start);
        #[expect(clippy::disallowed_methods, reason = "a slice takes its time")]
        std::thread::sleep(Duration::from_millis(20));
        injected_slowdown.edge(Edge::End);
        if let Err(error) = injected_slowdown.end() {
            return format!("{error:#}");
        }
        assert!(since.elapsed() < Duration::from_secs(60), "it never failed");
    }
}

#[test]
fn a_slice_in_which_nothing_could_be_stopped_fails() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let injected_slowdown =
        injecting(vec![child.id().cast_signed()], Duty::of(0.5, CYCLE), GO_ON_WITHIN);
    let failure = first_failure(&injected_slowdown);
    assert!(failure.contains("there was nothing to stop"), "{failure}");
}

#[test]
fn a_helper_that_panics_fails_the_slice() {
    // A cycle that no plan gives, by which nothing can be divided.
    let broken = Duty { share: 0.5, cycle: Duration::ZERO, owed_ns: 0.0 };
    let injected_slowdown = injecting(Vec::new(), broken, GO_ON_WITHIN);
    let failure = first_failure(&injected_slowdown);
    assert!(failure.contains("the thread that stops the server has ended"), "{failure}");
}

#[test]
fn what_does_not_go_on_is_waited_for_with_patience_alone() {
    let injected_slowdown = injecting(Vec::new(), Duty::of(0.5, CYCLE), Duration::from_millis(50));
    injected_slowdown.edge(Edge::Start);
    // As long as a helper waits for a thread that waits for storage.
    let holding = Holding::of(&injected_slowdown.shared, injected_slowdown.shared.lock());
    injected_slowdown.edge(Edge::End);
    let failure = format!("{:#}", injected_slowdown.end().unwrap_err());
    assert!(failure.contains("did not stop and continue within 0.05 s"), "{failure}");
    drop(holding);
    drop(injected_slowdown);
}
