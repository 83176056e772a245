//! What other parts of rqps found of a step and its systems, as the rules take it.

/// What a finding can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// CPU of server or client.
    Cpu,
    /// Reads of storage, or what caches hold.
    Reads,
    /// Writes, and what commits wait for.
    Writes,
    /// Anything.
    All,
}

/// A severe difference in what systems run with, as a cause's sentence names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// In a few words: `TLS on my8033.small alone`.
    pub text: String,
    /// What it can move.
    pub moves: Moves,
}

/// Findings beside the counters. The default is that nothing was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// How the plans of the step's statements differ in access path, index, join or sort, in a few words
    /// each; empty where they are alike or were not asked for.
    pub plans: Vec<String>,
    /// Severe differences in settings, sessions and builds.
    pub audit: Vec<Hint>,
    /// Where the server's threads waited longer than the base's, in a few words.
    pub off_cpu: Option<String>,
}
