//! Builds the fuzz targets so that they see which code an input runs through, and runs one or all of them.
//!
//! Our crates alone get the compiler's coverage counters, by a wrapper around rustc, which is this program:
//! that needs neither a nightly compiler nor a library, and everything else is built once for all.

mod watched;

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use watched::{End, HUNG_AFTER};

/// The targets, in the order in which `all` runs them.
const TARGETS: [&str; 6] = ["mysql", "postgres", "proc", "perf", "imports", "plans"];

/// Set for the wrapper.
const VARIABLE: &str = "RQPS_FUZZ_COVERAGE";

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// One of them, or `all`.
    pub(crate) target: String,
    /// For how long each, seconds.
    pub(crate) seconds: u64,
    /// What changes are drawn from.
    pub(crate) seed: u64,
    /// Without optimisation: built sooner, ten times as slow.
    pub(crate) is_debug: bool,
    /// Where findings go, and inputs that reached something new.
    pub(crate) out: PathBuf,
    /// Tries nothing new: of the inputs that were kept, those that the corpus lacks go into it.
    pub(crate) is_keeping: bool,
}

/// In rustc's place: adds the counters to our crates. Returns only when this is not asked for, or fails.
#[expect(clippy::disallowed_methods, reason = "how cargo tells a wrapper what it is for")]
pub(crate) fn wrap_rustc(args: &[String]) -> Result<()> {
    if std::env::var_os(VARIABLE).is_none() {
        return Ok(());
    }
    let Some((rustc, rest)) = args.split_first() else { return Ok(()) };
    let mut command = Command::new(rustc);
    command.args(rest);
    if rest.iter().any(|arg| arg == "--crate-name") {
        command.args(["-Cinstrument-coverage", "--cfg", "rqps_coverage"]);
    }
    Err(command.exec()).with_context(|| format!("run {rustc}"))
}

/// Builds and runs.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let wanted: Vec<&str> = match options.target.as_str() {
        "all" => TARGETS.to_vec(),
        name => TARGETS.into_iter().filter(|target| *target == name).collect(),
    };
    if wanted.is_empty() {
        bail!("no target {:?}; known: all, {}", options.target, TARGETS.join(", "));
    }
    let program = built(root, options.is_debug)?;
    let mut found = Vec::new();
    for target in wanted {
        let dir = options.out.join(target);
        watched::clear(&dir);
        let mut child = Command::new(&program)
            .args([target, "--seconds", &options.seconds.to_string()])
            .args(["--seed", &options.seed.to_string(), "--corpus"])
            .arg(root.join("fuzz/corpus"))
            .arg("--out")
            .arg(&options.out)
            .args(options.is_keeping.then_some("--keep"))
            // The runtime of the counters would write a file at the end.
            .env("LLVM_PROFILE_FILE", "/dev/null")
            .spawn()
            .context("run the fuzz target")?;
        let end = watched::wait(&mut child, &dir, HUNG_AFTER)?;
        let what = match end {
            End::Own(status) if status.success() => continue,
            End::Own(status) => match status.code() {
                // It has said what.
                Some(1) => {
                    found.push(target);
                    continue;
                }
                Some(2) => bail!("{target}: {status}"),
                _ => format!("it took the process with it ({status})"),
            },
            End::Hung => format!("it takes more than {} s", HUNG_AFTER.as_secs()),
        };
        let Some(path) = watched::keep(&dir)? else { bail!("{target}, before any input: {what}") };
        println!("{target}: {what}; the input is {}", path.display());
        found.push(target);
    }
    ensure!(found.is_empty(), "found something: {}", found.join(", "));
    Ok(())
}

fn built(root: &Path, is_debug: bool) -> Result<PathBuf> {
    let own = std::env::current_exe().context("find this program")?;
    let profile = if is_debug { "dev" } else { "fuzz" };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "rqps-fuzz", "--profile", profile])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .env("RUSTC_WORKSPACE_WRAPPER", own)
        .env(VARIABLE, "1")
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("run cargo")?;
    ensure!(output.status.success(), "the fuzz targets were not built");
    // The last artifact with a program is the one that was asked for.
    let text = String::from_utf8_lossy(&output.stdout);
    let program = text.lines().rev().find_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        Some(PathBuf::from(rest.split('"').next()?))
    });
    program.context("cargo did not say where the program is")
}
