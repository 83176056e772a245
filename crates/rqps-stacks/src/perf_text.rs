//! Reads what `perf script -F tid,period,ip,sym,dso` writes, line by line, into folded stacks.
//!
//! ```text
//!   4711       1001001                                ← a sample: thread, nanoseconds that it stands for
//! ⇥    55d0c3a1f0 row_search_mvcc (/opt/mysql/bin/mysqld)       ← its innermost frame
//! ⇥    55d0c39000 [unknown] (/opt/mysql/bin/mysqld (deleted))
//!                                                     ← an empty line ends it
//! ```
//!
//! Names are made readable ([`crate::name`]); frames of the kernel end in `_[k]`, as other tools write
//! them; frames without a symbol are the file in brackets.

use std::collections::{BTreeSet, HashMap};

use crate::Stacks;
use crate::name::readable;

/// What ends the names of the kernel's functions.
pub const KERNEL: &str = "_[k]";

/// The outermost frame of stacks whose outer part could not be found.
pub const CUT_OFF: &str = "[cut off]";

/// Where stacks of user code begin: entries of programs and of threads, beside whatever is in the C
/// library, whose own symbols are often stripped.
const ENTRIES: [&str; 9] = [
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "main",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
];

/// The lowest address of the kernel on x86-64 and arm64, whose halves of the address space both have it
/// above: Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst.
const KERNEL_FROM: u64 = 1 << 63;

/// Frames that a stack must have for its outermost one to count as an entry and not as the function
/// that was sampled.
const LEAST_FRAMES: usize = 3;

/// Samples of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The stacks with their samples.
    pub stacks: Stacks,
    /// All samples.
    pub n_samples: u64,
    /// The time that all samples stand for, ns.
    pub period_ns: u64,
    /// Samples with frames of user code.
    pub n_user: u64,
    /// Of these, those whose stack reaches the entry of its thread or program.
    pub n_complete: u64,
    /// Frames of user code of all samples.
    pub n_frames: u64,
    /// Of these, frames without a symbol.
    pub n_unknown: u64,
    /// Threads that were seen.
    pub n_threads: usize,
}

/// A line that `perf script` does not write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number} of perf script {line:?}: {problem}")]
pub struct ScriptError {
    /// The line, counted from 1.
    pub line_number: usize,
    /// The line itself, cut to 200 characters.
    pub line: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// A frame as it was written, innermost first.
#[derive(Debug)]
struct RawFrame {
    name: String,
    is_kernel: bool,
    is_known: bool,
    is_of_libc: bool,
}

/// Reads a recording line by line: its text is larger than a host's memory may be.
#[derive(Debug, Default)]
pub struct ScriptReader {
    script: Script,
    /// Readable names of symbols.
    names: HashMap<String, String>,
    threads: BTreeSet<u32>,
    /// The sample under way: its time, its frames up to now.
    open: Option<(u64, Vec<RawFrame>)>,
    n_lines: usize,
}

impl ScriptReader {
    /// Reads the next line, without its end.
    ///
    /// # Errors
    /// Names the line when it is neither a sample nor a frame.
    pub fn line(&mut self, line: &str) -> Result<(), ScriptError> {
        self.n_lines += 1;
        let line_number = self.n_lines;
        let bad =
            |problem| ScriptError { line_number, line: line.chars().take(200).collect(), problem };
        if line.trim().is_empty() || line.starts_with('#') {
            self.script.close(self.open.take());
        } else if line.starts_with('\t') {
            let (_, frames) = self.open.as_mut().ok_or_else(|| bad("a frame outside a sample"))?;
            frames.push(parse_frame(line, &mut self.names).ok_or_else(|| bad("no address"))?);
        } else {
            self.script.close(self.open.take());
            let (thread, period_ns) =
                parse_sample(line).ok_or_else(|| bad("no thread and time of a sample"))?;
            self.threads.insert(thread);
            self.open = Some((period_ns, Vec::new()));
        }
        Ok(())
    }

    /// What was read.
    #[must_use]
    pub fn end(self) -> Script {
        let Self { mut script, threads, open, .. } = self;
        script.close(open);
        script.n_threads = threads.len();
        script
    }
}

impl Script {
    /// Adds a sample whose last frame was read.
    fn close(&mut self, sample: Option<(u64, Vec<RawFrame>)>) {
        let Some((period_ns, frames)) = sample else { return };
        self.n_samples += 1;
        self.period_ns = self.period_ns.saturating_add(period_ns);
        let user = frames.iter().filter(|frame| !frame.is_kernel);
        let n_user = user.clone().count();
        self.n_frames += n_user as u64;
        self.n_unknown += user.filter(|frame| !frame.is_known).count() as u64;
        self.n_user += u64::from(n_user > 0);
        let is_entry = frames.last().is_some_and(|outermost| {
            !outermost.is_kernel
                && n_user >= LEAST_FRAMES
                && (outermost.is_of_libc || ENTRIES.contains(&outermost.name.as_str()))
        });
        self.n_complete += u64::from(is_entry);
        // A sample of the kernel alone (a thread of its own, an exit) is whole as it is.
        let cut_off = (n_user > 0 && !is_entry).then_some(CUT_OFF);
        let outermost_first = frames.iter().rev().map(|frame| frame.name.as_str());
        self.stacks.add(cut_off.into_iter().chain(outermost_first), 1);
    }

    /// Share of the samples with user code whose stack reaches its entry, 0 to 1; `None` without any.
    #[must_use]
    pub fn complete_share(&self) -> Option<f64> {
        (self.n_user > 0).then(|| self.n_complete as f64 / self.n_user as f64)
    }

    /// Share of the frames of user code without a symbol, 0 to 1; `None` without any.
    #[must_use]
    pub fn unknown_share(&self) -> Option<f64> {
        (self.n_frames > 0).then(|| self.n_unknown as f64 / self.n_frames as f64)
    }
}

/// `  4711       1001001 `: thread and period. Some versions write `4711/4711` for the thread.
fn parse_sample(line: &str) -> Option<(u32, u64)> {
    let mut words = line.split_ascii_whitespace();
    let thread = words.next()?.rsplit('/').next()?.parse().ok()?;
    let period_ns = words.next()?.trim_end_matches(':').parse().ok()?;
    Some((thread, period_ns))
}

/// `⇥    55d0c3a1f0 operator new(unsigned long) (/usr/lib/libc.so.6)`.
fn parse_frame(line: &str, names: &mut HashMap<String, String>) -> Option<RawFrame> {
    let line = line.trim();
    let (address, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let address = u64::from_str_radix(address, 16).ok()?;
    let (symbol, file) = split_file(rest.trim());
    let is_kernel = address >= KERNEL_FROM;
    let is_known = !symbol.is_empty() && symbol != "[unknown]";
    let base = file.rsplit('/').next().unwrap_or(file);
    let name = if is_known {
        let name = names.entry(symbol.to_owned()).or_insert_with(|| readable(symbol));
        if is_kernel { format!("{name}{KERNEL}") } else { name.clone() }
    } else if is_kernel {
        format!("[kernel]{KERNEL}")
    } else {
        format!("[{}]", if base.is_empty() { "unknown" } else { base.trim_matches(['[', ']']) })
    };
    let is_of_libc =
        ["libc.", "libc-", "libpthread", "ld-"].iter().any(|start| base.starts_with(start));
    Some(RawFrame { name, is_kernel, is_known, is_of_libc })
}

/// Symbol and file of `symbol (file)`. Both may hold spaces and brackets; the file of a program that
/// was replaced ends in ` (deleted)`.
fn split_file(text: &str) -> (&str, &str) {
    let Some(inner) = text.strip_suffix(')') else { return (text, "") };
    let inner = inner.strip_suffix(" (deleted)").unwrap_or(inner);
    if let Some(file) = inner.strip_prefix('(') {
        return ("", file);
    }
    match inner.rsplit_once(" (") {
        Some((symbol, file)) => (symbol.trim(), file),
        None => (text, ""),
    }
}

#[cfg(test)]
mod tests;
