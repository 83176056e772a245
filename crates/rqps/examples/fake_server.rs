//! A database server for tests: the programs of a fake server's tree, by the name under which it is started.

use std::process::ExitCode;

fn main() -> ExitCode {
    rqps_fake_server::run(std::env::args())
}
