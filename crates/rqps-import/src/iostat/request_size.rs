//! Whether what was read or written is the number of requests times their mean size.

use super::Iostat;
use crate::derived::{Printed, Range};
use crate::error::TextProblem;

/// How far the product may be off, besides the digits: versions differ in when they round.
const SHARE: f64 = 0.01;

/// The values of a direction. Sizes are in KB; those of both directions together and in sectors are not looked at.
struct Direction {
    requests: &'static str,
    size: &'static str,
}

const READS: Direction = Direction { requests: "r/s", size: "rareq-sz" };
const WRITES: Direction = Direction { requests: "w/s", size: "wareq-sz" };

/// A report that contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contradiction {
    /// From 0; JSON tells none.
    pub(super) line_idx: Option<usize>,
    requests_head: &'static str,
    size_head: &'static str,
    requests: f64,
    size: f64,
    kb: f64,
}

impl Contradiction {
    /// What is to be known of it.
    pub(super) fn problem(self) -> TextProblem {
        let Self { line_idx, requests_head, size_head, requests, size, kb } = self;
        let (what, out) = match requests_head {
            "r/s" => ("read", "reads and KB read are"),
            _ => ("written", "KB written are"),
        };
        let problem = format!(
            "{requests_head} {requests} of {size_head} {size} are not {kb} KB {what} per second: \
             {out} excluded; record it again"
        );
        TextProblem { line_idx, problem }
    }
}

/// What was moved per second, and how many KB one of it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    pub(super) printed: Option<Printed>,
    pub(super) kb: f64,
}

/// Leaves out what contradicts itself in a line of a device.
pub(super) fn check(
    found: &mut Iostat,
    read: Moved,
    written: Moved,
    value: impl Fn(&str) -> Option<Printed>,
) {
    found.reads_contradiction = contradiction(&READS, read, &value);
    if found.reads_contradiction.is_some() {
        (found.reads_per_s, found.read_kb_per_s) = (None, None);
    }
    found.writes_contradiction = contradiction(&WRITES, written, &value);
    if found.writes_contradiction.is_some() {
        found.written_kb_per_s = None;
    }
}

fn contradiction(
    direction: &Direction,
    moved: Moved,
    value: impl Fn(&str) -> Option<Printed>,
) -> Option<Contradiction> {
    let Direction { requests: requests_head, size: size_head } = *direction;
    let (requests, size, printed) = (value(requests_head)?, value(size_head)?, moved.printed?);
    let (n, kb, own) = (requests.range(), size.range(), printed.range());
    let product =
        Range { least: n.least * kb.least * (1.0 - SHARE), most: n.most * kb.most * (1.0 + SHARE) };
    let own = Range { least: own.least * moved.kb, most: own.most * moved.kb };
    (!product.meets(own)).then_some(Contradiction {
        line_idx: None,
        requests_head,
        size_head,
        requests: requests.value,
        size: size.value,
        kb: printed.value * moved.kb,
    })
}
