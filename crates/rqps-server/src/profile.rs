//! What a server is configured with: a built-in profile or the user's file, and options on top.
//!
//! Profiles are data (`profiles/*.toml`): name, value or formula, range of versions, engine, reason.
//! A profile may extend another. Paths, ports, sockets and TLS are not here: they are on the command
//! line, where they win.

mod cache;
mod data;
mod parts;
mod range;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use rqps_model::{Compression, Dbms, Durability, Engine, Version};

use crate::Error;
use crate::dbms::server_files::config_format;
use crate::options::{self, Change, Clean, Setting, Treatment, Written};
pub use cache::{cache_bytes, check_caches, max_connections};
use data::{Profile, Subject};

/// The built-in profiles by name.
const PROFILES: &[(&str, &str)] = &[
    ("small", include_str!("profiles/small.toml")),
    ("medium", include_str!("profiles/medium.toml")),
    ("io-bound", include_str!("profiles/io-bound.toml")),
];

/// The configuration that the user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// A built-in profile's name, or the path of a configuration file.
    pub base: String,
    /// Additional options, by the server's own names.
    pub options: BTreeMap<String, String>,
    /// The tables' engine; profiles have lines for each.
    pub engine: Engine,
    /// What a commit waits for; set by profiles only, not in a user's file.
    pub durability: Durability,
    /// Compression, if the configuration decides it.
    pub compression: Compression,
}

impl Config {
    /// A profile or file with all defaults.
    #[must_use]
    pub fn of(base: &str, engine: Engine) -> Self {
        Self {
            base: base.to_owned(),
            options: BTreeMap::new(),
            engine,
            durability: Durability::default(),
            compression: Compression::default(),
        }
    }

    /// Whether it is a built-in profile, and not a user's file.
    #[must_use]
    pub fn is_builtin(&self) -> bool {
        source_of(&self.base).is_some()
    }
}

/// Inputs for sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizing {
    /// The host's memory, bytes.
    pub memory_bytes: u64,
    /// Number of systems that run at the same time, at least 1.
    pub systems_up: u32,
    /// Expected size of tables and indexes, bytes, if known.
    pub data_bytes: Option<u64>,
}

/// A configuration for one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The configuration file's text.
    pub text: String,
    /// More arguments for PostgreSQL's initdb.
    pub initdb_arguments: Vec<String>,
    /// The user's options that do not reach the server as written.
    pub changes: Vec<Change>,
    /// Further sentences for the user.
    pub notes: Vec<String>,
    /// The engine whose plugin the server has to load.
    pub engine: Engine,
    /// The plan's own options, which are in `text` as well.
    pub options: BTreeMap<String, String>,
    /// Whether it is a built-in profile, and not a user's file.
    pub is_of_profile: bool,
}

/// Longest path in a comment, bytes: a line that a server cuts would end in an option of its own.
const MAX_PATH_BYTES: usize = 200;

/// Names of the built-in profiles.
#[must_use]
pub fn names() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

fn source_of(name: &str) -> Option<&'static str> {
    PROFILES.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

/// A built-in profile, which is parsed once; `None` where a file has the name.
fn builtin(name: &str) -> Result<Option<&'static Profile>, Error> {
    static PARSED: [OnceLock<Profile>; PROFILES.len()] =
        [const { OnceLock::new() }; PROFILES.len()];
    let Some(at) = PROFILES.iter().position(|(known, _)| *known == name) else { return Ok(None) };
    if let Some(profile) = PARSED[at].get() {
        return Ok(Some(profile));
    }
    let profile = Profile::parse(name, PROFILES[at].1, &source_of)?;
    Ok(Some(PARSED[at].get_or_init(|| profile)))
}

/// Renders the configuration for one version.
///
/// # Errors
/// [`Error::UnknownConfig`], an option whose value cannot be written to a file, or [`Error::Unsupported`] for a DBMS
/// that rqps does not start.
pub fn render(
    dbms: Dbms,
    version: &Version,
    config: &Config,
    sizing: Sizing,
) -> Result<Rendered, Error> {
    let mut initdb_arguments = Vec::new();
    let mut text = String::new();
    let written: Vec<Setting> =
        config.options.iter().map(|(name, value)| setting_of_plan(name, value)).collect();
    let Clean { settings, mut changes } = options::classify(dbms, &written)?;
    let with_value = |(name, value): (String, Option<String>)| (name, value.unwrap_or_default());
    let mut left: Vec<(String, String)> = settings.into_iter().map(with_value).collect();
    if let Some(profile) = builtin(&config.base)? {
        let name = &config.base;
        text.push_str(&format!("# rqps: built-in profile {name} for {} {version}\n", dbms.name()));
        text.push_str(config_format(dbms)?.header);
        let subject = Subject { dbms, version, config };
        let options = profile.options(subject, sizing)?;
        // An option of the plan takes the profile's place instead of standing below it.
        let options = parts::replace(options, &mut left);
        for (option, value) in parts::join(options) {
            text.push_str(&line(dbms, &option, &value)?);
        }
        initdb_arguments = profile.initdb_arguments(subject)?;
    } else {
        let path = Path::new(&config.base);
        let file = options::read_file(path).map_err(|e| Error::UnknownConfig {
            config: config.base.clone(),
            known: names().join(", "),
            detail: match rqps_model::nearest(names().into_iter(), &config.base) {
                Some(name) => format!("{e}; did you mean {name:?}?"),
                None => e.to_string(),
            },
        })?;
        text.push_str(&format!("# rqps: from {}\n", path_in_comment(path)));
        let file = options::read(dbms, version, path, &file)?;
        let clean = options::classify(dbms, &file.server)?;
        text.push_str(&lines(dbms, clean.settings)?);
        changes.extend(clean.changes);
        changes.extend(file.mysqld_safe.iter().map(Change::of_mysqld_safe));
    }
    if !left.is_empty() {
        text.push_str("# options of the plan\n");
        let left = parts::join(left).into_iter().map(|(name, value)| (name, Some(value)));
        text.push_str(&lines(dbms, left.collect())?);
    }
    Ok(Rendered {
        text,
        initdb_arguments,
        changes,
        notes: Vec::new(),
        engine: config.engine,
        options: config.options.clone(),
        is_of_profile: config.is_builtin(),
    })
}

fn setting_of_plan(name: &str, value: &str) -> Setting {
    Setting { name: name.to_owned(), value: Some(value.to_owned()), written: Written::Plan }
}

/// Least memory for a limited server with this configuration, bytes: twice the smallest cache of the profile,
/// as everything else takes as much again. `None` if the plan or the user's file sets the sizes.
///
/// # Errors
/// When a profile that is built in is wrong.
pub fn least_memory(dbms: Dbms, version: &Version, config: &Config) -> Result<Option<u64>, Error> {
    let set_by_plan = |option: &&str| config.options.keys().any(|key| same(key, option));
    if source_of(&config.base).is_none() || cache::NAMES.iter().any(set_by_plan) {
        return Ok(None);
    }
    let nothing = Sizing { memory_bytes: 0, systems_up: 1, data_bytes: None };
    let smallest = render(dbms, version, config, nothing)?;
    Ok(Some(2 * cache_bytes(dbms, &smallest)?))
}

/// Whether rqps sets an option on the command line of every server that it starts.
pub(crate) fn is_on_command_line(dbms: Dbms, option: &str) -> bool {
    matches!(options::treatment(dbms, option), Ok(Some(Treatment::Ours)))
}

impl Rendered {
    /// For a trial of the wall: the user's file and the plan's options unchanged, except those that rqps sets
    /// on the command line.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn take_verbatim(&mut self, dbms: Dbms, base: &str) -> Result<(), Error> {
        if source_of(base).is_none() {
            let file = options::read_file(Path::new(base)).map_err(|e| Error::io(base, e))?;
            let is_theirs =
                |line: &&str| option_name(line).is_none_or(|name| !is_on_command_line(dbms, name));
            self.text = file.lines().filter(is_theirs).map(|line| format!("{line}\n")).collect();
        }
        let options = self.options.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        self.text.push_str(&lines(dbms, options.collect())?);
        self.changes.clear();
        Ok(())
    }

    /// Names of the options that the configuration sets, as the server's variables are named.
    #[must_use]
    pub fn option_names(&self, dbms: Dbms) -> BTreeSet<String> {
        let names = self.text.lines().filter_map(option_name);
        let has_name_modifiers = config_format(dbms).is_ok_and(|format| format.has_name_modifiers);
        let plain = |name: &str| {
            let name = name.to_ascii_lowercase();
            if has_name_modifiers { name.replace('-', "_") } else { name }
        };
        let bare = |name: String| name.strip_prefix("loose_").map(str::to_owned).unwrap_or(name);
        names.map(plain).map(bare).collect()
    }
}

/// Servers of the MySQL family take `-` and `_` alike.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes().zip(b.bytes()).all(|(a, b)| {
            let fold = |c: u8| if c == b'-' { b'_' } else { c.to_ascii_lowercase() };
            fold(a) == fold(b)
        })
}

/// The option's name in a line of a configuration file, unless it is a comment or a section.
pub(crate) fn option_name(line: &str) -> Option<&str> {
    let line = line.trim();
    let name = line.split(['=', ' ', '\t']).next()?.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// Lines of a configuration file, in the group that servers of the MySQL family read.
fn lines(dbms: Dbms, settings: Vec<(String, Option<String>)>) -> Result<String, Error> {
    let mut text = config_format(dbms)?.header.to_owned();
    for (option, value) in settings {
        match value {
            Some(value) => text.push_str(&line(dbms, &option, &value)?),
            None => text.push_str(line(dbms, &option, "")?.replace('=', "").as_str()),
        }
    }
    Ok(text)
}

/// A path for a comment: one short line whatever it has.
fn path_in_comment(path: &Path) -> String {
    let whole = path.display().to_string().escape_debug().to_string();
    if whole.len() <= MAX_PATH_BYTES {
        return whole;
    }
    let fits = |(at, c): &(usize, char)| at + c.len_utf8() <= MAX_PATH_BYTES;
    let start: String = whole.char_indices().take_while(fits).map(|(_, c)| c).collect();
    format!("{start}...")
}

/// One line of a configuration file.
fn line(dbms: Dbms, option: &str, value: &str) -> Result<String, Error> {
    let named = option_name(option).is_some_and(|name| name == option);
    if !named || value.chars().any(char::is_control) {
        return Err(Error::Data {
            what: format!("option {option:?} = {value:?}"),
            detail: "a name has letters, digits, _ - . only, a value no line breaks".to_owned(),
        });
    }
    let format = config_format(dbms)?;
    if format.max_line_bytes.is_some_and(|most| option.len() + 2 * value.len() > most) {
        return Err(Error::Data {
            what: format!("option {option}"),
            detail: format!(
                "its value has {} bytes, and servers read lines of 4094; write a shorter one",
                value.len()
            ),
        });
    }
    Ok((format.line)(option, value))
}

#[cfg(test)]
mod tests;
