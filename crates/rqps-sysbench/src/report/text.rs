//! Reports as sysbench prints them, so that what reads its output reads this.

use super::{OfThread, Reported, mean_and_deviation};
use crate::histogram::{Grid, coarsen};
use crate::settings::Settings;

/// The lines before a run that say with which options.
pub(crate) fn options(settings: &Settings) -> String {
    let mut text = String::from("Running the test with following options:\n");
    text.push_str(&format!("Number of threads: {}\n", settings.n_threads));
    if !settings.warm_up.is_zero() {
        text.push_str(&format!("Warmup time: {}s\n", settings.warm_up.as_secs()));
    }
    if settings.limits.rate > 0.0 {
        text.push_str(&format!("Target transaction rate: {}/sec\n", settings.limits.rate));
    }
    if settings.report_interval_s > 0 {
        let seconds = settings.report_interval_s;
        text.push_str(&format!("Report intermediate results every {seconds} second(s)\n"));
    }
    if !settings.checkpoints_s.is_empty() {
        let seconds: Vec<String> = settings.checkpoints_s.iter().map(u64::to_string).collect();
        text.push_str(&format!("Report checkpoint(s) at {} seconds\n", seconds.join(", ")));
    }
    if settings.options.switch("debug").unwrap_or(false) {
        text.push_str("Debug mode enabled.\n\n");
    }
    if settings.options.switch("validate").unwrap_or(false) {
        text.push_str("Validation checks: on.\n\n");
    }
    if settings.seed_given {
        text.push_str(&format!(
            "Initializing random number generator from seed ({}).\n",
            settings.seed
        ));
    } else {
        text.push_str("Initializing random number generator from current time\n");
    }
    text.push('\n');
    if let (Some(time), Some(grace)) = (settings.time, settings.forced_shutdown) {
        let seconds = (time + grace).as_secs();
        text.push_str(&format!("Forcing shutdown in {seconds} seconds\n"));
    }
    text.push('\n');
    text
}

/// What an intermediate report says besides counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intermediate {
    /// Threads that run.
    pub(crate) n_threads: usize,
    /// With a rate: events due and not begun, and events under way.
    pub(crate) queue: Option<(u64, usize)>,
}

/// The line of an intermediate report, or two with a rate.
pub(crate) fn intermediate(of: &Reported, more: Intermediate, percentiles: &[f64]) -> String {
    let at = format!("[ {:.0}s ]", of.total_s);
    let latency = latency(of, percentiles);
    let threads = more.n_threads;
    let mut text = if of.uses_sql {
        format!(
            "{at} thds: {threads} tps: {:4.2} qps: {:4.2} (r/w/o: {:4.2}/{:4.2}/{:4.2}) {latency} \
             err/s: {:4.2} reconn/s: {:4.2}\n",
            of.per_second(of.sum.events),
            of.per_second(of.sum.queries()),
            of.per_second(of.sum.reads),
            of.per_second(of.sum.writes),
            of.per_second(of.sum.others),
            of.per_second(of.sum.errors),
            of.per_second(of.sum.reconnects),
        )
    } else {
        let eps = of.per_second(of.sum.events);
        format!("{at} thds: {threads} eps: {eps:4.2} {latency}\n")
    };
    if let Some((queue, concurrency)) = more.queue {
        let comma = if of.uses_sql { "," } else { "" };
        text.push_str(&format!("{at} queue length: {queue}{comma} concurrency: {concurrency}\n"));
    }
    text
}

/// `lat (ms,95%): 1.23`; several percentiles have slashes between them.
fn latency(of: &Reported, percentiles: &[f64]) -> String {
    if percentiles.is_empty() {
        return "lat (ms,0%): 0.00".to_owned();
    }
    let names: Vec<String> = percentiles.iter().map(f64::to_string).collect();
    let values: Vec<String> = percentiles
        .iter()
        .map(|percent| format!("{:4.2}", of.printed_percentile_ms(*percent)))
        .collect();
    format!("lat (ms,{}%): {}", names.join("/"), values.join("/"))
}

/// The distribution of response times, before the report at the end.
pub(crate) fn histogram(of: &Reported) -> String {
    let drawn = Grid::printed().drawn(&coarsen(&of.sum.histogram));
    format!("Latency histogram (values are in milliseconds)\n{drawn} \n")
}

/// The report at the end, or at a checkpoint.
pub(crate) fn cumulative(of: &Reported, settings: &Settings) -> String {
    let mut text = String::new();
    if of.uses_sql {
        push_sql(&mut text, of);
    }
    text.push_str("\nGeneral statistics:\n");
    text.push_str(&format!("    total time:                          {:.4}s\n", of.total_s));
    text.push_str(&format!("    total number of events:              {}\n", of.sum.events));
    push_latency(&mut text, of, &settings.percentiles);
    let events: Vec<f64> = of.threads.iter().map(|one| one.events as f64).collect();
    let (mean, deviation) = mean_and_deviation(&events);
    text.push_str("\nThreads fairness:\n");
    text.push_str(&format!("    events (avg/stddev):           {mean:.4}/{deviation:.2}\n"));
    let seconds: Vec<f64> = of.threads.iter().map(|one| one.sum_s).collect();
    let (mean, deviation) = mean_and_deviation(&seconds);
    text.push_str(&format!("    execution time (avg/stddev):   {mean:.4}/{deviation:.2}\n\n"));
    text
}

/// The lines after a report of each thread, which are printed with `--debug`.
pub(crate) fn of_threads(of: &Reported) -> Vec<String> {
    let mut lines = vec!["Verbose per-thread statistics:\n".to_owned()];
    for (tid, one) in of.threads.iter().enumerate() {
        let mean_s = if one.events > 0 { one.sum_s / one.events as f64 } else { 0.0 };
        let OfThread { events, sum_s, min_s, max_s } = one;
        lines.push(format!(
            "    thread #{tid:3}: min: {min_s:.4}s  avg: {mean_s:.4}s  max: {max_s:.4}s  events: {events}"
        ));
        lines.push(format!("                 total time taken by event execution: {sum_s:.4}s"));
    }
    lines
}

fn push_sql(text: &mut String, of: &Reported) {
    let sum = &of.sum;
    text.push_str("SQL statistics:\n    queries performed:\n");
    for (name, n) in [
        ("read: ", sum.reads),
        ("write:", sum.writes),
        ("other:", sum.others),
        ("total:", sum.queries()),
    ] {
        text.push_str(&format!("        {name}                           {n}\n"));
    }
    for (name, n) in [
        ("transactions:  ", sum.events),
        ("queries:       ", sum.queries()),
        ("ignored errors:", sum.errors),
        ("reconnects:    ", sum.reconnects),
    ] {
        let rate = of.per_second(n);
        text.push_str(&format!("    {name}                      {n:<6} ({rate:.2} per sec.)\n"));
    }
}

fn push_latency(text: &mut String, of: &Reported, percentiles: &[f64]) {
    text.push_str("\nLatency (ms):\n");
    for (name, value) in [("min:", of.min_ms()), ("avg:", of.mean_ms()), ("max:", of.max_ms())] {
        text.push_str(&format!("         {name:<23}{value:>21.2}\n"));
    }
    for percent in percentiles {
        // As sysbench writes it for every number; three digits begin a column before two.
        let name = format!("        {:>3}th percentile:", percent.to_string());
        let value = of.printed_percentile_ms(*percent);
        text.push_str(&format!("{name:<32}{value:>21.2}\n"));
    }
    if percentiles.is_empty() {
        text.push_str("         percentile stats:               disabled\n");
    }
    text.push_str(&format!("         {:<23}{:>21.2}\n", "sum:", of.sum_ms()));
}

#[cfg(test)]
mod tests;
