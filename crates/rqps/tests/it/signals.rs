//! A signal ends a command that only reads at once.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::bench::{Bench, DEADLINE, pause};

/// The other end of a pipe, once somebody reads from it.
fn await_reader(pipe: &Path) -> File {
    let since = Instant::now();
    loop {
        let flags = OFlag::O_NONBLOCK.bits();
        if let Ok(file) = File::options().write(true).custom_flags(flags).open(pipe) {
            return file;
        }
        assert!(since.elapsed() < DEADLINE, "nobody reads {}", pipe.display());
        pause();
    }
}

#[test]
fn the_first_one_ends_an_import() {
    let bench = Bench::new();
    let pipe = bench.path("run.tar.zst");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let running = bench.spawn(&["runs", "import", "run.tar.zst"]);
    let writer = await_reader(&pipe);
    // Tests in the background of a shell have SIGINT ignored, and all that they start.
    running.signal(Signal::SIGTERM);
    // Nothing comes out of the pipe, and its end does not come.
    assert_eq!(running.finish().code(), 128 + Signal::SIGTERM as i32);
    drop(writer);
    // What it left is in nobody's way.
    assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
}
