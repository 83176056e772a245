//! Whole folders as runs: small ones written by hand in the layout of the field's.

#![expect(clippy::unwrap_used, reason = "what tests share is outside of test functions")]

mod after_runs;
mod agreeing_tables;
mod beside;
mod brought;
mod columns;
mod commands;
mod contradicting_logs;
mod contradicting_times;
mod documented;
mod flawed_logs;
mod folders;
mod foreign_tables;
mod iibench;
mod iibench_beside;
mod iibench_lines;
mod iibench_raw;
mod odd_entries;
mod other_events;
mod printed_times;
mod raw;
mod recordings;
mod separators;
mod sysbench;
mod tables;

use std::fmt::Write as _;
use std::path::PathBuf;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use rqps_import::Options;
use rqps_model::{Run, StepOutcome};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn options(name: &str) -> Options {
    Options { source: name.to_owned(), at_unix_ms: 1_700_000_000_000, ..Options::default() }
}

/// The times in a histogram by count and value; its deflated size depends on who deflates.
fn times(encoded: &[u8]) -> String {
    if encoded.is_empty() {
        return "no histogram".to_owned();
    }
    let all: Histogram<u64> = Deserializer::new().deserialize(&mut &*encoded).unwrap();
    let counted = all.iter_recorded().map(|v| {
        let ms = v.value_iterated_to() as f64 / 1e6;
        format!("{} of {ms:.2} ms", v.count_at_value())
    });
    counted.collect::<Vec<_>>().join(" + ")
}

/// Everything that files said, a line per cell.
fn told(run: &Run) -> String {
    let mut out = format!("{} on {}: base {}\n", run.name, run.host.hostname, run.base_label());
    for system in &run.systems {
        let spec = &system.spec;
        let version = system.version.as_ref().map_or("?".to_owned(), ToString::to_string);
        let _ = writeln!(out, "{}: {} {version}, {}", spec.label, spec.dbms, spec.config);
    }
    for step in &run.steps {
        let info = &step.info;
        let _ = writeln!(
            out,
            "\n{} ({}, n {:?}, {:?}, {:?}, {} clients): {}",
            info.name, info.figure, info.n, info.kind, info.group, step.clients, info.what
        );
        for (system, cell) in run.systems.iter().zip(&step.systems) {
            let _ = write!(out, "  {}: ", system.spec.label);
            let [slice] = cell.slices.as_slice() else {
                assert_eq!(cell.outcome, StepOutcome::Pending);
                let _ = writeln!(out, "not run");
                continue;
            };
            let stated = slice.stated.as_ref().unwrap();
            let _ = write!(out, "{}", slice.figure());
            for mark in &slice.warnings {
                let _ = write!(out, ", {mark:?}");
            }
            for (metric, value) in &stated.metrics {
                let _ = write!(out, ", {} {value}", metric.heading());
            }
            if let Some(response) = &stated.response {
                let _ = write!(out, ", {response:?}");
            }
            if slice.duration_ns > 0 {
                let _ = write!(
                    out,
                    ", {} ns, {} events, {} queries, {} points, errors {:?}, {}",
                    slice.duration_ns,
                    slice.n_events,
                    slice.n_queries,
                    slice.series.len(),
                    slice.errors,
                    times(&slice.response_times)
                );
            }
            out.push('\n');
        }
    }
    for note in &run.imported.as_ref().unwrap().notes {
        let _ = writeln!(out, "\nnote: {note}");
    }
    out
}
