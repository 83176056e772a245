//! A profile's file, read: which options a system gets, and sizes computed from memory or data.

use std::collections::BTreeMap;

use rqps_model::{Codec, Compression, Dbms, Durability, Engine, Version};
use serde::Deserialize;

use super::range::holds;
use super::{Config, Sizing};
use crate::Error;

/// A profile, with what it inherits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    #[serde(skip)]
    name: String,
    /// The profile whose lines and sizes hold where this one has none of the same name.
    extends: Option<String>,
    #[serde(skip)]
    parent: Option<Box<Self>>,
    #[serde(rename = "size", default)]
    sizes: BTreeMap<String, Size>,
    #[serde(rename = "option", default)]
    options: Vec<Line>,
    #[serde(rename = "initdb", default)]
    initdb: Vec<Argument>,
}

/// Memory or data x times / (divide x systems), within bounds, a multiple of something that is
/// doubled for large sizes, see [`MAX_MULTIPLES`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    #[serde(default)]
    of: Of,
    #[serde(default = "once")]
    times: u64,
    divide: u64,
    min: String,
    max: String,
    multiple: String,
}

fn once() -> u64 {
    1
}

/// At most so many times `multiple` is a size, else `multiple` is doubled. With [`CHUNKS`] in each, a
/// buffer pool has about a thousand chunks at most, which MySQL's manual advises not to exceed
/// (8.0, innodb_buffer_pool_chunk_size).
const MAX_MULTIPLES: u64 = 128;

/// Chunks of a buffer pool in a multiple: the most instances that profiles ask for, as the pool of
/// MySQL since 5.7.5 and of MariaDB 10.2.2 to 11.4.5 is rounded up to a multiple of chunk x instances.
const CHUNKS: u64 = 8;

/// What a size is a share of.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    /// The host's memory, shared by the systems that are up.
    #[default]
    Memory,
    /// The tables' rows; of memory where there is no plan to say how many.
    Data,
}

/// When a line holds: ranges of versions per DBMS (absent: not for it), and what the system is to
/// be (absent: whatever it is).
#[derive(Debug, Deserialize)]
struct When {
    mysql: Option<String>,
    mariadb: Option<String>,
    postgres: Option<String>,
    engine: Option<Engine>,
    durability: Option<Durability>,
    compression: Option<Kind>,
}

/// Kinds of compression that lines tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    None,
    Row,
    Page,
    Levels,
}

impl Kind {
    fn of(compression: Compression) -> Self {
        match compression {
            Compression::None => Self::None,
            Compression::Row => Self::Row,
            Compression::Page(_) => Self::Page,
            Compression::Levels { .. } => Self::Levels,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Line {
    name: String,
    value: String,
    #[serde(flatten)]
    when: When,
    why: String,
}

#[derive(Debug, Deserialize)]
struct Argument {
    argument: String,
    #[serde(flatten)]
    when: When,
    why: String,
}

/// The server that a profile is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) dbms: Dbms,
    pub(super) version: &'a Version,
    pub(super) config: &'a Config,
}

impl Profile {
    /// Reads a profile and, by `source_of`, those that it extends.
    pub(super) fn parse(
        name: &str,
        text: &str,
        source_of: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, Error> {
        let bad = |detail: String| Error::Data { what: format!("profile {name}"), detail };
        let mut profile: Self = toml::from_str(text).map_err(|e| bad(e.to_string()))?;
        name.clone_into(&mut profile.name);
        let unexplained = profile
            .options
            .iter()
            .map(|line| (&line.name, &line.why))
            .chain(profile.initdb.iter().map(|argument| (&argument.argument, &argument.why)))
            .find(|(_, why)| why.trim().is_empty());
        if let Some((option, _)) = unexplained {
            return Err(bad(format!("{option} has no reason")));
        }
        if let Some(parent) = &profile.extends {
            let text = source_of(parent).filter(|_| parent != name);
            let text = text.ok_or_else(|| bad(format!("extends {parent:?}, which is no other")))?;
            let parent = Self::parse(parent, text, source_of)?;
            for (size, value) in &parent.sizes {
                profile.sizes.entry(size.clone()).or_insert_with(|| value.clone());
            }
            profile.parent = Some(Box::new(parent));
        }
        Ok(profile)
    }

    /// The options of a version, sizes filled in: the inherited ones in their order, those of the
    /// same name replaced, then its own.
    pub(super) fn options(
        &self,
        subject: Subject<'_>,
        sizing: Sizing,
    ) -> Result<Vec<(String, String)>, Error> {
        let lines = self.lines(subject)?.into_iter();
        lines.map(|(name, value)| Ok((name, self.fill(&value, subject.config, sizing)?))).collect()
    }

    fn lines(&self, subject: Subject<'_>) -> Result<Vec<(String, String)>, Error> {
        let mut own = Vec::new();
        for line in &self.options {
            if self.applies(&line.name, &line.when, subject)? {
                own.push((line.name.clone(), line.value.clone()));
            }
        }
        let Some(parent) = &self.parent else { return Ok(own) };
        let mut lines = parent.lines(subject)?;
        for (name, value) in own {
            match lines.iter_mut().find(|(inherited, _)| *inherited == name) {
                Some(inherited) => inherited.1 = value,
                None => lines.push((name, value)),
            }
        }
        Ok(lines)
    }

    /// More arguments for initdb.
    pub(super) fn initdb_arguments(&self, subject: Subject<'_>) -> Result<Vec<String>, Error> {
        let mut arguments = match &self.parent {
            Some(parent) => parent.initdb_arguments(subject)?,
            None => Vec::new(),
        };
        for argument in &self.initdb {
            if self.applies(&argument.argument, &argument.when, subject)? {
                arguments.push(argument.argument.clone());
            }
        }
        Ok(arguments)
    }

    fn bad(&self, detail: String) -> Error {
        Error::Data { what: format!("profile {}", self.name), detail }
    }

    fn applies(&self, what: &str, when: &When, subject: Subject<'_>) -> Result<bool, Error> {
        let range = match subject.dbms {
            Dbms::Mysql => &when.mysql,
            Dbms::Mariadb => &when.mariadb,
            Dbms::Postgres => &when.postgres,
            _ => &None,
        };
        let config = subject.config;
        let is_so = when.engine.is_none_or(|engine| engine == config.engine)
            && when.durability.is_none_or(|durability| durability == config.durability)
            && when.compression.is_none_or(|kind| kind == Kind::of(config.compression));
        let Some(range) = range.as_ref().filter(|_| is_so) else { return Ok(false) };
        holds(range, subject.version)
            .ok_or_else(|| self.bad(format!("{what}: {range:?} is no range")))
    }

    /// Replaces `{pool}`, `{pool:M}`, `{pool:chunk}` and codecs.
    fn fill(&self, value: &str, config: &Config, sizing: Sizing) -> Result<String, Error> {
        // A brace that begins no word is RocksDB's: `{filter_policy=...}`.
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        let mut out = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            match after.split_once('}') {
                Some((name, after)) if name.chars().all(word) => {
                    out.push_str(&self.word(name, config, sizing)?);
                    rest = after;
                }
                _ => {
                    out.push('{');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// What stands for a word in braces.
    fn word(&self, word: &str, config: &Config, sizing: Sizing) -> Result<String, Error> {
        let bad = || self.bad(format!("value {{{word}}} is malformed"));
        if let Compression::Levels { middle, bottom } = config.compression {
            match word {
                "middle" => return Ok(rocksdb_name(middle).to_owned()),
                "bottom" => return Ok(rocksdb_name(bottom).to_owned()),
                _ => {}
            }
        }
        let (name, unit) = word.split_once(':').unwrap_or((word, ""));
        let size = self.sizes.get(name).ok_or_else(bad)?;
        let (bytes, multiple) = size.bytes(sizing).ok_or_else(bad)?;
        match unit {
            "" => Ok(bytes.to_string()),
            "M" => Ok((bytes >> 20).to_string()),
            "chunk" => Ok((multiple / CHUNKS).to_string()),
            _ => Err(bad()),
        }
    }
}

/// A codec as RocksDB's options name it.
fn rocksdb_name(codec: Codec) -> &'static str {
    match codec {
        Codec::Snappy => "kSnappyCompression",
        Codec::Lz4 => "kLZ4Compression",
        Codec::Zlib => "kZlibCompression",
        Codec::Zstd => "kZSTD",
    }
}

impl Size {
    /// The size and what it is a multiple of, bytes.
    fn bytes(&self, sizing: Sizing) -> Option<(u64, u64)> {
        let (whole, share) = match (self.of, sizing.data_bytes) {
            (Of::Data, Some(data_bytes)) => (data_bytes, self.divide),
            _ => {
                let systems = u64::from(sizing.systems_up.max(1));
                (sizing.memory_bytes, self.divide.checked_mul(systems)?)
            }
        };
        let wanted = whole.checked_mul(self.times)?.checked_div(share)?;
        let (min, max) = (parse_size(&self.min)?, parse_size(&self.max)?);
        let mut multiple = parse_size(&self.multiple)?;
        let bounded = wanted.max(min).min(max);
        while bounded.checked_div(multiple)? > MAX_MULTIPLES {
            multiple *= 2;
        }
        Some(((bounded / multiple * multiple).max(multiple), multiple))
    }
}

/// `256M`, `4G`: binary units.
fn parse_size(text: &str) -> Option<u64> {
    let (number, shift) = match text.strip_suffix('G') {
        Some(number) => (number, 30),
        None => (text.strip_suffix('M')?, 20),
    };
    Some(number.parse::<u64>().ok()? << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_OTHER: &dyn Fn(&str) -> Option<&'static str> = &|_| None;

    fn sizing(memory_gib: u64, systems_up: u32) -> Sizing {
        Sizing { memory_bytes: memory_gib << 30, systems_up, data_bytes: None }
    }

    #[test]
    fn sizes_follow_memory_within_bounds() {
        let text = "[size.pool]\ndivide = 4\nmin = '256M'\nmax = '4G'\nmultiple = '128M'";
        let profile = Profile::parse("x", text, NO_OTHER).unwrap();
        let config = Config::of("x", Engine::Innodb);
        let pool = |gib: u64, systems_up| {
            profile.fill("a{pool:M}b", &config, sizing(gib, systems_up)).unwrap()
        };
        assert_eq!(pool(24, 2), "a3072b");
        assert_eq!(pool(24, 0), "a4096b");
        assert_eq!(pool(1, 2), "a256b");
        assert_eq!(pool(512, 2), "a4096b");
        assert_eq!(pool(7, 3), "a512b");
        assert_eq!(
            profile.fill("{pool:chunk}", &config, sizing(7, 3)).unwrap(),
            (16 << 20).to_string()
        );
        let fill = |value| profile.fill(value, &config, sizing(8, 1));
        assert_eq!(fill("{pool}").unwrap(), (2_u64 << 30).to_string());
        assert_eq!(fill("{a=1;b={c=2}};{pool:M}").unwrap(), "{a=1;b={c=2}};2048");
        for bad in ["{x}", "{pool:K}", "{middle}"] {
            assert!(fill(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_follow_the_data_where_a_plan_says_how_much_there_is() {
        let text = "[size.pool]\nof = 'data'\ntimes = 3\ndivide = 8\nmin = '32M'\nmax = '4G'\n\
                    multiple = '1M'";
        let profile = Profile::parse("x", text, NO_OTHER).unwrap();
        let config = Config::of("x", Engine::Innodb);
        let pool = |data_bytes| {
            profile.fill("{pool:M}", &config, Sizing { data_bytes, ..sizing(8, 2) }).unwrap()
        };
        assert_eq!(pool(Some(800 << 20)), "300", "however many systems are up");
        assert_eq!(pool(Some(1 << 20)), "32");
        assert_eq!(pool(None), "1536");
        // 2100M is more than 128 times 8M, and is cut to a multiple of 32M.
        let text = text.replace("'1M'", "'8M'");
        let profile = Profile::parse("x", &text, NO_OTHER).unwrap();
        let sizing = Sizing { data_bytes: Some(5600 << 20), ..sizing(8, 2) };
        assert_eq!(profile.fill("{pool:M}", &config, sizing).unwrap(), "2080");
        let chunk = profile.fill("{pool:chunk}", &config, sizing).unwrap();
        assert_eq!(chunk, (4 << 20).to_string());
    }

    #[test]
    fn a_profile_replaces_lines_of_the_one_that_it_extends() {
        let base = "[[option]]\nname = 'a'\nvalue = '1'\nmysql = '..'\nwhy = 'x'\n\
                    [[option]]\nname = 'b'\nvalue = '{pool:M}'\nmysql = '..'\nwhy = 'x'\n\
                    [size.pool]\ndivide = 4\nmin = '1M'\nmax = '4G'\nmultiple = '1M'";
        let text = "extends = 'base'\n\
                    [[option]]\nname = 'c'\nvalue = '3'\nmysql = '..'\nwhy = 'x'\n\
                    [[option]]\nname = 'a'\nvalue = '2'\nmysql = '8.0..'\nwhy = 'x'\n\
                    [[option]]\nname = 'd'\nvalue = '4'\nmysql = '..'\nengine = 'rocksdb'\nwhy = 'x'\n\
                    [size.pool]\ndivide = 2\nmin = '1M'\nmax = '4G'\nmultiple = '1M'";
        let source_of: &dyn Fn(&str) -> Option<&'static str> = &move |_| Some(base);
        let profile = Profile::parse("x", text, source_of).unwrap();
        let options = |version: &str| {
            let config = Config::of("x", Engine::Innodb);
            let version = version.parse().unwrap();
            let subject = Subject { dbms: Dbms::Mysql, version: &version, config: &config };
            let options = profile.options(subject, sizing(2, 1)).unwrap();
            options.iter().map(|(n, v)| format!("{n}={v} ")).collect::<String>()
        };
        assert_eq!(options("8.0.33"), "a=2 b=1024 c=3 ");
        assert_eq!(options("5.6.14"), "a=1 b=1024 c=3 ");
        let error = Profile::parse("x", "extends = 'x'", source_of).unwrap_err().to_string();
        assert!(error.contains("which is no other"), "{error}");
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        let text = "size = {}\n[[option]]\nname = 'a'\nvalue = '1'\nwhy = ' '";
        let error = Profile::parse("x", text, NO_OTHER).unwrap_err().to_string();
        assert!(error.contains("a has no reason"), "{error}");
    }
}
