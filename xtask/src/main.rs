//! Tasks for those who work on rqps: `cargo xtask tidy`, `cargo xtask bench-client`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for developers")]

mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

const HELP: &str = "\
cargo xtask TASK

  tidy            checks what a machine can check of the house style: crate arrows, file lengths,
                  headers, crates named in ARCHITECTURE.md
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    match args.first().map(String::as_str) {
        Some("tidy") => {
            let findings = tidy::check(&root()?)?;
            if findings.is_empty() {
                println!("tidy: nothing to mend");
                return Ok(());
            }
            bail!("{} findings:\n{}", findings.len(), findings.join("\n"));
        }
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => bail!("unknown task {other:?}\n{HELP}"),
    }
}

/// The workspace's root: the parent of this crate's directory.
fn root() -> Result<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("find the workspace's root")?.to_owned())
}
