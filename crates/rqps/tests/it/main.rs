//! The whole tool as a user has it: the built binary in a directory of its own, on the null client, on fake
//! servers and on real ones.
//!
//! Servers are fetched into the user's cache directory. `RQPS_TEST_SERVERS="mysql@8.0.33"` takes
//! others than the two smallest.

#[cfg(test)]
mod alike;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod broken_off;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod built;
#[cfg(test)]
mod calibrate;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod ended_late;
#[cfg(test)]
mod exported;
#[cfg(test)]
mod failed_between;
#[cfg(test)]
mod failed_servers;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fake_servers;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod guest;
mod guest_login;
#[cfg(test)]
mod hostile_texts;
#[cfg(test)]
mod imported;
#[cfg(test)]
mod imported_folders;
#[cfg(test)]
mod imported_inserts;
#[cfg(test)]
mod imported_raw_inserts;
#[cfg(test)]
mod injected_slowdown;
#[cfg(test)]
mod insert;
#[cfg(test)]
mod interleaved_runs;
#[cfg(test)]
mod kept_data;
#[cfg(test)]
mod leftovers;
#[cfg(test)]
mod listings;
#[cfg(test)]
mod loads;
#[cfg(test)]
mod null_client;
#[cfg(test)]
mod over_runs;
#[cfg(test)]
mod own_config;
#[cfg(test)]
mod own_tables;
#[cfg(test)]
mod panics;
#[cfg(test)]
mod plan_flips;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod profile;
#[cfg(test)]
mod rate;
#[cfg(test)]
#[path = "../../../rqps-html/tests/it/readable.rs"]
mod readable;
#[cfg(test)]
mod real_servers;
#[cfg(test)]
mod redact;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod reused_tables;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod serve_browser;
#[cfg(test)]
mod serve_live;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod starts;
#[cfg(test)]
mod stopped_servers;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod sysbench;
#[cfg(test)]
mod sysbench_attacks;
#[cfg(test)]
mod sysbench_client_library;
#[cfg(test)]
mod sysbench_drop_in;
#[cfg(test)]
mod sysbench_pooler;
#[cfg(test)]
mod sysbench_random;
#[cfg(test)]
mod sysbench_sandbox;
#[cfg(test)]
mod sysbench_servers;
#[cfg(test)]
mod table_states;
#[cfg(test)]
mod unheard;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod whole_chain;

/// The words that show all of the last run in a format: on a terminal the usual is what fits a screen.
#[cfg(test)]
fn report_in(format: &str) -> Vec<&str> {
    let mut words = vec!["report", "--format", format];
    words.extend((format == "terminal").then_some("--full"));
    words
}
