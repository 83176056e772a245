//! Differences between two systems of one version: allocator, durability, compression, limits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UnknownWord;

/// The memory allocator that a server's process uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Malloc {
    /// The build's allocator: glibc's in most; nothing is preloaded.
    #[default]
    Build,
    /// The C library's own; a build that brings another is refused. In runs of rqps before there was
    /// [`Malloc::Build`]: what the build brings.
    System,
    /// jemalloc, preloaded.
    Jemalloc,
    /// tcmalloc of gperftools (its minimal library), preloaded.
    Tcmalloc,
    /// mimalloc, preloaded.
    Mimalloc,
}

impl FromStr for Malloc {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "build" => Ok(Self::Build),
            "system" => Ok(Self::System),
            "jemalloc" => Ok(Self::Jemalloc),
            "tcmalloc" => Ok(Self::Tcmalloc),
            "mimalloc" => Ok(Self::Mimalloc),
            _ => Err(UnknownWord {
                what: "malloc",
                value: text.to_owned(),
                known: "build, system, jemalloc, tcmalloc, mimalloc",
            }),
        }
    }
}

impl fmt::Display for Malloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build => "build",
            Self::System => "system",
            Self::Jemalloc => "jemalloc",
            Self::Tcmalloc => "tcmalloc",
            Self::Mimalloc => "mimalloc",
        })
    }
}

/// What a commit waits for; the same for all systems unless the plan says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Logs are written at commit and synced about once a second, as the field does.
    #[default]
    Relaxed,
    /// Logs are synced at every commit.
    Full,
}

impl FromStr for Durability {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "relaxed" => Ok(Self::Relaxed),
            "full" => Ok(Self::Full),
            _ => Err(UnknownWord {
                what: "durability",
                value: text.to_owned(),
                known: "relaxed, full",
            }),
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Relaxed => "relaxed",
            Self::Full => "full",
        })
    }
}

/// An algorithm that compresses blocks or pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Snappy.
    Snappy,
    /// LZ4.
    Lz4,
    /// zlib (deflate).
    Zlib,
    /// Zstandard.
    Zstd,
}

/// How the engine compresses tables and indexes. Written `none`, `row`, `page-CODEC`, `CODEC` or
/// `CODEC+CODEC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// InnoDB's `ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8`.
    Row,
    /// InnoDB's page compression, which punches holes into the file.
    Page(Codec),
    /// RocksDB: levels 0 to 2 not at all, the bottom level and those in the middle as named.
    Levels {
        /// Of the levels from 3 on that are not the bottom.
        middle: Codec,
        /// Of the level with most of the data.
        bottom: Codec,
    },
}

impl Codec {
    const ALL: [(&'static str, Self); 4] =
        [("snappy", Self::Snappy), ("lz4", Self::Lz4), ("zlib", Self::Zlib), ("zstd", Self::Zstd)];

    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, codec)| *codec)
    }

    /// Its name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, codec)| *codec == self).map_or("", |(name, _)| name)
    }
}

impl Compression {
    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl FromStr for Compression {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let unknown = || UnknownWord {
            what: "compression",
            value: text.to_owned(),
            known: "none, row, page-zlib, page-lz4, page-snappy, snappy, lz4, zlib, zstd, lz4+zstd",
        };
        match text {
            "none" => return Ok(Self::None),
            "row" => return Ok(Self::Row),
            _ => {}
        }
        if let Some(codec) = text.strip_prefix("page-") {
            return Codec::of_word(codec).map(Self::Page).ok_or_else(unknown);
        }
        let (middle, bottom) = text.split_once('+').unwrap_or((text, text));
        match (Codec::of_word(middle), Codec::of_word(bottom)) {
            (Some(middle), Some(bottom)) => Ok(Self::Levels { middle, bottom }),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Row => f.write_str("row"),
            Self::Page(codec) => write!(f, "page-{}", codec.name()),
            Self::Levels { middle, bottom } if middle == bottom => f.write_str(bottom.name()),
            Self::Levels { middle, bottom } => {
                write!(f, "{}+{}", middle.name(), bottom.name())
            }
        }
    }
}

impl TryFrom<String> for Compression {
    type Error = UnknownWord;

    fn try_from(text: String) -> Result<Self, UnknownWord> {
        text.parse()
    }
}

impl From<Compression> for String {
    fn from(compression: Compression) -> Self {
        compression.to_string()
    }
}

/// CPUs of the host by number, ascending, none twice: `0-1,4`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuSet(Vec<usize>);

/// A text that is not a list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cpus = {value:?} is not a list of CPUs")]
pub struct NotCpus {
    /// The text as given.
    pub value: String,
}

/// The highest CPU number that is believed; Linux knows 8192 at most on x86-64.
const MAX_CPU: usize = 8191;

impl CpuSet {
    /// The CPUs' numbers, ascending.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.0
    }
}

impl FromStr for CpuSet {
    type Err = NotCpus;

    fn from_str(text: &str) -> Result<Self, NotCpus> {
        let bad = || NotCpus { value: text.to_owned() };
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let number = |digits: &str| digits.trim().parse().map_err(|_| bad());
            let (from, to): (usize, usize) = (number(from)?, number(to)?);
            if from > to || to > MAX_CPU {
                return Err(bad());
            }
            numbers.extend(from..=to);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Self(numbers))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut comma = "";
        while let Some(first) = rest.first() {
            let n = rest.iter().enumerate().take_while(|(idx, cpu)| **cpu == first + idx).count();
            write!(f, "{comma}{first}")?;
            if n > 1 {
                write!(f, "-{}", first + n - 1)?;
            }
            (comma, rest) = (",", &rest[n..]);
        }
        Ok(())
    }
}

impl TryFrom<String> for CpuSet {
    type Error = NotCpus;

    fn try_from(text: String) -> Result<Self, NotCpus> {
        text.parse()
    }
}

impl From<CpuSet> for String {
    fn from(cpus: CpuSet) -> Self {
        cpus.to_string()
    }
}

/// Limits of a server's resources.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Memory with its share of the page cache, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The CPUs that it may run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuSet>,
}

impl Limits {
    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.memory_bytes.is_none() && self.cpus.is_none()
    }
}

/// Differences that a plan may set between systems of one version, besides options.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Variant {
    /// The process's allocator.
    pub malloc: Malloc,
    /// What a commit waits for.
    pub durability: Durability,
    /// Compression of tables and indexes.
    pub compression: Compression,
    /// Limits of the server's resources.
    pub limits: Limits,
    /// The injected slowdown: share of the measured time in which the server is stopped on purpose,
    /// in basis points (5% is 500).
    #[serde(skip_serializing_if = "is_zero")]
    pub injected_slowdown_bp: u32,
    /// Statements that change its tables once they are filled: an index dropped, a statistics target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sql_after_load: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser's form")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// `2G`, `512M`, `1.5G` in binary units, or plain bytes; `None` when it is not a size above 0.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let (number, shift) = match bare.as_bytes().last()? {
        b'K' => (&bare[..bare.len() - 1], 10),
        b'M' => (&bare[..bare.len() - 1], 20),
        b'G' => (&bare[..bare.len() - 1], 30),
        b'T' => (&bare[..bare.len() - 1], 40),
        _ => (bare, 0),
    };
    if let Ok(whole) = number.trim().parse::<u64>() {
        return whole.checked_mul(1 << shift).filter(|bytes| *bytes > 0);
    }
    // 1.5G: tenths are exact enough for a bound.
    let (whole, fraction) = number.trim().split_once('.')?;
    let digits = u32::try_from(fraction.len()).ok().filter(|n| (1..=6).contains(n))?;
    let (whole, fraction) = (whole.parse::<u64>().ok()?, fraction.parse::<u64>().ok()?);
    let unit = 1_u64 << shift;
    let part = unit.checked_mul(fraction)? / 10_u64.pow(digits);
    whole.checked_mul(unit)?.checked_add(part).filter(|bytes| *bytes > 0)
}

/// The reverse of [`parse_bytes`]: `2G`, `1536M`; plain bytes where no unit is exact.
#[must_use]
pub fn written_bytes(bytes: u64) -> String {
    for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests;
