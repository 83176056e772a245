//! Feeds a parser with bytes that nobody meant: what is kept in the corpus, and what comes of changing it.
//!
//! `cargo xtask fuzz TARGET --seconds N` builds this so that it sees which code an input runs through
//! ([`coverage`]), and keeps inputs that reach something new. A finding is a panic, or an input that takes
//! far too long; its bytes are written to a file, and the program ends with 1. The input that is being tried
//! is in a file as well ([`under_way`]), from which `cargo xtask fuzz` keeps it where the target hangs or aborts.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for developers")]
#![expect(clippy::panic, reason = "how a finding is told")]

mod coverage;
mod mutate;
mod target;
mod under_way;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rqps_workload::random::{Rng, mix};

use coverage::Coverage;
use mutate::Mutator;
use target::Target;
use under_way::UnderWay;

/// An input that takes longer is a finding: parsers go once through what they read. Long, because tests
/// share the host with others, and builds without optimisation are slow.
const SLOW: Duration = Duration::from_secs(5);

/// The longest input, bytes: longer than any buffer boundary of the parsers that is not a megabyte away.
const MAX_BYTES: usize = 1 << 16;

/// How often it says how far it is.
const SAY_EVERY: Duration = Duration::from_secs(30);

struct Options {
    target: Target,
    time: Duration,
    seed: u64,
    /// The inputs that are kept in the repository.
    corpus: PathBuf,
    /// Where findings go, and inputs that reached something new.
    out: PathBuf,
    /// Tries nothing new: of the inputs that were kept, those that the corpus lacks go into it.
    is_keeping: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match options(&args).and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fuzz: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn options(args: &[String]) -> Result<Options> {
    let value = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)
    };
    let number = |name: &str, default: u64| match value(name) {
        None => Ok(default),
        Some(text) => text.parse().with_context(|| format!("{name} {text} is no number")),
    };
    let name = args.first().map_or("", String::as_str);
    let Some(target) = Target::ALL.into_iter().find(|target| target.name() == name) else {
        let names: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
        bail!("no target {name:?}; known: {}", names.join(", "));
    };
    let corpus = value("--corpus").context("--corpus DIR is missing")?;
    let out = value("--out").context("--out DIR is missing")?;
    Ok(Options {
        target,
        time: Duration::from_secs(number("--seconds", 60)?),
        seed: number("--seed", 1)?,
        corpus: PathBuf::from(corpus).join(name),
        out: PathBuf::from(out).join(name),
        is_keeping: args.iter().any(|arg| arg == "--keep"),
    })
}

/// The inputs in a directory, in the order of their names; none when it is not there.
fn inputs(dir: &Path) -> Result<Vec<Vec<u8>>> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let read =
        |path: &PathBuf| std::fs::read(path).with_context(|| format!("read {}", path.display()));
    paths.iter().map(read).collect()
}

/// Runs until the time is over; false when something was found.
fn run(options: &Options) -> Result<bool> {
    let kept_dir = options.out.join("kept");
    std::fs::create_dir_all(&kept_dir).context("make a directory for what is kept")?;
    let mut under_way = UnderWay::begin(&options.out).context("make a file for the input")?;
    let mut target = options.target.ready()?;
    let mut coverage = Coverage::default();
    let mut kept = target.seeds();
    kept.extend(inputs(&options.corpus)?);
    let n_corpus = kept.len();
    let mut found = inputs(&kept_dir)?;
    // Of two that reach the same, the shorter one says more.
    found.sort_by_key(Vec::len);
    kept.extend(found);
    // What a parser says of an input is of no interest; where it panics is said once, below.
    std::panic::set_hook(Box::new(|_| {}));
    let mut n_added = 0;
    for (idx, input) in kept.iter().enumerate() {
        under_way.note(input).context("note an input")?;
        coverage.begin();
        if !tried(&mut target, input, options)? {
            return Ok(false);
        }
        if coverage.take() && options.is_keeping && idx >= n_corpus {
            keep(&options.corpus, input)?;
            n_added += 1;
        }
    }
    if options.is_keeping {
        let name = options.target.name();
        println!("{name}: {n_added} inputs added to the corpus; {coverage}");
        return Ok(true);
    }
    let mut rng = Rng::stream(options.seed, mix(kept.len() as u64));
    let mut mutator = Mutator::new(target.words());
    let (since, mut said) = (Instant::now(), Instant::now());
    let mut n_runs = 0_u64;
    while since.elapsed() < options.time {
        let input = mutator.changed(&kept, &mut rng, MAX_BYTES);
        under_way.note(&input).context("note an input")?;
        coverage.begin();
        if !tried(&mut target, &input, options)? {
            return Ok(false);
        }
        n_runs += 1;
        if coverage.take() {
            keep(&kept_dir, &input)?;
            kept.push(input);
        }
        if said.elapsed() > SAY_EVERY {
            said = Instant::now();
            let seconds = since.elapsed().as_secs();
            eprintln!("{}: {seconds} s, {n_runs} inputs, {coverage}", options.target.name());
        }
    }
    println!(
        "{}: nothing found in {n_runs} inputs and {} s, from {n_corpus} of the corpus; {} kept; {coverage}",
        options.target.name(),
        options.time.as_secs(),
        kept.len() - n_corpus
    );
    Ok(true)
}

/// Writes an input down, by a name of its own.
fn keep(dir: &Path, input: &[u8]) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    let path = dir.join(format!("{:016x}", hash(input)));
    std::fs::write(&path, input).with_context(|| format!("write {}", path.display()))
}

/// Feeds the target; false when that was a finding, which is written down.
fn tried(target: &mut target::Ready, input: &[u8], options: &Options) -> Result<bool> {
    let since = Instant::now();
    let guarded = std::panic::AssertUnwindSafe(|| target.feed(input));
    let outcome = std::panic::catch_unwind(guarded);
    let took = since.elapsed();
    let what = match outcome {
        Err(payload) => {
            let words = payload.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| payload.downcast_ref::<&str>().copied());
            format!("it panics: {}", words.unwrap_or("without words"))
        }
        Ok(()) if took > SLOW => format!("it takes {:.1} s", took.as_secs_f64()),
        Ok(()) => return Ok(true),
    };
    let path = options.out.join(format!("found-{:016x}", hash(input)));
    std::fs::write(&path, input).with_context(|| format!("write {}", path.display()))?;
    println!("{}: {what}; the input is {}", options.target.name(), path.display());
    Ok(false)
}

/// FNV-1a: names of files.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)
}
