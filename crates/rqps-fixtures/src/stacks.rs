//! Stack profiles made by hand for the runs of [`crate`].

use rqps_stacks::profile::{CpuSampling, Facts, NotHad, StackProfile, Unwind, WaitSampling};
use rqps_stacks::{Counter, Stacks};

/// Stacks of a point query: the optimizer grew, a lock was replaced, one function went inline.
const BASE: &str = "\
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;parse_sql;MYSQLlex 240
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;mysql_execute_command;JOIN::optimize 300
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;mysql_execute_command;JOIN::exec;row_search_for_mysql;btr_cur_search_to_nth_level 500
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;mysql_execute_command;old_cache_lookup 60
start_thread;handle_connection;do_command;vio_write;send;tcp_sendmsg_[k] 400
";
const CANDIDATE: &str = "\
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;parse_sql;MYSQLlex 300
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;mysql_execute_command;JOIN::optimize 820
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;mysql_execute_command;JOIN::optimize;Opt_trace_object::Opt_trace_object 180
start_thread;handle_connection;do_command;dispatch_command;mysql_parse;mysql_execute_command;JOIN::exec;row_search_mvcc;btr_cur_search_to_nth_level 510
start_thread;handle_connection;do_command;vio_write;send;tcp_sendmsg_[k] 390
";

fn waits(idle: u64) -> Stacks {
    let text = format!(
        "serving clients;running or runnable 200\n\
         serving clients;asleep;recvfrom;sock_recvmsg;unix_stream_read_generic {idle}\n\
         background;asleep;futex;futex_wait;futex_wait_queue 5000\n"
    );
    Stacks::parse(&text).unwrap()
}

/// What was recorded of the step at `step_idx` on both systems of [`crate::pair`].
#[must_use]
pub fn pair(step_idx: usize) -> Vec<StackProfile> {
    let profile = |system_idx: usize, text: &str, n_operations: u64| {
        let stacks = Stacks::parse(text).unwrap();
        let n_samples = stacks.n_samples();
        let cpu = CpuSampling {
            event: "cpu-clock".to_owned(),
            unwind: Unwind::Dwarf,
            frequency_hz: 499,
            n_samples,
            period_ns: n_samples * 2_004_008,
            n_user: n_samples,
            n_complete: n_samples * 97 / 100,
            n_frames: n_samples * 7,
            n_unknown: n_samples / 2,
            symbols: "its own (.symtab)".to_owned(),
            is_stripped: false,
            cost_ns: 400_000_000,
        };
        let facts = Facts {
            start_unix_ms: 1_795_293_900_000,
            duration_ns: 5_000_000_000,
            n_operations,
            server_cpu_ns: n_samples * 2_100_000,
            cpu: Some(cpu),
            waits: Some(WaitSampling {
                n_looks: 260,
                n_threads: 24,
                cost_ns: 50_000_000,
                has_places: true,
                has_calls: true,
                has_kinds: true,
            }),
            counters: Vec::new(),
            missing: vec![NotHad {
                what: "hardware counters".to_owned(),
                reason: "this CPU gives none".to_owned(),
                remedy: String::new(),
            }],
        };
        StackProfile { step_idx, system_idx, facts, stacks, waits: waits(60) }
    };
    let mut profiles = vec![profile(0, BASE, 120_000), profile(1, CANDIDATE, 90_000)];
    profiles[1].facts.missing.push(NotHad {
        what: "the kernel's part of the stacks".to_owned(),
        reason: "kernel.perf_event_paranoid is 2".to_owned(),
        remedy: "sysctl kernel.perf_event_paranoid=1 (as root)".to_owned(),
    });
    profiles
}

/// The same on a CPU that counts.
#[must_use]
pub fn with_counters(step_idx: usize) -> Vec<StackProfile> {
    let counter = |event: &str, value: f64| Counter {
        event: event.to_owned(),
        value: Some(value),
        counted_share: 1.0,
    };
    let mut profiles = pair(step_idx);
    for profile in &mut profiles {
        let n = profile.facts.n_operations as f64;
        profile.facts.missing.clear();
        profile.facts.counters = vec![
            counter("cycles", n * 40_000.0),
            counter("instructions", n * 50_000.0),
            counter("cache-misses", n * 12.5),
        ];
    }
    profiles
}
