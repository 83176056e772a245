//! Samples a process tree and prints what each second used: `watch PID DATADIR [SECONDS]`.

#![expect(clippy::print_stdout, reason = "this is what an example is for")]

use std::time::{Duration, Instant};

use rqps_model::Usage;
use rqps_sample::{Background, Sampler, Target, host_info};

type AnyError = Box<dyn std::error::Error>;

fn main() -> Result<(), AnyError> {
    let mut args = std::env::args().skip(1);
    let mut next = |what: &'static str| args.next().ok_or(what);
    let pid: i32 = next("the first argument is the process id of the server")?.parse()?;
    let dir = next("the second argument is the server's data directory")?;
    let seconds: u64 = next("").map_or(Ok(10), |text| text.parse())?;

    println!("{:#?}", host_info(dir.as_ref())?);
    let target = Target { server_pid: Some(pid), data_dir: Some(dir.into()) };
    let background =
        Background::start(Sampler::new(Instant::now(), target)?, Duration::from_secs(1))?;
    background.mark()?;
    let (_never, wait) = std::sync::mpsc::channel::<()>();
    let _ = wait.recv_timeout(Duration::from_secs(seconds));
    background.mark()?;
    for missing in background.missing() {
        println!("{missing}");
    }
    let samples = background.finish();
    for pair in samples.windows(2) {
        let usage = Usage::between(&pair[0], &pair[1]);
        let server = usage.server.unwrap_or_default();
        println!(
            "{:7.3} s: server CPU {:8.3} ms (user {} system {} ms) in {} processes, {} threads, \
             RSS {} MB, switches {}+{}, read {} write {} KB; device r {} w {} KB; sampler {} us",
            pair[1].at_ns as f64 / 1e9,
            server.cpu_total_ns as f64 / 1e6,
            server.cpu_user_ns / 1_000_000,
            server.cpu_system_ns / 1_000_000,
            server.n_processes,
            server.n_threads,
            server.rss_bytes >> 20,
            server.voluntary_switches,
            server.involuntary_switches,
            server.read_bytes >> 10,
            server.write_bytes >> 10,
            usage.storage.map_or(0, |s| s.read_bytes >> 10),
            usage.storage.map_or(0, |s| s.write_bytes >> 10),
            usage.sampler_cpu_ns / 1000,
        );
    }
    if let (Some(first), Some(last)) = (samples.first(), samples.last()) {
        let usage = Usage::between(first, last);
        let share = usage.sampler_cpu_ns as f64 / usage.wall_ns as f64;
        println!("the samplers used {:.3}% of one CPU", share * 100.0);
    }
    Ok(())
}
