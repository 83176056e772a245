//! Runs the fuzz targets in `fuzz/` by cargo-fuzz, with flags of the stable compiler alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

/// An input that takes longer is a finding, seconds: parsers go once through what they read. Long, because
/// other programs may share the host.
const SLOW_S: u32 = 5;

/// The longest input, bytes: longer than any buffer of the parsers that is not megabytes long.
const MAX_BYTES: u32 = 1 << 16;

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// The targets; all where none is named.
    pub(crate) targets: Vec<String>,
    /// For how long each, seconds.
    pub(crate) seconds: u64,
    /// Tries nothing new: inputs of earlier runs that reach code which the corpus does not reach go into it.
    pub(crate) is_keeping: bool,
}

/// Runs one target after the other.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let known = targets(root)?;
    if let Some(name) = options.targets.iter().find(|name| !known.contains(name)) {
        bail!("no target {name:?}; known: {}", known.join(", "));
    }
    let has_tool = Command::new(env!("CARGO")).args(["fuzz", "--version"]).output();
    ensure!(
        has_tool.is_ok_and(|output| output.status.success()),
        "cargo-fuzz is missing: run `cargo install cargo-fuzz`"
    );
    let targets = if options.targets.is_empty() { &known } else { &options.targets };
    let mut failed = Vec::new();
    for target in targets {
        if !run_target(root, target, options)? {
            failed.push(target.as_str());
        }
    }
    ensure!(failed.is_empty(), "failed: {}; inputs are in fuzz/artifacts", failed.join(", "));
    Ok(())
}

/// The names of the programs.
fn targets(root: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(root.join("fuzz/fuzz_targets")).context("list the targets")?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut names: Vec<String> =
        paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// False when the target failed. New inputs go to `target/fuzz/corpus`, not into the repository.
fn run_target(root: &Path, target: &str, options: &Options) -> Result<bool> {
    let kept = root.join("fuzz/corpus").join(target);
    let found = root.join("target/fuzz/corpus").join(target);
    std::fs::create_dir_all(&found).with_context(|| format!("make {}", found.display()))?;
    // libFuzzer writes to the first directory.
    let corpora: [&PathBuf; 2] = if options.is_keeping { [&kept, &found] } else { [&found, &kept] };
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["fuzz", "run", "--sanitizer", "none", "--features", "libfuzzer"])
        .args(["--target-dir", "target/fuzz", target])
        .args(corpora)
        .args(["--", &format!("-timeout={SLOW_S}"), &format!("-max_len={MAX_BYTES}")])
        .arg(format!("-dict=fuzz/dictionaries/{target}.dict"))
        .arg("-print_final_stats=1");
    if options.is_keeping {
        command.arg("-merge=1");
    } else {
        command.arg(format!("-max_total_time={}", options.seconds));
    }
    let status = command.current_dir(root).status().context("run cargo fuzz")?;
    Ok(status.success())
}
